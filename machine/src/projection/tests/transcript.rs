//! What a model is shown: whole batches, in declaration order, of every run before this one.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::agent::{Diagnostic, Messages, ToolOutcome};
use crate::identity::ToolCallId;
use crate::testkit::prompt::{check, kinds};
use crate::testkit::walk::{Say, TALES, says};

fn results(messages: &Messages) -> Vec<ToolCallId> {
    let result = |message: &Message| match message {
        Message::ToolResult { call, .. } => Some(*call),
        Message::User(_) | Message::Summary(_) | Message::Assistant(_) => None,
    };
    messages.iter().filter_map(result).collect()
}

/// The ids of results rise by turn and index, whatever the order in which they were recorded.
pub(super) fn in_order(tale: Tale, messages: &Messages) {
    let declared = (0..64).flat_map(|turn| (0..4).map(move |index| tale.call(turn, index)));
    let results = results(messages);
    let own: Vec<ToolCallId> = declared.filter(|call| results.contains(call)).collect();
    let shown: Vec<ToolCallId> = results.into_iter().filter(|call| own.contains(call)).collect();
    assert_eq!(own, shown, "RUN-006");
}

#[test]
fn run_005_a_request_shows_a_whole_batch_or_nothing_of_it() {
    let story = declared(&["look", "look"]);
    let shown = |story: &Story| kinds(&story.fold.messages(ONE.submission()));
    assert_eq!(shown(&story), ["user"]);
    let story = story.tell([result(1)]);
    assert_eq!(shown(&story), ["user"]);
    let story = story.tell([result(0)]);
    assert_eq!(shown(&story), ["user", "assistant", "result", "result"]);
}

#[test]
fn run_006_results_follow_declaration_order() {
    let story = declared(&["look", "file", "wire"]).tell([result(2)]).tell([result(0), result(1)]);
    let expected = [0, 1, 2].map(|index| ONE.call(0, index));
    assert_eq!(results(&story.fold.messages(ONE.submission())), expected);
}

#[test]
fn case_pr_03_the_order_of_completion_does_not_leak() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let shown = orders.map(|order| {
        let story = declared(&["look", "file", "wire"]);
        let story = order.into_iter().fold(story, |story, index| story.tell([result(index)]));
        story.fold.messages(ONE.submission())
    });
    assert!(shown.iter().all(|messages| *messages == shown[0]));
    assert_eq!(shown[0].len(), 5);
}

#[test]
fn run_005_a_request_without_a_run_shows_the_runs_before_it() {
    let story = declared(&[]).tell([ONE.settled(completed())]);
    assert_eq!(kinds(&story.fold.messages(TWO.submission())), ["user", "assistant"]);
    let story = story.tell([TWO.input()]);
    assert_eq!(kinds(&story.fold.messages(TWO.submission())), ["user", "assistant", "user"]);
}

#[test]
fn run_005_a_settled_run_is_shown_once() {
    let story = declared(&["look"]).tell([result(0)]).tell([ONE.settled(failed("Test"))]);
    let shown = kinds(&story.fold.messages(ONE.submission()));
    assert_eq!(shown, ["user", "assistant", "result"]);
    // A doubt keeps the turns of an ended run in the fold, and not in the prompt.
    let story = declared(&["look"]).tell([result(0)]).tell([ONE.responded(1, &["pay"])]);
    let start = ONE.start(1, 0, 1);
    let story = story.tell([ONE.prepared(start, "pay"), ONE.unknown(start)]);
    let story = story.tell([ONE.settled(failed("Test"))]);
    let shown = kinds(&story.fold.messages(ONE.submission()));
    assert_eq!(shown, ["user", "assistant", "result"]);
}

#[test]
fn run_005_a_run_that_is_not_settled_is_shown_to_no_other() {
    let story = declared(&[]).tell([TWO.input()]);
    assert_eq!(kinds(&story.fold.messages(TWO.submission())), ["user"]);
}

#[test]
fn run_033_an_orphaned_batch_of_an_ended_run_is_left_out_of_later_prompts() {
    let story = declared(&["look"]).tell([result(0)]).tell([ONE.responded(1, &["pay", "look"])]);
    let late = ONE.tool_settled(ONE.call(1, 1), success("result"));
    let story = story.tell([late]).tell([ONE.settled(failed("Test"))]).tell([TWO.input()]);
    let messages = story.fold.messages(TWO.submission());
    assert_eq!(kinds(&messages), ["user", "assistant", "result", "user"]);
    check(&messages);
}

