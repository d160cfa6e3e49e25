//! An ephemeral run is the durable one without a store.

use super::*;
use crate::identity::Token;
use crate::record::Batch;
use crate::testkit::Host;

/// The records of an ephemeral run that is answered as the host of a durable one answers.
fn ephemeral(turns: &[&[&'static str]]) -> (Vec<Record>, Settlement) {
    let mut outside = Host::new(turns).outside;
    let beginning = State::ephemeral(&call("1", "hello"), Timestamp(1_000), Token([1; 16]));
    let (state, batches) = beginning.unwrap();
    let records = |batch: &Arc<Batch>| batch.records().to_vec();
    let mut log: Vec<Record> = batches.iter().flat_map(records).collect();
    let mut step = Run::step(state, RESUMED);
    let mut waiting = Vec::new();
    loop {
        for effect in core::mem::take(&mut step.effects) {
            match effect {
                Effect::Commit(batch) => log.extend(records(&batch)),
                Effect::External(external) => waiting.insert(0, external),
                Effect::Schedule { .. } | Effect::Tell(_) | Effect::Listen => {}
                Effect::Settle(settlement) => return (log, settlement),
            }
        }
        let answer = outside.answer(waiting.pop().expect("a run waits for something"));
        step = Run::step(step.state, Input::Answered(answer));
    }
}

#[test]
fn run_001_an_ephemeral_run_records_what_a_durable_one_does() {
    for turns in [&[][..], &[&["look", "pay"][..], &["file"]], &[&["nothing"]], &[&["pay"; 5]]] {
        let mut host = Host::new(turns);
        host.admit(call("1", "hello"));
        let (state, effects) = host.attempt();
        host.perform(state, effects, |_| true).unwrap_err();
        let durable: Vec<Record> = host
            .store
            .log
            .iter()
            .flat_map(|stored| stored.batch().records().to_vec())
            .map(timeless)
            .collect();
        let (mut log, settlement) = ephemeral(turns);
        log.push(ONE.settled(settlement));
        let log: Vec<Record> = log.into_iter().map(timeless).collect();
        assert_eq!(log, durable, "{turns:?}");
    }
}

/// A record without the time at which it was made.
fn timeless(record: Record) -> Record {
    match record {
        Record::InputRecorded(it) => {
            Record::InputRecorded(crate::record::InputRecorded { at: Timestamp(0), ..it })
        }
        other => other,
    }
}

/// An ephemeral run whose only call is of this tool and never gives an answer, driven until it
/// rests for good; and how often it was made.
fn unanswered(tool: &'static str) -> (State, usize) {
    let mut outside = Host::new(&[&[tool]]).outside;
    outside.silent = usize::MAX;
    let beginning = State::ephemeral(&call("1", "hello"), Timestamp(1_000), Token([1; 16]));
    let mut step = Run::step(beginning.unwrap().0, RESUMED);
    loop {
        let asked = asked(&step.effects).pop();
        step = match (asked, step.state.liveness()) {
            (Some(external), _) => Run::step(step.state, Input::Answered(outside.answer(external))),
            (None, Liveness::Resting) => {
                if !step.state.again() {
                    return (step.state, outside.invocations());
                }
                Run::step(step.state, RESUMED)
            }
            (None, Liveness::Live) => panic!("a live run waits for something"),
        };
    }
}

#[test]
fn run_014_an_ephemeral_run_makes_only_an_idempotent_call_again_and_not_for_ever() {
    let (state, made) = unanswered("pay");
    assert_eq!((made, state.epoch()), (1, Epoch(1)), "it may have happened");
    let (state, made) = unanswered("file");
    assert_eq!((made, state.epoch()), (crate::limits::CALL_STARTS, Epoch(5)));
    assert_eq!(state.view().unwrap().open_starts().count(), 1, "its driver names the doubt");
}
