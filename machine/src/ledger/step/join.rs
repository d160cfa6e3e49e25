//! Rows that become part of a run which another row began (design 3.7, DUR-016).
//!
//! ```text
//! Ready --Join--> Joining --MarkJoined--> Joined --SettleJoined--> Settled
//!   ^                |
//!   +--- RevertJoin -+
//! ```
//!
//! Between `Join` and `MarkJoined` the input becomes canonical. Whoever takes over reads the log
//! and either marks the row or gives it back; nobody can claim it meanwhile. A host is not settled
//! before what has joined it.

use alloc::sync::Arc;

use super::{Decided, owned, row};
use crate::agent::Allowance;
use crate::identity::{SubmissionId, Timestamp};
use crate::ledger::input::Ownership;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{InputMarker, Phase, Row, Settled, Standing};
use crate::record::CanonicalSettlement;

/// Whether a run that goes on takes this row as steering: it was meant for it and is ready.
pub(in crate::ledger) fn steers(host: &Row, row: &Row) -> bool {
    row.standing() == Standing::Steering
        && row.phase == Phase::Ready
        && row.admission.steers == Some(host.admission.submission)
}

/// Whether a row may follow a run in whose lane it is the next: the run acts for one principal and
/// under the allowance of its first input.
pub(in crate::ledger) fn follows(host: &Row, row: &Row) -> bool {
    let whose = |row: &Row| {
        let it = &row.admission;
        (it.principal.clone(), it.tenant.clone(), it.agent.clone())
    };
    row.standing() == Standing::Queued
        && row.phase == Phase::Ready
        && row.admission.allowance == Allowance::default()
        && whose(row) == whose(host)
}

/// The first row behind the host that waits for its turn.
fn next_behind<'a>(slice: &'a Slice, host: &Row) -> Option<&'a Arc<Row>> {
    let waits = |row: &&Arc<Row>| {
        Standing::WAITING.contains(&row.standing()) && host.sequence < row.sequence
    };
    slice.rows.iter().filter(waits).min_by_key(|row| row.sequence)
}

pub(super) fn join(
    slice: &Slice,
    owner: &Ownership,
    joining: SubmissionId,
) -> Result<Decided, Refusal> {
    let host = owned(slice, owner)?.row;
    let held = row(slice, joining)?;
    match &held.phase {
        Phase::Joining { host } | Phase::Joined { host } if *host == owner.submission => {
            return Ok(Decided::unchanged(Reply::Joining));
        }
        Phase::Joining { host } | Phase::Joined { host } => {
            return Err(Refusal::HasJoined { host: *host });
        }
        Phase::Settled(_) => return Err(Refusal::AlreadySettled),
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_) => {}
    }
    if host.phase != Phase::Running(InputMarker::Applied) {
        return Err(Refusal::NotRunning);
    }
    if host.abort.is_some() || held.abort.is_some() {
        return Err(Refusal::AbortIntended);
    }
    let is_next = next_behind(slice, host).is_some_and(|next| next.sequence == held.sequence);
    if !(steers(host, held) || is_next && follows(host, held)) {
        return Err(Refusal::NotNext);
    }
    let phase = Phase::Joining { host: owner.submission };
    Ok(Decided::row(Row { phase, ..held.clone() }, Reply::Joining))
}

pub(super) fn mark(
    slice: &Slice,
    owner: &Ownership,
    joined: SubmissionId,
) -> Result<Decided, Refusal> {
    let held = attached(slice, owner, joined)?;
    let phase = Phase::Joined { host: owner.submission };
    if held.phase == phase {
        return Ok(Decided::unchanged(Reply::Joined));
    }
    Ok(Decided::row(Row { phase, ..held.clone() }, Reply::Joined))
}

/// Gives a row back whose input the log does not hold. One that is aborted meanwhile is an errand
/// then, and settles as if nothing had wanted it.
pub(super) fn revert(
    slice: &Slice,
    owner: &Ownership,
    joining: SubmissionId,
) -> Result<Decided, Refusal> {
    owned(slice, owner)?;
    let held = row(slice, joining)?;
    if held.phase == Phase::Ready {
        return Ok(Decided::unchanged(Reply::JoinReverted));
    }
    match attached(slice, owner, joining)?.phase {
        Phase::Joining { .. } => {
            let row = Row { phase: Phase::Ready, ..held.clone() };
            Ok(Decided::row(row, Reply::JoinReverted))
        }
        _ => Err(Refusal::HasJoined { host: owner.submission }),
    }
}

/// Ends a row on the proof that its settlement is canonical, which stands in one batch with that
/// of its host.
pub(super) fn settle(
    slice: &Slice,
    owner: &Ownership,
    settlement: CanonicalSettlement,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    owned(slice, owner)?;
    let held = row(slice, settlement.submission())?;
    if let Phase::Settled(settled) = &held.phase {
        return if settled.digest == settlement.digest() {
            Ok(Decided::unchanged(Reply::JoinedSettled))
        } else {
            Err(Refusal::SettlementDiffers)
        };
    }
    let held = attached(slice, owner, settlement.submission())?;
    if !matches!(held.phase, Phase::Joined { .. }) {
        return Err(Refusal::NotRunning);
    }
    let phase = Phase::Settled(Settled {
        digest: settlement.digest(),
        outcome: settlement.outcome(),
        given_up: settlement.is_given_up(),
        epoch: owner.epoch,
        at: now,
    });
    Ok(Decided::row(Row { phase, ..held.clone() }, Reply::JoinedSettled))
}

/// The row, if it belongs to the run of the owner's.
fn attached<'a>(
    slice: &'a Slice,
    owner: &Ownership,
    submission: SubmissionId,
) -> Result<&'a Row, Refusal> {
    owned(slice, owner)?;
    let held = row(slice, submission)?;
    match held.host() {
        Some(host) if host == owner.submission => Ok(held),
        Some(host) => Err(Refusal::HasJoined { host }),
        None => Err(Refusal::NotRunning),
    }
}
