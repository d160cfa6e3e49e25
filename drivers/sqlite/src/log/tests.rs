//! The tables of the logs, and what their own constraints refuse.

use everstep_machine::digest::Digest;
use everstep_machine::identity::Epoch;
use everstep_machine::record::{Batch, Corruption, Envelope, InputRecorded, Record};

use super::*;
use crate::ledger::tests::assert_flawed;
use crate::testkit::{blank, desk, stored, tail};

fn commit(connection: &Connection, stored: &StoredBatch) -> Result<(), Trouble> {
    let tail = Tail {
        epoch: stored.envelope().epoch,
        next_sequence: stored.next_sequence(),
        content: stored.batch().content(),
        chain: stored.chain(),
    };
    write(connection, &desk(), &Change::Commit(Box::new(stored.clone())), &tail)
}

fn place(at: u64) -> Place {
    Place::Batch(desk(), Sequence(at))
}

#[test]
fn case_cr_03_the_constraint_alone_refuses_a_second_commit_of_one_step() {
    // Nobody asks the machine, which would have refused: two attempts write the same batch, each
    // at the end of the log as it found it.
    let connection = blank();
    let first = stored(1, 0, 1, Digest::ZERO);
    commit(&connection, &first).unwrap();
    for (at, epoch) in [(0, 1), (1, 1), (1, 2)] {
        let second = stored(1, at, epoch, first.chain());
        assert_eq!(second.batch().id(), first.batch().id());
        assert_flawed(commit(&connection, &second), &place(at), &Flaw::Taken);
    }
    let page = page(&connection, &desk(), Sequence(0)).unwrap();
    assert_eq!(page.batches, [Arc::new(first)]);
}

#[test]
fn case_cr_03_the_constraint_alone_refuses_a_record_in_two_batches() {
    let connection = blank();
    let first = stored(1, 0, 1, Digest::ZERO);
    commit(&connection, &first).unwrap();
    let records: Vec<Record> = [2, 1]
        .into_iter()
        .map(|n| match stored(n, 0, 1, Digest::ZERO).batch().records() {
            [Record::InputRecorded(it)] => Record::InputRecorded(InputRecorded::clone(it)),
            other => panic!("one input, not {other:?}"),
        })
        .collect();
    let batch = Batch::new(&desk(), records).unwrap();
    let envelope = Envelope {
        first_sequence: Sequence(1),
        previous: first.chain(),
        ..first.envelope().clone()
    };
    let second = StoredBatch::commit(envelope, batch);
    assert_ne!(second.batch().id(), first.batch().id());
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_flawed(commit(&connection, &second), &place(1), &Flaw::Taken);
    connection.execute_batch("ROLLBACK").unwrap();
    assert_eq!(page(&connection, &desk(), Sequence(0)).unwrap().batches.len(), 1);
}

#[test]
fn store_004_a_slice_knows_batch_records_and_tail() {
    let connection = blank();
    let first = stored(1, 0, 3, Digest::ZERO);
    let command = |stored: &StoredBatch| Command::Append {
        epoch: Epoch(3),
        producer: stored.envelope().producer.clone(),
        expected: tail().reference(),
        batch: Arc::new(stored.batch().clone()),
    };
    let before = slice(&connection, &desk(), &command(&first)).unwrap();
    assert_eq!(before, Slice::new(desk(), None));
    commit(&connection, &first).unwrap();
    let after = slice(&connection, &desk(), &command(&first)).unwrap();
    assert_eq!(after.tail.unwrap().chain, first.chain());
    assert_eq!(after.used, first.batch().record_ids());
    let committed = after.committed.unwrap();
    assert_eq!((committed.batch, committed.epoch), (first.batch().id(), Epoch(3)));
    assert_eq!(committed.content, first.batch().content());
    let other = slice(&connection, &desk(), &command(&stored(2, 1, 3, first.chain()))).unwrap();
    assert_eq!((other.committed, other.used.len()), (None, 0));
}

