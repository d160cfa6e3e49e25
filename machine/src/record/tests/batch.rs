//! Batches: what names them, what chains them, and that no stored bit can change unnoticed.

use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::identity::BatchId;
use crate::record::strategies;

/// Where a part of the stored sample starts.
fn find(bytes: &[u8], part: &[u8]) -> usize {
    let found = bytes.windows(part.len()).position(|window| window == part);
    found.expect("the part is stored as it is")
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at] ^= 1;
    changed
}

#[test]
fn store_006_every_single_bit_change_of_a_stored_batch_is_detected() {
    let bytes = stored().encode();
    assert_eq!(StoredBatch::decode(&bytes), Ok(stored()));
    let mut seen = [0_usize; 6];
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let class = match StoredBatch::decode(&changed) {
            Ok(read) => panic!("bit {bit} changed the batch to {read:?}"),
            Err(Corruption::Version { .. }) => 0,
            Err(Corruption::Undecodable) => 1,
            Err(Corruption::Records { .. }) => 2,
            Err(Corruption::BatchId { .. }) => 3,
            Err(Corruption::Content { .. }) => 4,
            Err(Corruption::Chain { .. }) => 5,
            Err(other) => panic!("bit {bit} is no {other:?}"),
        };
        seen[class] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "every way of being wrong was met: {seen:?}");
    assert_eq!(seen[0], 16, "the version alone");
}

#[test]
fn store_006_a_stored_batch_cut_anywhere_or_continued_is_detected() {
    let bytes = stored().encode();
    for length in 0..bytes.len() {
        assert!(StoredBatch::decode(&bytes[..length]).is_err(), "{length}");
    }
    for more in [&[0][..], &[0xff], &bytes] {
        let continued = [&bytes, more].concat();
        assert_eq!(StoredBatch::decode(&continued), Err(Corruption::Undecodable));
    }
}

#[test]
fn corruption_names_the_place_what_was_expected_and_what_was_found() {
    let (batch, at) = (stored(), Sequence(41));
    let bytes = batch.encode();
    let changed = |part: &[u8]| StoredBatch::decode(&flipped(&bytes, find(&bytes, part)));

    let (id, content, chain) = (batch.batch().id(), batch.batch().content(), batch.chain());
    let mut found = id;
    found.0[0] ^= 1;
    assert_eq!(changed(&id.0), Err(Corruption::BatchId { at, expected: id, found }));
    let mut found = content;
    found.0[0] ^= 1;
    assert_eq!(changed(&content.0), Err(Corruption::Content { at, expected: content, found }));
    let mut found = chain;
    found.0[0] ^= 1;
    assert_eq!(changed(&chain.0), Err(Corruption::Chain { at, expected: chain, found }));
    let why = CodecError::Malformed;
    let name = b"\x03ada";
    assert_eq!(changed(name), Err(Corruption::Records { at, why }), "a name of two letters");
    assert_eq!(StoredBatch::decode(&[0]), Err(Corruption::Undecodable));
}

#[test]
fn each_corruption_says_where() {
    let (at, one, two) = (Sequence(7), Digest([1; 32]), Digest([2; 32]));
    let (this, that) = (BatchId([1; 16]), BatchId([2; 16]));
    let why = CodecError::Count;
    let (before, after) = (Epoch(4), Epoch(3));
    let said = [
        (Corruption::Undecodable, "the stored batch does not decode"),
        (
            Corruption::Version { found: 9 },
            "the stored batch has schema version 9; this build reads 1",
        ),
        (
            Corruption::Records { at, why },
            "the records at sequence 7 do not decode: a batch holds 1 to 256 records",
        ),
        (
            Corruption::BatchId { at, expected: this, found: that },
            "the batch at sequence 7 is 01010101…, stored is 02020202…",
        ),
        (
            Corruption::Content { at, expected: one, found: two },
            "the content digest at sequence 7 is 010101010101…, stored is 020202020202…",
        ),
        (
            Corruption::Chain { at, expected: one, found: two },
            "the chain digest at sequence 7 is 010101010101…, stored is 020202020202…",
        ),
        (
            Corruption::Gap { expected: at, found: Sequence(9) },
            "expected a batch at sequence 7, found one at 9",
        ),
        (
            Corruption::EpochOrder { at, previous: before, found: after },
            "the batch at sequence 7 has epoch 3 after epoch 4",
        ),
        (Corruption::History { at }, "the record at sequence 7 contradicts the records before it"),
    ];
    for (corruption, words) in said {
        assert_eq!(corruption.to_string(), words);
    }
}

