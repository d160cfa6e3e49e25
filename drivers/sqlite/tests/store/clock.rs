//! Clocks that jump, and nodes whose clocks disagree.

use everstep_machine::identity::{
    AdmissionSequence, ConversationId, DurationMs, Epoch, ProducerId, Timestamp, Token,
};
use everstep_machine::ledger::{Claim, Command, Ownership, Refusal, Reply};
use everstep_machine::store::{
    Pipeline, Refusal as StoreRefusal, Reply as StoreReply, Store, StoreCommand, StoreFault, Target,
};
use everstep_sqlite::{CommitMode, SqliteStore};

use crate::support::{Folder, TestClock, Worker, admit, call, conversation};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Some time in a year in which this may run.
const START: u64 = 1_800_000_000_000;

fn desk() -> ConversationId {
    conversation("desk")
}

fn send(store: &mut SqliteStore, command: Command) -> Result<Reply, Refusal> {
    let commands = vec![StoreCommand::Ledger(command)];
    match store.execute(&Pipeline { lane: desk(), commands }) {
        Ok(replies) => match &replies[..] {
            [StoreReply::Ledger(reply)] => Ok(reply.clone()),
            other => panic!("not the ledger: {other:?}"),
        },
        Err(StoreFault::Refused { why: StoreRefusal::Ledger(why), .. }) => Err(why),
        other => panic!("no refusal: {other:?}"),
    }
}

fn claim(store: &mut SqliteStore, epoch: u64, token: u8) -> Result<Reply, Refusal> {
    send(
        store,
        Command::Claim(Claim {
            submission: call(&desk(), "1", "hello").submission(),
            expected: Epoch(epoch - 1),
            token: Token([token; 16]),
            producer: ProducerId::new("worker").unwrap(),
            lease: DurationMs(30_000),
            productive: None,
        }),
    )
}

fn owner(epoch: u64, token: u8) -> Ownership {
    let submission = call(&desk(), "1", "hello").submission();
    Ownership { submission, token: Token([token; 16]), epoch: Epoch(epoch) }
}

fn renew(store: &mut SqliteStore, epoch: u64, token: u8) -> Result<Reply, Refusal> {
    send(store, Command::Renew { owner: owner(epoch, token), lease: DurationMs(30_000) })
}

fn now(store: &mut SqliteStore) -> Timestamp {
    let commands = vec![StoreCommand::ReadLane(Target::Claimable)];
    match &store.execute(&Pipeline { lane: desk(), commands }).unwrap()[..] {
        [StoreReply::Lane(view)] => view.now,
        other => panic!("no lane: {other:?}"),
    }
}

#[test]
fn case_cl_01_time_stands_still_until_a_clock_that_was_set_back_has_caught_up() {
    for mode in CommitMode::ALL {
        let (folder, clock) = (Folder::new(), TestClock::at(START));
        let mut store = folder.open_as(*mode, &clock);
        admit(&mut store, call(&desk(), "1", "hello"));
        assert_eq!(claim(&mut store, 1, 1), Ok(Reply::Claimed(Epoch(1))));
        let until = Timestamp(START + 30_000);

        clock.jump(-HOUR);
        let mut store = folder.open_as(*mode, &clock);
        assert_eq!(now(&mut store), Timestamp(START), "a lane's time never falls");
        assert_eq!(claim(&mut store, 2, 2), Err(Refusal::Owned { until }));
        assert_eq!(renew(&mut store, 1, 1), Ok(Reply::Renewed(until)));
        assert_eq!(admit(&mut store, call(&desk(), "2", "hello")).position, AdmissionSequence(1));

        clock.jump(HOUR + 30 * SECOND);
        assert_eq!(claim(&mut store, 2, 2), Ok(Reply::Claimed(Epoch(2))));
        assert_eq!(renew(&mut store, 1, 1), Err(Refusal::OwnershipLost { actual: Epoch(2) }));
    }
}

#[test]
fn case_cl_01_a_leap_of_thirty_days_and_back_loses_nothing() {
    let (folder, clock) = (Folder::new(), TestClock::at(START));
    let mut store = folder.open_as(CommitMode::Fused, &clock);
    for key in ["1", "2", "3"] {
        admit(&mut store, call(&desk(), key, "hello"));
    }
    let mut worker = Worker::new(vec!["pay"]);
    for jump in [30 * DAY, -30 * DAY, -HOUR] {
        clock.jump(jump);
        worker.work(&mut store, &desk());
    }
    let reader = store.reader().unwrap();
    let verified = reader.verify(&desk()).unwrap();
    assert_eq!(verified.rows, 3);
    assert_eq!(
        reader.waiting(None, 8).unwrap().entries,
        [],
        "all settled, in the order of admission"
    );
    let stamp = reader.lane(&desk()).unwrap().unwrap().stamp;
    assert_eq!(stamp, Timestamp(START).after(DurationMs(30 * DAY as u64)));
}

