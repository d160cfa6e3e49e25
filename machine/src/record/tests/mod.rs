//! Records as data: their identities, their bytes, and what happens to bytes that were changed.

mod batch;
mod codec;
mod golden;
mod samples;
mod settlement;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::identity::{ProducerId, RecordId, Sequence, Timestamp};
use samples::{CALL, SUBMISSION, desk, json, one_of_each, stored};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn arc_03_a_decision_taken_twice_has_one_record_id() {
    let (once, again) = (one_of_each(), one_of_each());
    let ids: Vec<RecordId> = once.iter().map(Record::id).collect();
    assert_eq!(ids, again.iter().map(Record::id).collect::<Vec<_>>());
    for (index, id) in ids.iter().enumerate() {
        assert!(!ids[..index].contains(id), "{:?} has an id of its own", once[index]);
    }
}

#[test]
fn trap_2_record_ids_differ_by_what_design_names_and_by_nothing_else() {
    let other = ToolCallId([9; 16]);
    let unknown = |call, start| {
        let doubt = Doubt { call, start: Epoch(start) };
        Record::ToolUnknown(ToolUnknown { submission: SUBMISSION, doubt }).id()
    };
    assert_ne!(unknown(CALL, 3), unknown(CALL, 4), "by epoch of the start");
    assert_ne!(unknown(CALL, 3), unknown(other, 3), "by call");
    let responded = |turn| {
        let Record::ModelResponded(mut it) = one_of_each().swap_remove(2) else {
            panic!("the third sample is a response")
        };
        it.turn = Turn(turn);
        Record::ModelResponded(it).id()
    };
    assert_ne!(responded(0), responded(1), "by turn");
    let settled = |outcome| {
        let outcome = Arc::new(outcome);
        Record::ToolSettled(ToolSettled { submission: SUBMISSION, call: CALL, outcome }).id()
    };
    let one = settled(ToolOutcome::Success(json("1")));
    assert_eq!(one, settled(ToolOutcome::Success(json("2"))), "a call has one terminal result");
}

#[test]
fn every_record_but_the_creation_belongs_to_its_submission() {
    for record in one_of_each() {
        let expected = match record {
            Record::ConversationCreated(_) => None,
            _ => Some(SUBMISSION),
        };
        assert_eq!(record.submission(), expected, "{record:?}");
    }
}

#[test]
fn every_kind_of_batch_is_reached_and_has_its_own_name() {
    let mut kinds: Vec<_> = one_of_each().iter().filter_map(BatchKind::of).collect();
    let Record::ModelResponded(mut silent) = one_of_each().swap_remove(2) else {
        panic!("the third sample is a response")
    };
    Arc::make_mut(&mut silent.response).parts.clear();
    kinds.extend(BatchKind::of(&Record::ModelResponded(silent)));
    let Record::InputRecorded(first) = one_of_each().swap_remove(1) else {
        panic!("the second sample is an input")
    };
    let host = SUBMISSION;
    for kind in [InputKind::Steering { host }, InputKind::FollowUp { host }] {
        let later = InputRecorded { kind, ..first.clone() };
        kinds.extend(BatchKind::of(&Record::InputRecorded(later)));
    }
    kinds.sort();
    assert_eq!(kinds, BatchKind::ALL, "each kind comes from exactly one record");
    for kind in BatchKind::ALL {
        let name = kind.effect_name();
        assert_eq!(name, format!("conversation.append:{kind:?}"));
    }
}

#[test]
fn a_batch_is_of_the_kind_of_its_first_record() {
    let of = |records| Batch::new(&desk(), records).unwrap().kind();
    let mut records = one_of_each();
    assert_eq!(of(records.clone()), None, "the creation is materialized, never appended");
    records.remove(0);
    assert_eq!(of(records), Some(BatchKind::InputRecorded));
}
