//! Rows 4 and 5: what has joined the run, or was about to (DUR-016).
//!
//! They stand before rows 2 and 3: a host is not settled before what has joined it.

use alloc::vec::Vec;

use super::classify::Match;
use super::decision::Decision;
use super::evidence::Evidence;
use crate::identity::SubmissionId;
use crate::ledger::{Phase, Row};
use crate::projection::SubmissionView;

/// Row 4: a row was being taken in. The log says whether it was: then the row is marked, and
/// otherwise it waits again.
pub(super) fn unfinished(evidence: &Evidence<'_>) -> Match {
    let host = evidence.row.admission.submission;
    let is_joining = |row: &&Row| matches!(row.phase, Phase::Joining { host: it } if it == host);
    let joining = evidence.attached.iter().map(|row| &**row).filter(is_joining);
    let joining: Vec<SubmissionId> = joining.map(|row| row.admission.submission).collect();
    let is_canonical = |id: &SubmissionId| {
        evidence.fold.submission(*id).is_some_and(|view| view.joined == Some(host))
    };
    let (joined, reverted): (Vec<_>, Vec<_>) = joining.into_iter().partition(is_canonical);
    if !joined.is_empty() {
        return Some((4, Decision::RepairJoin(joined)));
    }
    (!reverted.is_empty()).then_some((4, Decision::RevertJoin(reverted)))
}

/// Row 5: the log says how the run ended, for everything that has joined it.
pub(super) fn settled(evidence: &Evidence<'_>, view: &SubmissionView) -> Match {
    view.settled?;
    let host = evidence.row.admission.submission;
    let attached = evidence.attached.iter().filter(|row| row.host() == Some(host));
    let settled =
        attached.filter_map(|row| evidence.fold.submission(row.admission.submission)?.settled);
    let settled: Vec<_> = settled.collect();
    (!settled.is_empty()).then_some((5, Decision::SettleJoined(settled)))
}

/// Row 5, of a row that has joined: it is its host's to end.
pub(super) fn elsewhere(row: &Row) -> Match {
    row.host().map(|_| (5, Decision::AwaitHost))
}
