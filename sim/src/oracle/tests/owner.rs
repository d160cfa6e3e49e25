//! What an attempt believes.

use std::sync::Arc;

use everstep_machine::attempt::{Attempt, Effect, Input, Setup, State};
use everstep_machine::contract::Machine;
use everstep_machine::identity::{DurationMs, Epoch};
use everstep_machine::ledger::Command;
use everstep_machine::record::Doubt;
use everstep_machine::store::StoreCommand;

use super::{Bench, LEASE, producer, token};
use crate::oracle::{Judge, Property};

/// A bench on which an attempt has claimed, fenced and recorded the input, and asks the model.
fn live() -> (Bench, State) {
    let mut bench = Bench::admitted(None);
    let setup = Setup {
        lane: bench.cast.lanes[0].clone(),
        producer: producer(),
        binding: Arc::clone(&bench.cast.binding),
        lease: LEASE,
        renewal: DurationMs(500),
        watched: false,
    };
    let mut step = Attempt::step(State::new(setup), Input::Started { token: token(1) });
    while let Some(Effect::Store(pipeline)) = step.effects.first().cloned() {
        let executed = pipeline.commands.iter().map(|command| bench.does(command).answer);
        let replies = executed.map(|answer| answer.unwrap()).collect();
        step = Attempt::step(step.state, Input::Stored(Ok(replies)));
    }
    assert!(step.state.ownership().is_some());
    assert!(!step.state.awaits_store());
    (bench, step.state)
}

fn compare(judge: &mut Judge, bench: &Bench, state: &State) -> Option<Property> {
    judge.compare(0, &bench.shelf, state, false);
    judge.violation().map(|violation| violation.property)
}

#[test]
fn dur_015_an_owner_that_works_on_another_fold_is_found() {
    let (mut bench, state) = live();
    let mut sound = bench.judge.clone();
    assert_eq!(compare(&mut sound, &bench, &state), None);
    bench.judge = Judge::new(1);
    let mut forgetful = bench.judge.clone();
    assert_eq!(compare(&mut forgetful, &bench, &state), Some(Property::Fold));
}

#[test]
fn an_owner_that_expects_another_row_is_found() {
    let (mut bench, state) = live();
    let owner = state.ownership().unwrap();
    let doubts = vec![Doubt { call: bench.call(0, 0), start: Epoch(1) }];
    bench.does(&StoreCommand::Ledger(Command::MarkUnknown { owner, doubts }));
    let mut judge = bench.judge.clone();
    assert_eq!(compare(&mut judge, &bench, &state), Some(Property::Prediction));
    judge = bench.judge.clone();
    judge.compare(0, &bench.shelf, &state, true);
    assert_eq!(judge.violation(), None, "its row was written between reading and claiming");
}

#[test]
fn an_owner_that_expects_another_tail_is_found() {
    let (mut bench, state) = live();
    let response = bench.append(1, vec![bench.response(0)]);
    let mut judge = bench.judge.clone();
    assert!(bench.does(&response).answer.is_ok());
    assert_eq!(compare(&mut judge, &bench, &state), Some(Property::Prediction));
}

#[test]
fn who_has_lost_the_lane_may_believe_what_was_true_then() {
    let (mut bench, state) = live();
    let response = bench.append(1, vec![bench.response(0)]);
    assert!(bench.does(&response).answer.is_ok());
    bench.taken_over();
    let mut judge = bench.judge.clone();
    assert_eq!(compare(&mut judge, &bench, &state), None);
}
