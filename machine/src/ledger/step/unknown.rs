//! Unknown outcomes: marked by the owner, spoken on by people, covered by the owner (DUR-017).
//!
//! A doubt is marked once and for all. Marking it again does nothing, also when it is closed:
//! the start it belongs to is over and cannot come into doubt a second time, while a later start
//! of the same call is another doubt with a mark of its own. So a late repetition never reopens
//! what is canonically closed.

use super::{Decided, owned, row, runs};
use crate::identity::{SubmissionId, Timestamp};
use crate::ledger::approval::ApprovalMark;
use crate::ledger::input::Ownership;
use crate::ledger::output::{Refusal, Reply};
use crate::ledger::slice::Slice;
use crate::ledger::state::{InputMarker, Mark, MarkState, Phase, ResolutionIntent, Row};
use crate::record::Doubt;

/// Parks the row until every doubt is spoken on. The marks there are stay as they are.
pub(super) fn mark(
    slice: &Slice,
    owner: &Ownership,
    doubts: &[Doubt],
    now: Timestamp,
) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.row;
    runs(held)?;
    let mut row = held.clone();
    for doubt in doubts {
        if let Err(place) = row.marks.binary_search_by_key(doubt, |mark| mark.doubt) {
            let mark = Mark { doubt: *doubt, since: now, state: MarkState::Open };
            row.marks.insert(place, mark);
        }
    }
    if row.marks.len() == held.marks.len() {
        return Ok(Decided::unchanged(Reply::UnknownMarked));
    }
    row.phase = Phase::Unknown;
    Ok(Decided::row(row, Reply::UnknownMarked))
}

/// Anyone may speak on a doubt, once; who says the same again is answered as the first time. It
/// makes no difference how the row itself has ended: its obligation outlives it.
pub(super) fn resolve(
    slice: &Slice,
    submission: SubmissionId,
    doubt: Doubt,
    intent: ResolutionIntent,
) -> Result<Decided, Refusal> {
    let held = row(slice, submission)?;
    let place = place_of(held, doubt)?;
    if !intent.is_bounded() {
        return Err(Refusal::TooLong);
    }
    match &held.marks[place].state {
        MarkState::Open => {
            let mut row = held.clone();
            row.marks[place].state = MarkState::Intended(intent);
            Ok(Decided::row(row, Reply::Resolved))
        }
        MarkState::Intended(first) | MarkState::Closed(first) => {
            if first.resolution == intent.resolution {
                Ok(Decided::unchanged(Reply::Resolved))
            } else {
                Err(Refusal::ResolutionConflict)
            }
        }
    }
}

/// The resolutions are in the log. All of them or none: one doubt that nobody spoke on, or that
/// was never marked, refuses the whole command.
pub(super) fn cover(
    slice: &Slice,
    owner: &Ownership,
    doubts: &[Doubt],
) -> Result<Decided, Refusal> {
    let held = owned(slice, owner)?.row;
    let mut row = held.clone();
    for doubt in doubts {
        let place = place_of(held, *doubt)?;
        match &held.marks[place].state {
            MarkState::Open => return Err(Refusal::UnknownOpen),
            MarkState::Intended(intent) => {
                row.marks[place].state = MarkState::Closed(intent.clone());
            }
            MarkState::Closed(_) => {}
        }
    }
    if row.marks == held.marks {
        return Ok(Decided::unchanged(Reply::UnknownCovered));
    }
    if row.phase == Phase::Unknown && !row.is_doubtful() {
        let decided = row.approvals.iter().all(ApprovalMark::is_closed);
        row.phase = if decided { Phase::Running(InputMarker::Applied) } else { Phase::Suspended };
    }
    Ok(Decided::row(row, Reply::UnknownCovered))
}

fn place_of(row: &Row, doubt: Doubt) -> Result<usize, Refusal> {
    row.marks
        .binary_search_by_key(&doubt, |mark: &Mark| mark.doubt)
        .map_err(|_| Refusal::NoSuchDoubt)
}
