//! Owners that die one after the other: counted, waited for, and in the end enough (DUR-018).

use alloc::vec;

use super::*;
use crate::limits::{FRUITLESS_CLAIMS, FRUITLESS_PAUSE_MS};

/// A lane whose row was claimed `claims` times by owners that all died, the last one excepted.
fn dying(claims: u8) -> (Bench, Ownership) {
    let mut bench = Bench::ready(&[1, 2]);
    let mut owner = bench.claim(1, 1).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    for n in 2..=claims {
        bench.expire();
        owner = bench.claim(1, n).unwrap();
    }
    (bench, owner)
}

fn dead(bench: &Bench) -> Vec<u64> {
    bench.row(1).fruitless.iter().map(|epoch| epoch.0).collect()
}

#[test]
fn dur_018_owners_that_die_are_remembered_until_one_gets_somewhere_or_lets_go() {
    let (mut bench, owner) = dying(4);
    assert_eq!(dead(&bench), [1, 2, 3]);
    bench.expire();
    let Command::Claim(claim) = bench.claim_command(1, 5) else { unreachable!() };
    let knowing = Claim { productive: Some(Epoch(2)), ..claim };
    let mut other = bench.clone();
    other.send(Command::Claim(knowing)).unwrap();
    assert_eq!(dead(&other), [3, 4], "who died after the last progress died in vain");
    bench.send(Command::Release { owner }).unwrap();
    assert_eq!(dead(&bench), [] as [u64; 0]);
    bench.claim(1, 5).unwrap();
    assert_eq!(dead(&bench), [] as [u64; 0], "who let go has not died");
}

#[test]
fn dur_018_as_many_deaths_are_remembered_as_count() {
    let (bench, _) = dying(9);
    assert_eq!(dead(&bench), [4, 5, 6, 7, 8]);
}

#[test]
fn dur_018_the_pause_before_the_next_owner_doubles_and_is_drawn_and_is_bounded() {
    let pauses: Vec<u64> =
        (1..=7).map(|claims| dying(claims).0.lane.owner.as_ref().unwrap().pause.0).collect();
    assert_eq!(pauses[..2], [0, 0], "one death may be anything's");
    for (at, longest) in [(2, LEASE.0), (3, 2 * LEASE.0), (4, 4 * LEASE.0), (5, 8 * LEASE.0)] {
        let longest = longest.min(FRUITLESS_PAUSE_MS);
        assert!((longest / 2..=longest).contains(&pauses[at]), "{pauses:?}");
    }
    assert!(pauses.iter().all(|pause| *pause <= FRUITLESS_PAUSE_MS));
    let drawn = |with| {
        let (mut bench, _) = dying(2);
        bench.expire();
        bench.claim(1, with).unwrap();
        bench.lane.owner.as_ref().unwrap().pause
    };
    assert_eq!(drawn(7), drawn(7), "the token is the entropy, and it is recorded");
    assert!((8..40).any(|with| drawn(with) != drawn(7)), "lanes do not come back together");
}

#[test]
fn dur_018_others_wait_for_the_pause_and_the_owner_does_not() {
    let (mut bench, owner) = dying(3);
    let held = bench.lane.owner.clone().unwrap();
    bench.now = held.lease_until;
    assert_eq!(bench.candidate(), None);
    assert_eq!(bench.wakes_at(), Some(held.held_until()));
    assert_eq!(bench.claim(1, 9), Err(Refusal::Owned { until: held.held_until() }));
    assert!(bench.send(Command::Renew { owner, lease: LEASE }).is_ok());
    let mut freed = bench.clone();
    freed.send(Command::Release { owner }).unwrap();
    assert!(freed.claim(1, 9).is_ok(), "who lets go frees the lane at once");
    bench.expire();
    assert!(bench.claim(1, 9).is_ok());
}

#[test]
fn dur_018_a_row_is_given_up_only_when_its_attempts_are_used_up() {
    let (mut bench, owner) = dying(FRUITLESS_CLAIMS as u8);
    let reserve = |owner| Command::Reserve { owner, reserved: poison(1) };
    assert_eq!(bench.send(reserve(owner)), Err(Refusal::AttemptsLeft));
    bench.expire();
    let owner = bench.claim(1, 99).unwrap();
    bench.finish(owner, &poison(1));
    assert_eq!(bench.row(1).standing(), Standing::GivenUp);
    assert_eq!(bench.candidate(), Some(submission(2)), "RT-03: the lane goes on");
    assert_eq!(vec![Standing::GivenUp], vec![bench.row(1).standing()], "and it stays listed");
}
