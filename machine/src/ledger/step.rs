//! The rules of a lane.
//!
//! *Ownership is fenced, not timed.* A lease that expires makes the lane claimable and does
//! nothing else: until somebody claims, the owner may still write, renew and finalize. From the
//! claim on, which takes a higher epoch, it may not. Every store has this one rule (LE-03), since
//! every store runs this machine. So no write depends on a clock, and an owner that was only
//! paused, with nobody waiting for its lane, loses nothing.
//!
//! *Time is the lane's.* Each command is decided at the later of the store's clock and the lane's
//! stamp, and what changes anything moves the stamp there (CL-01, CL-03). A clock that once ran
//! far ahead therefore delays the expiry of later leases, never their order; a release, a
//! finalization and an expiry that was already seen need no clock.

mod admission;
mod approval;
mod compat;
mod join;
mod patience;
mod progress;
mod queue;
mod retry;
mod settlement;
mod unknown;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::input::{Command, Ownership, Stamped};
use super::output::{Effect, Refusal, Reply};
use super::slice::{Change, Slice};
use super::state::{Lane, Owner, Phase, Row};
use crate::contract::{Machine, Step};
use crate::identity::{SubmissionId, Timestamp};

pub(in crate::ledger) use join::{follows, steers};
pub use queue::{candidate, wakes_at};

/// The machine of one lane.
pub struct Ledger;

impl Machine for Ledger {
    type State = Slice;
    type Input = Stamped;
    type Effect = Effect;

    fn step(mut state: Slice, input: Stamped) -> Step<Slice, Effect> {
        let now = state.lane.time(input.now);
        let decided = match decide(&state, input.command, now) {
            Ok(decided) => decided,
            Err(refusal) => return Step::new(state, vec![Effect::Refuse(refusal)]),
        };
        let mut effects = Vec::with_capacity(4);
        for change in changes(&state.lane, decided.lane, [decided.row, decided.new], now) {
            state.apply(&change);
            effects.push(Effect::Change(change));
        }
        effects.push(Effect::Reply(decided.reply));
        Step::new(state, effects)
    }
}

/// What becomes of a command that is accepted.
struct Decided {
    /// The lane, if anything but its stamp changes.
    lane: Option<Lane>,
    /// The row, if it changes.
    row: Option<Row>,
    /// A row that the lane did not have, beside one that changes.
    new: Option<Row>,
    reply: Reply,
}

impl Decided {
    /// The command finds its work done.
    const fn unchanged(reply: Reply) -> Self {
        Self { lane: None, row: None, new: None, reply }
    }

    const fn lane(lane: Lane, reply: Reply) -> Self {
        Self { lane: Some(lane), row: None, new: None, reply }
    }

    const fn row(row: Row, reply: Reply) -> Self {
        Self { lane: None, row: Some(row), new: None, reply }
    }
}

fn decide(slice: &Slice, command: Command, now: Timestamp) -> Result<Decided, Refusal> {
    match command {
        Command::Admit(admission) => admission::admit(slice, admission, now),
        Command::Ready { submission } => admission::ready(slice, submission),
        Command::Claim(claim) => queue::claim(slice, &claim, now),
        Command::Renew { owner, lease } => queue::renew(slice, &owner, lease, now),
        Command::Release { owner } => queue::release(slice, &owner),
        Command::MarkInput { owner } => progress::mark_input(slice, &owner),
        Command::Join { owner, joining } => join::join(slice, &owner, joining),
        Command::MarkJoined { owner, joined } => join::mark(slice, &owner, joined),
        Command::RevertJoin { owner, joining } => join::revert(slice, &owner, joining),
        Command::SettleJoined { owner, settlement } => join::settle(slice, &owner, settlement, now),
        Command::Abort { submission, intent } => progress::abort(slice, submission, intent),
        Command::MarkUnknown { owner, doubts } => unknown::mark(slice, &owner, &doubts, now),
        Command::Resolve { submission, doubt, intent } => {
            unknown::resolve(slice, submission, doubt, intent)
        }
        Command::CoverUnknown { owner, doubts } => unknown::cover(slice, &owner, &doubts),
        Command::Suspend { owner, requests } => approval::suspend(slice, &owner, requests, now),
        Command::Decide { submission, request, intent } => {
            approval::decide(slice, submission, request, intent, now)
        }
        Command::Expire { owner, requests } => approval::expire(slice, &owner, &requests, now),
        Command::CoverApprovals { owner, requests } => approval::cover(slice, &owner, &requests),
        Command::Retry { submission, intent } => retry::retry(slice, submission, intent, now),
        Command::Incompatible { submission, epoch, mismatch, by } => {
            compat::report(slice, (submission, epoch), mismatch, by, now)
        }
        Command::Rebind { submission, intent } => compat::rebind(slice, submission, intent),
        Command::CoverIncompatible { owner } => compat::cover(slice, &owner),
        Command::Reserve { owner, reserved } => settlement::reserve(slice, &owner, reserved),
        Command::Finalize { owner, settlement } => {
            settlement::finalize(slice, &owner, settlement, now)
        }
    }
}

/// The changes to write: the stamp moves with every change and only with one.
fn changes(
    held: &Lane,
    lane: Option<Lane>,
    rows: [Option<Row>; 2],
    now: Timestamp,
) -> impl Iterator<Item = Change> + use<> {
    let written = rows.iter().any(Option::is_some);
    let touched = lane.is_some() || (written && held.stamp < now);
    let lane = touched.then(|| Lane { stamp: now, ..lane.unwrap_or_else(|| held.clone()) });
    let rows = rows.into_iter().flatten().map(|row| Change::Row(Arc::new(row)));
    lane.map(Change::Lane).into_iter().chain(rows)
}

/// The lane's owner and its row.
struct Owned<'a> {
    owner: &'a Owner,
    row: &'a Row,
}

/// The gate of every owner's command: token, submission and epoch are those of the last claim
/// (DUR-006). It comes before every other rule, so a superseded owner learns nothing else.
fn owned<'a>(slice: &'a Slice, claim: &Ownership) -> Result<Owned<'a>, Refusal> {
    let lost = Refusal::OwnershipLost { actual: slice.lane.epoch };
    let owner = slice.lane.owner.as_ref().ok_or(lost)?;
    if (owner.token, owner.submission, slice.lane.epoch)
        != (claim.token, claim.submission, claim.epoch)
    {
        return Err(lost);
    }
    Ok(Owned { owner, row: row(slice, claim.submission)? })
}

fn row(slice: &Slice, submission: SubmissionId) -> Result<&Row, Refusal> {
    slice.row(submission).map(|row| &**row).ok_or(Refusal::NoSuchSubmission)
}

/// Whether a row has begun and is not closing: only such a one is parked.
fn runs(row: &Row) -> Result<(), Refusal> {
    match &row.phase {
        Phase::Settled(_) => Err(Refusal::AlreadySettled),
        Phase::Terminalizing(_) => Err(Refusal::RunClosing),
        Phase::Admitted | Phase::Ready => Err(Refusal::NotRunning),
        Phase::Joining { host } | Phase::Joined { host } => Err(Refusal::HasJoined { host: *host }),
        Phase::Running(_) | Phase::Unknown | Phase::Suspended => Ok(()),
    }
}
