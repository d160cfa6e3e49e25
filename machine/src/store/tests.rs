//! Incarnations: nobody who claimed elsewhere is heard, and no epoch is given twice.

use proptest::prelude::*;

use super::Incarnation;
use crate::contract::Machine;
use crate::conversation::{self, Conversation, Tail};
use crate::digest::Digest;
use crate::identity::{
    AdmissionSequence, ConversationId, DurationMs, Epoch, ProducerId, Sequence, SubmissionId,
    Timestamp, Token,
};
use crate::ledger::{Lane, Owner};

/// Some time in 2027.
const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn desk() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

fn owned(epoch: Epoch, stamp: Timestamp) -> Lane {
    let owner = Owner {
        submission: SubmissionId([1; 16]),
        token: Token([7; 16]),
        producer: ProducerId::new("worker").unwrap(),
        lease_until: stamp.after(DurationMs(30_000)),
        pause: DurationMs(0),
    };
    let next = AdmissionSequence(2);
    Lane { next, epoch, owner: Some(owner), stamp, ..Lane::new(desk()) }
}

proptest! {
    #[test]
    fn store_013_a_later_copy_is_above_its_file_and_above_all_that_an_earlier_copy_claims(
        latest in 0..10_000_u64,
        earlier in 0..u64::from(u32::MAX),
        later in 1..100_000_u64,
        claims in 0..999_u64,
    ) {
        let (one, two) = (Timestamp(NOW.0 + earlier), Timestamp(NOW.0 + earlier + later));
        let first = Incarnation::after(Epoch(latest), one).unwrap();
        let second = Incarnation::after(Epoch(latest), two).unwrap();
        prop_assert!(first.epoch > Epoch(latest));
        // Even if it claims as often as a thousand times a millisecond, less one, all the while.
        prop_assert!(second.epoch.0 > first.epoch.0 + claims * later);
    }
}

#[test]
fn store_013_a_clock_that_is_behind_the_file_still_leads_above_it() {
    let first = Incarnation::after(Epoch(3), NOW).unwrap();
    let claimed = Epoch(first.epoch.0 + 40);
    let second = Incarnation::after(claimed, Timestamp(0)).unwrap();
    assert!(second.epoch.0 >= claimed.0 + 1_000_000_000);
    assert_eq!(Incarnation::after(Epoch(u64::MAX - 1), NOW), None, "nothing is above it");
    assert_eq!(Incarnation::after(Epoch(0), Timestamp(u64::MAX)), None);
}

#[test]
fn store_013_a_lane_is_inherited_without_its_owner_and_its_time_does_not_fall() {
    let incarnation = Incarnation::after(Epoch(5), NOW).unwrap();
    for stamp in [Timestamp(NOW.0 - 1), Timestamp(NOW.0 + 1)] {
        let lane = owned(Epoch(5), stamp);
        let inherited = incarnation.inherit(&lane);
        let expected =
            Lane { epoch: incarnation.epoch, owner: None, stamp: stamp.max(NOW), ..lane.clone() };
        assert_eq!(inherited, expected);
        assert_eq!(incarnation.inherit(&inherited), inherited, "it is inherited once");
        let own = Lane { epoch: inherited.epoch.next(), ..lane };
        assert_eq!(incarnation.inherit(&own), own, "a claim of its own is not touched");
    }
    let fresh = incarnation.lane(desk());
    assert_eq!((fresh.epoch, fresh.owner), (incarnation.epoch, None), "nor is it begun below");
    assert_eq!(Incarnation::FIRST.lane(desk()), Lane::new(desk()));
}

#[test]
fn store_013_arc_13_a_log_is_fenced_where_it_ends() {
    let incarnation = Incarnation::after(Epoch(5), NOW).unwrap();
    let (content, chain) = (Digest([1; 32]), Digest([2; 32]));
    let tail = Tail { epoch: Epoch(5), next_sequence: Sequence(9), content, chain };
    let slice = conversation::Slice::new(desk(), Some(tail));
    let command = incarnation.fence(&tail);
    let step = Conversation::step(slice, conversation::Stamped { command, now: NOW });
    assert_eq!(step.state.tail, Some(Tail { epoch: incarnation.epoch, ..tail }));
}
