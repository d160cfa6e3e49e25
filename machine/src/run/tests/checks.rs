//! Parameters that have to fit: a batch with one that does not starts nothing.

use super::*;
use crate::agent::{ExecutionClass, RejectionReason, Schema, ToolDefinition};
use crate::effect::CheckSubject;
use crate::identity::ToolName;
use crate::testkit::{bound, policy, text};

fn strict() -> Bench {
    let tool = |name, schema: &[u8]| ToolDefinition {
        parameters: Schema::parse(schema).unwrap(),
        ..ToolDefinition::new(ToolName::new(name).unwrap(), ExecutionClass::Ordinary)
    };
    let tools = alloc::vec![tool("pay", br#"{"type":"string"}"#), tool("look", b"true")];
    Bench::of(bound(tools, policy()))
}

fn verdicts(bench: Bench, verdicts: &[Option<&str>]) -> Bench {
    let verdicts = verdicts.iter().map(|why| why.map(|why| Diagnostic::cut("Schema", why)));
    let (run, turn, subject) = (ONE.run(), Turn(0), CheckSubject::Parameters);
    bench.answered(Answer::Checked { run, turn, subject, verdicts: verdicts.collect() })
}

#[test]
fn arc_01_parameters_are_checked_before_anybody_is_asked() {
    let mut bench = strict().responds(0, &["look", "pay"]);
    let effects = bench.look();
    assert_eq!(questions(&effects), ["schema.check"]);
    let External::Check { values, .. } = &asked(&effects)[0] else { panic!("{effects:?}") };
    let shown: Vec<_> = values.iter().map(|it| it.value.clone()).collect();
    assert_eq!(shown, [text("look"), text("pay")], "each with its own schema");
    let mut bench = verdicts(bench, &[None, None]);
    assert_eq!(questions(&bench.look()), ["authorizer.authorize"]);
}

#[test]
fn arc_01_a_batch_whose_tools_take_anything_needs_no_check() {
    let mut bench = strict().responds(0, &["look", "look"]);
    assert_eq!(questions(&bench.look()), ["authorizer.authorize"]);
}

#[test]
fn run_003_one_call_that_does_not_fit_keeps_its_whole_batch_from_starting() {
    let bench = strict().responds(0, &["look", "pay"]);
    let mut bench = verdicts(bench, &[None, Some("not a string")]);
    let records = committed(&bench.look());
    let refused = ToolOutcome::Rejected(RejectionReason::BatchRefused);
    let invalid = ToolOutcome::InvalidInput(Diagnostic::cut("Schema", "not a string"));
    let expected =
        [ONE.tool_settled(ONE.call(0, 0), refused), ONE.tool_settled(ONE.call(0, 1), invalid)];
    assert_eq!(records[records.len() - 2..], expected);
    assert!(bench.state.flights().tools.is_empty());
    assert!(bench.state.flights().model.is_some(), "the model is told");
}

#[test]
fn run_003_an_answer_that_leaves_a_value_out_lets_nothing_start() {
    for answer in [&[][..], &[None][..], &[None, None, None][..]] {
        let bench = verdicts(strict().responds(0, &["look", "pay"]), answer);
        assert!(
            bench.state.flights().tools.is_empty() && bench.state.flights().authorizer.is_none()
        );
    }
}

#[test]
fn run_003_whoever_resumes_a_batch_checks_it_again() {
    let bench = strict().responds(0, &["pay"]);
    let mut bench = bench.told(Input::Stopped);
    bench.look();
    bench.state = bench.state.with_flights(Flights::default());
    assert_eq!(questions(&bench.told(RESUMED).look()), ["schema.check"]);
}
