//! The layout of lanes, rows and tails, pinned to its version (case SQ-07).
//!
//! These constants are what files in the field hold. A test here that fails means that the layout
//! of one of these values changed: raise `LAYOUT_VERSION`, so that older files are refused when
//! they are opened, and put the new constants in place of these. Until a first version of the
//! product has files in the field, replacing the constants is enough.

use everstep_machine::conversation::Tail;
use everstep_machine::ledger::{InputMarker, Lane, MarkState, Phase, Reserved, Row};
use everstep_machine::record::{Settlement, SubmissionSettled};
use proptest::prelude::*;

use super::*;
use crate::testkit::{abort, chain, given_up, intent, lane, mark, row, settled, submission, tail};

const LABEL: Label<'_> = Label { tag: "everstep/test", owner: "desk", position: 1 };

/// The sealed bytes of [`lane`], [`tail`] and each of [`rows`].
const VERSION_1: [&str; 10] = [
    "0001046465736b010473686f70020301010101010101010101010101010101010707070707070707070707070707070706776f726b657298f201dc0be807f1bedae6262baf8f2f7d98bc9cd6169e",
    "000103ac02010101010101010101010101010101010101010101010101010101010101010102020202020202020202020202020202020202020202020202020202020202029e8be7897b64a6f41fc6f16a68fefef9",
    "000100000000000000000000000000000000036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000000a00600000000000000000000d269ded1d4e5a509ea26d463f9fcc5a1",
    "000101010101010101010101010101010101036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000001a00600000100000000000000e9ac8580c400d19ea09e950dd35a6006",
    "000102020202020202020202020202020202036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000002a00600000200000000000000006a507b985ee1bf679de8b42aec85548c",
    "000103030303030303030303030303030303036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000003a00600000201000000000000007dd9f9abb0521c3844cf90c8752abdda",
    "000104040404040404040404040404040404036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000004a0060000050003090909090909090909090909090909090284070009090909090909090909090909090909028407010203626f62066c6f6f6b656409090909090909090909090909090909028407020203626f62066c6f6f6b65640000000000b3f620aa37b47899b2f526a131c441bc",
    "000105050505050505050505050505050505036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000005a006020007050505050505050505050505050505050002c0f3d8e785a39e02d798125c02e23c879626043cfb0f361c759eed111d97bef3010361646106656e6f7567680000000000006c6b2dc1a3e16d4af87bc436c9b8669c",
    "000106060606060606060606060606060606036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000006a0060000080303030303030303030303030303030303030303030303030303030303030303020003b60700000000000000c090b612ea9feb7298fc881c270fcc42",
    "000107070707070707070707070707070707036164610473686f70036b657905636c65726b0404040404040404040404040404040404040404040404040404040404040404072268656c6c6f2200000000000007a0060000080303030303030303030303030303030303030303030303030303030303030303010103b6070000000108080808080808080808080808080808010361646106656e6f7567680909090909090909090909090909090909c00700005ae613c4cb56944c996e8258359d5616",
];

/// One row of every phase and every state of a mark, with and without an abort and a retry.
fn rows() -> Vec<Row> {
    let record =
        SubmissionSettled { submission: submission(5), run: None, settlement: Settlement::Aborted };
    let reserved = Reserved::new(record).unwrap();
    let marks = vec![
        mark(MarkState::Open),
        mark(MarkState::Intended(intent())),
        mark(MarkState::Closed(intent())),
    ];
    vec![
        row(0, Phase::Admitted),
        row(1, Phase::Ready),
        row(2, Phase::Running(InputMarker::Missing)),
        row(3, Phase::Running(InputMarker::Applied)),
        Row { marks, ..row(4, Phase::Unknown) },
        Row { abort: Some(abort()), claims: 2, ..row(5, Phase::Terminalizing(reserved)) },
        row(6, settled()),
        Row { chain: chain(), ..row(7, given_up()) },
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("two hexadecimal digits")).collect()
}

/// Bytes of a layout of the test's making, sealed as this build would.
fn resealed(version: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = [&version.to_be_bytes()[..], body].concat();
    let seal = LABEL.seal(&bytes);
    bytes.extend_from_slice(&seal);
    bytes
}

fn body(golden: &str) -> Vec<u8> {
    let bytes = unhex(golden);
    bytes[VERSION_BYTES..bytes.len() - SEAL_BYTES].to_vec()
}