#[test]
fn dur_007_batch_and_content_are_the_same_under_any_envelope_the_chain_never() {
    let (base, batch) = (samples::envelope(), stored().batch().clone());
    let first = StoredBatch::commit(base.clone(), batch.clone());
    let envelopes = [
        Envelope { first_sequence: Sequence(42), ..base.clone() },
        Envelope { epoch: Epoch(8), ..base.clone() },
        Envelope { producer: ProducerId::new("worker-2").unwrap(), ..base.clone() },
        Envelope { committed_at: Timestamp(1_700_000_000_124), ..base.clone() },
        Envelope { previous: Digest([0xef; 32]), ..base.clone() },
    ];
    let mut chains = vec![first.chain()];
    for envelope in envelopes {
        let other = StoredBatch::commit(envelope, batch.clone());
        assert_eq!(other.batch().id(), first.batch().id());
        assert_eq!(other.batch().content(), first.batch().content());
        assert!(!chains.contains(&other.chain()), "{:?}", other.envelope());
        chains.push(other.chain());
    }
    // Another log is another batch, whatever it holds.
    let conversation = ConversationId::new("other").unwrap();
    let batch = Batch::new(&conversation, one_of_each()).unwrap();
    assert_ne!(batch.id(), first.batch().id());
    assert_ne!(batch.content(), first.batch().content());
    let other = StoredBatch::commit(Envelope { conversation, ..base }, batch);
    assert!(!chains.contains(&other.chain()));
}

#[test]
fn store_004_content_tells_batches_with_the_same_records_ids_apart() {
    let input = |text: &str| {
        let Record::InputRecorded(it) = one_of_each().swap_remove(1) else {
            panic!("the second sample is an input")
        };
        let record = Record::InputRecorded(InputRecorded { input: json(text), ..it });
        Batch::new(&desk(), vec![record]).unwrap()
    };
    assert_eq!(input("1"), input("1.0"), "the same command sent again");
    assert_eq!(input("1").id(), input("2").id());
    assert_ne!(input("1").content(), input("2").content());
}

#[test]
fn a_batch_knows_its_records_and_where_the_next_one_starts() {
    let batch = stored();
    assert_eq!(batch.batch().records(), one_of_each());
    let ids: Vec<RecordId> = one_of_each().iter().map(Record::id).collect();
    assert_eq!(batch.batch().record_ids(), ids);
    assert_eq!(batch.batch().id(), BatchId::derive(&desk(), &ids));
    assert_eq!(batch.next_sequence(), Sequence(57));
    let last = Envelope { first_sequence: Sequence(u64::MAX - 1), ..samples::envelope() };
    let last = StoredBatch::commit(last, batch.batch().clone());
    assert_eq!(last.next_sequence(), Sequence(u64::MAX), "saturates instead of wrapping");
}

#[test]
#[should_panic(expected = "STORE-004")]
fn store_004_a_batch_is_never_committed_to_another_log() {
    let conversation = ConversationId::new("other").unwrap();
    let envelope = Envelope { conversation, ..samples::envelope() };
    let batch = Batch::new(&desk(), one_of_each()).unwrap();
    let _ = StoredBatch::commit(envelope, batch);
}

proptest! {
    #![proptest_config(strategies::cases(256))]

    #[test]
    fn store_006_any_stored_batch_is_read_back_as_it_was_written(
        batch in strategies::stored_batch(),
    ) {
        let bytes = batch.encode();
        prop_assert_eq!(StoredBatch::decode(&bytes), Ok(batch));
    }

    #[test]
    fn store_006_a_changed_bit_of_any_stored_batch_is_detected(
        batch in strategies::stored_batch(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 32),
    ) {
        let bytes = batch.encode();
        for place in places {
            let bit = place.index(bytes.len() * 8);
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(StoredBatch::decode(&changed).is_err(), "bit {}", bit);
        }
    }

    #[test]
    fn store_006_any_bytes_are_answered(bytes in any::<Vec<u8>>()) {
        prop_assert!(StoredBatch::decode(&bytes).is_err());
        let versioned = [&SCHEMA_VERSION.to_be_bytes()[..], &bytes].concat();
        prop_assert!(StoredBatch::decode(&versioned).is_err());
    }
}
