//! So many calls of a run at once: the others wait for a place, and are in nobody's doubt.

use super::*;
use crate::agent::AgentPolicy;
use crate::testkit::{policy, under};

fn narrow(places: u32) -> Bench {
    Bench::of(under(AgentPolicy { parallel_calls: places, ..policy() }))
}

fn started(effects: &[Effect]) -> Vec<ToolCallId> {
    let started = asked(effects).into_iter().filter_map(|external| match external {
        External::InvokeTool(it) => Some(it.call),
        _ => None,
    });
    started.collect()
}

#[test]
fn run_009_calls_start_in_declaration_order_as_places_become_free() {
    let mut bench = narrow(2).responds(0, &["pay"; 4]);
    bench.look();
    let mut bench = bench.authorized(0);
    let effects = bench.look();
    assert_eq!(started(&effects), [0, 1].map(|at| ONE.call(0, at)));
    assert_eq!(committed(&effects).len(), 2, "only those are prepared");
    let mut bench = bench.returns(ONE.start(0, 1, 1));
    let effects = bench.look();
    let expected = [
        ONE.tool_settled(ONE.call(0, 1), success("result")),
        ONE.prepared(ONE.start(0, 2, 1), "pay"),
    ];
    assert_eq!(committed(&effects), expected);
    assert_eq!((started(&effects), questions(&effects).len()), (alloc::vec![ONE.call(0, 2)], 1));
    let bench = bench.returns(ONE.start(0, 0, 1)).returns(ONE.start(0, 2, 1));
    let mut bench = bench.returns(ONE.start(0, 3, 1));
    assert_eq!(questions(&bench.look()).last(), Some(&"model.call"));
}

#[test]
fn run_028_the_calls_of_the_next_turn_are_authorized_anew() {
    let bench = narrow(1).responds(0, &["look"]).authorized(0);
    let mut bench = bench.returns(ONE.start(0, 0, 1)).responds(1, &["look"]);
    let effects = bench.look();
    assert_eq!(questions(&effects).last(), Some(&"authorizer.authorize"));
    assert_eq!(bench.state.flights().tools.len(), 0);
}

#[test]
fn dur_009_a_call_that_waits_for_its_place_is_in_nobodys_doubt() {
    let bench = narrow(1).responds(0, &["pay", "pay", "pay"]).authorized(0);
    let open: Vec<Doubt> = bench.state.view().unwrap().open_starts().map(|it| it.0).collect();
    assert_eq!(open, [ONE.start(0, 0, 1)]);
}

#[test]
fn ops_03_while_the_host_stops_what_comes_back_is_kept_and_nothing_new_begins() {
    let policy = crate::agent::AgentPolicy { parallel_calls: 1, ..crate::testkit::policy() };
    let mut bench = Bench::of(crate::testkit::under(policy)).responds(0, &["pay", "look"]);
    bench = bench.authorized(0);
    bench.look();
    bench.state.drain();
    let mut bench = bench.returns(ONE.start(0, 0, 1));
    let effects = bench.look();
    let settled = ONE.tool_settled(ONE.call(0, 0), success("result"));
    assert_eq!((committed(&effects), effects.len()), (alloc::vec![settled], 1));
    assert_eq!(bench.told(Input::Due(Timer::Deadline)).look(), []);
    // Nor is the model asked once a whole batch is back, nor a batch started.
    let mut bench = Bench::fresh().responds(0, &["look"]).authorized(0);
    bench.look();
    bench.state.drain();
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    assert_eq!((questions(&effects), committed(&effects).len()), (alloc::vec![], 1));
    let mut bench = Bench::fresh().responds(0, &["pay"]);
    bench.look();
    bench.state.drain();
    assert_eq!(bench.authorized(0).look(), []);
}

/// A run of this many places in a host that it shares.
fn shared(places: u32) -> Bench {
    let mut bench = narrow(places);
    bench.state = bench.state.sharing();
    bench
}

fn permitted(calls: &[usize]) -> Answer {
    let calls = calls.iter().map(|at| ONE.call(0, *at)).collect();
    Answer::Permitted { run: ONE.run(), calls }
}

fn wanted(effects: &[Effect]) -> Vec<ToolCallId> {
    let wanted = asked(effects).into_iter().filter_map(|external| match external {
        External::Permits { calls, .. } => Some(calls.into_iter().map(|it| it.call)),
        _ => None,
    });
    wanted.flatten().collect()
}

