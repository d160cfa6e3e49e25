//! Steps of durable calls: they follow each other, each once, and are kept while they are of use.

use alloc::vec::Vec;

use super::*;
use crate::limits::{CALL_STARTS, CALL_STEPS};
use crate::projection::CallView;

const BOOK: [&str; 3] = crate::testkit::BOOK;

fn begun() -> Story {
    declared(&["book"]).tell([ONE.prepared(start(), "book")])
}

fn step(ordinal: u32, name: &str) -> Record {
    ONE.step(ONE.call(0, 0), ordinal, name)
}

fn call(story: &Story) -> &CallView {
    &story.run(ONE).turns[0].calls[0]
}

fn recorded(story: &Story) -> Vec<(u64, &str)> {
    let steps = call(story).steps.iter();
    steps.map(|it| (it.epoch.0, it.output.step.name.as_str())).collect()
}

#[track_caller]
fn refuses(story: &Story, record: Record) {
    let mut after = story.clone();
    let at = story.fold.next_sequence();
    assert_eq!(after.try_tell(alloc::vec![record.clone()]), Err(Corruption::History { at }));
    assert_eq!(after.fold, story.fold, "{record:?}");
}

#[test]
fn dur_010_steps_are_kept_in_order_over_all_starts_until_the_call_has_its_result() {
    let story = begun().tell([step(0, BOOK[0])]).tell([step(1, BOOK[1])]);
    assert_eq!(recorded(&story), [(1, BOOK[0]), (1, BOOK[1])]);
    let story = story.at(2).tell([ONE.prepared(ONE.start(0, 0, 2), "book")]);
    let story = story.tell([step(2, BOOK[2])]);
    assert_eq!(recorded(&story), [(1, BOOK[0]), (1, BOOK[1]), (2, BOOK[2])]);
    assert_eq!(story.view(ONE).open_starts().count(), 1, "a step ends no start");
    let story = story.tell([result(0)]);
    assert_eq!(recorded(&story), [], "nobody enters its handler any more");
}

#[test]
fn dur_010_a_step_is_recorded_once_and_none_is_left_out() {
    let story = begun().tell([step(0, BOOK[0])]);
    refuses(&story, step(0, BOOK[0]));
    refuses(&story, step(0, BOOK[1]));
    refuses(&story, step(1, BOOK[0]));
    refuses(&story, step(2, BOOK[1]));
}

#[test]
fn dur_010_only_the_start_that_runs_records_steps() {
    refuses(&declared(&["book"]), step(0, BOOK[0]));
    refuses(&begun().at(2), step(0, BOOK[0]));
    let unknown = begun().at(2).tell([ONE.unknown(start())]);
    refuses(&unknown, step(0, BOOK[0]));
    refuses(&begun().tell([result(0)]), step(0, BOOK[0]));
    let aborted = begun().tell([ONE.abort_requested()]).tell([ONE.unknown(start())]);
    refuses(&aborted.tell([ONE.settled(Settlement::Aborted)]), step(0, BOOK[0]));
}

#[test]
fn dur_010_a_call_has_a_bounded_number_of_steps() {
    let mut story = begun();
    for ordinal in 0..CALL_STEPS as u32 {
        story = story.tell([step(ordinal, &alloc::format!("step {ordinal}"))]);
    }
    refuses(&story, step(CALL_STEPS as u32, "one more"));
}

#[test]
fn dur_014_only_starts_behind_the_last_recorded_step_are_starts_in_vain() {
    let mut story = begun();
    for epoch in 2..=CALL_STARTS as u64 {
        assert!(call(&story).may_start_again());
        story = story.at(epoch).tell([ONE.prepared(ONE.start(0, 0, epoch), "book")]);
    }
    assert!(!call(&story).may_start_again(), "a person decides");
    let story = story.tell([step(0, BOOK[0])]);
    assert!(call(&story).may_start_again(), "it has got somewhere");
    assert_eq!(story.view(ONE).productive, Some(Epoch(CALL_STARTS as u64)));
}
