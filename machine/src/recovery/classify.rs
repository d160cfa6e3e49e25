//! The table, row by row. The first match wins.

use alloc::vec::Vec;

use super::approval;
use super::compat;
use super::decision::{AbortStep, Classified, Decision};
use super::evidence::{Evidence, Log, OwnKnowledge};
use super::joining;
use crate::identity::Epoch;
use crate::ledger::{AbortIntent, InputMarker, Mark, MarkState, Phase, ResolutionIntent, Row};
use crate::limits::FRUITLESS_CLAIMS;
use crate::projection::SubmissionView;
use crate::record::Doubt;

/// Decides the one next thing to do about a submission. Total and pure (DUR-013).
#[must_use]
pub fn classify(evidence: &Evidence<'_>) -> Classified {
    let Evidence { row, log, own, now, .. } = evidence;
    let empty = SubmissionView::default();
    let view = match log {
        Log::Missing | Log::Silent => &empty,
        Log::Speaks(view) => view,
    };
    let other = compat::mismatch(evidence, view);
    let is_over = other.is_some_and(|it| row.compat.is_over(&it, *now));
    let judge = match (other, is_over) {
        (None, _) => Judge::Everything,
        (Some(_), true) => Judge::Starts,
        (Some(_), false) => Judge::Nothing,
    };
    let (row, decision) = settled(row, view)
        .or_else(|| joining::unfinished(evidence))
        .or_else(|| joining::settled(evidence, view))
        .or_else(|| joining::elsewhere(row))
        .or_else(|| closing(row, view))
        .or_else(|| row.abort.as_ref().map(|intent| (6, abort(row, view, intent))))
        .or_else(|| compat::fits(evidence, other.as_ref()))
        .or_else(|| doubtful(row, view, own, judge))
        .or_else(|| compat::waits(evidence, other))
        .or_else(|| approval::undecided(row, view, *now))
        .or_else(|| compat::outlived(evidence, view, other))
        .or_else(|| poison(row, view))
        .or_else(|| unfinished_batch(view))
        .or_else(|| not_started(row, log, view))
        .unwrap_or((18, Decision::ResumeTurn));
    Classified { row, decision }
}

/// The matching row and its decision, if the row matches.
pub(super) type Match = Option<(u8, Decision)>;

/// Row 1: the row is settled. What is left is to record what people said about its doubts.
fn settled(row: &Row, view: &SubmissionView) -> Match {
    let Phase::Settled(_) = row.phase else { return None };
    let decision = cover(row, view).or_else(|| {
        let intents = intents(row, view);
        (!intents.is_empty()).then_some(Decision::ApplyResolutions(intents))
    });
    Some((1, decision.unwrap_or(Decision::Nothing)))
}

/// Rows 2 and 3: the outcome is fixed.
fn closing(row: &Row, view: &SubmissionView) -> Match {
    if let Some(settlement) = view.settled {
        return Some((2, Decision::FinalizeFromHistory(settlement)));
    }
    match &row.phase {
        Phase::Terminalizing(reserved) => Some((3, Decision::AppendReserved(reserved.clone()))),
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Settled(_) => None,
    }
}

/// Row 6: somebody wants it to end. Nothing is started any more, and nothing is asked.
fn abort(row: &Row, view: &SubmissionView, intent: &AbortIntent) -> Decision {
    let doubts: Vec<Doubt> = view.open_starts().map(|(doubt, _)| doubt).collect();
    let decided = approval::aborted(row, view);
    if view.abort.is_none() || !doubts.is_empty() || !decided.is_empty() {
        let request = view.abort.is_none().then(|| intent.clone());
        return Decision::SettleAborted(AbortStep::Audit { request, doubts, decided });
    }
    let unmarked = unmarked(row, view);
    Decision::SettleAborted(if unmarked.is_empty() {
        AbortStep::Reserve
    } else {
        AbortStep::Mark(unmarked)
    })
}

/// What may be judged of doubts. Whoever has another binding than the run knows nothing of its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    /// What the definition and people say of them.
    Everything,
    /// That nobody will say anything of open starts any more.
    Starts,
    /// Nothing.
    Nothing,
}

