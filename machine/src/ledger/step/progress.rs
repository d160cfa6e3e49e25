//! What is known of a run: that its input is canonical, and that somebody wants it to end.

use super::{Decided, owned, row};
use crate::identity::SubmissionId;
use crate::ledger::input::Ownership;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{AbortIntent, InputMarker, Phase, Row};
use crate::limits::TEXT_BYTES;

/// A marker only: whether the input is canonical is for the log to say, and recovery repairs the
/// marker from it.
pub(super) fn mark_input(slice: &Slice, owner: &Ownership) -> Result<Decided, Refusal> {
    let row = owned(slice, owner)?.row;
    match &row.phase {
        Phase::Admitted | Phase::Ready => Err(Refusal::NotRunning),
        Phase::Running(InputMarker::Missing) => {
            let phase = Phase::Running(InputMarker::Applied);
            Ok(Decided::row(Row { phase, ..row.clone() }, Reply::InputMarked))
        }
        Phase::Running(InputMarker::Applied)
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_)
        | Phase::Settled(_) => Ok(Decided::unchanged(Reply::InputMarked)),
        Phase::Joining { host } | Phase::Joined { host } => Err(Refusal::HasJoined { host: *host }),
    }
}

/// The first intent stands and is the answer to every later one, also when the row has ended
/// meanwhile; an outcome that is fixed already is not rewritten (DUR-012). What has joined a run
/// ends with it; what is joining may still be given back, so the intent stands on it until then.
pub(super) fn abort(
    slice: &Slice,
    submission: SubmissionId,
    intent: AbortIntent,
) -> Result<Decided, Refusal> {
    let row = row(slice, submission)?;
    if let Some(first) = &row.abort {
        return Ok(Decided::unchanged(Reply::AbortIntended(first.clone())));
    }
    if intent.reason.len() > TEXT_BYTES {
        return Err(Refusal::TooLong);
    }
    match &row.phase {
        Phase::Settled(_) => Err(Refusal::AlreadySettled),
        Phase::Terminalizing(_) => Err(Refusal::RunClosing),
        Phase::Joined { host } => Err(Refusal::HasJoined { host: *host }),
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Unknown
        | Phase::Suspended => {
            let abort = Some(intent.clone());
            Ok(Decided::row(Row { abort, ..row.clone() }, Reply::AbortIntended(intent)))
        }
    }
}
