//! What is remembered is what is in the file, whoever writes to it.

use everstep_machine::conversation::{Change, Tail};
use everstep_machine::identity::{Epoch, PrincipalId, ProducerId, RunId, SubmissionId, Timestamp};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::record::{Batch, Envelope, InputRecorded, Record};
use proptest::prelude::*;

use super::*;
use crate::testkit::{blank, text};

const PLENTY: usize = 1 << 30;

fn name(n: u8) -> ConversationId {
    ConversationId::new(&format!("desk {n}")).unwrap()
}

/// A log as its only writer knows it.
struct Writer {
    conversation: ConversationId,
    batches: Vec<StoredBatch>,
}

impl Writer {
    fn new(n: u8) -> Self {
        Self { conversation: name(n), batches: Vec::new() }
    }

    /// Commits a batch of two records that no other `content` has.
    fn append(&mut self, connection: &Connection, content: u64) {
        let record = |half: u64| {
            Record::InputRecorded(InputRecorded {
                submission: SubmissionId(u128::from(2 * content + half).to_be_bytes()),
                principal: PrincipalId::new("ada").unwrap(),
                run: RunId([1; 16]),
                input: text("hello"),
                kind: everstep_machine::record::InputKind::First { bound: crate::testkit::bound() },
                at: everstep_machine::identity::Timestamp(1_000),
                allowance: everstep_machine::agent::Allowance::default(),
            })
        };
        let batch = Batch::new(&self.conversation, vec![record(0), record(1)]).unwrap();
        let last = self.batches.last();
        let envelope = Envelope {
            conversation: self.conversation.clone(),
            first_sequence: last.map_or(Sequence(0), StoredBatch::next_sequence),
            epoch: Epoch(1),
            producer: ProducerId::new("worker").unwrap(),
            committed_at: Timestamp(1_000),
            previous: last.map_or(Digest::ZERO, StoredBatch::chain),
        };
        let stored = StoredBatch::commit(envelope, batch);
        let change = Change::Commit(Box::new(stored.clone()));
        log::write(connection, &self.conversation, &change, &tail(&stored)).unwrap();
        self.batches.push(stored);
    }

    fn appended(connection: &Connection, n: u8, contents: std::ops::Range<u64>) -> Self {
        let mut writer = Self::new(n);
        contents.for_each(|content| writer.append(connection, content));
        writer
    }

    /// The file is restored to a state in which this log does not exist.
    fn restore(&mut self, connection: &Connection) {
        for table in ["log_batch", "log_record", "log_tail"] {
            let sql = format!("DELETE FROM {table} WHERE conversation = ?1");
            connection.execute(&sql, [self.conversation.as_str()]).unwrap();
        }
        self.batches.clear();
    }
}

fn tail(stored: &StoredBatch) -> Tail {
    Tail {
        epoch: stored.envelope().epoch,
        next_sequence: stored.next_sequence(),
        content: stored.batch().content(),
        chain: stored.chain(),
    }
}

/// Reads a page with the memory, which must be the page of the file. Returns how many of its
/// batches were remembered.
fn recalled(memory: &mut Memory, connection: &Connection, n: u8, from: u64) -> u64 {
    let (page, recalled) = memory.page(connection, &name(n), Sequence(from)).unwrap();
    assert_eq!(page, log::page(connection, &name(n), Sequence(from)).unwrap(), "from {from}");
    let held: usize = memory.logs.values().map(|known| known.held).sum();
    assert_eq!(memory.held, held);
    assert!(held <= memory.limit);
    assert_eq!(memory.order.len(), memory.logs.len());
    recalled
}

#[test]
fn store_011_every_page_from_memory_is_the_page_of_the_file() {
    let connection = blank();
    connection.execute_batch("BEGIN").unwrap();
    let count = PAGE_BATCHES as u64;
    Writer::appended(&connection, 1, 0..count + 5);
    let mut memory = Memory::new(PLENTY);
    // Nothing is known yet, and then the first page, of two records a batch.
    assert_eq!(recalled(&mut memory, &connection, 1, 2 * count), 0);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 0);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), count);
    assert_eq!(recalled(&mut memory, &connection, 1, 2 * count), 0);
    for (from, known) in
        [(0, count), (1, count), (20, count - 5), (2 * count - 1, 5), (2 * count + 8, 1)]
    {
        assert_eq!(recalled(&mut memory, &connection, 1, from), known, "from {from}");
    }
    for beyond in [2 * count + 9, 2 * count + 10, u64::MAX] {
        assert_eq!(recalled(&mut memory, &connection, 1, beyond), 0);
    }
}

#[test]
fn store_003_what_another_process_appends_is_in_the_next_page() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("agent.db");
    let (mine, others) = (Connection::open(&file).unwrap(), Connection::open(&file).unwrap());
    crate::format::create(&mine).unwrap();
    let (mut memory, mut writer) = (Memory::new(PLENTY), Writer::new(1));
    for known in 0..4 {
        writer.append(&others, known);
        assert_eq!(recalled(&mut memory, &mine, 1, 0), known);
    }
}

