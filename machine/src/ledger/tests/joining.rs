//! Rows that become part of a run which another row began: offered, joined, given back, settled.

use super::*;
use crate::agent::Joins;

fn host() -> SubmissionId {
    submission(1)
}

/// Submission `n`, said to the run of submission 1.
fn steering(n: u8) -> Command {
    let said = Admission { steers: Some(host()), ..(*admission(n, "wait")).clone() };
    Command::Admit(Arc::new(said))
}

fn join(owner: Ownership, n: u8) -> Command {
    Command::Join { owner, joining: submission(n) }
}

fn mark(owner: Ownership, n: u8) -> Command {
    Command::MarkJoined { owner, joined: submission(n) }
}

fn revert(owner: Ownership, n: u8) -> Command {
    Command::RevertJoin { owner, joining: submission(n) }
}

fn with_host(n: u8) -> Reserved {
    let settlement = completed(1).record.settlement.of_joined(host());
    let run = Some(RunId::derive(host()));
    Reserved::new(SubmissionSettled { submission: submission(n), run, settlement }).unwrap()
}

fn settle(owner: Ownership, n: u8) -> Command {
    Command::SettleJoined { owner, settlement: canonical(&with_host(n)) }
}

/// Submission 1 runs, and the others wait behind it, ready.
fn behind(numbers: &[u8]) -> (Bench, Ownership) {
    let all: Vec<u8> = core::iter::once(1).chain(numbers.iter().copied()).collect();
    let mut bench = Bench::ready(&all);
    let owner = bench.claim(1, 1).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    (bench, owner)
}

fn say(bench: &mut Bench, n: u8) {
    bench.send(steering(n)).unwrap();
    bench.send(Command::Ready { submission: submission(n) }).unwrap();
}

fn offered(bench: &Bench, joins: Joins) -> (Vec<SubmissionId>, Vec<SubmissionId>) {
    let offer = Offer::to(&bench.slice(Footprint::Offered(host())), host(), joins, 32);
    let ids = |rows: Vec<Arc<Row>>| rows.iter().map(|row| row.admission.submission).collect();
    (ids(offer.steering), ids(offer.following))
}

#[test]
fn dur_016_a_row_joins_is_marked_and_settles_before_its_host() {
    let (mut bench, owner) = behind(&[2]);
    assert_eq!(bench.send(join(owner, 2)), Ok(Reply::Joining));
    assert_eq!(bench.again(join(owner, 2)), Ok(Reply::Joining));
    assert_eq!(bench.row(2).standing(), Standing::Attached);
    assert_eq!(bench.send(mark(owner, 2)), Ok(Reply::Joined));
    assert_eq!(bench.again(mark(owner, 2)), Ok(Reply::Joined));
    let reserved = completed(1);
    bench.send(Command::Reserve { owner, reserved: reserved.clone() }).unwrap();
    let finalize = Command::Finalize { owner, settlement: canonical(&reserved) };
    assert_eq!(bench.again(finalize.clone()), Err(Refusal::JoinedOpen));
    assert_eq!(bench.send(settle(owner, 2)), Ok(Reply::JoinedSettled));
    assert_eq!(bench.again(settle(owner, 2)), Ok(Reply::JoinedSettled));
    assert_eq!(bench.send(finalize), Ok(Reply::Finalized));
    assert_eq!(bench.candidate(), None);
    let Phase::Settled(settled) = &bench.row(2).phase else { panic!("settled") };
    assert_eq!((settled.outcome, settled.digest), (Outcome::Completed, with_host(2).digest));
}

#[test]
fn dur_016_what_did_not_become_canonical_waits_again_and_runs_by_itself() {
    let (mut bench, owner) = behind(&[2]);
    bench.send(join(owner, 2)).unwrap();
    assert_eq!(bench.send(revert(owner, 2)), Ok(Reply::JoinReverted));
    assert_eq!(bench.again(revert(owner, 2)), Ok(Reply::JoinReverted));
    bench.finish(owner, &completed(1));
    assert_eq!(bench.candidate(), Some(submission(2)));
}

#[test]
fn dur_016_what_has_joined_is_never_given_back() {
    let (mut bench, owner) = behind(&[2]);
    bench.send(join(owner, 2)).unwrap();
    bench.send(mark(owner, 2)).unwrap();
    assert_eq!(bench.again(revert(owner, 2)), Err(Refusal::HasJoined { host: host() }));
    assert_eq!(bench.again(join(owner, 2)), Ok(Reply::Joining), "it is answered as it was");
}

#[test]
fn dur_004_what_follows_is_the_next_one_and_of_the_same_principal() {
    let (mut bench, owner) = behind(&[2, 3]);
    assert_eq!(bench.again(join(owner, 3)), Err(Refusal::NotNext));
    bench.send(join(owner, 2)).unwrap();
    assert_eq!(bench.send(join(owner, 3)), Ok(Reply::Joining), "joined rows are walked over");

    let (mut bench, owner) = behind(&[]);
    let other = Admission { principal: principal("bob"), ..(*admission(2, "mine")).clone() };
    bench.send(Command::Admit(Arc::new(other))).unwrap();
    bench.send(Command::Ready { submission: submission(2) }).unwrap();
    assert_eq!(bench.again(join(owner, 2)), Err(Refusal::NotNext));
    bench.send(Command::Admit(admission(3, "not ready"))).unwrap();
    assert_eq!(bench.again(join(owner, 3)), Err(Refusal::NotNext));
}

