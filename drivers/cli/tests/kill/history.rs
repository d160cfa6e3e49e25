//! What the file must hold in the end.

use everstep_machine::identity::{AdmissionSequence, Sequence};
use everstep_machine::ledger::Phase;
use everstep_machine::record::{Outcome, Record};
use everstep_sqlite::SqliteReader;

use super::BOOKED;

/// A record, as far as the order goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Created,
    Input,
    Answered,
    Prepared,
    /// A step of a durable call.
    Stepped,
    Result,
    Asked,
    Decided,
    Aborted,
    Settled,
    /// Says something of a start in doubt.
    Unknown,
    /// Closes one.
    Resolved,
    /// Says that somebody took over, wherever that was.
    TakenOver,
}

use Place::{
    Aborted, Answered, Asked, Created, Decided, Input, Prepared, Resolved, Result, Settled,
    Stepped, TakenOver, Unknown,
};

/// Once, in this order, whatever was killed.
const WITH_A_CALL: &[Place] = &[Created, Input, Answered, Prepared, Result, Answered, Settled];
const WITH_STEPS: &[Place] =
    &[Created, Input, Answered, Prepared, Stepped, Stepped, Stepped, Result, Answered, Settled];
const WITHOUT: &[Place] = &[Created, Input, Answered, Settled];
const ASKED: &[Place] =
    &[Created, Input, Answered, Asked, Decided, Prepared, Result, Answered, Settled];
const STEERED: &[Place] = &[
    Created, Input, Answered, Asked, Decided, Prepared, Result, Input, Answered, Settled, Settled,
];
const DENIED: &[Place] = &[Created, Input, Answered, Asked, Decided, Result, Settled];
/// What was given up before its model ever answered, and what tries it again.
const RETRIED: &[Place] =
    &[Created, Input, Settled, Input, Answered, Prepared, Result, Answered, Settled];
const ABORTED: &[Place] = &[Created, Input, Aborted, Settled];

/// One conversation, one submission, one settlement, and for what was given up one more that tries it
/// again; the records in their order; every digest
/// right.
pub(super) fn check(reader: &SqliteReader, outcome: Outcome, effects: usize, submissions: usize) {
    let lanes = reader.lanes(None, 8).expect("it is read").entries;
    let [lane] = lanes.as_slice() else { panic!("one line, one conversation: {lanes:?}") };
    let rows = reader.rows(&lane.conversation, AdmissionSequence(0), 8).expect("rows").entries;
    assert_eq!(rows.len(), submissions, "{rows:?}");
    let dead = rows.iter().find(|row| row.chain.retried.is_some());
    let ended = rows.iter().filter(|row| row.chain.retried.is_none());
    for row in ended.clone() {
        assert!(matches!(row.phase, Phase::Settled(it) if it.outcome == outcome), "{row:?}");
    }
    let successor = dead.and_then(|dead| dead.chain.retried.as_ref()).map(|it| it.successor);
    let is_there = |it| ended.clone().any(|row| it == row.admission.submission);
    assert!(successor.is_none_or(is_there), "{rows:?}");
    reader.verify(&lane.conversation).expect("every digest is right");
    let page = reader.log_page(&lane.conversation, Sequence(0)).expect("a page");
    let records = page.batches.iter().flat_map(|batch| batch.batch().records());
    let all: Vec<Place> = records.map(place).collect();

    let settlements = all.iter().filter(|place| **place == Settled).count();
    assert_eq!(settlements, rows.len(), "{all:?}");
    let mut order = all.clone();
    order.retain(|place| !matches!(place, Unknown | Resolved | TakenOver));
    // A start that did not happen, or may happen again, is prepared again under another epoch.
    order.dedup_by(|one, other| *one == Prepared && matches!(other, Prepared | Stepped));
    let expected = match (outcome, effects) {
        _ if dead.is_some() => RETRIED,
        (Outcome::Completed, 0) => WITHOUT,
        (Outcome::Completed, _) if submissions == 2 => STEERED,
        (Outcome::Completed, _) if all.contains(&Asked) => ASKED,
        (Outcome::Completed, BOOKED) => WITH_STEPS,
        (Outcome::Completed, _) => WITH_A_CALL,
        (Outcome::Failed, _) => DENIED,
        (Outcome::Aborted, _) => ABORTED,
    };
    assert_eq!(order, expected, "{all:?}");
    let at = |wanted: Place| all.iter().position(|place| *place == wanted);
    if let Some(doubted) = at(Unknown) {
        assert!(at(Prepared) < Some(doubted), "{all:?}");
        assert!(Some(doubted) < at(Resolved) && at(Resolved) < at(Result), "{all:?}");
    } else {
        assert_eq!(at(Resolved), None, "{all:?}");
    }
}

const fn place(record: &Record) -> Place {
    match record {
        Record::ConversationCreated(_) => Created,
        Record::InputRecorded(_) => Input,
        Record::ModelResponded(_) => Answered,
        Record::ToolPrepared(_) => Prepared,
        Record::StepRecorded(_) => Stepped,
        Record::ToolSettled(_) => Result,
        Record::ApprovalRequested(_) => Asked,
        Record::ApprovalDecided(_) => Decided,
        Record::AbortRequested(_) => Aborted,
        Record::SubmissionSettled(_) => Settled,
        Record::ToolUnknown(_) => Unknown,
        Record::ToolResolved(_) => Resolved,
        Record::ModelInterrupted(_)
        | Record::CompactionCreated(_)
        | Record::RunRebound(_)
        | Record::RecoveryDecided(_) => TakenOver,
    }
}
