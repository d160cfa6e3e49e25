//! What each kind of record changes.

use super::*;
use crate::agent::ToolOutcome;
use crate::record::Outcome;

fn state_of(story: &Story, index: usize) -> &StartState {
    &story.run(ONE).turns[0].calls[0].starts[index].state
}

#[test]
fn store_008_a_creation_opens_the_fold_and_is_kept() {
    let story = Story::new();
    assert!(story.fold.created().is_some());
    assert_eq!(story.fold.next_sequence(), Sequence(1));
    assert_eq!(story.fold.submissions().count(), 0);
    assert_eq!(Projection::default().created(), None);
}

#[test]
fn store_008_an_input_begins_its_run_under_the_epoch_that_wrote() {
    let story = Story::new().at(3).tell([ONE.input()]);
    let run = story.run(ONE);
    assert_eq!((run.run, run.input_epoch), (ONE.run(), Epoch(3)));
    assert_eq!((run.opened, run.next_turn()), (Epoch(3), Turn(0)));
    assert_eq!(run.input.input, text("1"));
    assert!(story.fold.submission(TWO.submission()).is_none());
}

#[test]
fn run_034_a_response_declares_its_calls_under_derived_ids() {
    let story = declared(&["pay", "pay"]);
    let run = story.run(ONE);
    assert_eq!(run.next_turn(), Turn(1));
    let calls = &run.turns[0].calls;
    let ids: alloc::vec::Vec<_> = calls.iter().map(|call| call.id).collect();
    assert_eq!(ids, [ONE.call(0, 0), ONE.call(0, 1)], "the labels are the same, the ids are not");
    assert!(calls.iter().all(|call| &*call.label == "same" && call.outcome.is_none()));
    assert_eq!(run.unsettled_calls().count(), 2);
}

#[test]
fn store_008_an_interruption_names_the_epoch_that_asks_again() {
    let story = Story::new().tell([ONE.input()]).at(2).tell([ONE.interrupted(0, 2)]);
    assert_eq!(story.run(ONE).opened, Epoch(2));
    assert_eq!(story.run(ONE).next_turn(), Turn(0));
}

#[test]
fn dur_009_a_preparation_opens_a_start_and_a_result_ends_it() {
    let story = prepared();
    let open: alloc::vec::Vec<_> = story.view(ONE).open_starts().map(|(start, _)| start).collect();
    assert_eq!(open, [start()]);
    let story = story.tell([result(0)]);
    assert_eq!(story.view(ONE).open_starts().count(), 0);
    let call = &story.run(ONE).turns[0].calls[0];
    assert!(matches!(call.outcome.as_deref(), Some(ToolOutcome::Success(_))));
    assert_eq!(story.run(ONE).unsettled_calls().count(), 0);
}

#[test]
fn dur_017_an_unknown_is_a_doubt_until_it_is_resolved() {
    let story = prepared().at(2).tell([ONE.unknown(start())]);
    let view = story.view(ONE);
    assert_eq!(view.open_starts().count(), 0);
    assert_eq!(view.doubts().collect::<alloc::vec::Vec<_>>(), [start()]);
    assert_eq!(view.resolved().count(), 0);
    assert_eq!(*state_of(&story, 0), StartState::Unknown);

    let story = story.tell([ONE.resolved(start(), Resolution::NeverStarted)]);
    let view = story.view(ONE);
    assert_eq!(view.doubts().count(), 0);
    assert_eq!(view.resolved().collect::<alloc::vec::Vec<_>>(), [start()]);
    assert!(matches!(state_of(&story, 0), StartState::Resolved(how)
        if **how == Resolution::NeverStarted));
    assert_eq!(story.run(ONE).unsettled_calls().count(), 1, "it has no result yet");
}

#[test]
fn dur_009_a_call_that_starts_again_has_a_second_start_and_only_that_is_in_doubt() {
    let again = ONE.start(0, 0, 2);
    let story = prepared().at(2).tell([ONE.prepared(again, "pay")]);
    let open: alloc::vec::Vec<_> = story.view(ONE).open_starts().map(|(start, _)| start).collect();
    assert_eq!(open, [again]);
    assert_eq!(story.run(ONE).turns[0].calls[0].starts.len(), 2);
}

#[test]
fn dur_012_an_abort_and_a_recovery_are_kept_without_changing_the_run() {
    let before = prepared().at(2);
    let run = before.run(ONE).clone();
    let story = before.tell([ONE.decided(2, 6), ONE.abort_requested()]);
    assert_eq!(story.view(ONE).decided, Some(Epoch(2)));
    assert!(story.view(ONE).abort.is_some());
    assert_eq!(*story.run(ONE), run);
}

#[test]
fn dur_012_an_abort_needs_no_input() {
    let story = Story::new().tell([ONE.abort_requested()]);
    assert!(story.view(ONE).abort.is_some() && story.view(ONE).run.is_none());
}

#[test]
fn dur_002_a_settlement_says_where_and_how_and_shows_the_run_to_later_ones() {
    let story = declared(&[]);
    let at = story.fold.next_sequence();
    assert_eq!(story.fold.transcript().len(), 0);
    let story = story.tell([ONE.settled(completed())]);
    let settled = story.view(ONE).settled.unwrap();
    assert_eq!((settled.sequence(), settled.outcome()), (at, Outcome::Completed));
    assert_eq!(settled.submission(), ONE.submission());
    let Record::SubmissionSettled(record) = ONE.settled(completed()) else { unreachable!() };
    assert_eq!(settled.digest(), record.digest().unwrap());
    assert_eq!(story.fold.transcript().len(), 2, "the input and the answer");
}

#[test]
fn dur_015_a_settled_run_keeps_its_turns_only_while_a_doubt_may_still_be_closed() {
    let story = declared(&["look"]).tell([result(0)]).tell([ONE.settled(failed("Test"))]);
    assert_eq!(story.run(ONE).turns.len(), 0, "nothing will be asked of it any more");
    let story = prepared().tell([ONE.unknown(start())]).tell([ONE.settled(Settlement::Aborted)]);
    assert_eq!(story.view(ONE).doubts().count(), 1);
    let story = story.at(2).tell([ONE.resolved(start(), Resolution::NeverStarted)]);
    assert_eq!(story.view(ONE).resolved().count(), 1, "the row may not know it yet");
}

#[test]
fn dur_012_a_late_result_is_recorded_and_changes_no_outcome() {
    let story = prepared().tell([ONE.abort_requested(), ONE.unknown(start())]);
    let story = story.tell([ONE.settled(Settlement::Aborted)]);
    let settled = story.view(ONE).settled;
    let transcript = story.fold.transcript().clone();
    let resolved = ONE.resolved(start(), Resolution::Completed(text("result")));
    let story = story.at(2).tell([resolved, result(0)]);
    assert!(story.run(ONE).turns[0].calls[0].outcome.is_some());
    assert_eq!(story.view(ONE).settled, settled);
    assert_eq!(*story.fold.transcript(), transcript, "RUN-033: an orphan stays one");
}
