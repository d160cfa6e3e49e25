//! What may not follow: each contradiction is refused and named by its sequence (STORE-006).

use alloc::vec::Vec;

use super::*;
use crate::admission::creation;
use crate::testkit::{binding, call};

/// Records that the story cannot go on with; `at` of them is the one that does not fit.
fn refuses_at(story: &Story, records: Vec<Record>, at: u64) {
    let sequence = Sequence(story.fold.next_sequence().0 + at);
    let named = records[usize::try_from(at).unwrap()].clone();
    let mut after = story.clone();
    let found = after.try_tell(records);
    assert_eq!(found, Err(Corruption::History { at: sequence }), "{named:?}");
    assert_eq!(after.fold, story.fold, "a batch that does not fit changes nothing");
}

fn refuses(story: &Story, record: Record) {
    refuses_at(story, alloc::vec![record], 0);
}

#[test]
fn store_006_nothing_comes_before_the_creation_and_nothing_is_created_twice() {
    let call = call("1", "");
    let created = creation(&binding(), &call.conversation, &call.tenant).unwrap();
    let created = created.records()[0].clone();
    refuses(&Story::new(), created.clone());
    let mut empty = Story::new();
    empty.fold = Projection::default();
    refuses(&empty, ONE.input());
    refuses_at(&empty, alloc::vec![created.clone(), created], 1);
}

#[test]
fn store_006_the_sequence_of_a_contradiction_is_that_of_the_record_within_its_batch() {
    let records = alloc::vec![ONE.input(), ONE.responded(0, &[]), ONE.input()];
    refuses_at(&Story::new(), records, 2);
}

#[test]
fn dur_007_a_batch_that_does_not_fit_at_its_end_leaves_no_trace() {
    let settled = [ONE.settled(completed()), ONE.settled(completed())];
    refuses_at(&declared(&[]), settled.to_vec(), 1);
    let two = alloc::vec![TWO.input(), TWO.responded(0, &["pay"]), TWO.input()];
    refuses_at(&declared(&[]), two, 2);
    let unknown = alloc::vec![ONE.unknown(start()), ONE.abort_requested(), ONE.input()];
    refuses_at(&prepared(), unknown, 2);
}

#[test]
fn store_006_an_input_is_recorded_once() {
    refuses(&declared(&[]), ONE.input());
    let aborted = Story::new().tell([ONE.abort_requested()]);
    let Record::SubmissionSettled(mut settled) = ONE.settled(Settlement::Aborted) else {
        unreachable!()
    };
    settled.run = None;
    refuses(&aborted.tell([Record::SubmissionSettled(settled)]), ONE.input());
}

#[test]
fn store_006_nothing_happens_in_a_run_without_input() {
    let story = Story::new().at(2);
    for record in [
        ONE.responded(0, &[]),
        ONE.interrupted(0, 2),
        ONE.prepared(ONE.start(0, 0, 2), "pay"),
        result(0),
        ONE.unknown(start()),
        ONE.resolved(start(), Resolution::NeverStarted),
    ] {
        refuses(&story, record);
    }
}

#[test]
fn run_005_a_response_is_of_the_next_turn_and_follows_whole_batches() {
    let story = Story::new().tell([ONE.input()]);
    refuses(&story, ONE.responded(1, &[]));
    let story = declared(&["look", "look"]);
    refuses(&story, ONE.responded(0, &[]));
    refuses(&story, ONE.responded(1, &[]));
    let story = story.tell([result(0)]);
    refuses(&story, ONE.responded(1, &[]));
    let story = story.tell([result(1)]);
    refuses(&story, ONE.responded(2, &[]));
    assert!(story.clone().try_tell(alloc::vec![ONE.responded(1, &[])]).is_ok());
}

#[test]
fn dur_006_an_interruption_is_of_its_own_epoch_and_of_the_next_turn() {
    let story = Story::new().tell([ONE.input()]).at(2);
    refuses(&story, ONE.interrupted(0, 1));
    refuses(&story, ONE.interrupted(0, 3));
    refuses(&story, ONE.interrupted(1, 2));
}

#[test]
fn dur_009_a_call_starts_once_in_an_epoch() {
    let story = prepared();
    refuses(&story, ONE.prepared(start(), "pay"));
    let (old, new) = (ONE.start(0, 0, 1), ONE.start(0, 0, 2));
    refuses(&declared(&["pay"]).at(2), ONE.prepared(old, "pay"));
    refuses(&declared(&["pay"]), ONE.prepared(new, "pay"));
}

#[test]
fn arc_03_a_call_that_ended_does_not_start_and_does_not_end_again() {
    let story = prepared().tell([result(0)]);
    refuses(&story.clone().at(2), ONE.prepared(ONE.start(0, 0, 2), "pay"));
    refuses(&story, result(0));
    let other = ONE.tool_settled(ONE.call(0, 0), success("another"));
    refuses(&story, other);
}

#[test]
fn dur_009_a_call_in_doubt_does_not_start_again() {
    let story = prepared().at(2).tell([ONE.unknown(start())]);
    let again = ONE.prepared(ONE.start(0, 0, 2), "pay");
    refuses(&story, again.clone());
    let story = story.tell([ONE.resolved(start(), Resolution::NeverStarted)]);
    assert!(story.clone().try_tell(alloc::vec![again]).is_ok());
}

#[test]
fn store_006_a_preparation_is_of_a_declared_call_with_its_tool_and_its_parameters() {
    let story = declared(&["pay"]);
    refuses(&story, ONE.prepared(ONE.start(0, 1, 1), "pay"));
    refuses(&story, ONE.prepared(ONE.start(1, 0, 1), "pay"));
    refuses(&story, ONE.prepared(start(), "wire"));
    let Record::ToolPrepared(mut other) = ONE.prepared(start(), "pay") else { unreachable!() };
    other.parameters = text("other").digest();
    refuses(&story, Record::ToolPrepared(other));
}

