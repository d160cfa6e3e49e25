//! What a row repeats of the log can be had from the log alone, and recovery brings it up to date.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Agreement, InputMarker, Mark, MarkState, Markers, Phase, Row, Settled};
use super::{agreement, rebuild};
use crate::agent::Resolution;
use crate::digest::Digest;
use crate::identity::{Epoch, SubmissionId, Timestamp};
use crate::ledger::Reserved;
use crate::record::{Doubt, Outcome, Record, Settlement};
use crate::testkit::story::{Story, Tale, completed, failed, intent};
use crate::testkit::walk::{TALES, says};

const ONE: Tale = Tale("1");
const TWO: Tale = Tale("2");
const RUNNING: Phase = Phase::Running(InputMarker::Applied);

/// A log whose two ordinary calls are prepared.
fn prepared() -> Story {
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["pay", "pay"])]);
    story.tell([0, 1].map(|index| ONE.prepared(start(index), "pay")))
}

fn start(index: usize) -> Doubt {
    ONE.start(0, index, 1)
}

pub(super) fn reserved(settlement: Settlement) -> Reserved {
    let Record::SubmissionSettled(record) = ONE.settled(settlement) else { unreachable!() };
    Reserved::new(record).unwrap()
}

fn settled(digest: Digest) -> Phase {
    let (epoch, at) = (Epoch(1), Timestamp(2_000));
    Phase::Settled(Settled { digest, outcome: Outcome::Completed, given_up: false, epoch, at })
}

fn compared(row: &Row, story: &Story) -> Agreement {
    agreement(row, &story.fold)
}

fn phased(phase: Phase, story: &Story) -> Agreement {
    compared(&ONE.row(phase), story)
}

/// The row of an unknown submission with these marks.
fn marked(marks: &[(usize, MarkState)]) -> Row {
    let mark = |(index, state): &(usize, MarkState)| {
        let (doubt, since) = (start(*index), Timestamp(1_000));
        Mark { doubt, since, state: state.clone() }
    };
    let mut row = ONE.row(Phase::Unknown);
    row.marks = marks.iter().map(mark).collect();
    row.marks.sort_by_key(|mark| mark.doubt);
    row
}

fn intended() -> MarkState {
    MarkState::Intended(intent(Resolution::NeverStarted))
}

fn closed() -> MarkState {
    MarkState::Closed(intent(Resolution::NeverStarted))
}

#[test]
fn dur_015_the_markers_of_every_submission_are_reproduced_from_the_log() {
    let story = prepared().at(2).tell([0, 1].map(|index| ONE.unknown(start(index))));
    let story = story.tell([ONE.resolved(start(0), Resolution::NeverStarted)]);
    let story = story.tell([TWO.input()]).tell([TWO.settled(failed("Test"))]);
    let Record::SubmissionSettled(record) = TWO.settled(failed("Test")) else { unreachable!() };
    let one = Markers {
        applied: true,
        doubts: BTreeSet::from([start(1)]),
        closed: BTreeSet::from([start(0)]),
        ..Markers::default()
    };
    let settled = Some(record.digest().unwrap());
    let two = Markers { applied: true, settled, ..Markers::default() };
    let expected = BTreeMap::from([(ONE.submission(), one), (TWO.submission(), two)]);
    assert_eq!(rebuild(&story.fold), expected);
    assert_eq!(rebuild(&Story::new().fold), BTreeMap::new());
}

#[test]
fn dur_015_a_submission_that_was_aborted_before_its_input_has_no_input_marker() {
    let story = Story::new().tell([ONE.abort_requested()]);
    assert_eq!(rebuild(&story.fold)[&ONE.submission()], Markers::default());
}

#[test]
fn dur_015_a_row_may_lag_behind_its_input_and_not_run_ahead_of_it() {
    let (silent, spoken) = (Story::new(), Story::new().tell([ONE.input()]));
    for phase in [Phase::Admitted, Phase::Ready, Phase::Running(InputMarker::Missing)] {
        assert_eq!(phased(phase.clone(), &silent), Agreement::Current);
        assert_eq!(phased(phase, &spoken), Agreement::Behind);
    }
    for phase in [RUNNING, Phase::Unknown] {
        assert_eq!(phased(phase.clone(), &silent), Agreement::Ahead);
        assert_eq!(phased(phase, &spoken), Agreement::Current);
    }
}

