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