#[test]
fn case_sq_07_the_bytes_of_lanes_rows_and_tails_are_those_of_version_1() {
    assert_eq!(LAYOUT_VERSION, 1, "a new version needs its own golden bytes");
    let mut written = vec![hex(&seal(LABEL, &lane())), hex(&seal(LABEL, &tail()))];
    written.extend(rows().iter().map(|row| hex(&seal(LABEL, row))));
    assert_eq!(written, VERSION_1);
    assert_eq!(unseal::<Lane>(LABEL, &unhex(VERSION_1[0])), Ok(lane()));
    assert_eq!(unseal::<Tail>(LABEL, &unhex(VERSION_1[1])), Ok(tail()));
    for (row, golden) in rows().into_iter().zip(&VERSION_1[2..]) {
        assert_eq!(unseal::<Row>(LABEL, &unhex(golden)), Ok(row));
    }
}

#[test]
fn case_sq_07_a_field_more_or_less_under_the_old_number_fails_closed() {
    for golden in &VERSION_1[2..] {
        let body = body(golden);
        for more in [&[0][..], &[1], &[0xff], &[0; 16]] {
            let longer = resealed(LAYOUT_VERSION, &[&body, more].concat());
            assert_eq!(unseal::<Row>(LABEL, &longer), Err(CellError::Malformed), "{golden}");
        }
        for less in 1..=body.len() {
            let shorter = resealed(LAYOUT_VERSION, &body[..body.len() - less]);
            let read = unseal::<Row>(LABEL, &shorter);
            assert_eq!(read, Err(CellError::Malformed), "{golden} -{less}");
        }
    }
}

#[test]
fn case_sq_07_a_field_of_another_shape_fails_closed() {
    let Lane { conversation, tenant, next, epoch, owner, stamp } = lane();
    let lanes = |fields: &dyn Fn() -> Vec<u8>| unseal::<Lane>(LABEL, &resealed(1, &fields()));
    let real =
        || postcard::to_allocvec(&(&conversation, &tenant, next, epoch, &owner, stamp)).unwrap();
    assert_eq!(lanes(&real), Ok(lane()), "the layout that the others depart from");
    let moved =
        || postcard::to_allocvec(&(&tenant, &conversation, next, epoch, &owner, stamp)).unwrap();
    let dropped = || postcard::to_allocvec(&(&conversation, &tenant, next, epoch, &owner)).unwrap();
    let plain = owner.clone().unwrap();
    let bare =
        || postcard::to_allocvec(&(&conversation, &tenant, next, epoch, &plain, stamp)).unwrap();
    for fields in [&moved as &dyn Fn() -> Vec<u8>, &dropped, &bare] {
        assert_eq!(lanes(fields), Err(CellError::Malformed));
    }
}

#[test]
fn store_006_cell_error_malformed_another_spelling_of_a_number() {
    // 3 in two bytes instead of one.
    let plain = resealed(LAYOUT_VERSION, &[3]);
    let padded = resealed(LAYOUT_VERSION, &[0x83, 0]);
    assert_eq!(unseal::<u64>(LABEL, &plain), Ok(3));
    assert_eq!(unseal::<u64>(LABEL, &padded), Err(CellError::Malformed));
}

#[test]
fn store_005_cell_error_version_an_unknown_layout_is_named() {
    for found in [0, 2, u16::MAX] {
        let bytes = resealed(found, &body(VERSION_1[0]));
        assert_eq!(unseal::<Lane>(LABEL, &bytes), Err(CellError::Version { found }));
    }
}

#[test]
fn store_006_cell_error_truncated() {
    for length in 0..SEAL_BYTES + VERSION_BYTES {
        let read = unseal::<u64>(LABEL, &vec![0; length]);
        assert_eq!(read, Err(CellError::Truncated), "{length}");
    }
}

#[test]
fn store_006_cell_error_seal_a_value_reads_only_in_its_own_place() {
    let bytes = seal(LABEL, &lane());
    let places = [
        Label { tag: "everstep/other", ..LABEL },
        Label { owner: "desks", ..LABEL },
        Label { position: 2, ..LABEL },
    ];
    for place in places {
        assert_eq!(unseal::<Lane>(place, &bytes), Err(CellError::Seal));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn store_006_no_flipped_bit_reads_as_anything(
        golden in 0..VERSION_1.len(), at in any::<prop::sample::Index>(), bit in 0..8_u8,
    ) {
        let mut bytes = unhex(VERSION_1[golden]);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert_eq!(unseal::<Row>(LABEL, &bytes), Err(CellError::Seal));
        prop_assert_eq!(unseal::<Lane>(LABEL, &bytes), Err(CellError::Seal));
    }
}
