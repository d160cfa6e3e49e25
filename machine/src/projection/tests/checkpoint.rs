//! A checkpoint is the fold that it was made of, or none.

use alloc::string::ToString;

use proptest::prelude::*;

use crate::agent::Bound;
use crate::digest::Digest;
use crate::identity::ConversationId;
use crate::projection::{FOLD_VERSION, Reader};
use crate::testkit::binding;
use crate::testkit::story::{Story, Tale, completed, success};
use crate::testkit::walk::says;

const ONE: Tale = Tale("1");
const TWO: Tale = Tale("2");

fn desk() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

fn read(story: &Story) -> Reader {
    let mut reader = Reader::default();
    story.batches.iter().for_each(|batch| reader.feed(batch).unwrap());
    reader
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn store_007_a_checkpoint_is_the_fold_that_it_was_made_of_and_damage_makes_it_none(
        says in says(3), at in any::<usize>(), bit in 0..8_u8,
    ) {
        let fold = read(&Story::of(&says));
        let bytes = fold.checkpoint(&desk());
        prop_assert_eq!(Reader::from_checkpoint(&desk(), &bytes), Some(fold));
        let other = ConversationId::new("other").unwrap();
        prop_assert_eq!(Reader::from_checkpoint(&other, &bytes), None);
        let at = at % bytes.len();
        prop_assert_eq!(Reader::from_checkpoint(&desk(), &bytes[..at]), None);
        let mut flipped = bytes;
        flipped[at] ^= 1 << bit;
        prop_assert_eq!(Reader::from_checkpoint(&desk(), &flipped), None);
    }
}

/// What this build makes of one history, whatever it is. If it is something else now, what older
/// builds have kept must not be believed: give the fold another version, and put down here what it
/// is now.
#[test]
fn store_007_a_fold_that_changes_has_another_version() {
    let start = ONE.start(0, 0, 1);
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["pay", "wire"])]);
    let story = story.tell([ONE.prepared(start, "pay")]).at(2).tell([ONE.unknown(start)]);
    let (own, model) = (binding().bound(), Digest([5; 32]));
    let story = story.tell([ONE.rebound(1, own, Bound { model, ..own })]);
    let other = ONE.call(0, 1);
    let story = story.tell([ONE.asked(other, "wire")]).tell([TWO.input()]);
    let story = story.tell([TWO.responded(0, &["look"])]);
    let looked = TWO.call(0, 0);
    let story = story.tell([TWO.tool_settled(looked, success("seen"))]);
    let story = story.tell([TWO.responded(1, &[])]).tell([TWO.settled(completed())]);
    let bytes = read(&story).checkpoint(&desk());
    let digest = Digest::of("test/fold", &bytes).to_string();
    assert_eq!((FOLD_VERSION, &digest[..16]), (5, "0de95ddd15797006"));
}
