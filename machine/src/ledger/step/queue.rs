//! Who may claim what, and for how long.
//!
//! Two rows of a lane can be candidates at once: the lowest one that waits for execution, which
//! keeps the order of the lane (DUR-004), and any errand, which executes nothing and so needs no
//! turn. A store that indexes rows by [`Standing`] and admission sequence answers both with three
//! seeks, however long the lane is.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Decided, owned, patience};
use crate::identity::{DurationMs, Timestamp};
use crate::ledger::input::{Claim, Ownership};
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{InputMarker, Lane, Owner, Phase, Row, Standing};

/// The row that may be claimed now, by the slice of [`crate::ledger::Footprint::Candidates`]. None while the
/// lane is leased, or while there is nothing an owner could do.
#[must_use]
pub fn candidate(slice: &Slice, clock: Timestamp) -> Option<Arc<Row>> {
    let now = slice.lane.time(clock);
    if slice.lane.leased_until(now).is_some() { None } else { next(slice, now).cloned() }
}

/// When the lane can be claimed if nothing else happens before: at the end of a lease that stands
/// before a row, or when a request for approval expires. None if it can be claimed now, or if there
/// is no such row.
#[must_use]
pub fn wakes_at(slice: &Slice) -> Option<Timestamp> {
    let queued = head(slice).and_then(|row| row.claimable_from());
    let errand = lowest(slice, Standing::Errand).map(|_| Timestamp(0));
    let from = queued.into_iter().chain(errand).min()?;
    let leased = slice.lane.owner.as_ref().map_or(Timestamp(0), Owner::held_until);
    Some(from.max(leased)).filter(|at| *at > Timestamp(0))
}

fn next(slice: &Slice, now: Timestamp) -> Option<&Arc<Row>> {
    let queued = head(slice).filter(|row| row.is_claimable(now));
    let errand = lowest(slice, Standing::Errand);
    queued.into_iter().chain(errand).min_by_key(|row| row.sequence)
}

/// The lowest row that waits for execution. What was said to a run that has ended waits like any
/// other.
fn head(slice: &Slice) -> Option<&Arc<Row>> {
    let waiting = [Standing::Queued, Standing::Steering].into_iter();
    waiting.filter_map(|it| lowest(slice, it)).min_by_key(|row| row.sequence)
}

fn lowest(slice: &Slice, standing: Standing) -> Option<&Arc<Row>> {
    slice.rows.iter().filter(|row| row.standing() == standing).min_by_key(|row| row.sequence)
}

/// Takes the next epoch for a row. A claim that already holds the lane is answered again, since
/// nobody else could know its token; every other one obeys the lease, its own producer included.
pub(super) fn claim(slice: &Slice, claim: &Claim, now: Timestamp) -> Result<Decided, Refusal> {
    let lane = &slice.lane;
    let holds = lane
        .owner
        .as_ref()
        .is_some_and(|owner| (owner.token, owner.submission) == (claim.token, claim.submission));
    if holds {
        return Ok(Decided::unchanged(Reply::Claimed(lane.epoch)));
    }
    let row = slice.row(claim.submission).ok_or(Refusal::NoSuchSubmission)?;
    if claim.expected != lane.epoch {
        return Err(Refusal::EpochMoved { actual: lane.epoch });
    }
    if let Some(until) = lane.leased_until(now) {
        return Err(Refusal::Owned { until });
    }
    let epoch = lane.epoch.next();
    // The last epoch of all has no successor that could fence it.
    if !has_its_turn(slice, row, now) || epoch == lane.epoch {
        return Err(Refusal::NotClaimable);
    }
    let row = Row { fruitless: patience::after(lane, row, claim), ..claimed(row) };
    let owner = Owner {
        submission: claim.submission,
        token: claim.token,
        producer: claim.producer.clone(),
        lease_until: now.after(claim.lease),
        pause: patience::pause(claim, row.fruitless.len()),
    };
    let lane = Lane { epoch, owner: Some(owner), ..lane.clone() };
    Ok(Decided { lane: Some(lane), row: Some(row), new: None, reply: Reply::Claimed(epoch) })
}

fn has_its_turn(slice: &Slice, row: &Arc<Row>, now: Timestamp) -> bool {
    match row.standing() {
        Standing::Queued | Standing::Steering => head(slice) == Some(row) && row.is_claimable(now),
        Standing::Errand => true,
        Standing::Attached | Standing::Doubtful | Standing::GivenUp | Standing::Resting => false,
    }
}

/// An admitted row stays admitted: its new owner has to finish the admission first. One that is
/// aborted does not begin to run.
fn claimed(row: &Row) -> Row {
    let phase = match &row.phase {
        Phase::Ready if row.abort.is_none() => Phase::Running(InputMarker::Missing),
        other => other.clone(),
    };
    Row { claims: row.claims.saturating_add(1), phase, ..row.clone() }
}

/// Never shortens a lease: renewals that overtake one another do no harm (LE-07).
pub(super) fn renew(
    slice: &Slice,
    owner: &Ownership,
    lease: DurationMs,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.owner;
    let lease_until = held.lease_until.max(now.after(lease));
    let reply = Reply::Renewed(lease_until);
    if lease_until == held.lease_until {
        return Ok(Decided::unchanged(reply));
    }
    let owner = Some(Owner { lease_until, ..held.clone() });
    Ok(Decided::lane(Lane { owner, ..slice.lane.clone() }, reply))
}

pub(super) fn release(slice: &Slice, owner: &Ownership) -> Result<Decided, Refusal> {
    let row = owned(slice, owner)?.row;
    // Who lets go has not died, and neither will the next one of what killed those before.
    let row = (!row.fruitless.is_empty()).then(|| Row { fruitless: Vec::new(), ..row.clone() });
    let lane = Some(Lane { owner: None, ..slice.lane.clone() });
    Ok(Decided { lane, row, new: None, reply: Reply::Released })
}
