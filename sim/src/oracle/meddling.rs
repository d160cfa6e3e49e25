//! Decisions that nobody may make, tried in every state that a row with requests is ever in (AUTH-13,
//! AUTH-14): by somebody else than the approver, about a request that was never put, against what was
//! said first. Each is refused and changes nothing.

use std::sync::Arc;

use everstep_machine::agent::Verdict;
use everstep_machine::identity::{ApprovalId, PrincipalId, Timestamp};
use everstep_machine::ledger::{ApprovalMark, ApprovalState, Command, DecisionIntent, Phase, Row};
use everstep_machine::store::StoreCommand;

use super::{Judge, Property};
use crate::cast::Cast;
use crate::store::Shelf;

impl Judge {
    /// Somebody meddles with a lane, on a copy of it.
    pub(crate) fn meddle(&mut self, cast: &Cast, shelf: &Arc<Shelf>, now: Timestamp) {
        for row in shelf.rows().iter().filter(|row| !row.approvals.is_empty()) {
            for command in attempts(row, shelf.lane().time(now)) {
                let mut copy = Arc::clone(shelf);
                let wrong = StoreCommand::Ledger(command);
                let executed = Shelf::execute(&mut copy, &wrong, now, cast.defect);
                if executed.answer.is_ok() || executed.changed {
                    self.broken(Property::Decisions, || {
                        format!("{wrong:?} is answered with {:?}", executed.answer)
                    });
                }
            }
        }
    }
}

/// What nobody may say of a row.
fn attempts(row: &Row, now: Timestamp) -> Vec<Command> {
    let submission = row.admission.submission;
    let decide = |request, verdict, principal| {
        let intent = DecisionIntent { verdict, principal, reason: Arc::from("why not") };
        Command::Decide { submission, request, intent }
    };
    let mut attempts = vec![decide(ApprovalId([0xee; 16]), Verdict::Approved, somebody())];
    for mark in &row.approvals {
        let ApprovalMark { request, approver, state, .. } = mark;
        match state {
            ApprovalState::Intended(said) | ApprovalState::Closed(Some(said)) => {
                let other = match said.verdict {
                    Verdict::Approved => Verdict::Denied,
                    Verdict::Denied => Verdict::Approved,
                };
                attempts.push(decide(*request, other, said.principal.clone()));
            }
            ApprovalState::Expired | ApprovalState::Closed(None) => {
                attempts.push(decide(*request, Verdict::Approved, somebody()));
            }
            ApprovalState::Open => {
                let is_over = matches!(row.phase, Phase::Settled(_) | Phase::Terminalizing(_));
                let is_late = mark.is_expired(now) || is_over;
                let who = approver.clone().unwrap_or_else(somebody);
                if is_late || row.abort.is_some() {
                    attempts.push(decide(*request, Verdict::Approved, who));
                }
                if approver.is_some() {
                    attempts.push(decide(*request, Verdict::Approved, somebody()));
                }
            }
        }
    }
    attempts
}

fn somebody() -> PrincipalId {
    PrincipalId::new("somebody else").expect("ID-01: the name is short and plain")
}
