//! Who came with another binding than a run has, and what people want done about it.
//!
//! A report needs no ownership: whoever cannot go on does not claim, so a paused owner that can is
//! not superseded by one that cannot, and the lane is never held for nothing. It names the epoch
//! that it has read, so it is about the log as it is. It decides nothing: what a run is bound to is
//! for the log to say.

use super::{Decided, owned, row};
use crate::identity::{Epoch, ProducerId, SubmissionId, Timestamp};
use crate::ledger::compat::{Compat, Incompatible, Mismatch, RebindIntent};
use crate::ledger::input::Ownership;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{Phase, Row};
use crate::limits::TEXT_BYTES;

/// Notes it, since when the first of them came.
pub(super) fn report(
    slice: &Slice,
    (submission, read): (SubmissionId, Epoch),
    mismatch: Mismatch,
    by: ProducerId,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let held = row(slice, submission)?;
    if read != slice.lane.epoch {
        return Err(Refusal::EpochMoved { actual: slice.lane.epoch });
    }
    if let Some(until) = slice.lane.leased_until(now) {
        return Err(Refusal::Owned { until });
    }
    is_open(held)?;
    if held.compat.knows(&mismatch) {
        return Ok(Decided::unchanged(Reply::IncompatibleNoted));
    }
    let before = held.compat.incompatible.as_ref().filter(|it| it.mismatch.at == mismatch.at);
    let since = before.map_or(now, |before| before.since);
    let incompatible = Some(Incompatible { mismatch, by, since });
    let compat = Compat { incompatible, ..held.compat.clone() };
    Ok(Decided::row(Row { compat, ..held.clone() }, Reply::IncompatibleNoted))
}

/// The last word counts, until it is canonical. Needs no ownership.
pub(super) fn rebind(
    slice: &Slice,
    submission: SubmissionId,
    intent: RebindIntent,
) -> Result<Decided, Refusal> {
    let held = row(slice, submission)?;
    if held.compat.rebind.as_ref() == Some(&intent) {
        return Ok(Decided::unchanged(Reply::RebindIntended));
    }
    is_open(held)?;
    if held.abort.is_some() {
        return Err(Refusal::AbortIntended);
    }
    let known = held.compat.incompatible.as_ref().map(|it| it.mismatch);
    let is_of_it = |known: Mismatch| known.at == intent.replaces && known.expected != intent.to;
    if !known.is_some_and(is_of_it) {
        return Err(Refusal::NotIncompatible);
    }
    if intent.reason.len() > TEXT_BYTES {
        return Err(Refusal::TooLong);
    }
    let compat = Compat { rebind: Some(intent), ..held.compat.clone() };
    Ok(Decided::row(Row { compat, ..held.clone() }, Reply::RebindIntended))
}

/// Its owner's binding is the one that the run is bound to.
pub(super) fn cover(slice: &Slice, owner: &Ownership) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.row;
    if held.compat.incompatible.is_none() {
        return Ok(Decided::unchanged(Reply::IncompatibleCovered));
    }
    let compat = Compat { incompatible: None, ..held.compat.clone() };
    Ok(Decided::row(Row { compat, ..held.clone() }, Reply::IncompatibleCovered))
}

/// Whether it is not fixed yet how the row ends, by itself.
fn is_open(row: &Row) -> Result<(), Refusal> {
    match &row.phase {
        Phase::Settled(_) => Err(Refusal::AlreadySettled),
        Phase::Terminalizing(_) => Err(Refusal::RunClosing),
        Phase::Joining { host } | Phase::Joined { host } => Err(Refusal::HasJoined { host: *host }),
        Phase::Admitted | Phase::Ready | Phase::Running(_) | Phase::Unknown | Phase::Suspended => {
            Ok(())
        }
    }
}
