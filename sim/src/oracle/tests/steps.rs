//! Steps of durable calls.

use std::sync::Arc;

use everstep_machine::agent::StepOutput;
use everstep_machine::effect::{External, Invocation, Onward};
use everstep_machine::identity::{AgentId, Epoch, ToolCallId};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{Doubt, Record, StepRecorded};

use super::{Bench, Permits};
use crate::oracle::{Property, Sometimes};
use crate::outside::Outside;
use crate::scenario::{Scenario, Submission, Tool, Turn as Says};

/// A call of three steps, prepared under epoch 1.
fn begun() -> (Bench, Outside) {
    let book = Tool::durable("book").step("a", "1").step("b", "2").step("c", "3").returns("4");
    let trip = Submission::new("trip").turn(Says::calls("book", "{}")).turn(Says::says("done"));
    let scenario = Scenario::builder("steps")
        .about("Something with steps to judge.")
        .agent("clerk", "Do it.")
        .tool(book)
        .submission(trip);
    let mut bench = Bench::begun(scenario.build().unwrap());
    bench.records(vec![bench.response(0)]);
    prepare(&mut bench, 1);
    assert_eq!(bench.broken(), None);
    (bench, Outside::default())
}

fn given(bench: &Bench, epoch: u64) -> Permits {
    let mut permits = Permits::default();
    permits.authorise(Epoch(epoch), call(bench));
    permits
}

fn prepare(bench: &mut Bench, epoch: u64) {
    let prepared = bench.append(epoch, vec![bench.prepared(0, epoch)]);
    let permits = given(bench, epoch);
    assert!(bench.does_with(&prepared, &permits).answer.is_ok());
}

fn call(bench: &Bench) -> ToolCallId {
    bench.call(0, 0)
}

fn outputs(bench: &Bench) -> Vec<Arc<StepOutput>> {
    bench.cast.tool(&bench.tool(call(bench))).unwrap().steps(true).to_vec()
}

fn happens(bench: &mut Bench, outside: &mut Outside, epoch: u64, external: &External) {
    let answered = outside.perform(&bench.cast, external);
    let permits = given(bench, epoch);
    bench.judge.happened(&bench.cast, 0, outside, external, &answered, &permits);
}

/// Enters the handler, given so many steps.
fn enter(bench: &mut Bench, outside: &mut Outside, epoch: u64, steps: usize) {
    let call = call(bench);
    let tool = bench.tool(call);
    let external = External::InvokeTool(Invocation {
        call,
        epoch: Epoch(epoch),
        run: bench.cast.clients[0].run,
        agent: AgentId::new("clerk").unwrap(),
        group: None,
        class: bench.cast.binding.definition.class_of(&tool),
        tool,
        parameters: CanonicalJson::parse(b"{}").unwrap(),
        steps: outputs(bench)[..steps].to_vec(),
        action: None,
    });
    happens(bench, outside, epoch, &external);
}

fn go_on(bench: &mut Bench, outside: &mut Outside, epoch: u64, recorded: u32) {
    let start = Doubt { call: call(bench), start: Epoch(epoch) };
    let onward = Onward { run: bench.cast.clients[0].run, start, recorded, action: None };
    happens(bench, outside, epoch, &External::NextStep(onward));
}

/// A step is recorded.
fn record(bench: &mut Bench, epoch: u64, ordinal: u32) {
    let output = outputs(bench)[ordinal as usize].clone();
    let (submission, call) = (bench.submission(0), call(bench));
    let digest = output.output.digest();
    let record = StepRecorded { submission, call, ordinal, output, digest };
    let command = bench.append(epoch, vec![Record::StepRecorded(record)]);
    assert!(bench.does(&command).answer.is_ok());
}

#[test]
fn dur_010_steps_that_run_are_recorded_and_gone_on_from_break_nothing() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    for ordinal in 0..3 {
        record(&mut bench, 1, ordinal);
        go_on(&mut bench, &mut outside, 1, ordinal);
    }
    assert_eq!(bench.broken(), None);
}

#[test]
fn dur_010_a_recorded_step_that_runs_again_is_found() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    record(&mut bench, 1, 0);
    bench.taken_over();
    prepare(&mut bench, 2);
    enter(&mut bench, &mut outside, 2, 0);
    assert_eq!(bench.broken(), Some(Property::RecordedSteps));
}

#[test]
fn dur_010_the_step_that_was_not_recorded_may_run_again() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    record(&mut bench, 1, 0);
    go_on(&mut bench, &mut outside, 1, 0);
    bench.taken_over();
    prepare(&mut bench, 2);
    enter(&mut bench, &mut outside, 2, 1);
    assert_eq!(bench.broken(), None);
    assert!(bench.judge.reached().contains(Sometimes::StepAgain));
    assert!(bench.judge.reached().contains(Sometimes::StepGivenBack));
}

#[test]
fn dur_010_a_superseded_start_may_still_run_the_step_that_it_was_about_to_run() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    record(&mut bench, 1, 0);
    bench.taken_over();
    prepare(&mut bench, 2);
    enter(&mut bench, &mut outside, 2, 1);
    record(&mut bench, 2, 1);
    go_on(&mut bench, &mut outside, 1, 0);
    assert_eq!(bench.broken(), None, "nobody can hold it back, and it records nothing");
}

#[test]
fn dur_010_a_start_that_runs_a_step_twice_is_found() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    enter(&mut bench, &mut outside, 1, 0);
    assert_eq!(bench.broken(), Some(Property::RecordedSteps));
}

#[test]
fn dur_010_a_handler_that_goes_on_before_its_step_is_recorded_is_found() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    go_on(&mut bench, &mut outside, 1, 0);
    assert_eq!(bench.broken(), Some(Property::RecordedSteps));
}

#[test]
fn dur_010_a_handler_that_goes_on_from_another_start_s_step_is_found() {
    let (mut bench, mut outside) = begun();
    enter(&mut bench, &mut outside, 1, 0);
    record(&mut bench, 1, 0);
    bench.taken_over();
    prepare(&mut bench, 2);
    go_on(&mut bench, &mut outside, 2, 0);
    assert_eq!(bench.broken(), Some(Property::RecordedSteps));
}

#[test]
fn dur_010_a_step_that_is_recorded_and_has_not_run_is_found() {
    let (mut bench, _) = begun();
    record(&mut bench, 1, 0);
    assert_eq!(bench.broken(), Some(Property::RecordedSteps));
}