#[test]
fn dur_015_a_row_may_lag_behind_a_doubt_and_not_run_ahead_of_it() {
    let (open, doubted) = (prepared(), prepared().at(2).tell([ONE.unknown(start(0))]));
    assert_eq!(phased(RUNNING, &doubted), Agreement::Behind);
    for state in [MarkState::Open, intended()] {
        let row = marked(&[(0, state)]);
        assert_eq!(compared(&row, &doubted), Agreement::Current);
        assert_eq!(compared(&row, &open), Agreement::Ahead);
        let story = doubted.clone().tell([ONE.unknown(start(1))]);
        assert_eq!(compared(&row, &story), Agreement::Behind);
    }
}

#[test]
fn dur_015_a_row_may_lag_behind_a_resolution_and_not_run_ahead_of_it() {
    let doubted = prepared().at(2).tell([0, 1].map(|index| ONE.unknown(start(index))));
    let resolved = doubted.clone().tell([ONE.resolved(start(0), Resolution::NeverStarted)]);
    let lags = marked(&[(0, intended()), (1, MarkState::Open)]);
    assert_eq!(compared(&lags, &doubted), Agreement::Current);
    assert_eq!(compared(&lags, &resolved), Agreement::Behind);
    let knows = marked(&[(0, closed()), (1, MarkState::Open)]);
    assert_eq!(compared(&knows, &resolved), Agreement::Current);
    assert_eq!(compared(&knows, &doubted), Agreement::Ahead);
    let other = marked(&[(0, MarkState::Open), (1, closed())]);
    assert_eq!(compared(&other, &resolved), Agreement::Ahead, "a doubt is closed by its own");
}

#[test]
fn dur_015_a_row_may_lag_behind_its_settlement_and_not_run_ahead_of_it() {
    let open = Story::new().tell([ONE.input()]);
    let ended = open.clone().tell([ONE.settled(completed())]);
    let digest = ended.view(ONE).settled.unwrap().digest();
    assert_eq!(phased(Phase::Terminalizing(reserved(completed())), &open), Agreement::Current);
    assert_eq!(phased(Phase::Terminalizing(reserved(completed())), &ended), Agreement::Behind);
    assert_eq!(phased(RUNNING, &ended), Agreement::Behind);
    assert_eq!(phased(settled(digest), &ended), Agreement::Current);
    assert_eq!(phased(settled(digest), &open), Agreement::Ahead);
    let other = reserved(failed("Test")).digest;
    assert_eq!(phased(settled(other), &ended), Agreement::Ahead, "DUR-002: another settlement");
}

#[test]
fn dur_015_a_row_that_ended_without_a_run_agrees() {
    let Record::SubmissionSettled(mut record) = ONE.settled(Settlement::Aborted) else {
        unreachable!()
    };
    record.run = None;
    let digest = record.digest().unwrap();
    let story = Story::new().tell([ONE.abort_requested()]);
    let story = story.tell([Record::SubmissionSettled(record)]);
    assert_eq!(phased(settled(digest), &story), Agreement::Current);
}

/// A row that knows exactly what the markers say.
fn row_of(tale: Tale, markers: &Markers) -> Row {
    let phase = match (markers.settled, markers.applied, markers.doubts.is_empty()) {
        (Some(digest), _, _) => settled(digest),
        (None, false, _) => Phase::Ready,
        (None, true, true) => RUNNING,
        (None, true, false) => Phase::Unknown,
    };
    let mut row = tale.row(phase);
    let open = markers.doubts.iter().map(|doubt| (doubt, MarkState::Open));
    let closed = markers.closed.iter().map(|doubt| (doubt, closed()));
    let since = Timestamp(1_000);
    let marks = open.chain(closed).map(|(doubt, state)| Mark { doubt: *doubt, since, state });
    row.marks = marks.collect();
    row.marks.sort_by_key(|mark| mark.doubt);
    row
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn dur_015_a_row_that_is_rebuilt_from_any_log_is_current_and_from_a_prefix_behind(
        says in says(3), at in any::<usize>(),
    ) {
        let story = Story::of(&says);
        let prefix = &story.batches[..=at % story.batches.len()];
        let before = rebuild(&crate::projection::Projection::of(prefix).unwrap());
        let now = rebuild(&story.fold);
        let named: Vec<SubmissionId> = now.keys().copied().collect();
        prop_assert!(before.keys().all(|id| named.contains(id)));
        for tale in TALES {
            let [before, now] = [&before, &now]
                .map(|markers| markers.get(&tale.submission()).cloned().unwrap_or_default());
            prop_assert_eq!(compared(&row_of(tale, &now), &story), Agreement::Current);
            let expected = if before == now { Agreement::Current } else { Agreement::Behind };
            prop_assert_eq!(compared(&row_of(tale, &before), &story), expected);
        }
    }
}