#[test]
fn store_011_a_file_that_was_restored_is_read_anew() {
    let connection = blank();
    let mut writer = Writer::appended(&connection, 1, 0..6);
    let mut memory = Memory::new(PLENTY);
    let mut read = |known| {
        assert_eq!(recalled(&mut memory, &connection, 1, 0), known);
    };
    read(0);
    read(6);
    // As long as before, with another last batch.
    writer.restore(&connection);
    (0..5).chain([9]).for_each(|content| writer.append(&connection, content));
    read(0);
    read(6);
    // Shorter than what is remembered.
    writer.restore(&connection);
    (0..3).for_each(|content| writer.append(&connection, content));
    read(0);
    read(3);
    // Another history that has become longer than it.
    writer.restore(&connection);
    (20..28).for_each(|content| writer.append(&connection, content));
    read(0);
    writer.restore(&connection);
    read(0);
}

#[test]
fn store_006_damage_is_noticed_by_whoever_reads_it_from_the_file() {
    let connection = blank();
    let writer = Writer::appended(&connection, 1, 0..3);
    let mut memory = Memory::new(PLENTY);
    recalled(&mut memory, &connection, 1, 0);
    let damage = |at: u64| {
        let sql = "UPDATE log_batch SET bytes = x'00' WHERE first_sequence = ?1";
        assert_eq!(connection.execute(sql, [at]).unwrap(), 1);
    };
    damage(2);
    // The last batch is as it was, and so was everything that its chain covers.
    let (page, known) = memory.page(&connection, &name(1), Sequence(0)).unwrap();
    assert!(page.batches.iter().map(|it| &**it).eq(&writer.batches));
    assert_eq!(known, 3);
    let flawed = |read: Result<(LogPage, u64), Trouble>, place: u64| match read {
        Err(Trouble::Flawed(at, _)) => {
            assert_eq!(at, crate::error::Place::Batch(name(1), Sequence(place)));
        }
        other => panic!("the damage was not seen: {other:?}"),
    };
    flawed(Memory::new(PLENTY).page(&connection, &name(1), Sequence(0)), 2);
    damage(4);
    flawed(memory.page(&connection, &name(1), Sequence(0)), 4);
}

#[test]
fn store_006_what_does_not_link_is_not_remembered() {
    let connection = blank();
    Writer::appended(&connection, 1, 0..6);
    connection.execute_batch("DELETE FROM log_batch WHERE first_sequence = 4").unwrap();
    let mut memory = Memory::new(PLENTY);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 0);
    // Two batches lead up to the gap.
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 2);
    assert_eq!(recalled(&mut memory, &connection, 1, 6), 0);
}

#[test]
fn store_011_a_memory_is_bounded_and_forgets_who_was_asked_for_longest_ago() {
    let connection = blank();
    (1..=3).for_each(|n| drop(Writer::appended(&connection, n, 0..4)));
    let mut measure = Memory::new(PLENTY);
    recalled(&mut measure, &connection, 1, 0);
    let one = measure.held;
    let mut memory = Memory::new(2 * one + one / 2);
    let mut read = |n| recalled(&mut memory, &connection, n, 0);
    assert_eq!([read(1), read(2), read(1)], [0, 0, 4]);
    // Room is made by forgetting the second.
    assert_eq!([read(3), read(1), read(3)], [0, 4, 4]);
    assert_eq!(read(2), 0);
    // What does not fit as a whole is remembered as far as it fits.
    let mut memory = Memory::new(one / 2);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 0);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 2);
    let mut memory = Memory::new(0);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 0);
    assert_eq!(recalled(&mut memory, &connection, 1, 0), 0);
    assert!(memory.logs.is_empty());
}

#[test]
fn store_011_a_log_that_is_too_long_drives_nobody_out() {
    let connection = blank();
    Writer::appended(&connection, 1, 0..40);
    (2..=3).for_each(|n| drop(Writer::appended(&connection, n, 0..4)));
    let mut measure = Memory::new(PLENTY);
    recalled(&mut measure, &connection, 2, 0);
    let mut memory = Memory::new(3 * measure.held);
    let mut read = |n| recalled(&mut memory, &connection, n, 0);
    assert_eq!([read(2), read(3)], [0, 0]);
    // There is room for as much of it as of one of the others.
    assert_eq!([read(1), read(1)], [0, 4]);
    assert_eq!([read(2), read(3)], [4, 4]);
}

#[derive(Clone, Debug)]
enum Act {
    Append(u8),
    Read(u8, u64),
    Restore(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..3_u8).prop_map(Act::Append),
        5 => (0..3_u8, 0..12_u64).prop_map(|(n, from)| Act::Read(n, from)),
        1 => (0..3_u8).prop_map(Act::Restore),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn store_003_no_order_of_appends_reads_and_restorations_shows_another_page(
        acts in prop::collection::vec(act(), 1..60),
        limit in 0..20_000_usize,
    ) {
        let connection = blank();
        let mut writers = [0, 1, 2].map(Writer::new);
        let mut memory = Memory::new(limit);
        for (content, act) in (0..).zip(acts) {
            match act {
                Act::Append(n) => writers[usize::from(n)].append(&connection, content),
                Act::Read(n, from) => {
 recalled(&mut memory, &connection, n, from);
},
                Act::Restore(n) => writers[usize::from(n)].restore(&connection),
            }
        }
    }
}
