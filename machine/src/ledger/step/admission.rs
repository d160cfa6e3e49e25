//! Into the lane: admitted at its end, and ready once the conversation is durable (DUR-001).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Decided, row};
use crate::identity::{AdmissionSequence, SubmissionId, Timestamp};
use crate::ledger::compat::Compat;
use crate::ledger::input::Admission;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::retry::Chain;
use crate::ledger::slice::Slice;
use crate::ledger::state::{InputMarker, Lane, Phase, Row};

/// One key is one submission: the same payload gets the same place, another one a conflict.
pub(super) fn admit(
    slice: &Slice,
    admission: Arc<Admission>,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    // It comes before every other rule: whose conversation it is, is all that anybody else learns.
    if slice.lane.tenant.as_ref().is_some_and(|own| *own != admission.tenant) {
        return Err(Refusal::OtherTenant);
    }
    if let Some(there) = slice.row(admission.submission) {
        return if there.admission.payload == admission.payload {
            Ok(Decided::unchanged(Reply::Admitted(there.sequence)))
        } else {
            Err(Refusal::IdempotencyConflict)
        };
    }
    if let Some(host) = admission.steers {
        may_steer(row(slice, host)?, &admission)?;
    }
    let (sequence, tenant) = (slice.lane.next, Some(admission.tenant.clone()));
    let new = Some(fresh(admission, sequence, now));
    let lane = Some(Lane { next: sequence.next(), tenant, ..slice.lane.clone() });
    Ok(Decided { lane, row: None, new, reply: Reply::Admitted(sequence) })
}

/// A row before anything has happened to it.
pub(super) fn fresh(
    admission: Arc<Admission>,
    sequence: AdmissionSequence,
    admitted_at: Timestamp,
) -> Row {
    Row {
        admission,
        sequence,
        admitted_at,
        claims: 0,
        fruitless: Vec::new(),
        phase: Phase::Admitted,
        abort: None,
        marks: Vec::new(),
        approvals: Vec::new(),
        chain: Chain::default(),
        compat: Compat::default(),
    }
}

/// Something can be said to a run from its claim until its settlement is reserved (RUN-012). If it
/// does not ask its model again, what was said is a submission like any other, in its place.
fn may_steer(host: &Row, admission: &Admission) -> Result<(), Refusal> {
    match &host.phase {
        Phase::Settled(_) => Err(Refusal::AlreadySettled),
        Phase::Terminalizing(_) => Err(Refusal::RunClosing),
        Phase::Joining { host } | Phase::Joined { host } => Err(Refusal::HasJoined { host: *host }),
        Phase::Admitted | Phase::Ready => Err(Refusal::NotRunning),
        _ if host.abort.is_some() => Err(Refusal::AbortIntended),
        Phase::Running(_) | Phase::Unknown | Phase::Suspended => {
            let fits = host.admission.agent == admission.agent;
            fits.then_some(()).ok_or(Refusal::ForeignRun)
        }
    }
}

/// Needs no ownership: whoever made the conversation durable says so. An attempt that finds the
/// admission unfinished says it for its own row, which then runs at once, unless somebody wants it
/// to end: an errand does not begin to run.
pub(super) fn ready(slice: &Slice, submission: SubmissionId) -> Result<Decided, Refusal> {
    let row = row(slice, submission)?;
    let phase = match &row.phase {
        Phase::Admitted => {
            let owner = slice.lane.owner.as_ref();
            let runs = owner.is_some_and(|owner| owner.submission == submission);
            if runs && row.abort.is_none() {
                Phase::Running(InputMarker::Missing)
            } else {
                Phase::Ready
            }
        }
        Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_)
        | Phase::Settled(_) => return Ok(Decided::unchanged(Reply::Ready)),
    };
    Ok(Decided::row(Row { phase, ..row.clone() }, Reply::Ready))
}
