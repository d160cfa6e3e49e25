//! Claims, leases, renewal, release: one owner, fenced by token and epoch.

use super::*;

/// Every command that an owner can send.
fn owner_commands(owner: Ownership) -> [Command; 7] {
    let doubts = || Vec::from([doubt(1)]);
    [
        Command::Renew { owner, lease: LEASE },
        Command::Release { owner },
        Command::MarkInput { owner },
        Command::MarkUnknown { owner, doubts: doubts() },
        Command::CoverUnknown { owner, doubts: doubts() },
        Command::Reserve { owner, reserved: completed(1) },
        Command::Finalize { owner, settlement: canonical(&completed(1)) },
    ]
}

fn all_lost(bench: &mut Bench, owner: Ownership) {
    let lost = Err(Refusal::OwnershipLost { actual: bench.lane.epoch });
    for command in owner_commands(owner) {
        assert_eq!(bench.send(command.clone()), lost, "{command:?}");
    }
}

#[test]
fn dur_006_a_claim_takes_the_next_epoch_and_runs_its_row() {
    let (bench, owner) = Bench::claimed();
    assert_eq!((owner.epoch, bench.lane.epoch), (Epoch(1), Epoch(1)));
    let held = bench.lane.owner.as_ref().unwrap();
    assert_eq!((held.submission, held.token), (submission(1), token(1)));
    assert_eq!(held.lease_until, bench.now.after(LEASE));
    let row = bench.row(1);
    assert_eq!((&row.phase, row.claims), (&Phase::Running(InputMarker::Missing), 1));
}

#[test]
fn store_002_a_claim_that_holds_the_lane_is_answered_as_the_first_time() {
    let mut bench = Bench::ready(&[1]);
    let command = bench.claim_command(1, 1);
    assert_eq!(bench.send(command.clone()), Ok(Reply::Claimed(Epoch(1))));
    bench.now = Timestamp(START + DAY);
    assert_eq!(bench.again(command), Ok(Reply::Claimed(Epoch(1))));
}

#[test]
fn dur_005_a_token_claims_again_only_for_its_own_row() {
    let mut bench = Bench::ready(&[1, 2]);
    bench.claim(1, 1).unwrap();
    let until = bench.now.after(LEASE);
    assert_eq!(bench.claim(2, 1), Err(Refusal::Owned { until }));
}

#[test]
fn dur_005_owned_another_claim_waits_for_the_lease_its_own_producer_included() {
    let (mut bench, _) = Bench::claimed();
    let until = bench.now.after(LEASE);
    assert_eq!(bench.claim(1, 2), Err(Refusal::Owned { until }));
    bench.now = Timestamp(until.0 - 1);
    assert_eq!(bench.claim(1, 2), Err(Refusal::Owned { until }));
    bench.now = until;
    assert_eq!(bench.claim(1, 2).map(|owner| owner.epoch), Ok(Epoch(2)));
    assert_eq!(bench.row(1).claims, 2);
}

#[test]
fn dur_005_a_lane_has_one_owner_whatever_row_is_claimed() {
    let mut bench = Bench::ready(&[1, 2]);
    bench.abort(2, "ada").unwrap();
    let first = bench.claim(1, 1).unwrap();
    let until = bench.now.after(LEASE);
    assert_eq!(bench.claim(2, 2), Err(Refusal::Owned { until }));
    bench.expire();
    let second = bench.claim(2, 2).unwrap();
    all_lost(&mut bench, first);
    assert!(bench.send(Command::Release { owner: second }).is_ok());
}

#[test]
fn dur_005_epoch_moved_a_claim_over_an_old_reading_is_refused() {
    let mut bench = Bench::ready(&[1]);
    let stale = bench.claim_command(1, 2);
    let owner = bench.claim(1, 1).unwrap();
    let moved = Err(Refusal::EpochMoved { actual: Epoch(1) });
    assert_eq!(bench.send(stale.clone()), moved);
    bench.send(Command::Release { owner }).unwrap();
    assert_eq!(bench.send(stale), moved);
    let Command::Claim(mut ahead) = bench.claim_command(1, 2) else { unreachable!() };
    ahead.expected = Epoch(2);
    assert_eq!(bench.send(Command::Claim(ahead)), moved);
}

