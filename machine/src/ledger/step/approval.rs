//! Requests for approval: the owner suspends the row for them, people decide, and the owner covers
//! what has become canonical (CAP-006, AUTH-14).
//!
//! A request has one mark for ever. Its time is the store's. A clock may go back, so an owner that
//! finds a request expired says so first: from then on nobody can decide it, and who was earlier
//! after all is heard.

use alloc::vec::Vec;

use super::{Decided, owned, row, runs};
use crate::identity::{ApprovalId, SubmissionId, Timestamp};
use crate::ledger::approval::{ApprovalMark, ApprovalState, DecisionIntent, Suspension};
use crate::ledger::input::Ownership;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{InputMarker, Phase, Row};

/// Parks the row until every request is decided or expired. The marks there are stay as they are.
pub(super) fn suspend(
    slice: &Slice,
    owner: &Ownership,
    requests: Vec<Suspension>,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.row;
    runs(held)?;
    if held.phase == Phase::Unknown {
        return Err(Refusal::UnknownOpen);
    }
    let mut row = held.clone();
    for Suspension { request, expiry, approver } in requests {
        if let Err(place) = place_of(&row, request) {
            let expires_at = expiry.map(|expiry| now.after(expiry));
            let state = ApprovalState::Open;
            let mark = ApprovalMark { request, since: now, expires_at, approver, state };
            row.approvals.insert(place, mark);
        }
    }
    if row.approvals.len() == held.approvals.len() {
        return Ok(Decided::unchanged(Reply::Suspended));
    }
    row.phase = Phase::Suspended;
    Ok(Decided::row(row, Reply::Suspended))
}

/// Whoever may decide a request does so once; who says the same again is answered as the first
/// time.
pub(super) fn decide(
    slice: &Slice,
    submission: SubmissionId,
    request: ApprovalId,
    intent: DecisionIntent,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let held = row(slice, submission)?;
    let place = place_of(held, request).map_err(|_| Refusal::NoSuchApproval)?;
    let mark = &held.approvals[place];
    match &mark.state {
        ApprovalState::Intended(first) | ApprovalState::Closed(Some(first)) => {
            return if first.verdict == intent.verdict && first.principal == intent.principal {
                Ok(Decided::unchanged(Reply::Decided))
            } else {
                Err(Refusal::AlreadyDecided { verdict: first.verdict })
            };
        }
        ApprovalState::Expired | ApprovalState::Closed(None) => {
            return Err(Refusal::ApprovalExpired);
        }
        ApprovalState::Open => {}
    }
    match &held.phase {
        Phase::Settled(_) => return Err(Refusal::AlreadySettled),
        Phase::Terminalizing(_) => return Err(Refusal::RunClosing),
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended => {}
    }
    if held.abort.is_some() {
        return Err(Refusal::AbortIntended);
    }
    if mark.is_expired(now) {
        return Err(Refusal::ApprovalExpired);
    }
    if mark.approver.as_ref().is_some_and(|approver| *approver != intent.principal) {
        return Err(Refusal::NotTheApprover);
    }
    if !intent.is_bounded() {
        return Err(Refusal::TooLong);
    }
    let mut row = held.clone();
    row.approvals[place].state = ApprovalState::Intended(intent);
    Ok(Decided::row(row, Reply::Decided))
}

/// Closes requests whose time is over. Whoever has decided one in time is heard: then nothing
/// changes, and the owner reads again.
pub(super) fn expire(
    slice: &Slice,
    owner: &Ownership,
    requests: &[ApprovalId],
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.row;
    let mut row = held.clone();
    for request in requests {
        let place = place_of(held, *request).map_err(|_| Refusal::NoSuchApproval)?;
        let mark = &mut row.approvals[place];
        match &mark.state {
            ApprovalState::Open if mark.is_expired(now) => mark.state = ApprovalState::Expired,
            ApprovalState::Open => {
                let until = mark.expires_at.unwrap_or(Timestamp(u64::MAX));
                return Err(Refusal::NotExpired { until });
            }
            ApprovalState::Intended(intent) | ApprovalState::Closed(Some(intent)) => {
                return Err(Refusal::AlreadyDecided { verdict: intent.verdict });
            }
            ApprovalState::Expired | ApprovalState::Closed(None) => {}
        }
    }
    if row.approvals == held.approvals {
        return Ok(Decided::unchanged(Reply::Expired));
    }
    Ok(Decided::row(row, Reply::Expired))
}

/// The decisions are in the log. All of them or none.
pub(super) fn cover(
    slice: &Slice,
    owner: &Ownership,
    requests: &[ApprovalId],
) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.row;
    let mut row = held.clone();
    for request in requests {
        let place = place_of(held, *request).map_err(|_| Refusal::NoSuchApproval)?;
        let state = &mut row.approvals[place].state;
        match state {
            ApprovalState::Open | ApprovalState::Expired => *state = ApprovalState::Closed(None),
            ApprovalState::Intended(intent) => {
                *state = ApprovalState::Closed(Some(intent.clone()));
            }
            ApprovalState::Closed(_) => {}
        }
    }
    if row.approvals == held.approvals {
        return Ok(Decided::unchanged(Reply::ApprovalsCovered));
    }
    if row.phase == Phase::Suspended && row.approvals.iter().all(ApprovalMark::is_closed) {
        row.phase = Phase::Running(InputMarker::Applied);
    }
    Ok(Decided::row(row, Reply::ApprovalsCovered))
}

fn place_of(row: &Row, request: ApprovalId) -> Result<usize, usize> {
    row.approvals.binary_search_by_key(&request, |mark| mark.request)
}
