//! The layout of every record, pinned to its schema version (case SQ-07).
//!
//! postcard writes no field names, so bytes of another layout can look like this one's. These
//! constants are what logs in the field hold. A test here that fails means that the layout
//! changed: raise `SCHEMA_VERSION`, keep a reader for the old one, and add new constants beside
//! these. Version 1 itself is final with the first release.

use alloc::vec;

use super::*;
use samples::{RUN, place};

/// Version 1: the encoding of each record of [`one_of_each`], alone in its batch.
const VERSION_1: [&str; 16] = [
    "00010100046465736b0461636d6507726566756e6473a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3",
    "00010101111111111111111111111111111111110361646122222222222222222222222222222222247b2274657874223a22526566756e6420e282ac31322c20706c6561736520f09f9880227d00b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b280d095ffbc31010300000000",
    "00010102111111111111111111111111111111110102000b4c6574206d65207365652e010663616c6c5f3106726566756e640d7b22616d6f756e74223a31327d0101ac02c8013219e209",
    "0001010311111111111111111111111111111111ac020701800428",
    "0001010411111111111111111111111111111111333333333333333333333333333333330706726566756e640e27647c711a02dd1e8d80c6785f91bf87e8dae1e8584efa82994263b2e2ac35",
    "00010105111111111111111111111111111111113333333333333333333333333333333301084465636c696e656416546865206361726420776173206465636c696e65642e",
    "00010106111111111111111111111111111111113333333333333333333333333333333307",
    "0001010711111111111111111111111111111111333333333333333333333333333333330700117b22726566756e646564223a747275657d0361646113746865206c65646765722073686f7773206974",
    "0001010811111111111111111111111111111111036164610f6368616e676564206d79206d696e64",
    "00010109111111111111111111111111111111110712",
    "0001010a111111111111111111111111111111110122222222222222222222222222222222000722446f6e652e220000",
    "0001010b1111111111111111111111111111111102280115546865792077616e7420e282ac3132206261636b2e00",
    "0001010c11111111111111111111111111111111731286db1b15495dbce9a0f1c53b86fc333333333333333333333333333333330e27647c711a02dd1e8d80c6785f91bf87e8dae1e8584efa82994263b2e2ac35a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4010e6d6f6e65792e73656e643a65757202000202010a6163636f756e74732f370d7b22616d6f756e74223a31327d01e0d403010103626f62",
    "0001010d11111111111111111111111111111111731286db1b15495dbce9a0f1c53b86fc000003626f620b6c6f6f6b73207269676874",
    "0001010e111111111111111111111111111111113333333333333333333333333333333302056973737565ac02107b227469636b6574223a22542d39227d142b4a7a36fac52a03bddab70bb1359ea9a3450d9a81db9aeb78afef728b8ff5",
    "0001010f1111111111111111111111111111111101b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c203626f620d6e6f206861726d20696e206974",
];

/// Version 1: the digests of the stored batch of all records, and of its bytes.
const VERSION_1_BATCH: [&str; 4] = [
    "d1a4ac37f3b3a2886e8cba759757f2de",
    "786b5d74d5d691d6b5f10e0da4ef0ec1c869676068fc1c02e7a4f153589b8f2e",
    "6275ca6363cac91fca7160d179afc9d065467eaae8e3b2cbd7cfb017ba938967",
    "bbd3a5bbf80c837f7b200a3e1e8881759c476cb01c7dedfdd92413c039572dd0",
];

fn unhex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("two hexadecimal digits")).collect()
}

/// Bytes of one record in a layout of the test's making, under the version of this build.
fn with_layout(variant: u8, fields: &impl Serialize) -> Vec<u8> {
    let header = [&SCHEMA_VERSION.to_be_bytes()[..], &[1, variant]].concat();
    postcard::to_extend(fields, header).unwrap()
}

#[test]
fn case_sq_07_the_bytes_of_every_record_are_those_of_version_1() {
    assert_eq!(SCHEMA_VERSION, 1, "a new version needs its own golden bytes beside these");
    for (index, record) in one_of_each().into_iter().enumerate() {
        assert_eq!(place(&record), index, "one sample of every kind, in order");
        let written = encode_records(core::slice::from_ref(&record)).unwrap();
        assert_eq!(hex(&written), VERSION_1[index], "{record:?}");
        assert_eq!(decode_records(&unhex(VERSION_1[index])), Ok(vec![record]));
    }
}

