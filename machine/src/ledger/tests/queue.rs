//! Who may be claimed.

use super::*;

#[test]
fn dur_004_only_the_lowest_unsettled_row_may_be_claimed() {
    let mut bench = Bench::ready(&[3, 1, 2]);
    assert_eq!(bench.candidate(), Some(submission(3)));
    assert_eq!(bench.claim(1, 1), Err(Refusal::NotClaimable));
    assert_eq!(bench.claim(2, 1), Err(Refusal::NotClaimable));
    let mut order = Vec::new();
    for with in 1..=3 {
        let next = bench.candidate().unwrap();
        let n = [1, 2, 3].into_iter().find(|n| submission(*n) == next).unwrap();
        let owner = bench.claim(n, with).unwrap();
        bench.send(Command::MarkInput { owner }).unwrap();
        bench.finish(owner, &completed(n));
        order.push(n);
    }
    assert_eq!(order, [3, 1, 2]);
    assert_eq!(bench.candidate(), None);
}

#[test]
fn dur_004_an_admitted_head_is_claimable_and_holds_the_queue() {
    let mut bench = Bench::new();
    bench.send(Command::Admit(admission(1, "hello"))).unwrap();
    bench.send(Command::Admit(admission(2, "hello"))).unwrap();
    bench.send(Command::Ready { submission: submission(2) }).unwrap();
    assert_eq!(bench.claim(2, 1), Err(Refusal::NotClaimable));
    assert!(bench.claim(1, 1).is_ok());
}

#[test]
fn dur_004_an_aborted_row_that_never_ran_is_no_gap_and_needs_no_turn() {
    let mut bench = Bench::ready(&[1, 2, 3]);
    bench.abort(2, "ada").unwrap();
    assert_eq!(bench.row(2).standing(), Standing::Errand);
    let errand = bench.claim(2, 1).unwrap();
    bench.finish(errand, &aborted(2));
    let owner = bench.claim(1, 2).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    bench.finish(owner, &completed(1));
    assert_eq!(bench.candidate(), Some(submission(3)));
}

#[test]
fn dur_004_errands_have_no_order_among_themselves() {
    let mut bench = Bench::ready(&[1, 2, 3]);
    bench.abort(2, "ada").unwrap();
    bench.abort(3, "ada").unwrap();
    let errand = bench.claim(3, 1).unwrap();
    bench.finish(errand, &aborted(3));
    assert!(bench.claim(2, 2).is_ok());
}

#[test]
fn dur_004_an_aborted_row_that_never_ran_stays_an_errand_and_one_that_ran_keeps_its_place() {
    let mut bench = Bench::ready(&[1, 2]);
    bench.abort(2, "ada").unwrap();
    let errand = bench.claim(2, 1).unwrap();
    bench.send(Command::Release { owner: errand }).unwrap();
    assert_eq!(bench.row(2).standing(), Standing::Errand);
    assert!(bench.claim(2, 2).is_ok(), "however often it is claimed");

    let mut bench = Bench::ready(&[1, 2]);
    let owner = bench.claim(1, 1).unwrap();
    bench.abort(1, "ada").unwrap();
    bench.send(Command::Release { owner }).unwrap();
    assert_eq!(bench.row(1).standing(), Standing::Queued);
    assert_eq!(bench.claim(2, 2), Err(Refusal::NotClaimable));
    assert_eq!(bench.candidate(), Some(submission(1)));
}

#[test]
fn dur_004_the_lower_of_queue_and_errands_comes_first() {
    let mut bench = Bench::ready(&[1, 2, 3]);
    bench.abort(3, "ada").unwrap();
    assert_eq!(bench.candidate(), Some(submission(1)));
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.candidate(), Some(submission(1)));
    let errand = bench.claim(1, 1).unwrap();
    bench.finish(errand, &aborted(1));
    assert_eq!(bench.candidate(), Some(submission(2)));
}

#[test]
fn dur_017_an_open_unknown_holds_the_queue_but_not_the_errands() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.send(Command::Release { owner }).unwrap();
    for n in [2, 3] {
        bench.send(Command::Admit(admission(n, "hello"))).unwrap();
    }
    assert_eq!(bench.candidate(), None);
    assert_eq!(bench.claim(1, 2), Err(Refusal::NotClaimable));
    assert_eq!(bench.claim(2, 2), Err(Refusal::NotClaimable));
    bench.abort(3, "ada").unwrap();
    assert_eq!(bench.candidate(), Some(submission(3)));
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.candidate(), Some(submission(1)));
    assert!(bench.claim(1, 2).is_ok());
}