/// Rows 7 to 9: what may have happened is found out, or waited for, before anything else starts.
fn doubtful(row: &Row, view: &SubmissionView, own: &OwnKnowledge, judge: Judge) -> Match {
    let open = view.open_starts().map(|(doubt, _)| doubt);
    let open: Vec<Doubt> =
        open.filter(|it| !own.in_flight.contains(it) && !own.excused.contains(it)).collect();
    if !open.is_empty() && judge != Judge::Nothing {
        return Some((7, Decision::Reconcile(open)));
    }
    let unmarked = unmarked(row, view);
    if !unmarked.is_empty() {
        return Some((8, Decision::EnsureUnknown(unmarked)));
    }
    if let Some(covered) = cover(row, view) {
        return Some((8, covered));
    }
    view.doubts().next()?;
    let intents = intents(row, view);
    if intents.len() < view.doubts().count() {
        return Some((9, Decision::AwaitResolution));
    }
    (judge == Judge::Everything).then_some((9, Decision::ApplyResolutions(intents)))
}

/// Row 19, which stands before row 14: as many owners in a row as there may be have died without
/// getting it anywhere (DUR-018). What may have happened goes first: an open start that is excused
/// is started again, until it is unknown or done.
fn poison(row: &Row, view: &SubmissionView) -> Match {
    let in_vain = |epoch: &&Epoch| view.productive.is_none_or(|productive| productive < **epoch);
    let is_spent = row.fruitless.iter().filter(in_vain).count() >= FRUITLESS_CLAIMS;
    let is_open = view.open_starts().next().is_some();
    let runs = row.phase == Phase::Running(InputMarker::Applied);
    (is_spent && runs && !is_open).then_some((19, Decision::GiveUp))
}

/// Row 14: the model has spoken and some of its calls have no result.
fn unfinished_batch(view: &SubmissionView) -> Match {
    let calls = view.run.iter().flat_map(|run| run.unsettled_calls());
    let calls: Vec<_> = calls.map(|call| call.id).collect();
    (!calls.is_empty()).then_some((14, Decision::ResumeBatch(calls)))
}

/// Rows 15 to 17: the beginning of a submission.
fn not_started(row: &Row, log: &Log<'_>, view: &SubmissionView) -> Match {
    match (log, &row.phase) {
        (Log::Missing, _) => Some((15, Decision::Materialize)),
        (_, Phase::Admitted) => Some((15, Decision::RepairReadiness)),
        _ if view.run.is_none() => Some((16, Decision::ApplyInput)),
        (_, Phase::Ready | Phase::Running(InputMarker::Missing)) => {
            Some((17, Decision::RepairInputMarker))
        }
        _ => None,
    }
}

fn mark(row: &Row, doubt: Doubt) -> Option<&Mark> {
    row.marks.iter().find(|mark| mark.doubt == doubt)
}

/// Canonical, unresolved doubts that the row does not know of.
fn unmarked(row: &Row, view: &SubmissionView) -> Vec<Doubt> {
    view.doubts().filter(|doubt| mark(row, *doubt).is_none()).collect()
}

/// Canonical resolutions that the row does not know of.
fn cover(row: &Row, view: &SubmissionView) -> Option<Decision> {
    let is_intended = |doubt: &Doubt| {
        matches!(mark(row, *doubt), Some(Mark { state: MarkState::Intended(_), .. }))
    };
    let covered: Vec<Doubt> = view.resolved().filter(is_intended).collect();
    (!covered.is_empty()).then_some(Decision::CoverUnknown(covered))
}

/// What people said about canonical, unresolved doubts.
fn intents(row: &Row, view: &SubmissionView) -> Vec<(Doubt, ResolutionIntent)> {
    let intent = |doubt| match &mark(row, doubt)?.state {
        MarkState::Intended(intent) => Some((doubt, intent.clone())),
        MarkState::Open | MarkState::Closed(_) => None,
    };
    view.doubts().filter_map(intent).collect()
}