#[test]
fn dur_004_an_offer_is_contiguous_and_as_long_as_the_policy_says() {
    let (mut bench, _) = behind(&[2, 3]);
    bench.send(Command::Admit(admission(4, "not ready"))).unwrap();
    bench.send(Command::Admit(admission(5, "behind it"))).unwrap();
    bench.send(Command::Ready { submission: submission(5) }).unwrap();
    assert_eq!(offered(&bench, Joins::None), (Vec::new(), Vec::new()));
    assert_eq!(offered(&bench, Joins::One).1, [submission(2)]);
    assert_eq!(offered(&bench, Joins::All).1, [submission(2), submission(3)]);
    bench.abort(2, "ada").unwrap();
    assert_eq!(offered(&bench, Joins::All).1, [submission(3)], "an errand is in nobody's way");
}

#[test]
fn run_012_steering_is_taken_out_of_turn_and_by_its_host_alone() {
    let (mut bench, owner) = behind(&[2]);
    say(&mut bench, 3);
    assert_eq!(bench.row(3).standing(), Standing::Steering);
    assert_eq!(offered(&bench, Joins::None).0, [submission(3)]);
    assert_eq!(bench.send(join(owner, 3)), Ok(Reply::Joining));
    bench.send(revert(owner, 3)).unwrap();
    bench.finish(owner, &completed(1));
    let owner = bench.claim(2, 2).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    assert_eq!(bench.again(join(owner, 3)), Err(Refusal::NotNext), "it was said to another run");
    bench.finish(owner, &completed(2));
    assert_eq!(bench.candidate(), Some(submission(3)), "and has a run of its own, in its place");
    assert!(bench.claim(3, 3).is_ok());
}

#[test]
fn case_st_03_steering_is_accepted_from_the_claim_until_the_end_is_fixed() {
    let mut bench = Bench::ready(&[1]);
    assert_eq!(bench.again(steering(9)), Err(Refusal::NotRunning));
    let owner = bench.claim(1, 1).unwrap();
    assert!(bench.send(steering(2)).is_ok());
    bench.send(Command::MarkInput { owner }).unwrap();
    let reserved = completed(1);
    bench.send(Command::Reserve { owner, reserved: reserved.clone() }).unwrap();
    assert_eq!(bench.again(steering(9)), Err(Refusal::RunClosing));
    bench.send(Command::Finalize { owner, settlement: canonical(&reserved) }).unwrap();
    assert_eq!(bench.again(steering(9)), Err(Refusal::AlreadySettled));
    assert!(matches!(bench.again(steering(2)), Ok(Reply::Admitted(_))), "the same receipt");
    let (mut bench, _) = Bench::running();
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.again(steering(9)), Err(Refusal::AbortIntended));
}

#[test]
fn run_012_what_steers_a_run_is_of_its_agent_and_tenant() {
    let (mut bench, _) = Bench::running();
    for (foreign, why) in [
        (
            Admission { agent: AgentId::new("other").unwrap(), ..(*admission(2, "")).clone() },
            Refusal::ForeignRun,
        ),
        (
            Admission { tenant: TenantId::new("other").unwrap(), ..(*admission(2, "")).clone() },
            Refusal::OtherTenant,
        ),
    ] {
        let said = Admission { steers: Some(host()), ..foreign };
        let refused = bench.again(Command::Admit(Arc::new(said)));
        assert_eq!(refused, Err(why));
    }
}

#[test]
fn dur_012_an_abort_of_what_joins_stands_until_the_log_decides() {
    let (mut bench, owner) = behind(&[2]);
    bench.send(join(owner, 2)).unwrap();
    assert!(bench.abort(2, "ada").is_ok(), "it may still be given back");
    bench.send(revert(owner, 2)).unwrap();
    assert_eq!(bench.row(2).standing(), Standing::Errand);
    assert_eq!(bench.again(join(owner, 2)), Err(Refusal::AbortIntended));

    let (mut bench, owner) = behind(&[2]);
    bench.send(join(owner, 2)).unwrap();
    bench.send(mark(owner, 2)).unwrap();
    assert_eq!(bench.abort(2, "ada"), Err(Refusal::HasJoined { host: host() }));
}

#[test]
fn dur_006_a_superseded_owner_takes_nothing_in() {
    let (mut bench, owner) = behind(&[2]);
    bench.expire();
    bench.claim(1, 2).unwrap();
    let lost = Err(Refusal::OwnershipLost { actual: Epoch(2) });
    for late in [join(owner, 2), mark(owner, 2), revert(owner, 2), settle(owner, 2)] {
        assert_eq!(bench.again(late), lost);
    }
}

#[test]
fn dur_016_nobody_claims_what_is_attached() {
    let (mut bench, owner) = behind(&[2]);
    bench.send(join(owner, 2)).unwrap();
    bench.expire();
    assert_eq!(bench.claim(2, 2), Err(Refusal::NotClaimable));
    assert_eq!(bench.candidate(), Some(host()));
}

#[test]
fn sec_01_a_conversation_is_one_tenants_whatever_its_name_and_whoever_says_so_again() {
    let mut bench = Bench::new();
    let own = admission(1, "mine");
    assert!(bench.send(Command::Admit(own.clone())).is_ok());
    let other = |n| {
        let tenant = TenantId::new("other").unwrap();
        Arc::new(Admission { tenant, ..(*admission(n, "mine")).clone() })
    };
    // Also under the same names, which would be told of the place that the first one has.
    for n in [1, 2] {
        assert_eq!(bench.again(Command::Admit(other(n))), Err(Refusal::OtherTenant));
    }
    assert!(bench.again(Command::Admit(own)).is_ok(), "and its own tenant is answered as before");
}