#[test]
fn store_011_a_page_is_bounded_in_batches_and_goes_on_where_it_ended() {
    let connection = blank();
    connection.execute_batch("BEGIN").unwrap();
    let mut chain = Digest::ZERO;
    let all = PAGE_BATCHES as u64 + 5;
    let mut insert = |n: u64| {
        let input = InputRecorded {
            submission: everstep_machine::identity::SubmissionId(u128::from(n).to_be_bytes()),
            principal: everstep_machine::identity::PrincipalId::new("ada").unwrap(),
            run: everstep_machine::identity::RunId([0; 16]),
            input: crate::testkit::text("hello"),
            kind: everstep_machine::record::InputKind::First { bound: crate::testkit::bound() },
            at: everstep_machine::identity::Timestamp(1_000),
            allowance: everstep_machine::agent::Allowance::default(),
        };
        let batch = Batch::new(&desk(), vec![Record::InputRecorded(input)]).unwrap();
        let sample = stored(1, n, 1, chain);
        let stored = StoredBatch::commit(sample.envelope().clone(), batch);
        chain = stored.chain();
        commit(&connection, &stored).unwrap();
    };
    (0..all).for_each(&mut insert);
    let first = page(&connection, &desk(), Sequence(0)).unwrap();
    assert_eq!(first.batches.len(), PAGE_BATCHES);
    assert_eq!(first.tail.unwrap().next_sequence, Sequence(all));
    let second = page(&connection, &desk(), Sequence(PAGE_BATCHES as u64)).unwrap();
    assert_eq!(second.batches.len(), 5);
    assert_eq!(second.batches[0].envelope().previous, first.batches[PAGE_BATCHES - 1].chain());
    assert!(page(&connection, &desk(), Sequence(u64::MAX)).unwrap().batches.is_empty());
}

#[test]
fn store_006_flaw_missing_batches_without_their_tail() {
    let connection = blank();
    commit(&connection, &stored(1, 0, 1, Digest::ZERO)).unwrap();
    connection.execute_batch("DELETE FROM log_tail").unwrap();
    let read = page(&connection, &desk(), Sequence(0));
    assert_flawed(read, &Place::Tail(desk()), &Flaw::Missing);
}

#[test]
fn store_006_flaw_batch_names_the_place_and_what_is_wrong() {
    let connection = blank();
    let first = stored(1, 0, 1, Digest::ZERO);
    commit(&connection, &first).unwrap();
    let mut bytes = first.encode();
    // A letter of what was said: the record still reads.
    let said = bytes.windows(5).position(|it| it == b"hello").expect("the input is in there");
    bytes[said] ^= 0x20;
    connection.execute("UPDATE log_batch SET bytes = ?1", [&bytes]).unwrap();
    match page(&connection, &desk(), Sequence(0)) {
        Err(Trouble::Flawed(at, Flaw::Batch(Corruption::Content { .. }))) => {
            assert_eq!(at, place(0));
        }
        other => panic!("a flipped bit was not seen: {other:?}"),
    }
    bytes[..2].copy_from_slice(&[0, 9]);
    connection.execute("UPDATE log_batch SET bytes = ?1", [&bytes]).unwrap();
    let read = page(&connection, &desk(), Sequence(0));
    assert_flawed(read, &place(0), &Flaw::Batch(Corruption::Version { found: 9 }));
}

#[test]
fn store_006_flaw_column_a_batch_in_the_place_of_another_does_not_read() {
    let damage = [
        (5, "first_sequence", "UPDATE log_batch SET first_sequence = 5"),
        (0, "batch", "UPDATE log_batch SET batch = x'00000000000000000000000000000000'"),
    ];
    for (at, column, sql) in damage {
        let connection = blank();
        commit(&connection, &stored(1, 0, 1, Digest::ZERO)).unwrap();
        connection.execute_batch(sql).unwrap();
        let read = page(&connection, &desk(), Sequence(0));
        assert_flawed(read, &place(at), &Flaw::Column(column));
    }
}

#[test]
fn store_006_flaw_counter_a_sequence_beyond_every_history_is_not_written() {
    let connection = blank();
    let beyond = stored(1, u64::MAX, 1, Digest::ZERO);
    assert_flawed(commit(&connection, &beyond), &place(u64::MAX), &Flaw::Counter);
}