#[test]
fn case_sq_07_the_bytes_and_digests_of_a_stored_batch_are_those_of_version_1() {
    let batch = stored();
    let bytes = Digest::of("everstep/test", &batch.encode());
    let digests = [
        format!("{}", batch.batch().id()),
        format!("{}", batch.batch().content()),
        format!("{}", batch.chain()),
        format!("{bytes}"),
    ];
    assert_eq!(digests, VERSION_1_BATCH);
}

#[test]
fn case_sq_07_a_field_more_or_less_under_the_old_number_fails_closed() {
    for golden in VERSION_1 {
        let bytes = unhex(golden);
        for more in [&[0][..], &[1], &[0xff], &[0; 16]] {
            let longer = [&bytes, more].concat();
            assert_eq!(decode_records(&longer), Err(CodecError::Malformed), "{golden}");
        }
        for less in 1..=bytes.len() - 4 {
            let shorter = &bytes[..bytes.len() - less];
            assert_eq!(decode_records(shorter), Err(CodecError::Malformed), "{golden} -{less}");
        }
    }
}

#[test]
fn case_sq_07_a_record_kind_inserted_before_others_fails_closed() {
    for (index, golden) in VERSION_1.iter().enumerate() {
        for moved in [index + 1, index.wrapping_sub(1), VERSION_1.len()] {
            let mut bytes = unhex(golden);
            assert_eq!(usize::from(bytes[3]), index, "the kind follows version and count");
            bytes[3] = moved as u8;
            assert_eq!(decode_records(&bytes), Err(CodecError::Malformed), "{index} as {moved}");
        }
    }
}

#[test]
fn case_sq_07_a_field_of_another_shape_fails_closed() {
    let (submission, call, epoch) = (SUBMISSION, CALL, Epoch(7));
    let parameters = Digest([5; 32]);
    let real = with_layout(4, &(submission, call, epoch, "refund", parameters));
    assert!(decode_records(&real).is_ok(), "the layout that the others depart from");
    let mutated = [
        ("a field dropped", with_layout(4, &(submission, call, epoch, parameters))),
        ("fields swapped", with_layout(4, &(submission, call, "refund", epoch, parameters))),
        (
            "an epoch in eight bytes",
            with_layout(4, &(submission, call, [7_u8; 8], "refund", parameters)),
        ),
        ("a shorter digest", with_layout(4, &(submission, call, epoch, "refund", [5_u8; 16]))),
        (
            "an optional field",
            with_layout(4, &(submission, call, epoch, None::<u8>, "refund", parameters)),
        ),
        ("a longer id", with_layout(4, &(submission, [3_u8; 32], epoch, "refund", parameters))),
        ("a text for a row", with_layout(9, &(submission, epoch, "18"))),
        ("a wide row", with_layout(9, &(submission, epoch, 300_u16))),
        ("a run without its option", with_layout(10, &(submission, RUN, 2_u8))),
        ("an unknown outcome", with_layout(10, &(submission, Some(RUN), 4_u8))),
        ("a flag for an enum", with_layout(5, &(submission, call, true))),
    ];
    for (what, bytes) in mutated {
        assert_eq!(decode_records(&bytes), Err(CodecError::Malformed), "{what}");
    }
}

#[test]
fn case_sq_07_fields_of_one_shape_swapped_are_seen_by_the_golden_bytes_alone() {
    let Record::ConversationCreated(it) = one_of_each().swap_remove(0) else {
        panic!("the first sample is a creation")
    };
    let names = (&it.conversation, &it.tenant, &it.agent);
    let swapped = with_layout(0, &(names, it.model, it.definition, it.tools));
    let read = decode_records(&swapped).expect("no reader can tell");
    assert_ne!(read, one_of_each()[..1]);
    assert_ne!(hex(&swapped), VERSION_1[0]);
    let straight = with_layout(0, &(names, it.definition, it.model, it.tools));
    assert_eq!(hex(&straight), VERSION_1[0]);
}
