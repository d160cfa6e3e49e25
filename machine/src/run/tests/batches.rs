//! A batch of calls: looked through, authorized, prepared and started, whole or not at all.

use super::*;
use crate::agent::{ExecutionClass, RejectionReason};
use crate::testkit::text;

/// A live run whose first response declares these calls, and what it asked for then.
fn declaring(calls: &[&str]) -> (Bench, Vec<Effect>) {
    let mut bench = Bench::fresh();
    bench.look();
    let mut bench = bench.responds(0, calls);
    let effects = bench.look();
    (bench, effects)
}

fn starts(effects: &[Effect]) -> Vec<Invocation> {
    let starts = asked(effects).into_iter().map(|external| match external {
        External::InvokeTool(invocation) => invocation,
        other => panic!("{other:?} starts nothing"),
    });
    starts.collect()
}

#[test]
fn run_028_a_batch_is_authorized_before_anything_of_it_is_prepared() {
    let (bench, effects) = declaring(&["look", "file", "pay"]);
    assert_eq!(committed(&effects), [ONE.responded(0, &["look", "file", "pay"])]);
    let asked = asked(&effects);
    assert_eq!(authorizing(&asked[0]), [0, 1, 2].map(|index| ONE.call(0, index)));
    assert_eq!(asked.len(), 1);
    assert_eq!(bench.state.view().unwrap().open_starts().count(), 0);
}

#[test]
fn run_028_what_needs_it_is_prepared_in_one_batch_and_started_in_declaration_order() {
    let (bench, _) = declaring(&["look", "file", "pay", "wire"]);
    let effects = bench.authorized(0).look();
    let Effect::Commit(batch) = &effects[0] else { panic!("{effects:?}") };
    let start = |index| ONE.start(0, index, 1);
    let prepared = [(1, "file"), (2, "pay"), (3, "wire")];
    let prepared = prepared.map(|(index, tool)| ONE.prepared(start(index), tool));
    assert_eq!(batch.records(), prepared, "readonly calls are never prepared");
    let class = [
        ExecutionClass::Readonly,
        ExecutionClass::Idempotent,
        ExecutionClass::Ordinary,
        ExecutionClass::Ordinary,
    ];
    for (index, invocation) in starts(&effects[1..]).iter().enumerate() {
        let start = Doubt { call: invocation.call, start: invocation.epoch };
        assert_eq!((start, invocation.class), (ONE.start(0, index, 1), class[index]));
        assert_eq!(invocation.parameters, text(invocation.tool.as_str()));
    }
    assert_eq!(effects.len(), 5);
}

#[test]
fn run_028_a_batch_of_readonly_calls_commits_nothing_before_it_starts() {
    let (bench, _) = declaring(&["look", "look"]);
    let effects = bench.authorized(0).look();
    assert_eq!((committed(&effects).len(), starts(&effects).len()), (0, 2));
}

#[test]
fn run_005_the_model_is_asked_again_once_every_call_has_its_result() {
    let (bench, _) = declaring(&["look", "pay"]);
    let mut bench = bench.authorized(0);
    bench.look();
    let mut bench = bench.returns(ONE.start(0, 1, 1));
    let effects = bench.look();
    assert_eq!(committed(&effects), [ONE.tool_settled(ONE.call(0, 1), success("result"))]);
    assert_eq!(questions(&effects), [""; 0], "one result is missing");
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    let asked = asked(&effects);
    let [External::CallModel(request)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((request.turn, request.messages.len()), (Turn(1), 4));
}

#[test]
fn run_028_a_denied_batch_runs_nothing_and_fails_the_run() {
    let (bench, _) = declaring(&["look", "pay"]);
    let effects = bench.answered(authorizer(0, Authorization::Denied)).look();
    let rejected = ToolOutcome::Rejected(RejectionReason::NotAuthorized);
    let expected = [0, 1].map(|index| ONE.tool_settled(ONE.call(0, index), rejected.clone()));
    assert_eq!(committed(&effects), expected);
    assert_eq!(failure(&effects).tag(), "PolicyDenied");
    assert_eq!(failure(&effects).message(), "the host does not authorize a call of `look`");
    assert_eq!(effects.len(), 2, "one batch and the settlement");
}

#[test]
fn run_028_a_batch_is_authorized_again_on_every_resume() {
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["pay", "look"])]);
    for epoch in [1, 2, 7] {
        let effects = Bench::live(&story, epoch).look();
        let asked = asked(&effects);
        assert_eq!(authorizing(&asked[0]), [ONE.call(0, 0), ONE.call(0, 1)]);
        assert_eq!(effects.len(), 1);
    }
}

#[test]
fn run_028_a_denial_on_resume_leaves_what_has_returned() {
    let result = ONE.tool_settled(ONE.call(0, 0), success("result"));
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["look", "look"])]);
    let mut bench = Bench::live(&story.tell([result]), 2);
    bench.look();
    let effects = bench.answered(authorizer(0, Authorization::Denied)).look();
    let rejected = ToolOutcome::Rejected(RejectionReason::NotAuthorized);
    assert_eq!(committed(&effects), [ONE.tool_settled(ONE.call(0, 1), rejected)]);
    assert_eq!(failure(&effects).tag(), "PolicyDenied");
}

