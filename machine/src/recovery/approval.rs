//! Rows 12 and 13: what somebody has still to decide.

use alloc::vec::Vec;

use super::classify::Match;
use super::decision::{Decided, Decision};
use crate::agent::Verdict;
use crate::identity::Timestamp;
use crate::ledger::{ApprovalMark, ApprovalState, Row, Suspension};
use crate::projection::SubmissionView;
use crate::record::{ApprovalRequested, Resolver};

/// The log says what was asked and what was decided; the row, who has spoken since.
pub(super) fn undecided(row: &Row, view: &SubmissionView, now: Timestamp) -> Match {
    let open: Vec<&ApprovalRequested> = view.open_approvals().collect();
    let unmarked = open.iter().filter(|it| row.approval(it.request).is_none());
    let unmarked: Vec<Suspension> = unmarked.map(|it| Suspension::of(it)).collect();
    if !unmarked.is_empty() {
        return Some((13, Decision::EnsureSuspended(unmarked)));
    }
    let over = |mark: &&ApprovalMark| mark.is_open() && mark.is_expired(now);
    let expired = open.iter().filter_map(|it| row.approval(it.request)).filter(over);
    let expired: Vec<_> = expired.map(|mark| mark.request).collect();
    if !expired.is_empty() {
        return Some((12, Decision::ExpireApprovals(expired)));
    }
    let decided: Vec<Decided> =
        open.iter().filter_map(|it| decision(it, row.approval(it.request)?)).collect();
    if !decided.is_empty() {
        return Some((12, Decision::DecideApprovals(decided)));
    }
    let is_open = |mark: &&ApprovalMark| !mark.is_closed();
    let is_canonical = |mark: &&ApprovalMark| open.iter().all(|it| it.request != mark.request);
    let covered = row.approvals.iter().filter(is_open).filter(is_canonical);
    let covered: Vec<_> = covered.map(|mark| mark.request).collect();
    if !covered.is_empty() {
        return Some((12, Decision::CoverApprovals(covered)));
    }
    (!open.is_empty()).then_some((12, Decision::AwaitApproval))
}

/// What is said of every open request when the submission is to end: what somebody decided, and
/// otherwise that it is denied.
pub(super) fn aborted(row: &Row, view: &SubmissionView) -> Vec<Decided> {
    let denied = |request| Decided {
        request,
        verdict: Verdict::Denied,
        resolver: Resolver::Abort,
        reason: "the submission was aborted".into(),
    };
    let come_to = |it: &ApprovalRequested| {
        let said = row.approval(it.request).and_then(|mark| decision(it, mark));
        said.unwrap_or_else(|| denied(it.request))
    };
    view.open_approvals().map(come_to).collect()
}

/// What a request has come to: what somebody said in time, or what its policy says of a time that
/// is over.
fn decision(asked: &ApprovalRequested, mark: &ApprovalMark) -> Option<Decided> {
    let request = asked.request;
    match &mark.state {
        ApprovalState::Intended(intent) => Some(Decided {
            request,
            verdict: intent.verdict,
            resolver: Resolver::Person(intent.principal.clone()),
            reason: intent.reason.clone(),
        }),
        ApprovalState::Expired => Some(Decided {
            request,
            verdict: asked.terms.on_expiry,
            resolver: Resolver::Expiry,
            reason: "nobody decided in time".into(),
        }),
        ApprovalState::Open | ApprovalState::Closed(_) => None,
    }
}
