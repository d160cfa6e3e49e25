//! Single commands and pages.

use everstep_machine::conversation::Refusal as LogRefusal;
use everstep_machine::identity::{Epoch, Sequence, Timestamp};
use everstep_machine::ledger::{Phase, Reply as LaneReply};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::store::{LogPage, Refusal, Reply, Store, StoreCommand, StoreFault, Target};

use super::{
    admission, admitted, append, appended, batch, claim, execute, execute_at, fence, shelf,
    submission, tail,
};
use crate::profile::Profile;
use crate::store::MemoryStore;

#[test]
fn store_002_an_admission_leaves_a_ready_row_and_a_log() {
    let store = admitted(Profile::Weak, None);
    let row = shelf(&store).row(submission("a")).unwrap();
    assert_eq!(row.phase, Phase::Ready);
    assert_eq!(tail(&store).next_sequence, Sequence(1));
    assert_eq!(shelf(&store).log().batches().len(), 1);
}

#[test]
fn store_002_a_repeated_pipeline_is_answered_as_the_first_time() {
    let mut store = MemoryStore::new(Profile::Weak, None);
    let first = store.execute(&admission("a")).unwrap();
    let rows = shelf(&store).rows().to_vec();
    assert_eq!(store.execute(&admission("a")).unwrap(), first);
    assert_eq!(shelf(&store).rows(), rows);
    assert_eq!(shelf(&store).log().batches().len(), 1);
}

#[test]
fn store_004_an_append_over_another_tail_is_told_the_actual_one() {
    let mut store = admitted(Profile::Weak, None);
    let read = tail(&store).reference();
    let replies = execute(&mut store, vec![append(0, read, &batch(1))]).unwrap();
    assert_eq!(appended(&replies), Some(tail(&store)));
    let late = execute(&mut store, vec![append(0, read, &batch(2))]);
    let actual = tail(&store).reference();
    let why = Refusal::Conversation(LogRefusal::TailConflict { actual });
    assert_eq!(late, Err(StoreFault::Refused { at: 0, why }));
}

#[test]
fn dur_007_an_append_sent_again_is_already_there_whatever_the_tail_is() {
    let mut store = admitted(Profile::Weak, None);
    let read = tail(&store).reference();
    execute(&mut store, vec![append(0, read, &batch(1))]).unwrap();
    let then = tail(&store).reference();
    execute(&mut store, vec![append(0, then, &batch(2))]).unwrap();
    let again = execute(&mut store, vec![append(0, read, &batch(1))]).unwrap();
    assert_eq!(appended(&again), Some(tail(&store)));
    assert_eq!(shelf(&store).log().batches().len(), 3);
}

#[test]
fn dur_006_a_superseded_epoch_cannot_append() {
    let mut store = admitted(Profile::Weak, None);
    let read = tail(&store).reference();
    execute(&mut store, vec![claim("a", 0, 1), fence(1, read)]).unwrap();
    let late = execute(&mut store, vec![append(0, read, &batch(1))]);
    let why = Refusal::Conversation(LogRefusal::Fenced { current: Epoch(1) });
    assert_eq!(late, Err(StoreFault::Refused { at: 0, why }));
    assert_eq!(shelf(&store).log().batches().len(), 1);
}

#[test]
fn cl_01_a_clock_that_falls_back_lowers_no_stamp() {
    let mut store = MemoryStore::new(Profile::Weak, None);
    store.set_clock(Timestamp(500));
    store.execute(&admission("a")).unwrap();
    let claimed = execute_at(&mut store, 100, vec![claim("a", 0, 1)]).unwrap();
    assert_eq!(claimed, [Reply::Ledger(LaneReply::Claimed(Epoch(1)))]);
    let lane = shelf(&store).lane();
    assert!(lane.stamp >= Timestamp(500));
    assert_eq!(lane.owner.as_ref().unwrap().lease_until, Timestamp(1_500));
}

#[test]
fn store_003_a_reader_sees_the_claimable_row_or_the_one_it_names() {
    let mut store = admitted(Profile::Weak, None);
    store.execute(&admission("b")).unwrap();
    let read = |store: &mut MemoryStore, target| {
        let replies = execute(store, vec![StoreCommand::ReadLane(target)]).unwrap();
        match replies.into_iter().next() {
            Some(Reply::Lane(view)) => view.row.map(|row| row.admission.submission),
            other => panic!("a lane is read, not {other:?}"),
        }
    };
    let b = submission("b");
    assert_eq!(read(&mut store, Target::Claimable), Some(submission("a")));
    assert_eq!(read(&mut store, Target::Submission(b)), Some(b));
    assert_eq!(read(&mut store, Target::Submission(submission("c"))), None);
    execute(&mut store, vec![claim("a", 0, 1)]).unwrap();
    assert_eq!(read(&mut store, Target::Claimable), None, "the lane is leased");
    assert_eq!(shelf(&store).wakes_at(), Some(Timestamp(1_000)));
}

#[test]
fn store_011_a_log_is_read_in_pages_without_a_gap() {
    let mut store = admitted(Profile::Weak, None);
    let wanted = PAGE_BATCHES + 7;
    for number in 1..wanted {
        let read = tail(&store).reference();
        let number = u32::try_from(number).unwrap();
        execute(&mut store, vec![append(0, read, &batch(number))]).unwrap();
    }
    let mut read = |from| {
        let replies = execute(&mut store, vec![StoreCommand::ReadLog { from }]).unwrap();
        match replies.into_iter().next() {
            Some(Reply::Log(page)) => page,
            other => panic!("a log is read, not {other:?}"),
        }
    };
    let end = |page: &LogPage| page.batches.last().map_or(Sequence(0), |it| it.next_sequence());
    let first = read(Sequence(0));
    assert_eq!(first.batches.len(), PAGE_BATCHES);
    let second = read(end(&first));
    assert_eq!(first.batches.len() + second.batches.len(), wanted);
    assert_eq!(second.batches[0].envelope().previous, first.batches[PAGE_BATCHES - 1].chain());
    assert_eq!(second.tail.map(|tail| tail.next_sequence), Some(end(&second)));
    assert!(read(end(&second)).batches.is_empty());
}