#[test]
fn case_oh_01_an_orphan_of_three_parallel_calls_is_not_shown_and_the_next_turn_works() {
    let story = declared(&["pay", "pay", "pay"]);
    let story = story.tell((0..3).map(|index| ONE.prepared(ONE.start(0, index, 1), "pay")));
    let story = story.tell([result(0)]).at(2);
    let doubts = [1, 2].map(|index| ONE.start(0, index, 1));
    let story = story.tell(doubts.map(|doubt| ONE.unknown(doubt)));
    let story = story.tell([ONE.abort_requested()]).tell([ONE.settled(Settlement::Aborted)]);
    let story = story.at(3).tell([TWO.input()]);
    let shown = story.fold.messages(TWO.submission());
    assert_eq!(kinds(&shown), ["user", "user"]);

    // The doubts are closed while the next run is going on: its history stays as it is.
    let resolve = |doubt: Doubt| {
        let how = Resolution::Completed(text("result"));
        [ONE.resolved(doubt, how), ONE.tool_settled(doubt.call, success("result"))]
    };
    let story = story.tell(doubts.into_iter().flat_map(resolve));
    assert_eq!(story.fold.messages(TWO.submission()), shown);
    let story = story.tell([TWO.responded(0, &[])]).tell([TWO.settled(completed())]);
    assert_eq!(kinds(story.fold.transcript()), ["user", "user", "assistant"]);
}

/// Six runs of which the second is orphaned, told batch by batch.
#[test]
fn case_oh_03_an_orphan_in_the_middle_of_a_history_is_valid_at_every_prefix() {
    let keys = ["1", "2", "3", "4", "5", "6"].map(Tale);
    let mut story = Story::new();
    for (at, tale) in keys.into_iter().enumerate() {
        let settle = |index| tale.tool_settled(tale.call(0, index), success("result"));
        let orphan = at == 1;
        story = story.tell([tale.input()]).tell([tale.responded(0, &["look", "look"])]);
        story = story.tell([settle(1)]);
        if !orphan {
            story = story.tell([settle(0)]).tell([tale.responded(1, &[])]);
        }
        let end = if orphan { failed("Test") } else { completed() };
        story = story.tell([tale.settled(end)]);
    }
    for length in 0..=story.batches.len() {
        let fold = Projection::of(&story.batches[..length]).unwrap();
        check(fold.transcript());
        keys.iter().for_each(|tale| check(&fold.messages(tale.submission())));
    }
    let whole = kinds(story.fold.transcript());
    assert_eq!(whole.iter().filter(|kind| **kind == "user").count(), 6);
    assert_eq!(whole.iter().filter(|kind| **kind == "result").count(), 10);
}

fn valid_at_every_prefix(says: &[Say]) {
    let mut fold = Projection::default();
    for stored in &Story::of(says).batches {
        fold.apply(stored.envelope().epoch, stored.batch()).unwrap();
        check(fold.transcript());
        for tale in TALES {
            let messages = fold.messages(tale.submission());
            check(&messages);
            in_order(tale, &messages);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn case_oh_03_every_prefix_of_any_history_is_a_valid_prompt(says in says(3)) {
        valid_at_every_prefix(&says);
    }
}

#[test]
fn case_oh_05_no_gap_is_filled_with_what_nobody_said() {
    let shown = |story: &Story| story.fold.messages(ONE.submission());
    // A question to the model that was lost and asked again.
    let plain: Vec<Message> = shown(&declared(&[])).iter().cloned().collect();
    let again = Story::new().tell([ONE.input()]).at(2).tell([ONE.interrupted(0, 2)]);
    assert_eq!(kinds(&shown(&again)), ["user"]);
    let answered = shown(&again.tell([ONE.responded(0, &[])]));
    assert_eq!(answered.iter().cloned().collect::<Vec<_>>(), plain);
    // An unknown outcome is none: its batch is not shown, until somebody says how it ended.
    let start = ONE.start(0, 0, 1);
    let unknown = declared(&["pay"]).tell([ONE.prepared(start, "pay")]).tell([ONE.unknown(start)]);
    assert_eq!(kinds(&shown(&unknown)), ["user"]);
    let why = Diagnostic::cut("Bounced", "the bank says so");
    let said = ONE.resolved(start, Resolution::Failed(why.clone()));
    let failed = ONE.tool_settled(start.call, ToolOutcome::Failure(why));
    let resolved = unknown.clone().tell([said, failed]);
    assert_eq!(kinds(&shown(&resolved)), ["user", "assistant", "result"]);
    // Nor is a call of which somebody wanted no more.
    let cancelled = unknown.tell([ONE.abort_requested()]).tell([ONE.settled(Settlement::Aborted)]);
    assert_eq!(kinds(&cancelled.fold.messages(TWO.submission())), ["user"]);
}
