//! The end of a submission: one exact record is reserved, appended, and then final (DUR-011).

use super::{Decided, owned};
use crate::identity::Timestamp;
use crate::ledger::input::Ownership;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{InputMarker, Lane, Phase, Reserved, Row, Settled};
use crate::limits::FRUITLESS_CLAIMS;
use crate::record::{CanonicalSettlement, Outcome};

/// Fixes the outcome. The first write wins, also against the same owner.
pub(super) fn reserve(
    slice: &Slice,
    owner: &Ownership,
    reserved: Reserved,
) -> Result<Decided, Refusal> {
    let row = owned(slice, owner)?.row;
    if reserved.record.submission != owner.submission {
        return Err(Refusal::SettlementDiffers);
    }
    match &row.phase {
        Phase::Terminalizing(first) if first.digest == reserved.digest => {
            return Ok(Decided::unchanged(Reply::Reserved));
        }
        Phase::Terminalizing(_) => return Err(Refusal::ReservationConflict),
        Phase::Settled(settled) if settled.digest == reserved.digest => {
            return Ok(Decided::unchanged(Reply::Reserved));
        }
        Phase::Settled(_) => return Err(Refusal::AlreadySettled),
        Phase::Joining { host } | Phase::Joined { host } => {
            return Err(Refusal::HasJoined { host: *host });
        }
        Phase::Admitted | Phase::Ready | Phase::Running(_) | Phase::Unknown | Phase::Suspended => {}
    }
    match reserved.record.settlement.outcome() {
        Outcome::Aborted => row.abort.as_ref().map(|_| ()).ok_or(Refusal::NoAbort)?,
        Outcome::Completed | Outcome::Failed => may_end_by_itself(row)?,
    }
    if reserved.record.settlement.is_given_up() && row.fruitless.len() < FRUITLESS_CLAIMS {
        return Err(Refusal::AttemptsLeft);
    }
    Ok(Decided::row(Row { phase: Phase::Terminalizing(reserved), ..row.clone() }, Reply::Reserved))
}

/// Whether the run of an unsettled, unreserved row may end with an outcome of its own: nobody
/// wants it to end otherwise, nothing it did is in doubt, and its input is known to be canonical.
fn may_end_by_itself(row: &Row) -> Result<(), Refusal> {
    if row.abort.is_some() {
        return Err(Refusal::AbortIntended);
    }
    if row.is_doubtful() {
        return Err(Refusal::UnknownOpen);
    }
    if row.phase == Phase::Running(InputMarker::Applied) {
        Ok(())
    } else {
        Err(Refusal::NotRunning)
    }
}

/// Ends the row and frees the lane, on the proof that the settlement is canonical. What the log
/// says outranks what the row expects, except a reservation: nobody else can have appended.
pub(super) fn finalize(
    slice: &Slice,
    owner: &Ownership,
    settlement: CanonicalSettlement,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let there = slice.row(owner.submission).map(|row| &row.phase);
    if let Some(Phase::Settled(settled)) = there {
        return finalized(slice, owner, settlement, settled);
    }
    let row = owned(slice, owner)?.row;
    if slice.rows.iter().any(|it| it.host() == Some(owner.submission)) {
        return Err(Refusal::JoinedOpen);
    }
    let reserved = match &row.phase {
        Phase::Terminalizing(reserved) => reserved.digest,
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Settled(_) => settlement.digest(),
    };
    if (settlement.submission(), settlement.digest()) != (owner.submission, reserved) {
        return Err(Refusal::SettlementDiffers);
    }
    let phase = Phase::Settled(Settled {
        digest: settlement.digest(),
        outcome: settlement.outcome(),
        given_up: settlement.is_given_up(),
        epoch: owner.epoch,
        at: now,
    });
    Ok(Decided {
        lane: Some(Lane { owner: None, ..slice.lane.clone() }),
        row: Some(Row { phase, compat: row.compat.ended(), ..row.clone() }),
        new: None,
        reply: Reply::Finalized,
    })
}

/// The answer for a row that has ended. Its owner lost the lane by finalizing, so the epoch it
/// finalized under stands for its claim: no other claim ever had it.
fn finalized(
    slice: &Slice,
    owner: &Ownership,
    settlement: CanonicalSettlement,
    settled: &Settled,
) -> Result<Decided, Refusal> {
    if settlement.digest() != settled.digest {
        Err(Refusal::SettlementDiffers)
    } else if owner.epoch != settled.epoch {
        Err(Refusal::OwnershipLost { actual: slice.lane.epoch })
    } else {
        Ok(Decided::unchanged(Reply::Finalized))
    }
}
