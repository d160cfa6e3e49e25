//! Again, for what was given up: one command takes the dead letter off the list and puts its
//! successor at the end of the lane, so that no crash comes between the two (DUR-018).

use alloc::sync::Arc;

use super::admission::fresh;
use super::{Decided, row};
use crate::identity::{SubmissionId, Timestamp};
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::retry::{Chain, Retried, RetryIntent};
use crate::ledger::slice::Slice;
use crate::ledger::state::{Lane, Phase, Row};
use crate::limits::TEXT_BYTES;

/// The first intent stands and is the answer to every later one. Needs no ownership: the dead
/// letter has ended, and stays as it ended. What is settled has its conversation, so the successor
/// is ready at once, with as many attempts as any other.
pub(super) fn retry(
    slice: &Slice,
    submission: SubmissionId,
    intent: RetryIntent,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let dead = row(slice, submission)?;
    if let Some(first) = &dead.chain.retried {
        return Ok(Decided::unchanged(Reply::Retried(first.clone())));
    }
    was_given_up(dead)?;
    if intent.reason.len() > TEXT_BYTES {
        return Err(Refusal::TooLong);
    }
    let again = Arc::new(dead.admission.again());
    let (successor, position) = (again.submission, slice.lane.next);
    let chain = Chain { retry_of: Some(submission), retried: None };
    let new = Row { phase: Phase::Ready, chain, ..fresh(again, position, now) };
    let retried = Retried { intent, successor, position, at: now };
    let chain = Chain { retried: Some(retried.clone()), ..dead.chain.clone() };
    Ok(Decided {
        lane: Some(Lane { next: position.next(), ..slice.lane.clone() }),
        row: Some(Row { chain, ..dead.clone() }),
        new: Some(new),
        reply: Reply::Retried(retried),
    })
}

/// Whether a row waits for exactly this: a person who has it tried again.
fn was_given_up(row: &Row) -> Result<(), Refusal> {
    match &row.phase {
        Phase::Settled(_) if row.is_doubtful() => Err(Refusal::UnknownOpen),
        Phase::Settled(settled) if settled.given_up => Ok(()),
        Phase::Settled(_) => Err(Refusal::NotGivenUp),
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_) => Err(Refusal::NotSettled),
    }
}
