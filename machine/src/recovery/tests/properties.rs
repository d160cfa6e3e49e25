//! Any row beside any log: the classifier is total, and what it may never say it never says.

use alloc::collections::BTreeSet;
use core::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::compat::other;
use super::*;
use crate::agent::Bound;
use crate::identity::{DurationMs, PrincipalId, ProducerId};
use crate::ledger::{Compat, Incompatible, Mismatch, RebindIntent};
use crate::limits::INCOMPATIBLE_MS;
use crate::projection::SubmissionView;
use crate::testkit::walk::{Say, says};

/// When rows are read here: a run that was met with another binding at [`NOW`] has waited enough.
const LATER: Timestamp = NOW.after(DurationMs(INCOMPATIBLE_MS));

/// What is chosen of a row, before it is known which doubts there are.
#[derive(Clone, Debug)]
struct Chosen {
    says: Vec<Say>,
    exists: bool,
    phase: u8,
    abort: bool,
    marks: Vec<u8>,
    in_flight: Vec<bool>,
    excused: Vec<bool>,
    /// Whether what is at hand is what most runs are bound to, and what the row knows of it.
    fits: bool,
    met: u8,
}

fn chosen() -> impl Strategy<Value = Chosen> {
    let seldom = || prop::bool::weighted(0.2);
    let flags = move || prop::collection::vec(seldom(), 12);
    let row = (prop::bool::weighted(0.95), 0..8_u8, seldom());
    let binding = (prop::bool::weighted(0.8), 0..8_u8);
    (says(1), row, prop::collection::vec(0..5_u8, 12), flags(), flags(), binding).prop_map(
        |(says, (exists, phase, abort), marks, in_flight, excused, (fits, met))| Chosen {
            says,
            exists,
            phase,
            abort,
            marks,
            in_flight,
            excused,
            fits,
            met,
        },
    )
}

/// The evidence: a row, a log and own knowledge, which need not agree with each other.
struct Case {
    row: Row,
    story: Story,
    own: OwnKnowledge,
    bound: Bound,
}

impl Case {
    fn of(chosen: &Chosen) -> Self {
        let mut story = Story::of(&chosen.says);
        if !chosen.exists {
            story.fold = Projection::default();
        }
        let view = story.fold.submission(ONE.submission());
        let starts: Vec<Doubt> = view.into_iter().flat_map(every_start).collect();
        let picked = |flags: &[bool]| {
            let starts = starts.iter().zip(flags).filter(|(_, flag)| **flag);
            starts.map(|(start, _)| *start).collect()
        };
        let own =
            OwnKnowledge { in_flight: picked(&chosen.in_flight), excused: picked(&chosen.excused) };
        let marks = starts.iter().zip(&chosen.marks).filter_map(|(start, how)| match how {
            0 => Some(open(*start)),
            1 => Some(intended(*start, Resolution::NeverStarted)),
            2 => Some(closed(*start, Resolution::NeverStarted)),
            _ => None,
        });
        let phase = match chosen.phase {
            0 => Phase::Admitted,
            1 => Phase::Ready,
            2 => CLAIMED,
            3 => Phase::Unknown,
            4 => Phase::Terminalizing(reserved(Settlement::Aborted)),
            5 => settled(&aborted_in_doubt()),
            _ => RUNNING,
        };
        let mut row = marked(phase, marks.collect());
        row.marks.sort_by_key(|mark| mark.doubt);
        row.abort = chosen.abort.then(abort);
        let bound = if chosen.fits { binding().bound() } else { other() };
        let run = view.and_then(|view| view.run.as_ref()).map(|run| (run.bound_at, run.bound));
        if let Some((at, expected)) = run {
            row.compat = known(chosen.met, Mismatch { at, expected, found: bound });
        }
        Self { row, story, own, bound }
    }

    fn decide(&self) -> Classified {
        let (fold, own) = (&self.story.fold, &self.own);
        classify(&Evidence::gather(&self.row, &[], fold, own, &self.bound, LATER))
    }

    /// Whether its run is bound to something else than what is at hand.
    fn is_of_others(&self) -> bool {
        let view = self.story.fold.submission(ONE.submission());
        view.and_then(|view| view.run.as_ref()).is_some_and(|run| run.bound != self.bound)
    }

    /// Starts that may have happened, as far as anybody here knows.
    fn in_doubt(&self) -> usize {
        let Some(view) = self.story.fold.submission(ONE.submission()) else { return 0 };
        let known = |it: &Doubt| self.own.in_flight.contains(it) || self.own.excused.contains(it);
        let open = view.open_starts().filter(|(start, _)| !known(start)).count();
        open + view.doubts().count()
    }
}

/// What a row knows of bindings: nothing, the mismatch since now or since long, or that somebody wants
/// the run to go on nevertheless.
fn known(met: u8, mismatch: Mismatch) -> Compat {
    let since = |since| {
        let by = ProducerId::new("worker-2").unwrap();
        Compat { incompatible: Some(Incompatible { mismatch, by, since }), rebind: None }
    };
    let (principal, reason) = (PrincipalId::new("ada").unwrap(), "no harm".into());
    let intent = RebindIntent { replaces: mismatch.at, to: mismatch.found, principal, reason };
    match met {
        0 => since(LATER),
        1 => since(NOW),
        2 => Compat { rebind: Some(intent), ..since(LATER) },
        _ => Compat::default(),
    }
}

