use super::*;
use crate::contract::Machine;
use crate::identity::AdmissionSequence;
use crate::ledger;
use crate::record::Corruption;
use crate::store::{Refusal, Store, StoreFault};
use crate::testkit::{Host, LOST, Memory, call, submission};

fn accepted(position: u64) -> Effect {
    Effect::Accept(Receipt { submission: submission("1"), position: AdmissionSequence(position) })
}

#[test]
fn dur_001_everything_durable_leaves_before_the_receipt() {
    let step = AdmissionMachine::step(State::new(call("1", "a")), Input::Started);
    let [Effect::Store(pipeline)] = &step.effects[..] else { panic!("{:?}", step.effects) };
    let names: alloc::vec::Vec<_> = pipeline.commands.iter().map(|it| it.kind().name()).collect();
    assert_eq!(names, ["ledger.admit", "conversation.materialize", "ledger.ready"]);
}

#[test]
fn case_id_01_one_key_is_one_receipt_and_another_payload_a_conflict() {
    let mut host = Host::new(&[]);
    assert_eq!(host.admit(call("1", "a")), accepted(0));
    assert_eq!(host.admit(call("1", "a")), accepted(0));
    let conflict = Refusal::Ledger(ledger::Refusal::IdempotencyConflict);
    assert_eq!(host.admit(call("1", "b")), Effect::Reject(Rejection::Refused(conflict)));
    assert_eq!(host.store.rows.len(), 1);
    host.work();
    assert_eq!(host.admit(call("1", "a")), accepted(0), "a settled one keeps its receipt");
}

#[test]
fn dur_007_a_lost_acknowledgement_is_answered_by_the_identical_pipeline() {
    let mut store = Memory::new(call("1", "a").conversation);
    let step = AdmissionMachine::step(State::new(call("1", "a")), Input::Started);
    let first = step.effects.clone();
    let [Effect::Store(pipeline)] = &first[..] else { panic!("{first:?}") };
    store.execute(pipeline).unwrap();
    let step = AdmissionMachine::step(step.state, Input::Stored(Err(LOST)));
    assert_eq!(step.effects, first);
    let answer = store.execute(pipeline);
    let step = AdmissionMachine::step(step.state, Input::Stored(answer));
    assert_eq!(step.effects, [accepted(0)]);
    assert_eq!(store.rows.len(), 1);
}

#[test]
fn rejection_corrupt_names_a_store_that_cannot_be_trusted() {
    let corruption = StoreFault::Corrupt(Corruption::Undecodable);
    for answer in [Err(corruption), Ok(alloc::vec![])] {
        let step = AdmissionMachine::step(State::new(call("1", "a")), Input::Started);
        let step = AdmissionMachine::step(step.state, Input::Stored(answer));
        assert_eq!(step.effects, [Effect::Reject(Rejection::Corrupt)]);
    }
}

#[test]
fn late_and_doubled_inputs_change_nothing() {
    let idle = State::new(call("1", "a"));
    let step = AdmissionMachine::step(idle.clone(), Input::Stored(Err(LOST)));
    assert_eq!((step.state, step.effects.len()), (idle, 0));
    for input in [Input::Started, Input::Stored(Err(LOST))] {
        let step = AdmissionMachine::step(State::Done, input);
        assert_eq!((step.state, step.effects.len()), (State::Done, 0));
    }
}
