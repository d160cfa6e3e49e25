//! What an attempt was given: places come and go, and a handler that rests has begun.

use std::sync::Arc;

use everstep_machine::agent::{Diagnostic, NamedStep, StepOutput, ToolOutcome};
use everstep_machine::effect::Answer;
use everstep_machine::identity::{Epoch, RunId, StepName, SubmissionId, ToolCallId, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Doubt;

use super::Permits;

fn call(index: usize) -> ToolCallId {
    ToolCallId::derive(RunId::derive(SubmissionId([1; 16])), Turn(0), index)
}

fn start(index: usize) -> Doubt {
    Doubt { call: call(index), start: Epoch(1) }
}

fn step(index: usize) -> Answer {
    let step = NamedStep { name: StepName::new("a").unwrap(), version: 1 };
    let output = CanonicalJson::null();
    Answer::Step { start: start(index), ordinal: 0, output: Arc::new(StepOutput { step, output }) }
}

#[test]
fn run_009_a_place_that_was_given_back_is_no_place() {
    let mut permits = Permits::default();
    permits.place(call(0));
    permits.place(call(1));
    permits.keep_places(|it| it == call(1));
    assert!(!permits.has_place(call(0)));
    assert!(permits.has_place(call(1)));
}

#[test]
fn run_009_a_durable_call_has_begun_from_its_first_leg_to_its_end() {
    let mut permits = Permits::default();
    permits.hear(&step(0));
    permits.hear(&step(0));
    permits.hear(&step(1));
    assert_eq!(permits.resting(), [call(0), call(1)]);
    let why = Diagnostic::cut("No", "no");
    let outcome = Arc::new(ToolOutcome::Failure(why));
    permits.hear(&Answer::Tool { start: start(0), outcome });
    assert_eq!(permits.resting(), [call(1)]);
    permits.cancelled();
    assert!(permits.resting().is_empty());
}