#[test]
fn case_cr_15_every_command_of_a_superseded_owner_is_ownership_lost() {
    let (mut bench, old) = Bench::running();
    bench.expire();
    let new = bench.claim(1, 2).unwrap();
    all_lost(&mut bench, old);
    // Nor does any mixture of old and new pass.
    all_lost(&mut bench, Ownership { token: old.token, ..new });
    all_lost(&mut bench, Ownership { epoch: old.epoch, ..new });
    all_lost(&mut bench, Ownership { epoch: Epoch(3), ..new });
    all_lost(&mut bench, Ownership { submission: submission(2), ..new });
    assert!(bench.send(Command::Renew { owner: new, lease: LEASE }).is_ok());
}

#[test]
fn case_le_05_no_token_no_write() {
    let mut bench = Bench::ready(&[1]);
    // Nobody owns the lane: not even its current epoch helps.
    let nobody = Ownership { submission: submission(1), token: token(0), epoch: bench.lane.epoch };
    all_lost(&mut bench, nobody);
    let owner = bench.claim(1, 1).unwrap();
    all_lost(&mut bench, Ownership { token: token(0), ..owner });
    bench.send(Command::Release { owner }).unwrap();
    all_lost(&mut bench, owner);
}

#[test]
fn case_le_01_the_same_worker_claims_again_and_its_old_task_is_rejected() {
    let (mut bench, old) = Bench::running();
    bench.expire();
    // The same producer, the same row; only the claim is another one.
    let new = bench.claim(1, 2).unwrap();
    assert_ne!((old.token, old.epoch), (new.token, new.epoch));
    all_lost(&mut bench, old);
    bench.finish(new, &completed(1));
}

#[test]
fn case_le_01_a_token_that_is_used_again_does_not_revive_an_old_epoch() {
    let (mut bench, old) = Bench::running();
    bench.send(Command::Release { owner: old }).unwrap();
    let new = bench.claim(1, 1).unwrap();
    assert_eq!((new.token, new.epoch), (old.token, Epoch(2)));
    all_lost(&mut bench, old);
}

#[test]
fn case_le_03_an_expired_owner_writes_on_until_it_is_superseded() {
    let (mut bench, owner) = Bench::claimed();
    bench.now = Timestamp(START + DAY);
    assert_eq!(bench.candidate(), Some(submission(1)));
    assert_eq!(bench.send(Command::MarkInput { owner }), Ok(Reply::InputMarked));
    let renewed = bench.send(Command::Renew { owner, lease: LEASE });
    assert_eq!(renewed, Ok(Reply::Renewed(bench.now.after(LEASE))));
    assert_eq!(bench.candidate(), None);
    bench.now = Timestamp(START + 2 * DAY);
    bench.finish(owner, &completed(1));
}

#[test]
fn case_le_03_completing_after_the_lease_loses_against_a_claim() {
    let (mut bench, owner) = Bench::running();
    bench.expire();
    bench.claim(1, 2).unwrap();
    let reserve = Command::Reserve { owner, reserved: completed(1) };
    assert_eq!(bench.send(reserve), Err(Refusal::OwnershipLost { actual: Epoch(2) }));
}

#[test]
fn case_le_07_renewal_keeps_a_job_that_is_longer_than_its_lease() {
    let (mut bench, owner) = Bench::running();
    let mut until = bench.now.after(LEASE);
    for _ in 0..20 {
        bench.now = bench.now.after(DurationMs(10_000));
        let renewed = bench.send(Command::Renew { owner, lease: LEASE });
        assert!(until < bench.now.after(LEASE));
        until = bench.now.after(LEASE);
        assert_eq!(renewed, Ok(Reply::Renewed(until)));
        assert_eq!(bench.claim(1, 2), Err(Refusal::Owned { until }));
    }
    assert!(bench.now > Timestamp(START).after(LEASE));
    assert_eq!(bench.lane.epoch, Epoch(1));
    bench.finish(owner, &completed(1));
}