#[test]
fn case_cl_03_two_nodes_with_skewed_clocks_own_a_lane_one_at_a_time() {
    let folder = Folder::new();
    let (slow, fast) = (TestClock::at(START), TestClock::at(START));
    slow.jump(-10 * MINUTE);
    fast.jump(10 * MINUTE);
    let mut behind = folder.open_as(CommitMode::Fused, &slow);
    let mut ahead = folder.open_as(CommitMode::Fused, &fast);
    admit(&mut behind, call(&desk(), "1", "hello"));

    // Whoever is ahead owns until its own time; whoever is behind cannot get in before.
    assert_eq!(claim(&mut ahead, 1, 1), Ok(Reply::Claimed(Epoch(1))));
    let until = Timestamp(fast.now().0 + 30_000);
    assert_eq!(claim(&mut behind, 2, 2), Err(Refusal::Owned { until }));
    slow.jump(10 * MINUTE + 40 * SECOND);
    assert_eq!(claim(&mut behind, 2, 2), Err(Refusal::Owned { until }));
    assert_eq!(send(&mut ahead, Command::Release { owner: owner(1, 1) }), Ok(Reply::Released));

    // Whoever is behind owns by the lane's time, which the other one has moved.
    assert_eq!(claim(&mut behind, 2, 2), Ok(Reply::Claimed(Epoch(2))));
    assert_eq!(claim(&mut ahead, 3, 3), Err(Refusal::Owned { until }));
    fast.jump(30 * SECOND);
    assert_eq!(claim(&mut ahead, 3, 3), Ok(Reply::Claimed(Epoch(3))));
    assert_eq!(renew(&mut behind, 2, 2), Err(Refusal::OwnershipLost { actual: Epoch(3) }));
}

#[test]
fn case_le_03_an_expired_lease_that_nobody_claimed_still_stands_on_a_file() {
    for mode in CommitMode::ALL {
        let (folder, clock) = (Folder::new(), TestClock::at(START));
        let mut store = folder.open_as(*mode, &clock);
        admit(&mut store, call(&desk(), "1", "hello"));
        claim(&mut store, 1, 1).unwrap();
        clock.jump(HOUR);
        let input = || Command::MarkInput { owner: owner(1, 1) };
        assert_eq!(send(&mut store, input()), Ok(Reply::InputMarked));
        claim(&mut store, 2, 2).unwrap();
        let lost = Err(Refusal::OwnershipLost { actual: Epoch(2) });
        assert_eq!(send(&mut store, input()), lost);
    }
}

#[test]
fn case_le_01_case_le_05_only_the_token_of_the_last_claim_writes() {
    let (folder, clock) = (Folder::new(), TestClock::at(START));
    let mut store = folder.open_as(CommitMode::PerCommand, &clock);
    admit(&mut store, call(&desk(), "1", "hello"));
    claim(&mut store, 1, 1).unwrap();
    clock.jump(MINUTE);
    claim(&mut store, 2, 2).unwrap();
    let lost = Err(Refusal::OwnershipLost { actual: Epoch(2) });
    for (epoch, token) in [(1, 1), (2, 1), (1, 2), (2, 0)] {
        assert_eq!(renew(&mut store, epoch, token), lost, "epoch {epoch}, token {token}");
    }
    clock.jump(SECOND);
    let until = Timestamp(clock.now().0 + 30_000);
    assert_eq!(renew(&mut store, 2, 2), Ok(Reply::Renewed(until)));
}

#[test]
fn case_le_07_renewals_keep_a_lane_for_longer_than_a_lease() {
    let (folder, clock) = (Folder::new(), TestClock::at(START));
    let mut store = folder.open_as(CommitMode::Fused, &clock);
    admit(&mut store, call(&desk(), "1", "hello"));
    claim(&mut store, 1, 1).unwrap();
    for _ in 0..12 {
        clock.jump(10 * SECOND);
        let until = Timestamp(clock.now().0 + 30_000);
        assert_eq!(renew(&mut store, 1, 1), Ok(Reply::Renewed(until)));
        assert_eq!(claim(&mut store, 2, 2), Err(Refusal::Owned { until }));
    }
}