#[test]
fn arc_01_a_batch_with_an_undeclared_tool_runs_nothing_and_says_so_to_the_model() {
    let (bench, effects) = declaring(&["pay", "nothing", "look"]);
    assert_eq!(questions(&effects), ["model.call"], "nobody is asked for leave");
    let records = committed(&effects);
    let outcomes: Vec<&ToolOutcome> = records[1..]
        .iter()
        .map(|record| match record {
            Record::ToolSettled(it) => &*it.outcome,
            other => panic!("{other:?}"),
        })
        .collect();
    let refused = ToolOutcome::Rejected(RejectionReason::BatchRefused);
    assert_eq!((outcomes[0], outcomes[2], outcomes.len()), (&refused, &refused, 3));
    let ToolOutcome::InvalidInput(why) = outcomes[1] else { panic!("{outcomes:?}") };
    assert_eq!(why.tag(), "UnknownTool");
    assert!(why.message().contains("nothing"));
    assert_eq!(bench.fold().messages(ONE.submission()).len(), 5, "whole, in declaration order");
}

#[test]
fn arc_01_undeclared_tools_turn_after_turn_end_at_the_turn_limit() {
    let mut bench = Bench::fresh();
    for turn in 0..4 {
        bench = bench.responds(turn, &["nothing"]);
    }
    let Settlement::Failed { limit, .. } = settlement(&bench.effects) else { panic!() };
    assert_eq!(*limit, Some(PolicyLimit::Budget(Dimension::Turns)));
}

#[test]
fn dur_009_a_start_that_this_epoch_prepared_and_that_never_left_is_made_without_another() {
    let start = ONE.start(0, 0, 2);
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["pay", "file"])]);
    let mut bench = Bench::live(&story.at(2).tell([ONE.prepared(start, "pay")]), 2);
    bench.look();
    let effects = bench.authorized(0).look();
    assert_eq!(committed(&effects), [ONE.prepared(ONE.start(0, 1, 2), "file")]);
    let epochs: Vec<Epoch> = starts(&effects[1..]).iter().map(|it| it.epoch).collect();
    assert_eq!(epochs, [Epoch(2), Epoch(2)]);
}

#[test]
fn dur_009_a_start_of_an_older_epoch_is_followed_by_one_of_this_epoch() {
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["file"])]);
    let story = story.tell([ONE.prepared(ONE.start(0, 0, 1), "file")]);
    let mut bench = Bench::live(&story, 2);
    bench.look();
    let effects = bench.authorized(0).look();
    let again = ONE.start(0, 0, 2);
    assert_eq!(committed(&effects), [ONE.prepared(again, "file")]);
    assert_eq!(starts(&effects[1..])[0].epoch, Epoch(2));
}

/// How the calls of the first response ended, as the model is shown them.
fn shown(bench: &Bench) -> Vec<ToolOutcome> {
    let messages = bench.fold().messages(ONE.submission());
    let outcomes = messages.iter().filter_map(|message| match message {
        crate::agent::Message::ToolResult { outcome, .. } => Some(ToolOutcome::clone(outcome)),
        _ => None,
    });
    outcomes.collect()
}

#[test]
fn case_pr_01_of_three_calls_the_failure_of_one_repeats_none_of_the_others() {
    let (bench, _) = declaring(&["pay", "look", "pay"]);
    let bench = bench.authorized(0).returns(ONE.start(0, 0, 1)).returns(ONE.start(0, 1, 1));
    // Whoever takes over starts only the third, which was proven never to have started.
    let mut story = Story::new().tell([ONE.input()]);
    story = story.tell([ONE.responded(0, &["pay", "look", "pay"])]);
    story = story.tell([0, 2].map(|index| ONE.prepared(ONE.start(0, index, 1), "pay")));
    for index in [0, 1] {
        story = story.tell([ONE.tool_settled(ONE.call(0, index), success("result"))]);
    }
    assert_eq!(story.fold, *bench.fold(), "the story is that of the run");
    let mut bench = Bench::live(&story, 2).authorized(0);
    let effects = bench.look();
    let starts = asked(&effects).into_iter().filter_map(|external| match external {
        External::InvokeTool(it) => Some(it.call),
        _ => None,
    });
    assert_eq!(starts.collect::<Vec<_>>(), [ONE.call(0, 2)]);
    let failed = ToolOutcome::Failure(Diagnostic::cut("Bounced", "no"));
    let (start, outcome) = (ONE.start(0, 2, 2), Arc::new(failed.clone()));
    let bench = bench.answered(Answer::Tool { start, outcome });
    assert_eq!(shown(&bench), [success("result"), success("result"), failed]);
}

#[test]
fn case_pr_05_a_call_that_cannot_be_ended_properly_leaves_its_siblings_their_results() {
    let (bench, _) = declaring(&["look", "look", "pay"]);
    let bench = bench.authorized(0).returns(ONE.start(0, 0, 1)).returns(ONE.start(0, 1, 1));
    let broken = ToolOutcome::Defect(Diagnostic::cut("OutputInvalid", "not what it declares"));
    let (start, outcome) = (ONE.start(0, 2, 1), Arc::new(broken.clone()));
    let bench = bench.answered(Answer::Tool { start, outcome });
    assert_eq!(shown(&bench), [success("result"), success("result"), broken.clone()]);
    // A second end of it, or of a sibling, overwrites nothing.
    let again =
        |index| Answer::Tool { start: ONE.start(0, index, 1), outcome: Arc::new(success("x")) };
    let bench = bench.answered(again(2)).answered(again(0));
    assert_eq!(shown(&bench), [success("result"), success("result"), broken]);
}