fn every_start(view: &SubmissionView) -> impl Iterator<Item = Doubt> {
    view.calls().flat_map(|call| {
        call.starts.iter().map(|start| Doubt { call: call.id, start: start.epoch })
    })
}

/// The rows of the table that a decision can come from.
fn rows_of(decision: &Decision) -> &'static [u8] {
    match decision {
        Decision::Nothing => &[1],
        Decision::ApplyResolutions(_) => &[1, 9],
        Decision::CoverUnknown(_) => &[1, 8],
        Decision::FinalizeFromHistory(_) => &[2],
        Decision::RepairJoin(_) | Decision::RevertJoin(_) => &[4],
        Decision::SettleJoined(_) | Decision::AwaitHost => &[5],
        Decision::AppendReserved(_) => &[3],
        Decision::SettleAborted(_) => &[6],
        Decision::Reconcile(_) => &[7],
        Decision::EnsureUnknown(_) => &[8],
        Decision::AwaitResolution => &[9],
        Decision::EnsureSuspended(_) => &[13],
        Decision::ExpireApprovals(_)
        | Decision::DecideApprovals(_)
        | Decision::CoverApprovals(_)
        | Decision::AwaitApproval => &[12],
        Decision::Incompatible(_)
        | Decision::Rebind(..)
        | Decision::CoverIncompatible
        | Decision::EndIncompatible(_) => &[10],
        Decision::GiveUp => &[19],
        Decision::ResumeBatch(_) => &[14],
        Decision::Materialize | Decision::RepairReadiness => &[15],
        Decision::ApplyInput => &[16],
        Decision::RepairInputMarker => &[17],
        Decision::ResumeTurn => &[18],
    }
}

fn names_something(decision: &Decision) -> bool {
    match decision {
        Decision::ApplyResolutions(them) => !them.is_empty(),
        Decision::CoverUnknown(them)
        | Decision::Reconcile(them)
        | Decision::EnsureUnknown(them)
        | Decision::SettleAborted(AbortStep::Mark(them)) => !them.is_empty(),
        Decision::SettleAborted(AbortStep::Audit { request, doubts, decided }) => {
            request.is_some() || !doubts.is_empty() || !decided.is_empty()
        }
        Decision::EnsureSuspended(them) => !them.is_empty(),
        Decision::DecideApprovals(them) => !them.is_empty(),
        Decision::ExpireApprovals(them) | Decision::CoverApprovals(them) => !them.is_empty(),
        Decision::ResumeBatch(calls) => !calls.is_empty(),
        Decision::RepairJoin(them) | Decision::RevertJoin(them) => !them.is_empty(),
        Decision::SettleJoined(them) => !them.is_empty(),
        Decision::SettleAborted(AbortStep::Reserve)
        | Decision::Nothing
        | Decision::FinalizeFromHistory(_)
        | Decision::AppendReserved(_)
        | Decision::AwaitResolution
        | Decision::AwaitApproval
        | Decision::AwaitHost
        | Decision::Incompatible(_)
        | Decision::Rebind(..)
        | Decision::CoverIncompatible
        | Decision::EndIncompatible(_)
        | Decision::Materialize
        | Decision::RepairReadiness
        | Decision::ApplyInput
        | Decision::RepairInputMarker
        | Decision::GiveUp
        | Decision::ResumeTurn => true,
    }
}

fn check(case: &Case) -> u8 {
    let Classified { row, decision } = case.decide();
    assert_eq!(case.decide(), classified(row, decision.clone()), "the same evidence, twice");
    assert!(rows_of(&decision).contains(&row), "{decision:?} from row {row}");
    assert!(names_something(&decision), "{decision:?}");
    let goes_on =
        matches!(decision, Decision::ResumeBatch(_) | Decision::ResumeTurn | Decision::GiveUp);
    if goes_on || matches!(decision, Decision::EndIncompatible(_)) {
        assert_eq!(case.in_doubt(), 0, "DUR-009: {decision:?}");
        assert_eq!(case.row.abort, None, "DUR-012: {decision:?}");
    }
    let judges = matches!(decision, Decision::ApplyResolutions(_)) && row == 9;
    if case.is_of_others() {
        assert!(!goes_on && !judges, "CR-05: {decision:?} under another binding");
    }
    let ended = matches!(case.row.phase, Phase::Settled(_));
    assert_eq!(ended, row == 1, "DUR-002: {decision:?}");
    let view = case.story.fold.submission(ONE.submission());
    let canonical = view.is_some_and(|view| view.settled.is_some());
    assert_eq!(!ended && canonical, row == 2, "DUR-011: {decision:?}");
    row
}

#[test]
fn dur_013_any_evidence_has_one_decision_and_nothing_in_doubt_is_run() {
    let seen = RefCell::new(BTreeSet::new());
    let config =
        ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() };
    let rng = TestRunner::deterministic().new_rng();
    let mut runner = TestRunner::new_with_rng(config, rng);
    runner
        .run(&chosen(), |chosen| {
            seen.borrow_mut().insert(check(&Case::of(&chosen)));
            Ok(())
        })
        .unwrap();
    // A property that never met a row says nothing of it.
    let rows = BTreeSet::from([1, 2, 3, 6, 7, 8, 9, 10, 14, 15, 16, 17, 18]);
    assert_eq!(seen.into_inner(), rows);
}
