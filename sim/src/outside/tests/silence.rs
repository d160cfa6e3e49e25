//! Starts that give no answer, and how long whoever waits for one has waited then.

use everstep_machine::agent::{ExecutionClass, Resolution, ToolOutcome};
use everstep_machine::effect::{Answer, External, Invocation, Reconciliation};
use everstep_machine::identity::Epoch;

use super::{Deed, Outside, call, cast, doubt, invoke, json, name, reconcile, ship};
use crate::cast::Cast;
use crate::defect::Defect;
use crate::scenario::{Silence, Tool};

/// The answer to a start, how long it took, and what it did.
fn start(outside: &mut Outside, cast: &Cast, epoch: u64) -> (Answer, u64, Deed) {
    let invocation = Invocation {
        run: cast.clients[0].run,
        agent: cast.binding.definition.id().clone(),
        group: None,
        call: call(cast),
        epoch: Epoch(epoch),
        tool: name(),
        class: cast.binding.definition.class_of(&name()),
        parameters: json("{}"),
        steps: Vec::new(),
        action: None,
    };
    let answered = outside.perform(cast, &External::InvokeTool(invocation));
    (answered.answer, answered.after.0, answered.deed)
}

#[test]
fn dur_017_a_silent_start_is_no_outcome_and_comes_when_its_time_is_over() {
    for silence in [Silence::Undone, Silence::Done] {
        let cast = cast(ship().timeout_ms(700).silent(1, silence).reconciled(), None, None);
        let deed = match silence {
            Silence::Undone => Deed::Nothing,
            Silence::Done => Deed::Executed(call(&cast)),
        };
        let mut outside = Outside::default();
        let unsure = Answer::Unsure { start: doubt(&cast, 1) };
        assert_eq!(start(&mut outside, &cast, 1), (unsure, 700, deed));
        assert!(outside.is_silent(doubt(&cast, 1)) && !outside.is_silent(doubt(&cast, 2)));
        // Who looks finds out.
        let never = Reconciliation::Proven(Resolution::NeverStarted);
        let found = reconcile(&mut outside, &cast, 1, 2);
        assert_eq!(found == never, silence == Silence::Undone, "{found:?}");
        let (outcome, after, _) = invoke(&mut outside, &cast, 2);
        assert_eq!((after, &*outcome), (40, &ToolOutcome::Success(json("{\"ok\":true}"))));
    }
}

#[test]
fn run_014_a_start_that_takes_longer_than_its_time_is_silent_whenever_it_is_made() {
    let slow = |tool: Tool| cast(tool.returns("1").latency_ms(701).timeout_ms(700), None, None);
    let mut outside = Outside::default();
    for epoch in 1..4 {
        let cast = slow(Tool::idempotent("ship"));
        let unsure = Answer::Unsure { start: doubt(&cast, epoch) };
        let (answer, after, _) = start(&mut outside, &cast, epoch);
        assert_eq!((answer, after), (unsure, 700));
    }
    let cast = slow(Tool::readonly("ship"));
    assert_eq!(cast.binding.definition.class_of(&name()), ExecutionClass::Readonly);
    let (outcome, after, deed) = invoke(&mut Outside::default(), &cast, 1);
    assert!(matches!(&*outcome, ToolOutcome::Failure(why) if why.tag() == "Timeout"));
    assert_eq!((after, deed), (700, Deed::Nothing));
}

#[test]
fn dur_017_the_planted_defects_make_an_outcome_of_silence() {
    let of = |defect| {
        let cast = cast(ship().silent(1, Silence::Done), None, Some(defect));
        let mut outside = Outside::default();
        let outcome = invoke(&mut outside, &cast, 1).0;
        (outcome, outside.executions(call(&cast)))
    };
    let (outcome, times) = of(Defect::SilenceCalledFailure);
    assert!(matches!(&*outcome, ToolOutcome::Failure(_)) && times == 1);
    let (outcome, times) = of(Defect::SilenceRepeated);
    assert!(matches!(&*outcome, ToolOutcome::Success(_)) && times == 2);
}
