//! Handlers of durable tools: they rest behind each step, and go on from what they are given.

use everstep_machine::agent::StepOutput;
use everstep_machine::effect::{Answer, External, Invocation, Onward};
use everstep_machine::identity::Epoch;

use super::{Deed, Outside, call, cast, doubt, json, name};
use crate::cast::Cast;
use crate::defect::Defect;
use crate::scenario::{Silence, Tool};

fn book() -> Tool {
    Tool::durable("ship").step("reserve", "12").step("charge", "null").returns("\"T-9\"")
}

/// Enters the handler with so many steps recorded.
fn enter(outside: &mut Outside, cast: &Cast, epoch: u64, recorded: usize) -> (Answer, Deed) {
    let script = cast.tool(&name()).unwrap();
    let invocation = Invocation {
        run: cast.clients[0].run,
        agent: cast.binding.definition.id().clone(),
        group: None,
        call: call(cast),
        epoch: Epoch(epoch),
        tool: name(),
        class: cast.binding.definition.class_of(&name()),
        parameters: json("{}"),
        steps: script.steps(true)[..recorded].to_vec(),
        action: None,
    };
    let answered = outside.perform(cast, &External::InvokeTool(invocation));
    (answered.answer, answered.deed)
}

/// Lets it go on behind a step.
fn go_on(outside: &mut Outside, cast: &Cast, epoch: u64, recorded: u32) -> (Answer, Deed) {
    let onward =
        Onward { run: cast.clients[0].run, start: doubt(cast, epoch), recorded, action: None };
    let answered = outside.perform(cast, &External::NextStep(onward));
    (answered.answer, answered.deed)
}

fn stepped(cast: &Cast, epoch: u64, ordinal: u32) -> (Answer, Deed) {
    let start = doubt(cast, epoch);
    let output = cast.tool(&name()).unwrap().steps(true)[ordinal as usize].clone();
    (Answer::Step { start, ordinal, output }, Deed::Stepped(start, ordinal))
}

fn ended(cast: &Cast, epoch: u64) -> (Answer, Deed) {
    let outcome = cast.tool(&name()).unwrap().outcome.clone();
    (Answer::Tool { start: doubt(cast, epoch), outcome }, Deed::Nothing)
}

#[test]
fn dur_010_a_handler_runs_one_body_and_rests() {
    let (cast, mut outside) = (cast(book(), None, None), Outside::default());
    assert_eq!(enter(&mut outside, &cast, 1, 0), stepped(&cast, 1, 0));
    assert_eq!(go_on(&mut outside, &cast, 1, 0), stepped(&cast, 1, 1));
    assert_eq!(go_on(&mut outside, &cast, 1, 1), ended(&cast, 1));
    assert_eq!(outside.calls()[0].bodies, [(Epoch(1), 0), (Epoch(1), 1)]);
}

#[test]
fn dur_010_what_is_recorded_is_given_back_and_its_body_does_not_run() {
    let (cast, mut outside) = (cast(book(), None, None), Outside::default());
    assert_eq!(enter(&mut outside, &cast, 2, 1), stepped(&cast, 2, 1));
    assert_eq!(enter(&mut outside, &cast, 3, 2), ended(&cast, 3));
    assert_eq!(outside.calls()[0].bodies, [(Epoch(2), 1)]);
}

#[test]
fn case_cr_09_a_handler_with_other_steps_than_the_recorded_is_a_defect_and_does_nothing() {
    let (old, mut outside) = (cast(book(), None, None), Outside::default());
    let steps = old.tool(&name()).unwrap().steps(true);
    let new = cast(Tool::durable("ship").step("charge", "null").returns("1"), None, None);
    let start = doubt(&new, 2);
    let script = new.tool(&name()).unwrap();
    let entered = outside.enter(&new, script, start, &steps[..1]);
    let Answer::Tool { outcome, .. } = entered.answer else { panic!("it has ended") };
    let everstep_machine::agent::ToolOutcome::Defect(why) = &*outcome else {
        panic!("{outcome:?} is no defect")
    };
    assert_eq!(why.tag(), "StepsIncompatible");
    assert!(why.message().contains("`reserve` version 1"), "{}", why.message());
    assert!(why.message().contains("`charge` version 1"), "{}", why.message());
    assert_eq!(outside.bodies(start, 0), 0);
}

#[test]
fn case_cr_09_later_starts_may_be_made_of_something_else() {
    let changed = book().later_step("issue", "3");
    let (cast, mut outside) = (cast(changed, None, None), Outside::default());
    assert_eq!(enter(&mut outside, &cast, 1, 0), stepped(&cast, 1, 0));
    let (answer, deed) = enter(&mut outside, &cast, 2, 1);
    assert!(matches!(answer, Answer::Tool { .. }), "{answer:?}");
    assert_eq!(deed, Deed::Nothing);
    assert_eq!(
        go_on(&mut outside, &cast, 1, 0),
        stepped(&cast, 1, 1),
        "the first start is as it was"
    );
}

#[test]
fn dur_017_a_silent_start_of_a_durable_call_does_its_step_or_not() {
    for silence in [Silence::Undone, Silence::Done] {
        let cast = cast(book().timeout_ms(700).silent(1, silence), None, None);
        let mut outside = Outside::default();
        let deed = match silence {
            Silence::Undone => Deed::Nothing,
            Silence::Done => Deed::Stepped(doubt(&cast, 1), 0),
        };
        let unsure = Answer::Unsure { start: doubt(&cast, 1) };
        assert_eq!(enter(&mut outside, &cast, 1, 0), (unsure, deed));
        assert_eq!(enter(&mut outside, &cast, 2, 0), stepped(&cast, 2, 0));
    }
}

#[test]
fn dur_010_the_planted_defect_runs_what_is_recorded() {
    let (cast, mut outside) =
        (cast(book(), None, Some(Defect::StepsForgotten)), Outside::default());
    assert_eq!(enter(&mut outside, &cast, 2, 1), stepped(&cast, 2, 0));
}

#[test]
fn dur_010_a_step_gives_what_the_scenario_says() {
    let cast = cast(book(), None, None);
    let steps = cast.tool(&name()).unwrap().steps(true);
    let given: Vec<_> = steps
        .iter()
        .map(|it| (it.step.name.as_str(), it.step.version, it.output.as_str()))
        .collect();
    assert_eq!(given, [("reserve", 1, "12"), ("charge", 1, "null")]);
    assert_ne!(StepOutput::clone(&steps[0]), StepOutput::clone(&steps[1]));
}
