//! Rows that are made of a log say what the log says, and keep what the ledger alone knows.

use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{
    Agreement, Change, Compat, Incompatible, InputMarker, Lane, MarkState, Mismatch, Phase,
    Reconstruction, Row, Slice, agreement, desk,
};
use crate::agent::{Bound, Resolution};
use crate::identity::{AdmissionSequence, ProducerId, Sequence, Timestamp};
use crate::testkit::binding;
use crate::testkit::story::{Story, Tale, abort, completed, intent};
use crate::testkit::walk::{TALES, says};

const ONE: Tale = Tale("1");
const TWO: Tale = Tale("2");

fn read(story: &Story) -> Reconstruction {
    let mut it = Reconstruction::default();
    story.batches.iter().for_each(|batch| it.feed(batch).unwrap());
    it
}

/// A row without what one that is made anew does not have: who died of it.
fn kept(row: &Row) -> Row {
    Row { fruitless: Vec::new(), ..row.clone() }
}

/// Puts rows into a lane, which asserts what holds of every row.
fn checked(rows: &[Arc<Row>]) {
    let mut slice = Slice { lane: Lane::new(desk()), rows: Vec::new() };
    for (place, row) in (0_u64..).zip(rows) {
        assert_eq!(row.sequence, AdmissionSequence(place), "places have no gaps");
        slice.apply(&Change::Row(Arc::clone(row)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn dur_015_store_008_a_ledger_that_is_made_of_any_log_is_current_and_stays_as_it_is(
        says in says(3), at in any::<usize>(),
    ) {
        let story = Story::of(&says);
        let log = read(&story);
        let alone = log.rows(&[]);
        checked(&alone);
        // Of one that was only taken over, the log does not say whose it is.
        let says = story.fold.submissions().filter(|(_, it)| it.run.is_some() || it.abort.is_some());
        prop_assert_eq!(alone.len(), says.count());
        for row in &alone {
            prop_assert_eq!(agreement(row, &story.fold), Agreement::Current);
        }
        prop_assert_eq!(&log.rows(&alone), &alone, "what is current stays as it is");

        // What was known at any earlier moment, with submissions that the log says nothing of.
        let prefix = &story.batches[..=at % story.batches.len()];
        let mut before = Reconstruction::default();
        prefix.iter().for_each(|batch| before.feed(batch).unwrap());
        let mut known = before.rows(&[]);
        for tale in TALES {
            let submission = tale.submission();
            if !known.iter().any(|row| row.admission.submission == submission) {
                let sequence = AdmissionSequence(known.len() as u64);
                known.push(Arc::new(Row { sequence, ..tale.row(Phase::Ready) }));
            }
        }
        let made = log.rows(&known);
        checked(&made);
        prop_assert_eq!(made.len(), TALES.len());
        for (made, known) in made.iter().zip(&known) {
            prop_assert_eq!(&made.admission, &known.admission, "nobody who was accepted is lost");
            prop_assert_eq!(agreement(made, &story.fold), Agreement::Current);
        }
        // Nor does it go back: a row that says more than the log says what the log says.
        for made in before.rows(&made) {
            let fold = before.log().projection();
            prop_assert_eq!(agreement(&made, fold), Agreement::Current);
        }
    }
}

#[test]
fn dur_015_what_only_the_ledger_knows_is_kept() {
    let start = ONE.start(0, 0, 1);
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["pay"])]);
    let story = story.tell([ONE.prepared(start, "pay")]).at(2).tell([ONE.unknown(start)]);
    let mut row = ONE.row(Phase::Running(InputMarker::Applied));
    row.abort = Some(abort());
    let queued = Row { sequence: AdmissionSequence(1), ..TWO.row(Phase::Admitted) };
    let rows = read(&story).rows(&[Arc::new(row.clone()), Arc::new(queued.clone())]);
    assert_eq!(*rows[1], queued);
    assert_eq!(rows[0].phase, Phase::Unknown);
    assert_eq!((&rows[0].abort, rows[0].marks[0].doubt), (&row.abort, start));
    // What somebody said of a doubt is not lost, nor said by anybody else.
    let mut said = Row::clone(&rows[0]);
    said.marks[0].state = MarkState::Intended(intent(Resolution::SafeToRepeat));
    let rows = read(&story).rows(&[Arc::new(said.clone())]);
    assert_eq!(*rows[0], said);
    let resolved = story.tell([ONE.resolved(start, Resolution::SafeToRepeat)]);
    let rows = read(&resolved).rows(&[Arc::new(said)]);
    let closed = MarkState::Closed(intent(Resolution::SafeToRepeat));
    assert_eq!((&rows[0].marks[0].state, &rows[0].phase), (&closed, &RUNNING));
}

const RUNNING: Phase = Phase::Running(InputMarker::Applied);

#[test]
fn dur_015_a_reservation_that_is_not_canonical_is_kept_if_it_fits() {
    let story = Story::new().tell([ONE.input()]);
    let reserved = super::rebuild::reserved(completed());
    let row = ONE.row(Phase::Terminalizing(reserved));
    assert_eq!(*read(&story).rows(&[Arc::new(row.clone())])[0], row);
    // Without its input it could never be appended.
    let rows = read(&Story::new()).rows(&[Arc::new(row)]);
    assert_eq!(rows[0].phase, Phase::Ready);
}

#[test]
fn dur_018_a_ledger_that_is_made_anew_counts_no_deaths() {
    let story = Story::new().tell([ONE.input()]);
    let mut row = ONE.row(RUNNING);
    row.fruitless = (1..=5).map(crate::identity::Epoch).collect();
    let rows = read(&story).rows(&[Arc::new(row.clone())]);
    assert_eq!(*rows[0], kept(&row));
}

/// What a row knows of who came with another binding, and of what people want done about it.
fn met(at: u64, expected: Bound) -> Compat {
    let found = other();
    let mismatch = Mismatch { at: Sequence(at), expected, found };
    let by = ProducerId::new("worker-2").unwrap();
    let incompatible = Some(Incompatible { mismatch, by, since: Timestamp(7) });
    Compat { incompatible, rebind: Some(super::compat::rebound(at, 3, "ada")) }
}

fn other() -> Bound {
    super::compat::bound(3)
}

#[test]
fn case_cr_05_dur_015_who_could_not_go_on_is_known_as_long_as_the_log_binds_the_run_to_the_same() {
    let own = binding().bound();
    let story = Story::new().tell([ONE.input()]);
    let view = |story: &Story| story.fold.submission(ONE.submission()).unwrap().clone();
    let at = view(&story).run.unwrap().bound_at.0;
    let row = Row { compat: met(at, own), ..ONE.row(RUNNING) };
    let made =
        |story: &Story, row: &Row| read(story).rows(&[Arc::new(row.clone())])[0].compat.clone();
    assert_eq!(made(&story, &row), row.compat);

    // Of another binding, or of another record, it is about nothing that there is.
    let said = Compat { incompatible: None, ..row.compat.clone() };
    for compat in [met(at + 1, own), met(at, other())] {
        let row = Row { compat: compat.clone(), ..row.clone() };
        let expected = Compat { incompatible: None, ..compat };
        assert_eq!(made(&story, &row), expected, "what was said stays, for whoever says it again");
    }
    let rebound = story.clone().tell([ONE.rebound(at, own, other())]);
    assert_eq!(made(&rebound, &row), said);

    // Nobody has to come any more to what has ended.
    let settled = story.tell([ONE.settled(completed())]);
    assert_eq!(made(&settled, &row), said);
    // And of a run that has not begun nobody can have come with anything else.
    assert_eq!(made(&Story::new(), &row), said);
}