#[test]
fn case_le_07_a_renewal_never_shortens_a_lease() {
    let (mut bench, owner) = Bench::claimed();
    let until = bench.now.after(LEASE);
    for lease in [DurationMs(0), DurationMs(1), LEASE] {
        assert_eq!(bench.again(Command::Renew { owner, lease }), Ok(Reply::Renewed(until)));
    }
}

#[test]
fn dur_006_release_frees_the_lane_and_leaves_the_row() {
    let (mut bench, owner) = Bench::running();
    let row = bench.row(1).clone();
    assert_eq!(bench.send(Command::Release { owner }), Ok(Reply::Released));
    assert_eq!((&bench.lane.owner, bench.row(1)), (&None, &row));
    assert_eq!(bench.candidate(), Some(submission(1)));
    assert_eq!(bench.claim(1, 2).map(|owner| owner.epoch), Ok(Epoch(2)));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
}

#[test]
fn case_cl_01_a_clock_an_hour_back_or_a_month_ahead_lets_no_stamp_fall() {
    let (mut bench, owner) = Bench::claimed();
    let mut stamps = Vec::from([bench.lane.stamp]);
    for now in [START - HOUR, START + 30 * DAY, START - HOUR, 0, u64::MAX, START] {
        bench.now = Timestamp(now);
        // Something changes each time, and is stamped.
        bench.send(Command::Admit(admission(stamps.len() as u8 + 1, "hello"))).unwrap();
        stamps.push(bench.lane.stamp);
    }
    assert!(stamps.is_sorted());
    assert_eq!(stamps.last(), Some(&Timestamp(u64::MAX)));
    let sequences: Vec<_> = bench.rows.iter().map(|row| row.sequence.0).collect();
    assert_eq!(sequences, [0, 1, 2, 3, 4, 5, 6]);
    assert!(bench.send(Command::MarkInput { owner }).is_ok());
}

#[test]
fn case_cl_01_a_clock_that_ran_back_ends_no_lease_early() {
    let (mut bench, owner) = Bench::claimed();
    bench.now = Timestamp(START + 10_000);
    bench.send(Command::Renew { owner, lease: LEASE }).unwrap();
    let until = bench.now.after(LEASE);
    bench.now = Timestamp(START - HOUR);
    assert_eq!(bench.claim(1, 2), Err(Refusal::Owned { until }));
    // The lane's own time stands still meanwhile: a renewal adds nothing.
    assert_eq!(bench.send(Command::Renew { owner, lease: LEASE }), Ok(Reply::Renewed(until)));
    bench.now = until;
    assert!(bench.claim(1, 2).is_ok());
}

#[test]
fn case_cl_03_two_nodes_ten_minutes_apart_agree_on_the_stores_time() {
    let (mut bench, owner) = Bench::claimed();
    let (ahead, behind) = (START + 10 * MINUTE, START - 10 * MINUTE);
    // What a node's own clock reads is in no command; only the store's clock decides.
    let until = bench.now.after(LEASE);
    assert_eq!(bench.claim(1, 2), Err(Refusal::Owned { until }));
    // Two nodes of a store stamp with their own clocks: the later one counts for both.
    bench.now = Timestamp(ahead);
    let renewed = Timestamp(ahead).after(LEASE);
    assert_eq!(bench.send(Command::Renew { owner, lease: LEASE }), Ok(Reply::Renewed(renewed)));
    bench.now = Timestamp(behind);
    assert_eq!(bench.claim(1, 2), Err(Refusal::Owned { until: renewed }));
    assert_eq!(bench.candidate(), None);
    bench.now = renewed;
    assert!(bench.claim(1, 2).is_ok());
}
