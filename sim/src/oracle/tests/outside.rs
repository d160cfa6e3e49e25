//! What leaves for the outside.

use everstep_machine::agent::Resolution;
use everstep_machine::effect::{External, Invocation};
use everstep_machine::identity::{AgentId, Epoch, ToolCallId};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Doubt;

use super::Bench;
use crate::oracle::{Permits, Property, Sometimes};
use crate::outside::Outside;

/// A bench on which the calls are declared and prepared under epoch 1.
fn prepared() -> Bench {
    let mut bench = Bench::claimed(None);
    let declared = bench.append(1, vec![bench.input(0), bench.response(0)]);
    bench.does(&declared);
    let prepared = bench.append(1, vec![bench.prepared(0, 1), bench.prepared(1, 1)]);
    let given = bench.given(1);
    bench.does_with(&prepared, &given);
    assert_eq!(bench.broken(), None);
    bench
}

/// Starts the call at `index` under an epoch.
fn start(bench: &mut Bench, outside: &mut Outside, index: usize, epoch: u64, allowed: bool) {
    let call = bench.call(0, index);
    let tool = bench.tool(call);
    let class = bench.cast.binding.definition.class_of(&tool);
    let parameters = CanonicalJson::parse(b"{}").unwrap();
    let run = bench.cast.clients[0].run;
    let (agent, group) = (AgentId::new("clerk").unwrap(), None);
    let start = Epoch(epoch);
    let steps = Vec::new();
    let invocation = Invocation {
        call,
        epoch: start,
        tool,
        run,
        agent,
        group,
        class,
        parameters,
        steps,
        action: None,
    };
    let external = External::InvokeTool(invocation);
    let answered = outside.perform(&bench.cast, &external);
    let given = if allowed { bench.given(epoch) } else { Permits::default() };
    bench.judge.happened(&bench.cast, 0, outside, &external, &answered, &given);
}

#[test]
fn dur_009_an_ordinary_call_that_runs_twice_is_found() {
    let (mut bench, mut outside) = (prepared(), Outside::default());
    start(&mut bench, &mut outside, 0, 1, true);
    assert_eq!(bench.broken(), None);
    start(&mut bench, &mut outside, 0, 1, true);
    assert_eq!(bench.broken(), Some(Property::OrdinaryOnce));
}

#[test]
fn dur_009_a_permission_to_repeat_allows_one_more_run() {
    let (mut bench, mut outside) = (prepared(), Outside::default());
    start(&mut bench, &mut outside, 0, 1, true);
    let doubt = Doubt { call: bench.call(0, 0), start: Epoch(1) };
    bench.judge.resolved(&bench.cast, &outside, doubt, &Resolution::SafeToRepeat);
    start(&mut bench, &mut outside, 0, 1, true);
    assert_eq!(bench.broken(), None);
    start(&mut bench, &mut outside, 0, 1, true);
    assert_eq!(bench.broken(), Some(Property::OrdinaryOnce));
}

#[test]
fn dur_009_an_idempotent_call_may_run_again_under_its_key() {
    let (mut bench, mut outside) = (prepared(), Outside::default());
    start(&mut bench, &mut outside, 1, 1, true);
    start(&mut bench, &mut outside, 1, 1, true);
    assert_eq!(bench.broken(), None);
    assert!(bench.judge.reached().contains(Sometimes::RepeatedUnderKey));
}

#[test]
fn dur_009_an_effect_under_a_key_that_nobody_can_declare_is_found() {
    let (mut bench, mut outside) = (prepared(), Outside::default());
    let (call, epoch) = (ToolCallId([7; 16]), Epoch(1));
    let tool = bench.tool(bench.call(0, 1));
    let class = bench.cast.binding.definition.class_of(&tool);
    let parameters = CanonicalJson::parse(b"{}").unwrap();
    let run = bench.cast.clients[0].run;
    let (agent, group) = (AgentId::new("clerk").unwrap(), None);
    let steps = Vec::new();
    let invocation =
        Invocation { call, epoch, tool, run, agent, group, class, parameters, steps, action: None };
    let external = External::InvokeTool(invocation);
    let answered = outside.perform(&bench.cast, &external);
    let mut given = Permits::default();
    given.authorise(epoch, call);
    let mut judge = bench.judge.clone();
    judge.happened(&bench.cast, 0, &outside, &external, &answered, &given);
    assert_eq!(judge.violation().map(|it| it.property), Some(Property::Prepared));
    bench.judge.check_executions(&bench.cast, &outside, call);
    assert_eq!(bench.broken(), Some(Property::IdempotentOnce));
}

#[test]
fn run_028_a_start_without_an_authorisation_is_found() {
    let (mut bench, mut outside) = (prepared(), Outside::default());
    start(&mut bench, &mut outside, 0, 1, false);
    assert_eq!(bench.broken(), Some(Property::Authorised));
}

#[test]
fn arc_10_a_start_before_its_preparation_is_found() {
    let (mut bench, mut outside) = (prepared(), Outside::default());
    start(&mut bench, &mut outside, 0, 2, true);
    assert_eq!(bench.broken(), Some(Property::Prepared));
}
