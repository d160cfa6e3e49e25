//! Requests for approval: suspended for, decided, expired, covered.

use super::*;
use crate::agent::Verdict;
use crate::identity::ApprovalId;

const MINUTES: DurationMs = DurationMs(10 * MINUTE);

fn request(n: u8) -> ApprovalId {
    ApprovalId([n; 16])
}

fn wanted(n: u8, expiry: Option<DurationMs>, approver: Option<&str>) -> Suspension {
    Suspension { request: request(n), expiry, approver: approver.map(principal) }
}

fn suspend(owner: Ownership, requests: &[u8]) -> Command {
    let requests = requests.iter().map(|n| wanted(*n, Some(MINUTES), None)).collect();
    Command::Suspend { owner, requests }
}

fn cover(owner: Ownership, requests: &[u8]) -> Command {
    let requests = requests.iter().map(|n| request(*n)).collect();
    Command::CoverApprovals { owner, requests }
}

fn expire(owner: Ownership, n: u8) -> Command {
    Command::Expire { owner, requests: Vec::from([request(n)]) }
}

fn decision(n: u8, verdict: Verdict, who: &str) -> Command {
    let intent = DecisionIntent { verdict, principal: principal(who), reason: "looked".into() };
    Command::Decide { submission: submission(1), request: request(n), intent }
}

fn yes(n: u8) -> Command {
    decision(n, Verdict::Approved, "bob")
}

fn no(n: u8) -> Command {
    decision(n, Verdict::Denied, "bob")
}

/// A lane whose submission waits for these requests, and nobody holds.
fn suspended(requests: &[u8]) -> Bench {
    let (mut bench, owner) = Bench::running();
    assert_eq!(bench.send(suspend(owner, requests)), Ok(Reply::Suspended));
    assert_eq!(bench.again(suspend(owner, requests)), Ok(Reply::Suspended));
    bench.send(Command::Release { owner }).unwrap();
    bench
}

#[test]
fn auth_14_a_suspended_row_is_claimed_when_every_request_is_decided() {
    let mut bench = suspended(&[2, 1]);
    assert_eq!(bench.row(1).phase, Phase::Suspended);
    assert!(bench.row(1).awaits_people(bench.now));
    assert_eq!(bench.claim(1, 2), Err(Refusal::NotClaimable));
    assert_eq!(bench.send(yes(1)), Ok(Reply::Decided));
    assert_eq!(bench.candidate(), None, "one is still open");
    assert_eq!(bench.send(no(2)), Ok(Reply::Decided));
    assert_eq!((bench.candidate(), bench.wakes_at()), (Some(submission(1)), None));
    let owner = bench.claim(1, 2).unwrap();
    assert_eq!(bench.send(cover(owner, &[1])), Ok(Reply::ApprovalsCovered));
    assert_eq!(bench.row(1).phase, Phase::Suspended, "the other decision is not canonical");
    assert_eq!(bench.send(cover(owner, &[1, 2])), Ok(Reply::ApprovalsCovered));
    assert_eq!(bench.again(cover(owner, &[1, 2])), Ok(Reply::ApprovalsCovered));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
}

#[test]
fn case_ap_11_case_ap_21_the_first_decision_stands_and_is_told_to_whoever_says_otherwise() {
    let mut bench = suspended(&[1, 2]);
    bench.send(yes(1)).unwrap();
    assert_eq!(bench.again(yes(1)), Ok(Reply::Decided), "clicked twice");
    let decided = Err(Refusal::AlreadyDecided { verdict: Verdict::Approved });
    assert_eq!(bench.again(no(1)), decided);
    assert_eq!(bench.again(decision(1, Verdict::Approved, "eve")), decided, "somebody else");
    bench.send(yes(2)).unwrap();
    let owner = bench.claim(1, 2).unwrap();
    bench.send(cover(owner, &[1, 2])).unwrap();
    assert_eq!(bench.again(yes(1)), Ok(Reply::Decided), "also when it is canonical");
    assert_eq!(bench.again(no(1)), decided);
}

#[test]
fn auth_14_case_ap_13_no_such_approval_a_decision_of_something_else_changes_nothing() {
    let mut bench = suspended(&[1]);
    assert_eq!(bench.again(yes(2)), Err(Refusal::NoSuchApproval), "another request");
    let (mut bench, _) = Bench::running();
    assert_eq!(bench.again(yes(1)), Err(Refusal::NoSuchApproval), "not asked yet");
    let other = Command::Decide {
        submission: submission(2),
        request: request(1),
        intent: DecisionIntent {
            verdict: Verdict::Approved,
            principal: principal("bob"),
            reason: "".into(),
        },
    };
    assert_eq!(bench.again(other), Err(Refusal::NoSuchSubmission));
}

