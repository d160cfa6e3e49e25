//! A log is read in order, and every break is named by its place.

use super::*;
use crate::digest::Digest;
use crate::record::{Batch, Envelope, StoredBatch};
use crate::testkit::call;

/// A log of the creation and three more batches, under the epochs 0, 1, 1 and 2.
fn log() -> alloc::vec::Vec<StoredBatch> {
    declared(&["look"]).at(2).tell([result(0)]).batches
}

fn fed(batches: &[StoredBatch]) -> Reader {
    let mut reader = Reader::default();
    batches.iter().for_each(|batch| reader.feed(batch).unwrap());
    reader
}

/// The last batch of the log, under an envelope that says something else.
fn altered(change: impl FnOnce(&mut Envelope)) -> (Reader, StoredBatch) {
    let log = log();
    let (last, rest) = log.split_last().unwrap();
    let mut envelope = last.envelope().clone();
    change(&mut envelope);
    (fed(rest), StoredBatch::commit(envelope, Batch::clone(last.batch())))
}

#[test]
fn store_011_a_reader_knows_where_the_log_goes_on() {
    assert_eq!(
        (Reader::default().next_sequence(), Reader::default().chain()),
        (Sequence(0), Digest::ZERO)
    );
    let log = log();
    let reader = fed(&log);
    assert_eq!(reader.next_sequence(), Sequence(4));
    assert_eq!(reader.chain(), log[3].chain());
    assert_eq!(reader.into_projection(), Projection::of(&log).unwrap());
}

#[test]
fn store_006_a_missing_batch_is_a_gap() {
    let log = log();
    for missing in 0..3 {
        let mut reader = fed(&log[..missing]);
        let (expected, found) = (reader.next_sequence(), Sequence(missing as u64 + 1));
        let gap = Corruption::Gap { expected, found };
        assert_eq!(reader.feed(&log[missing + 1]), Err(gap));
        let mut without = log.clone();
        without.remove(missing);
        assert_eq!(Projection::of(&without), Err(gap));
    }
}

#[test]
fn store_006_a_batch_that_is_read_twice_is_a_gap() {
    let log = log();
    let mut reader = fed(&log[..2]);
    let gap = Corruption::Gap { expected: Sequence(2), found: Sequence(1) };
    assert_eq!(reader.feed(&log[1]), Err(gap));
}

#[test]
fn store_006_a_batch_that_links_to_another_history_breaks_the_chain() {
    let (mut reader, batch) = altered(|envelope| envelope.previous = Digest::ZERO);
    let expected = reader.chain();
    let broken = Corruption::Chain { at: Sequence(3), expected, found: Digest::ZERO };
    assert_eq!(reader.feed(&batch), Err(broken));
}

#[test]
fn dur_006_a_batch_of_an_older_epoch_is_out_of_order() {
    let log = declared(&["look"]).at(2).tell([ONE.decided(2, 14)]).at(1).tell([result(0)]).batches;
    let mut reader = fed(&log[..4]);
    let (previous, found) = (Epoch(2), Epoch(1));
    let order = Corruption::EpochOrder { at: Sequence(4), previous, found };
    assert_eq!(reader.feed(&log[4]), Err(order));
}

#[test]
fn store_006_a_batch_that_links_and_contradicts_is_history() {
    let log = log();
    let mut reader = fed(&log[..3]);
    let last = &log[2];
    let envelope =
        Envelope { first_sequence: Sequence(3), previous: last.chain(), ..last.envelope().clone() };
    let batch = Batch::new(&call("1", "").conversation, alloc::vec![ONE.input()]).unwrap();
    let twice = StoredBatch::commit(envelope, batch);
    assert_eq!(reader.feed(&twice), Err(Corruption::History { at: Sequence(3) }));
}

#[test]
fn store_006_what_does_not_link_is_found_before_what_does_not_fit() {
    let (mut reader, batch) = altered(|envelope| {
        envelope.first_sequence = Sequence(9);
        envelope.previous = Digest::ZERO;
        envelope.epoch = Epoch(0);
    });
    assert!(matches!(reader.feed(&batch), Err(Corruption::Gap { .. })));
    let (mut reader, batch) = altered(|envelope| {
        envelope.previous = Digest::ZERO;
        envelope.epoch = Epoch(0);
    });
    assert!(matches!(reader.feed(&batch), Err(Corruption::Chain { .. })));
    let (mut reader, batch) = altered(|envelope| envelope.epoch = Epoch(0));
    assert!(matches!(reader.feed(&batch), Err(Corruption::EpochOrder { .. })));
}