#[test]
fn arc_03_a_result_is_of_a_declared_call() {
    refuses(&declared(&["look"]), result(1));
    refuses(&declared(&[]), result(0));
    refuses(&declared(&["look"]), TWO.tool_settled(TWO.call(0, 0), success("result")));
}

#[test]
fn dur_017_an_unknown_is_of_an_open_start() {
    refuses(&declared(&["pay"]), ONE.unknown(start()));
    refuses(&prepared(), ONE.unknown(ONE.start(0, 0, 2)));
    refuses(&prepared().tell([result(0)]), ONE.unknown(start()));
    let story = prepared().at(2).tell([ONE.unknown(start())]);
    refuses(&story, ONE.unknown(start()));
    let story = story.tell([ONE.resolved(start(), Resolution::SafeToRepeat)]);
    refuses(&story, ONE.unknown(start()));
    let story = story.tell([ONE.prepared(ONE.start(0, 0, 2), "pay")]);
    refuses(&story, ONE.unknown(start()));
}

#[test]
fn dur_017_only_the_last_start_of_a_call_can_become_unknown() {
    let story = prepared().at(2).tell([ONE.prepared(ONE.start(0, 0, 2), "pay")]);
    refuses(&story, ONE.unknown(start()));
    // Unless the last one has never happened, which says nothing of those before it.
    let story = story.tell([ONE.unknown(ONE.start(0, 0, 2))]);
    refuses(&story, ONE.unknown(start()));
    let never = ONE.resolved(ONE.start(0, 0, 2), Resolution::NeverStarted);
    let story = story.tell([never]).tell([ONE.unknown(start())]);
    refuses(&story, ONE.prepared(ONE.start(0, 0, 3), "pay"));
}

#[test]
fn dur_017_a_resolution_is_of_exactly_one_unknown() {
    let resolved = |start| ONE.resolved(start, Resolution::NeverStarted);
    refuses(&prepared(), resolved(start()));
    let story = prepared().at(2).tell([ONE.unknown(start())]);
    refuses(&story, resolved(ONE.start(0, 0, 2)));
    refuses(&story, resolved(ONE.start(0, 1, 1)));
    refuses(&story.tell([resolved(start())]), resolved(start()));
}

#[test]
fn dur_012_an_abort_is_recorded_once_and_not_after_the_end() {
    let story = declared(&[]);
    refuses(&story.clone().tell([ONE.abort_requested()]), ONE.abort_requested());
    refuses(&story.tell([ONE.settled(completed())]), ONE.abort_requested());
}

#[test]
fn dur_013_a_recovery_is_recorded_once_an_epoch_by_that_epoch() {
    let story = declared(&["look"]).at(3);
    refuses(&story, ONE.decided(2, 14));
    refuses(&story, ONE.decided(4, 14));
    let story = story.tell([ONE.decided(3, 14)]);
    refuses(&story, ONE.decided(3, 14));
}

#[test]
fn dur_002_a_submission_settles_once_with_its_own_run() {
    let story = declared(&[]);
    refuses(&story.clone().tell([ONE.settled(completed())]), ONE.settled(completed()));
    refuses(&Story::new(), ONE.settled(completed()));
    let Record::SubmissionSettled(mut foreign) = ONE.settled(completed()) else { unreachable!() };
    foreign.run = Some(TWO.run());
    refuses(&story, Record::SubmissionSettled(foreign));
}

#[test]
fn dur_002_after_the_settlement_only_what_was_in_doubt_is_spoken_of() {
    let story = declared(&["pay", "look", "pay", "pay"]);
    let starts = [start(), ONE.start(0, 2, 1)];
    let story = story.tell(starts.map(|start| ONE.prepared(start, "pay")));
    let story = story.tell(starts.map(|start| ONE.unknown(start)));
    let story = story.tell([ONE.settled(failed("Test"))]).at(2);
    for record in [
        ONE.input(),
        ONE.responded(1, &[]),
        ONE.interrupted(1, 2),
        ONE.prepared(ONE.start(0, 3, 2), "pay"),
        result(1),
        result(3),
        ONE.unknown(start()),
        ONE.abort_requested(),
        ONE.decided(2, 1),
        ONE.settled(failed("Test")),
    ] {
        refuses(&story, record);
    }
    let resolved = ONE.resolved(starts[0], Resolution::Completed(text("result")));
    assert!(story.clone().try_tell(alloc::vec![resolved, result(0)]).is_ok());
    assert!(story.clone().try_tell(alloc::vec![result(2)]).is_ok(), "late, but of a doubt");
}

#[test]
fn case_cr_05_a_run_is_bound_anew_from_what_it_is_bound_to_and_each_binding_is_replaced_once() {
    let own = binding().bound();
    let other = Bound { model: Digest([5; 32]), ..own };
    let story = declared(&[]);
    assert_eq!((story.run(ONE).bound, story.run(ONE).bound_at), (own, Sequence(1)));
    for wrong in
        [ONE.rebound(0, own, other), ONE.rebound(1, other, own), TWO.rebound(1, own, other)]
    {
        refuses(&story, wrong);
    }
    let story = story.tell([ONE.rebound(1, own, other)]);
    assert_eq!((story.run(ONE).bound, story.run(ONE).bound_at), (other, Sequence(3)));
    refuses(&story, ONE.rebound(1, own, other));
    let back = story.clone().tell([ONE.rebound(3, other, own)]);
    assert_eq!(back.run(ONE).bound, own);
    refuses(&story.tell([ONE.settled(completed())]), ONE.rebound(3, other, own));
}