#[test]
fn run_009_a_call_has_its_permits_before_it_is_prepared() {
    let mut bench = shared(3).responds(0, &["pay"; 4]);
    bench.look();
    let mut bench = bench.authorized(0);
    let effects = bench.look();
    assert_eq!(wanted(&effects), [0, 1, 2].map(|at| ONE.call(0, at)), "those with a place ask");
    assert_eq!((committed(&effects), started(&effects)), (Vec::new(), Vec::new()));
    let mut bench = bench.answered(permitted(&[0, 2]));
    let effects = bench.look();
    assert_eq!(started(&effects), [0, 2].map(|at| ONE.call(0, at)));
    assert_eq!(committed(&effects).len(), 2, "in one batch");
    assert_eq!(wanted(&effects), [], "the third place is taken by who waits");
    let open: Vec<Doubt> = bench.state.view().unwrap().open_starts().map(|it| it.0).collect();
    assert_eq!(open, [0, 2].map(|at| ONE.start(0, at, 1)), "who waits is in nobody's doubt");
    // A place that becomes free is asked for beside who waits.
    let mut bench = bench.returns(ONE.start(0, 0, 1));
    assert_eq!(wanted(&bench.look()), [1, 3].map(|at| ONE.call(0, at)));
    let mut bench = bench.answered(permitted(&[3])).answered(permitted(&[3, 1]));
    assert_eq!(started(&bench.look()), [3, 1].map(|at| ONE.call(0, at)), "each once");
}

#[test]
fn run_009_permits_of_calls_that_nothing_starts_any_more_go_back() {
    let bench = shared(3).responds(0, &["file", "pay", "pay"]).authorized(0);
    let mut bench = bench.answered(permitted(&[0]));
    bench.look();
    // The first will have no answer: nothing begins until it was judged.
    let mut bench = bench.answered(Answer::Unsure { start: ONE.start(0, 0, 1) });
    let effects = bench.look();
    let [External::Permits { calls, .. }] = &asked(&effects)[..] else { panic!("{effects:?}") };
    assert!(calls.is_empty(), "nobody wants anything: {calls:?}");
    let mut bench = bench.answered(permitted(&[1]));
    assert_eq!(started(&bench.look()), []);
    let flights = bench.state.flights();
    assert!(flights.permitted.is_empty() && flights.asked.is_empty());
}

#[test]
fn run_009_a_permit_for_another_run_or_an_ended_call_starts_nothing() {
    let bench = shared(1).responds(0, &["look"]).authorized(0);
    let other = Answer::Permitted { run: Tale("2").run(), calls: alloc::vec![ONE.call(0, 0)] };
    let mut bench = bench.answered(other).answered(permitted(&[1]));
    bench.effects.clear();
    let mut bench = bench.answered(permitted(&[0]));
    assert_eq!(started(&bench.look()), [ONE.call(0, 0)]);
    let bench = bench.returns(ONE.start(0, 0, 1));
    let mut late = bench.answered(permitted(&[0]));
    assert_eq!(started(&late.look()), []);
    assert!(late.state.flights().permitted.is_empty() && late.state.flights().asked.is_empty());
}

/// The same run in an attempt that reads again, because the store refused what these effects stood
/// behind.
fn refused(bench: &Bench, before: crate::projection::Projection, effects: &[Effect]) -> Bench {
    let mut old = bench.state.clone();
    asked(effects).iter().for_each(|it| old.recall(it));
    let (binding, conversation) = (old.binding.clone(), call("1", "").conversation);
    let state = State::new(binding, conversation, ONE.submission(), Epoch(1), before)
        .sharing()
        .with_flights(old.flights().clone());
    Bench { state, effects: Vec::new() }.told(RESUMED)
}

/// Whether the host is told that nobody wants a permit.
fn gives_back(effects: &[Effect]) -> bool {
    asked(effects)
        .iter()
        .any(|it| matches!(it, External::Permits { calls, .. } if calls.is_empty()))
}

#[test]
fn run_009_permits_of_a_start_that_was_refused_go_back_when_its_batch_is_denied() {
    let mut bench = shared(2).responds(0, &["pay", "pay"]).authorized(0);
    bench.look();
    let before = bench.fold().clone();
    let mut bench = bench.answered(permitted(&[0, 1]));
    let effects = bench.look();
    assert_eq!(started(&effects).len(), 2);
    let mut bench = refused(&bench, before, &effects);
    bench.look();
    let mut bench = bench.answered(authorizer(0, Authorization::Denied));
    assert!(gives_back(&bench.look()));
    assert_eq!(bench.state.flights().places(), 0);
}

#[test]
fn run_009_permits_that_were_to_go_back_with_a_refused_pipeline_go_back_with_the_next() {
    let mut bench = shared(2).responds(0, &["pay", "pay"]);
    bench.look();
    let denied = || authorizer(0, Authorization::Denied);
    bench.state.flights.permitted.extend([0, 1].map(|at| ONE.call(0, at)));
    let before = bench.fold().clone();
    let mut bench = bench.answered(denied());
    let effects = bench.look();
    assert!(gives_back(&effects));
    let mut bench = refused(&bench, before, &effects);
    bench.look();
    let mut bench = bench.answered(denied());
    assert!(gives_back(&bench.look()));
}
