//! Turns and labels: where a run ends by itself, and that it loses no call on the way.

use super::*;
use crate::agent::{
    AgentDefinition, Binding, ExecutionClass, Message, ResponsePart, ToolCall, ToolDefinition,
};
use crate::digest::Digest;
use crate::identity::{AgentId, ToolName};
use crate::limits::RUN_TURNS;
use crate::testkit::text;

/// An agent with one readonly tool and as many turns as an agent can have.
fn patient() -> Arc<Binding> {
    let name = ToolName::new("look").unwrap();
    let tool = ToolDefinition::new(name, ExecutionClass::Readonly);
    let id = AgentId::new("patient").unwrap();
    let definition = AgentDefinition::new(id, "", alloc::vec![tool], RUN_TURNS).unwrap();
    Arc::new(Binding { definition, model: Digest::ZERO })
}

/// One whole turn of calls to `look`.
fn turn_of_looks(bench: Bench, turn: u32, response: ModelResponse) -> Bench {
    let calls = response.calls().count();
    let bench = bench.answered(model(turn, response)).authorized(turn);
    (0..calls).fold(bench, |bench, index| bench.returns(ONE.start(turn, index, 1)))
}

fn shown(bench: &Bench) -> Vec<ToolCallId> {
    let messages = bench.fold().messages(ONE.submission());
    let result = |message: &Message| match message {
        Message::ToolResult { call, label, .. } => {
            assert_eq!(&**label, "same", "the provider gets its own label back");
            Some(*call)
        }
        Message::User(_) | Message::Summary(_) | Message::Assistant(_) => None,
    };
    messages.iter().filter_map(result).collect()
}

#[test]
fn run_011_a_run_that_has_taken_its_turns_fails_with_the_limit_and_its_tag() {
    let mut bench = Bench::fresh();
    for turn in 0..4 {
        assert_eq!(questions(&bench.look()).last(), Some(&"model.call"), "turn {turn}");
        bench = turn_of_looks(bench, turn, response(&["look"]));
    }
    let effects = bench.look();
    let Settlement::Failed { diagnostic, limit } = settlement(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (diagnostic.tag(), *limit),
        ("BudgetExceeded", Some(PolicyLimit::Budget(Dimension::Turns)))
    );
    assert_eq!(settlement(&effects).check(), Ok(()));
    assert!(!questions(&effects).contains(&"model.call"), "exhaustion asks nothing more");
}

#[test]
fn run_011_the_last_turn_may_answer() {
    let mut bench = Bench::fresh();
    for turn in 0..3 {
        bench = turn_of_looks(bench, turn, response(&["look"]));
    }
    let effects = bench.responds(3, &[]).look();
    assert!(matches!(settlement(&effects), Settlement::Completed { .. }), "at the cap, not over");
}

#[test]
fn run_011_a_resumed_run_counts_the_turns_of_those_before_it() {
    let mut story = Story::new().tell([ONE.input()]);
    for turn in 0..4 {
        story = story.tell([ONE.responded(turn, &["look"])]);
        story = story.tell([ONE.tool_settled(ONE.call(turn, 0), success("result"))]);
    }
    let effects = Bench::live(&story, 2).look();
    let Settlement::Failed { limit, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*limit, Some(PolicyLimit::Budget(Dimension::Turns)));
    assert_eq!(questions(&effects), Vec::<&str>::new());
    // Whoever went before may have had another binding, and asked.
    assert!(matches!(committed(&effects)[..], [Record::ModelInterrupted(_)]));
}

#[test]
fn run_034_two_calls_under_one_label_are_two_calls() {
    let bench = turn_of_looks(Bench::fresh(), 0, response(&["look", "look"]));
    assert_eq!(shown(&bench), [ONE.call(0, 0), ONE.call(0, 1)]);
}

#[test]
fn case_mm_03_one_label_with_other_arguments_merges_and_loses_nothing() {
    let call = |parameters: &str| {
        ResponsePart::Call(ToolCall {
            label: "same".into(),
            tool: ToolName::new("look").unwrap(),
            parameters: text(parameters),
        })
    };
    let parts = ["a", "a", "b"].map(call).to_vec();
    let response = ModelResponse { parts, ..response(&["look"]) };
    let bench = Bench::fresh().answered(model(0, response)).authorized(0);
    let questions = asked(&bench.effects);
    let parameters = questions.iter().filter_map(|external| match external {
        External::InvokeTool(it) => Some(it.parameters.clone()),
        External::CallModel(_)
        | External::Check { .. }
        | External::Clear { .. }
        | External::Approve { .. }
        | External::Authorize { .. }
        | External::Permits { .. }
        | External::NextStep(_)
        | External::Reconcile(_) => None,
    });
    assert_eq!(parameters.collect::<Vec<_>>(), ["a", "a", "b"].map(text));
    let bench = (0..3).fold(bench, |bench, index| bench.returns(ONE.start(0, index, 1)));
    assert_eq!(shown(&bench), [0, 1, 2].map(|index| ONE.call(0, index)));
}

#[test]
fn case_mm_05_a_label_that_never_changes_hides_no_result_of_fifty_turns() {
    let story = Story::new().tell([ONE.input()]);
    let mut bench =
        Bench::resting_with(patient(), &story, 1).told(Input::Resumed { now: Timestamp(1_000) });
    for turn in 0..50 {
        bench = turn_of_looks(bench, turn, response(&["look"]));
    }
    let expected: Vec<ToolCallId> = (0..50).map(|turn| ONE.call(turn, 0)).collect();
    assert_eq!(shown(&bench), expected);
    let models = questions(&bench.effects).iter().filter(|name| **name == "model.call").count();
    assert_eq!(models, 51);
}
