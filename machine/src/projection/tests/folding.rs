//! A fold is a fold: it does not matter who folds, when, or in which portions.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::record::StoredBatch;
use crate::testkit::walk::{TALES, says};

/// Reads a log in pages that end where the caller says.
fn in_pages(batches: &[StoredBatch], ends: &[usize]) -> Projection {
    let mut ends: Vec<usize> = ends.iter().map(|end| end % (batches.len() + 1)).collect();
    ends.push(batches.len());
    ends.sort_unstable();
    let (mut reader, mut from) = (Reader::default(), 0);
    for end in ends {
        for batch in &batches[from..end] {
            reader.feed(batch).unwrap();
        }
        // Whoever reads in pages keeps the reader between them, and nothing else.
        reader = reader.clone();
        from = end;
    }
    reader.into_projection()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn store_008_a_log_that_is_read_back_is_what_its_writer_knows(says in says(3)) {
        let story = Story::of(&says);
        prop_assert_eq!(Projection::of(&story.batches), Ok(story.fold));
    }

    #[test]
    fn store_011_pages_do_not_show_in_what_is_read(
        says in says(3), ends in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let story = Story::of(&says);
        prop_assert_eq!(in_pages(&story.batches, &ends), story.fold);
    }

    #[test]
    fn dur_015_whoever_goes_on_from_a_prefix_knows_what_whoever_was_there_knows(
        says in says(2), at in any::<usize>(),
    ) {
        let story = Story::of(&says);
        let (before, after) = story.batches.split_at(at % story.batches.len());
        let mut fold = Projection::of(before).unwrap();
        for batch in after {
            fold.apply(batch.envelope().epoch, batch.batch()).unwrap();
        }
        prop_assert_eq!(fold, story.fold);
    }

    #[test]
    fn dur_015_submissions_do_not_meet_in_the_fold(says in says(3)) {
        let story = Story::of(&says);
        for tale in TALES {
            let mut alone = Story::new();
            for batch in &story.batches[1..] {
                if batch.batch().records()[0].submission() == Some(tale.submission()) {
                    alone.epoch = batch.envelope().epoch;
                    let records = batch.batch().records().iter();
                    let records = records.map(|record| moved(record, &alone, tale)).collect();
                    alone.try_tell(records).unwrap();
                }
            }
            // Where its records stand is all that the others can change.
            let known = |story: &Story| {
                let view = story.fold.submission(tale.submission())?;
                let settled = view.settled.map(|it| (it.digest(), it.outcome()));
                let run = view.run.clone().map(unplaced);
                Some((run, view.abort.clone(), view.decided, settled))
            };
            prop_assert_eq!(known(&story), known(&alone));
        }
    }
}

/// The record as the story would tell it, if it names another one by its place.
fn moved(record: &Record, story: &Story, tale: Tale) -> Record {
    match record {
        Record::RunRebound(it) => {
            let replaces = story.run(tale).bound_at;
            Record::RunRebound(crate::record::RunRebound { replaces, ..it.clone() })
        }
        other => other.clone(),
    }
}

/// A run without the places of its records.
fn unplaced(mut run: RunView) -> RunView {
    (run.input_at, run.bound_at) = (Sequence(0), Sequence(0));
    run.turns.iter_mut().for_each(|turn| turn.at = Sequence(0));
    run
}

#[test]
fn store_008_random_histories_reach_every_state() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen = [false; 6];
    for _ in 0..400 {
        let story = Story::of(&says(1).new_tree(&mut runner).unwrap().current());
        let Some(view) = story.fold.submission(ONE.submission()) else { continue };
        let again = view.calls().any(|call| call.starts.len() > 1);
        let now = [
            view.open_starts().next().is_some(),
            view.doubts().next().is_some(),
            view.resolved().next().is_some(),
            again,
            view.settled.is_some(),
            view.run.as_ref().is_some_and(|run| run.turns.len() > 1),
        ];
        seen.iter_mut().zip(now).for_each(|(seen, now)| *seen |= now);
    }
    assert_eq!(seen, [true; 6], "open, unknown, resolved, started again, settled, second turn");
}
