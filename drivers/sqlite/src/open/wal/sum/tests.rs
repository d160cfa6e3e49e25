use proptest::prelude::*;

use super::*;

/// The frame of a page, as SQLite would write it behind `before`.
pub(in super::super) fn written(
    before: Sum,
    order: Order,
    page: u32,
    size: u32,
    body: &[u8],
) -> Frame {
    let mut frame = Frame::of_pages(body.len());
    frame.0[..4].copy_from_slice(&page.to_be_bytes());
    frame.0[4..8].copy_from_slice(&size.to_be_bytes());
    frame.0[FRAME_HEADER..].copy_from_slice(body);
    let sum = frame.computed(before, order);
    frame.0[16..24].copy_from_slice(&sum.bytes());
    frame
}

impl Sum {
    pub(in super::super) fn bytes(self) -> [u8; 8] {
        [self.0.to_be_bytes(), self.1.to_be_bytes()].concat().try_into().unwrap()
    }
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Little), Just(Order::Big)]
}

fn size() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1_u32..300, 1_u32..1 << 22, (0..22_u32).prop_map(|bit| 1 << bit)]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just(512), Just(4_096), Just(65_536)]
        .prop_flat_map(|bytes| prop::collection::vec(any::<u8>(), bytes))
}

fn expected(size: u32) -> Option<Vouched> {
    Some(if size == 0 { Vouched::Amid } else { Vouched::Last })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Whichever byte of the frame, or of the checksum in front of it, is another one.
    #[test]
    fn store_006_one_wrong_byte_leaves_the_rest_vouched_for(
        order in order(), before: (u32, u32), page: u32, size in size(), body in body(),
        at: prop::sample::Index, by in 1_u8..,
    ) {
        let before = Sum(before.0, before.1);
        let frame = written(before, order, page, size, &body);
        prop_assert_eq!(frame.vouched(before, order), expected(size));
        let mut bytes = before.bytes().to_vec();
        bytes.extend(&frame.0);
        // The salts are no part of the checksum; the size is looked at twice as often.
        for at in [at.index(bytes.len()), 8 + at.index(FRAME_HEADER), 12 + at.index(4)] {
            bytes[at] ^= by;
            let damaged = Frame(bytes[8..].to_vec());
            let vouched = damaged.vouched(Sum::stored(&bytes), order);
            // Some bytes look like the size: then the frame may be called the last one.
            let is_right = vouched == expected(size) || size == 0 && vouched.is_some();
            prop_assert!(is_right, "byte {}: {:?}", at, vouched);
            bytes[at] ^= by;
        }
    }

    #[test]
    fn store_006_frames_of_others_are_vouched_for_by_nothing(
        order in order(), before: (u32, u32), other: (u32, u32), size in size(), body in body(),
    ) {
        let frame = written(Sum(before.0, before.1), order, 7, size, &body);
        prop_assume!(before.0 != other.0 && before.1 != other.1);
        prop_assert_eq!(frame.vouched(Sum(other.0, other.1), order), None);
    }
}
