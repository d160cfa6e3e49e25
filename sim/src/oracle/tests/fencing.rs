//! Who may write, and over what.

use everstep_machine::conversation::{Command as LogCommand, Reply as LogReply};
use everstep_machine::identity::Epoch;
use everstep_machine::ledger::{Command, Reply as LaneReply};
use everstep_machine::store::{Reply, StoreCommand};

use super::{Bench, LEASE};
use crate::defect::Defect;
use crate::oracle::{Permits, Property, Sometimes};
use crate::store::Executed;

#[test]
fn arc_13_an_acknowledged_append_of_a_superseded_epoch_is_found() {
    let mut bench = Bench::claimed(Some(Defect::NoEpochCheck));
    bench.taken_over();
    let late = bench.append(1, vec![bench.input(0)]);
    assert!(bench.does(&late).answer.is_ok());
    assert_eq!(bench.broken(), Some(Property::Fencing));
}

#[test]
fn arc_13_a_replay_across_the_fence_is_found() {
    let mut bench = Bench::claimed(Some(Defect::ReplayAcrossFence));
    let input = bench.append(1, vec![bench.input(0)]);
    assert!(bench.does(&input).answer.is_ok());
    bench.taken_over();
    assert!(bench.does(&input).answer.is_ok());
    assert_eq!(bench.broken(), Some(Property::Fencing));
}

#[test]
fn dur_006_a_superseded_owner_who_changes_its_lane_is_found() {
    let mut bench = Bench::claimed(Some(Defect::NoEpochCheck));
    bench.taken_over();
    let owner = bench.owner(1);
    assert!(bench.does(&StoreCommand::Ledger(Command::MarkInput { owner })).changed);
    assert_eq!(bench.broken(), Some(Property::Fencing));
}

#[test]
fn dur_006_a_refused_owner_is_noted_and_breaks_nothing() {
    let mut bench = Bench::claimed(None);
    bench.taken_over();
    let owner = bench.owner(1);
    let late = StoreCommand::Ledger(Command::Renew { owner, lease: LEASE });
    assert!(bench.does(&late).answer.is_err());
    assert_eq!(bench.broken(), None);
    let reached = bench.judge.reached();
    assert!(reached.contains(Sometimes::StaleRefused));
    assert!(reached.contains(Sometimes::TakenOver));
}

#[test]
fn dur_006_an_epoch_that_is_claimed_twice_is_found() {
    let mut bench = Bench::claimed(None);
    let command = bench.claim(0);
    let answer = Ok(Reply::Ledger(LaneReply::Claimed(Epoch(1))));
    let executed = Executed { answer, changed: true, appended: None };
    bench.judge.command(&bench.cast, 0, &command, &executed, &Permits::default());
    assert_eq!(bench.broken(), Some(Property::Fencing));
}

#[test]
fn store_004_a_fence_over_an_unread_tail_is_found() {
    let mut bench = Bench::claimed(Some(Defect::FenceWithoutTail));
    let blind = bench.fence(2);
    let input = bench.append(1, vec![bench.input(0)]);
    bench.does(&input);
    bench.does_at(LEASE.0, &bench.claim(1), &Permits::default());
    assert_eq!(bench.broken(), None);
    assert!(bench.does(&blind).answer.is_ok());
    assert_eq!(bench.broken(), Some(Property::FencedTail));
}

#[test]
fn dur_006_a_log_whose_epoch_falls_is_found() {
    let mut bench = Bench::claimed(None);
    bench.taken_over();
    let tail = everstep_machine::conversation::Tail {
        epoch: Epoch(1),
        ..bench.shelf.log().tail().unwrap()
    };
    let command = StoreCommand::Conversation(LogCommand::Fence {
        epoch: Epoch(2),
        expected: tail.reference(),
    });
    let answer = Ok(Reply::Conversation(LogReply::Fenced(tail)));
    let executed = Executed { answer, changed: false, appended: None };
    bench.judge.command(&bench.cast, 0, &command, &executed, &Permits::default());
    assert_eq!(bench.broken(), Some(Property::Fencing));
}
