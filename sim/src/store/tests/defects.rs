//! Each planted defect of the store does what it is for, and a sound store does not.

use everstep_machine::agent::Resolution;
use everstep_machine::identity::{Epoch, ToolCallId};
use everstep_machine::ledger::{Command, MarkState, ResolutionIntent};
use everstep_machine::record::Doubt;
use everstep_machine::store::{Reply, StoreCommand, StoreFault};

use super::{
    LEASE, admitted, append, appended, batch, claim, execute, execute_at, fence, owner, principal,
    shelf, submission, tail,
};
use crate::defect::Defect;
use crate::profile::Profile;
use crate::store::MemoryStore;

/// A log to which epoch 0 appended a batch before epoch 1 fenced it; and that batch, sent again.
fn late_replay(defect: Option<Defect>) -> bool {
    let mut store = admitted(Profile::Weak, defect);
    let read = tail(&store).reference();
    execute(&mut store, vec![append(0, read, &batch(1))]).unwrap();
    let now = tail(&store).reference();
    execute(&mut store, vec![claim("a", 0, 1), fence(1, now)]).unwrap();
    execute(&mut store, vec![append(0, read, &batch(1))]).is_ok()
}

#[test]
fn replay_across_fence_tells_a_predecessor_that_its_batch_is_there() {
    assert!(late_replay(Some(Defect::ReplayAcrossFence)));
    assert!(!late_replay(None));
}

/// A fence of somebody who has not read the last batch.
fn blind_fence(defect: Option<Defect>) -> Result<(), StoreFault> {
    let mut store = admitted(Profile::Weak, defect);
    let read = tail(&store).reference();
    execute(&mut store, vec![append(0, read, &batch(1))]).unwrap();
    execute(&mut store, vec![claim("a", 0, 1), fence(1, read)]).map(|_| ())
}

#[test]
fn fence_without_tail_fences_what_was_not_read() {
    assert_eq!(blind_fence(Some(Defect::FenceWithoutTail)), Ok(()));
    assert!(blind_fence(None).is_err());
}

/// An append and a renewal of epoch 1 after epoch 2 has taken over.
fn superseded_writes(defect: Option<Defect>) -> (bool, bool) {
    let mut store = admitted(Profile::Weak, defect);
    let read = tail(&store).reference();
    execute_at(&mut store, 0, vec![claim("a", 0, 1), fence(1, read)]).unwrap();
    execute_at(&mut store, LEASE.0, vec![claim("a", 1, 2), fence(2, read)]).unwrap();
    let renewal = Command::Renew { owner: owner("a", 1, 1), lease: LEASE };
    let renewed = execute(&mut store, vec![StoreCommand::Ledger(renewal)]).is_ok();
    let written = execute(&mut store, vec![append(1, read, &batch(1))]);
    (renewed, written.is_ok_and(|replies| appended(&replies).is_some()))
}

#[test]
fn no_epoch_check_lets_a_superseded_owner_write() {
    assert_eq!(superseded_writes(Some(Defect::NoEpochCheck)), (true, true));
    assert_eq!(superseded_writes(None), (false, false));
}

fn own(command: Command) -> StoreCommand {
    StoreCommand::Ledger(command)
}

/// What the row says of a second doubt of a call whose first was resolved.
fn second_doubt(defect: Option<Defect>) -> MarkState {
    let mut store: MemoryStore = admitted(Profile::Weak, defect);
    let call = ToolCallId([7; 16]);
    let doubt = |start| vec![Doubt { call, start: Epoch(start) }];
    let intent = ResolutionIntent {
        resolution: std::sync::Arc::new(Resolution::NeverStarted),
        principal: principal(),
        reason: std::sync::Arc::from("looked"),
    };
    let owner = owner("a", 1, 1);
    let commands = vec![
        claim("a", 0, 1),
        own(Command::MarkInput { owner }),
        own(Command::MarkUnknown { owner, doubts: doubt(1) }),
        own(Command::Resolve { submission: submission("a"), doubt: doubt(1)[0], intent }),
        own(Command::CoverUnknown { owner, doubts: doubt(1) }),
        own(Command::MarkUnknown { owner, doubts: doubt(2) }),
    ];
    let replies = execute(&mut store, commands).unwrap();
    assert!(replies.iter().all(|reply| matches!(reply, Reply::Ledger(_))));
    let row = shelf(&store).row(submission("a")).unwrap();
    row.mark(doubt(2)[0]).unwrap().state.clone()
}

#[test]
fn resolutions_by_call_alone_close_a_later_doubt() {
    let kept = second_doubt(Some(Defect::ResolutionsByCallAlone));
    assert!(matches!(kept, MarkState::Intended(_)));
    assert_eq!(second_doubt(None), MarkState::Open);
}