#[test]
fn dur_017_an_unknown_is_claimable_when_every_doubt_is_spoken_on() {
    let (mut bench, owner) = Bench::unknown(&[1, 2]);
    bench.send(Command::Release { owner }).unwrap();
    bench.resolve(1, Resolution::SafeToRepeat).unwrap();
    assert_eq!(bench.candidate(), None);
    bench.resolve(2, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.candidate(), Some(submission(1)));
}

#[test]
fn dur_012_an_abort_wakes_an_unknown_at_once() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.send(Command::Release { owner }).unwrap();
    assert_eq!(bench.candidate(), None);
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.candidate(), Some(submission(1)));
    assert!(bench.claim(1, 2).is_ok());
}

#[test]
fn dur_017_a_settled_row_is_claimable_while_a_resolution_is_not_canonical() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.abort(1, "ada").unwrap();
    bench.finish(owner, &aborted(1));
    assert_eq!(bench.row(1).standing(), Standing::Doubtful);
    assert_eq!(bench.claim(1, 2), Err(Refusal::NotClaimable));
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.candidate(), Some(submission(1)));
    let owner = bench.claim(1, 2).unwrap();
    let covered = bench.send(Command::CoverUnknown { owner, doubts: Vec::from([doubt(1)]) });
    assert_eq!(covered, Ok(Reply::UnknownCovered));
    assert_eq!(bench.row(1).standing(), Standing::Resting);
    assert!(matches!(bench.row(1).phase, Phase::Settled(_)));
}

#[test]
fn dur_004_not_claimable_a_resting_row() {
    let (mut bench, _) = Bench::settled();
    assert_eq!(bench.claim(1, 2), Err(Refusal::NotClaimable));
}

#[test]
fn dur_006_not_claimable_beyond_the_last_epoch() {
    let mut bench = Bench::ready(&[1]);
    bench.lane.epoch = Epoch(u64::MAX);
    assert_eq!(bench.claim(1, 1), Err(Refusal::NotClaimable));
}

#[test]
fn store_002_a_footprint_holds_the_named_row_and_the_lowest_of_each_standing() {
    let mut bench = Bench::ready(&[1, 2, 3, 4, 5]);
    bench.abort(3, "ada").unwrap();
    bench.abort(4, "ada").unwrap();
    let picked = |footprint: Footprint| -> Vec<u64> {
        bench.slice(footprint).rows.iter().map(|row| row.sequence.0).collect()
    };
    assert_eq!(picked(Footprint::Candidates(None)), [0, 2]);
    assert_eq!(picked(Footprint::Candidates(Some(submission(5)))), [0, 2, 4]);
    assert_eq!(picked(Footprint::Candidates(Some(submission(2)))), [0, 1, 2]);
    assert_eq!(picked(Footprint::Candidates(Some(submission(3)))), [0, 2]);
    assert_eq!(picked(Footprint::Candidates(Some(submission(9)))), [0, 2]);
    assert_eq!(picked(Footprint::Submission(submission(4))), [3]);
    assert_eq!(picked(Footprint::Submission(submission(9))), [0_u64; 0]);
}

#[test]
fn dur_004_a_lane_wakes_at_the_end_of_a_lease_that_stands_before_a_candidate() {
    let mut bench = Bench::ready(&[1]);
    assert_eq!((bench.wakes_at(), bench.candidate()), (None, Some(submission(1))));
    let owner = bench.claim(1, 1).unwrap();
    let until = bench.now.after(LEASE);
    assert_eq!((bench.wakes_at(), bench.candidate()), (Some(until), None));
    bench.now = Timestamp(until.0 - 1);
    assert_eq!(bench.candidate(), None);
    bench.now = until;
    assert_eq!(bench.candidate(), Some(submission(1)));
    // Nothing to wake for: the only row waits for people.
    bench.send(Command::MarkUnknown { owner, doubts: Vec::from([doubt(1)]) }).unwrap();
    assert_eq!((bench.wakes_at(), bench.candidate()), (None, None));
}
