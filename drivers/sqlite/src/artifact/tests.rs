//! An artifact is there exactly when a record names it.

use std::sync::Arc;

use everstep_machine::conversation::{Command, Refusal as OfLog, Tail};
use everstep_machine::identity::{Epoch, ProducerId, Sequence, Timestamp, ToolCallId};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::ToolSettled;
use everstep_machine::store::{LogPage, Refusal, StoreCommand};

use super::*;
use crate::testkit::{blank, desk, submission, text};

fn large(letter: &str) -> CanonicalJson {
    text(&letter.repeat(500))
}

fn settled(n: u8, result: &CanonicalJson) -> Record {
    let outcome = Arc::new(ToolOutcome::Kept(Kept::of(result, 100)));
    Record::ToolSettled(ToolSettled {
        submission: submission(1),
        call: ToolCallId([n; 16]),
        outcome,
    })
}

fn batch(records: Vec<Record>) -> Arc<Batch> {
    Arc::new(Batch::new(&desk(), records).unwrap())
}

/// A log at epoch 3 with nothing in it that matters.
fn log(connection: &Connection) -> Tail {
    let tail = Tail { next_sequence: Sequence(0), ..crate::testkit::tail() };
    let raise = everstep_machine::conversation::Change::Raise(tail.epoch);
    crate::log::write(connection, &desk(), &raise, &tail).unwrap();
    tail
}

fn append(connection: &Connection, tail: Tail, epoch: u64, batch: &Arc<Batch>) -> Option<Refusal> {
    let (producer, batch) = (ProducerId::new("worker").unwrap(), Arc::clone(batch));
    let (epoch, expected) = (Epoch(epoch), tail.reference());
    let command = Command::Append { epoch, producer, expected, batch };
    let command = StoreCommand::Conversation(command);
    let mut page = |_| Ok(LogPage { tail: None, batches: vec![] });
    let answer = crate::command::execute(connection, &desk(), &command, Timestamp(9), &mut page);
    answer.unwrap().err()
}

#[test]
fn store_009_an_artifact_comes_with_the_record_that_names_it_and_once() {
    let connection = blank();
    let tail = log(&connection);
    let (one, two) = (large("a"), large("b"));
    let all = batch(vec![settled(1, &one), settled(2, &one), settled(3, &two)]);
    assert_eq!(append(&connection, tail, 3, &all), None);
    assert_eq!(
        count(&connection, &desk()).unwrap(),
        2,
        "what two results have alike is there once"
    );
    for result in [&one, &two] {
        let digest = Digest::plain(result.as_str().as_bytes());
        let found = read(&connection, &desk(), digest).unwrap();
        assert_eq!(found.as_deref(), Some(result.as_str().as_bytes()));
    }
    let mut seen = BTreeSet::new();
    verify(&connection, &desk(), &all, &mut seen).unwrap();
    assert_eq!(seen.len(), 2);
    let stranger = ConversationId::new("other").unwrap();
    let digest = Digest::plain(one.as_str().as_bytes());
    assert_eq!(read(&connection, &stranger, digest).unwrap(), None, "it is of its conversation");
}

#[test]
fn store_009_arc_13_a_superseded_owner_leaves_neither_record_nor_artifact() {
    let connection = blank();
    let tail = log(&connection);
    let late = batch(vec![settled(1, &large("a"))]);
    let current = Epoch(3);
    let refused = append(&connection, tail, 2, &late);
    assert_eq!(refused, Some(Refusal::Conversation(OfLog::Fenced { current })));
    assert_eq!(count(&connection, &desk()).unwrap(), 0);
}

#[test]
fn store_009_a_record_never_names_what_is_not_there() {
    let connection = blank();
    let tail = log(&connection);
    // What was read back from a log has no bytes with it.
    let bare = batch(vec![settled(1, &large("a"))]);
    let bare = everstep_machine::record::decode_records(
        &everstep_machine::record::encode_records(bare.records()).unwrap(),
    );
    let bare = batch(bare.unwrap());
    assert!(named(&bare).all(|kept| kept.whole.bytes().is_none()));
    let change = everstep_machine::conversation::Change::Commit(Box::new(
        everstep_machine::record::StoredBatch::commit(
            everstep_machine::record::Envelope {
                conversation: desk(),
                first_sequence: tail.next_sequence,
                epoch: tail.epoch,
                producer: ProducerId::new("worker").unwrap(),
                committed_at: Timestamp(9),
                previous: tail.chain,
            },
            Batch::clone(&bare),
        ),
    ));
    let missing = crate::log::write(&connection, &desk(), &change, &tail);
    let is_named = matches!(missing, Err(Trouble::Flawed(Place::Artifact(..), Flaw::Missing)));
    assert!(is_named, "{missing:?}");
}

#[test]
fn store_009_a_flipped_byte_is_found_whenever_it_is_read() {
    let connection = blank();
    let tail = log(&connection);
    let (one, two) = (large("a"), large("b"));
    let all = batch(vec![settled(1, &one), settled(2, &two)]);
    append(&connection, tail, 3, &all);
    let digest = Digest::plain(one.as_str().as_bytes());
    let flip = "UPDATE log_artifact SET bytes = CAST('x' || substr(bytes, 2) AS BLOB)
        WHERE digest = ?1";
    connection.execute(flip, [digest.0]).unwrap();
    let found = read(&connection, &desk(), digest);
    let is_named = |it: &Trouble| matches!(it, Trouble::Flawed(Place::Artifact(_, at), Flaw::Content) if **at == digest);
    assert!(is_named(&found.unwrap_err()));
    let verified = verify(&connection, &desk(), &all, &mut BTreeSet::new());
    assert!(is_named(&verified.unwrap_err()));
    let other = Digest::plain(two.as_str().as_bytes());
    assert!(read(&connection, &desk(), other).unwrap().is_some(), "nothing else is lost");
}