#[test]
fn auth_14_not_the_approver_only_who_is_named_decides() {
    let (mut bench, owner) = Bench::running();
    let requests = Vec::from([wanted(1, None, Some("carol"))]);
    bench.send(Command::Suspend { owner, requests }).unwrap();
    assert_eq!(bench.again(yes(1)), Err(Refusal::NotTheApprover));
    assert_eq!(bench.send(decision(1, Verdict::Approved, "carol")), Ok(Reply::Decided));
}

#[test]
fn auth_14_approval_expired_nobody_decides_once_the_time_is_over() {
    let mut bench = suspended(&[1, 2]);
    let until = Timestamp(START + 10 * MINUTE);
    bench.now = Timestamp(until.0 - 1);
    assert_eq!((bench.candidate(), bench.wakes_at()), (None, Some(until)));
    bench.send(yes(2)).unwrap();
    bench.now = until;
    assert_eq!(bench.candidate(), Some(submission(1)));
    assert_eq!(bench.again(yes(1)), Err(Refusal::ApprovalExpired));
    let owner = bench.claim(1, 2).unwrap();
    let decided = Err(Refusal::AlreadyDecided { verdict: Verdict::Approved });
    assert_eq!(bench.again(expire(owner, 2)), decided, "that one was decided in time");
    assert_eq!(bench.send(expire(owner, 1)), Ok(Reply::Expired));
    assert_eq!(bench.again(expire(owner, 1)), Ok(Reply::Expired));
    assert_eq!(bench.again(no(1)), Err(Refusal::ApprovalExpired));
    bench.send(cover(owner, &[1, 2])).unwrap();
    assert_eq!(bench.again(yes(1)), Err(Refusal::ApprovalExpired));
}

#[test]
fn auth_14_not_expired_an_owner_with_a_clock_that_ran_ahead_is_told_so() {
    let (mut bench, owner) = Bench::running();
    bench.send(suspend(owner, &[1])).unwrap();
    let until = Timestamp(START + 10 * MINUTE);
    assert_eq!(bench.again(expire(owner, 1)), Err(Refusal::NotExpired { until }));
    let requests = Vec::from([wanted(2, None, None)]);
    bench.send(Command::Suspend { owner, requests }).unwrap();
    let until = Timestamp(u64::MAX);
    assert_eq!(bench.again(expire(owner, 2)), Err(Refusal::NotExpired { until }), "never");
}

#[test]
fn dur_012_an_abort_wakes_a_suspended_row_and_ends_what_can_be_decided() {
    let mut bench = suspended(&[1]);
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.again(yes(1)), Err(Refusal::AbortIntended));
    assert!(!bench.row(1).awaits_people(bench.now));
    let owner = bench.claim(1, 2).unwrap();
    bench.finish(owner, &aborted(1));
    assert_eq!(bench.again(yes(1)), Err(Refusal::AlreadySettled), "late, and refused by name");
}

#[test]
fn cap_006_what_has_not_begun_or_is_closing_or_in_doubt_is_not_suspended() {
    let (mut bench, owner) = Bench::running();
    bench.send(Command::Reserve { owner, reserved: completed(1) }).unwrap();
    assert_eq!(bench.again(suspend(owner, &[1])), Err(Refusal::RunClosing));
    let (mut bench, owner) = Bench::settled();
    assert_eq!(bench.again(suspend(owner, &[1])), Err(Refusal::OwnershipLost { actual: Epoch(1) }));
    let (mut bench, owner) = Bench::unknown(&[1]);
    assert_eq!(bench.again(suspend(owner, &[1])), Err(Refusal::UnknownOpen));
}

#[test]
fn dur_006_a_zombie_suspends_expires_and_covers_nothing() {
    let (mut bench, zombie) = Bench::running();
    bench.expire();
    let owner = bench.claim(1, 2).unwrap();
    bench.send(suspend(owner, &[1])).unwrap();
    bench.now = Timestamp(START + HOUR);
    let lost = Err(Refusal::OwnershipLost { actual: owner.epoch });
    for command in [suspend(zombie, &[1]), expire(zombie, 1), cover(zombie, &[1])] {
        assert_eq!(bench.again(command), lost);
    }
}

#[test]
fn dur_002_a_suspended_row_cannot_end_by_itself() {
    let (mut bench, owner) = Bench::running();
    bench.send(suspend(owner, &[1])).unwrap();
    let reserve = Command::Reserve { owner, reserved: completed(1) };
    assert_eq!(bench.again(reserve), Err(Refusal::NotRunning));
}
