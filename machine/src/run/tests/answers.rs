//! An answer counts once, and only while its question is in flight (ARC-03).

use super::*;
use crate::agent::Resolution;
use crate::effect::Reconciliation;

/// Tells a run something that it must not listen to.
fn ignores(bench: &Bench, answer: Answer) {
    let before = Bench { effects: Vec::new(), ..bench.clone() };
    let after = before.clone().answered(answer.clone());
    assert_eq!(after.state, before.state, "{answer:?}");
    assert_eq!(after.effects, [], "{answer:?}");
}

fn doubted(start: Doubt) -> Answer {
    let reconciliation = Reconciliation::Proven(Resolution::NeverStarted);
    Answer::Reconciler { doubt: start, reconciliation }
}

/// A run with two tools in flight.
fn running() -> Bench {
    Bench::fresh().responds(0, &["look", "pay"]).authorized(0)
}

#[test]
fn arc_03_a_result_that_comes_twice_counts_once() {
    let start = ONE.start(0, 1, 1);
    let bench = running().returns(start);
    ignores(&bench, tool(start));
    let other = Answer::Tool { start, outcome: Arc::new(success("another")) };
    ignores(&bench, other);
}

#[test]
fn arc_03_a_result_of_another_start_is_not_this_ones() {
    let bench = running();
    for start in [ONE.start(0, 0, 2), ONE.start(0, 0, 0), ONE.start(0, 2, 1), ONE.start(1, 0, 1)] {
        ignores(&bench, tool(start));
    }
    ignores(&bench, tool(Tale("2").start(0, 0, 1)));
}

#[test]
fn arc_03_a_result_before_its_call_was_started_is_none() {
    let bench = Bench::fresh().responds(0, &["look"]);
    ignores(&bench, tool(ONE.start(0, 0, 1)));
    ignores(&Bench::fresh(), tool(ONE.start(0, 0, 1)));
}

#[test]
fn arc_03_a_model_is_heard_only_on_the_turn_that_it_is_asked_for() {
    let bench = Bench::fresh();
    for turn in [1, 2] {
        ignores(&bench, model(turn, response(&[])));
    }
    let bench = bench.responds(0, &["look"]);
    ignores(&bench, model(0, response(&[])));
    ignores(&bench, model(1, response(&[])));
    let bench = bench.authorized(0).returns(ONE.start(0, 0, 1));
    ignores(&bench, model(0, response(&["look"])));
    let stranger = RunId::derive(Tale("2").submission());
    let response = Ok(Arc::new(response(&[])));
    let (turn, purpose) = (Turn(1), Purpose::Respond);
    ignores(&bench, Answer::Model { run: stranger, turn, purpose, response });
}

#[test]
fn arc_03_an_authorizer_is_heard_once_and_only_on_the_turn_it_was_asked_about() {
    ignores(&Bench::fresh(), authorizer(0, Authorization::Allowed));
    let bench = Bench::fresh().responds(0, &["look"]);
    ignores(&bench, authorizer(1, Authorization::Allowed));
    let (turn, authorization) = (Turn(0), Authorization::Denied);
    ignores(&bench, Answer::Authorizer { run: Tale("2").run(), turn, authorization });
    let bench = bench.authorized(0);
    ignores(&bench, authorizer(0, Authorization::Allowed));
    ignores(&bench, authorizer(0, Authorization::Denied));
}

#[test]
fn arc_03_a_live_run_asks_no_reconciler_and_hears_none() {
    ignores(&running(), doubted(ONE.start(0, 1, 1)));
}

#[test]
fn dur_002_a_settled_run_hears_nothing() {
    let bench = Bench::fresh().responds(0, &[]);
    assert_eq!(bench.state.liveness(), Liveness::Resting);
    ignores(&bench, model(0, response(&[])));
    ignores(&bench, model(1, response(&[])));
    ignores(&bench, tool(ONE.start(0, 0, 1)));
}

#[test]
fn arc_03_a_stopped_run_hears_nothing_until_it_is_resumed() {
    let bench = running().told(Input::Stopped);
    assert_eq!(bench.state.liveness(), Liveness::Resting);
    ignores(&bench, tool(ONE.start(0, 0, 1)));
    ignores(&bench, authorizer(0, Authorization::Allowed));
    let mut bench = bench.told(Input::Resumed { now: Timestamp(1_000) });
    bench.look();
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    assert_eq!(committed(&effects).len(), 1);
}

#[test]
fn a_run_without_input_asks_nothing_and_hears_nothing() {
    let bench = Bench::live(&Story::new(), 1);
    assert_eq!(bench.effects, []);
    for answer in [model(0, response(&[])), authorizer(0, Authorization::Allowed)] {
        ignores(&bench, answer);
    }
    ignores(&bench, tool(ONE.start(0, 0, 1)));
}
