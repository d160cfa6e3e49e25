//! Rows 12 and 13: what somebody has still to decide.

use super::*;
use crate::agent::Verdict;
use crate::identity::{ApprovalId, PrincipalId};
use crate::ledger::{ApprovalMark, ApprovalState, DecisionIntent, Suspension};
use crate::record::Resolver;

/// The request about the call at `index`.
fn request(index: usize) -> ApprovalId {
    ONE.request(ONE.call(0, index), "pay").request
}

/// Two calls were declared, and both were asked about.
fn asked() -> Story {
    let records = [0, 1].map(|index| ONE.asked(ONE.call(0, index), "pay"));
    declared(&["pay", "pay"]).tell(records)
}

fn said(verdict: Verdict) -> ApprovalState {
    let principal = PrincipalId::new("bob").unwrap();
    ApprovalState::Intended(DecisionIntent { verdict, principal, reason: "looked".into() })
}

fn mark(index: usize, state: ApprovalState) -> ApprovalMark {
    let (since, expires_at) = (Timestamp(1_000), None);
    ApprovalMark { request: request(index), since, expires_at, approver: None, state }
}

/// The same, whose time is over before the row is read.
fn expired(index: usize, state: ApprovalState) -> ApprovalMark {
    ApprovalMark { expires_at: Some(NOW), ..mark(index, state) }
}

fn suspended(mut approvals: Vec<ApprovalMark>) -> Row {
    approvals.sort_by_key(|mark| mark.request);
    Row { approvals, ..ONE.row(Phase::Suspended) }
}

fn by(index: usize, verdict: Verdict, resolver: Resolver, reason: &str) -> Decided {
    Decided { request: request(index), verdict, resolver, reason: reason.into() }
}

fn bob() -> Resolver {
    Resolver::Person(PrincipalId::new("bob").unwrap())
}

#[test]
fn dur_013_row_13_what_is_asked_canonically_suspends_its_row() {
    let suspension = |index| Suspension::of(&ONE.request(ONE.call(0, index), "pay"));
    let both = Decision::EnsureSuspended(alloc::vec![suspension(0), suspension(1)]);
    assert_eq!(decide(&ONE.row(RUNNING), &asked()), classified(13, both));
    let row = suspended(alloc::vec![mark(0, said(Verdict::Approved))]);
    let other = Decision::EnsureSuspended(alloc::vec![suspension(1)]);
    assert_eq!(decide(&row, &asked()), classified(13, other), "before anything is decided");
}

#[test]
fn dur_013_row_12_a_row_waits_until_somebody_has_decided() {
    let row = suspended([0, 1].map(|index| mark(index, ApprovalState::Open)).to_vec());
    assert_eq!(decide(&row, &asked()), classified(12, Decision::AwaitApproval));
}

#[test]
fn dur_013_row_12_what_people_decided_becomes_canonical_is_covered_and_then_honoured() {
    let verdicts = [Verdict::Approved, Verdict::Denied];
    let row = suspended([0, 1].map(|index| mark(index, said(verdicts[index]))).to_vec());
    let decided = [0, 1].map(|index| by(index, verdicts[index], bob(), "looked")).to_vec();
    let expected = Decision::DecideApprovals(decided);
    assert_eq!(decide(&row, &asked()), classified(12, expected));
    let story = asked().tell([0, 1].map(|index| ONE.decision(request(index), verdicts[index])));
    let mut both = alloc::vec![request(0), request(1)];
    both.sort();
    assert_eq!(decide(&row, &story), classified(12, Decision::CoverApprovals(both)));
    let closed = [0, 1].map(|index| mark(index, ApprovalState::Closed(None))).to_vec();
    let row = Row { phase: RUNNING, ..suspended(closed) };
    let calls = [0, 1].map(|index| ONE.call(0, index)).to_vec();
    assert_eq!(decide(&row, &story), classified(14, Decision::ResumeBatch(calls)));
}

#[test]
fn dur_013_row_12_a_time_that_is_over_is_said_on_the_row_before_the_log_says_so() {
    let open = [expired(0, ApprovalState::Open), mark(1, ApprovalState::Open)];
    let over = Decision::ExpireApprovals(alloc::vec![request(0)]);
    assert_eq!(decide(&suspended(open.to_vec()), &asked()), classified(12, over));
    let closed = [expired(0, ApprovalState::Expired), mark(1, ApprovalState::Open)];
    let denied = by(0, Verdict::Denied, Resolver::Expiry, "nobody decided in time");
    let denied = Decision::DecideApprovals(alloc::vec![denied]);
    assert_eq!(decide(&suspended(closed.to_vec()), &asked()), classified(12, denied));
    let in_time = [expired(0, said(Verdict::Approved)), mark(1, ApprovalState::Open)];
    let heard = by(0, Verdict::Approved, bob(), "looked");
    let heard = Decision::DecideApprovals(alloc::vec![heard]);
    assert_eq!(decide(&suspended(in_time.to_vec()), &asked()), classified(12, heard));
}

#[test]
fn dur_013_row_06_an_abort_denies_what_nobody_decided_and_keeps_what_somebody_did() {
    let marks = [mark(0, said(Verdict::Approved)), mark(1, ApprovalState::Open)];
    let row = Row { abort: Some(abort()), ..suspended(marks.to_vec()) };
    let audit = AbortStep::Audit {
        request: Some(abort()),
        doubts: Vec::new(),
        decided: alloc::vec![
            by(0, Verdict::Approved, bob(), "looked"),
            by(1, Verdict::Denied, Resolver::Abort, "the submission was aborted"),
        ],
    };
    assert_eq!(decide(&row, &asked()), classified(6, Decision::SettleAborted(audit)));
    let story = asked().tell([ONE.abort_requested()]);
    let story = story.tell([0, 1].map(|index| ONE.decision(request(index), Verdict::Denied)));
    let reserve = Decision::SettleAborted(AbortStep::Reserve);
    assert_eq!(decide(&row, &story), classified(6, reserve));
}

#[test]
fn auth_15_a_start_in_doubt_comes_before_what_is_asked() {
    let story = prepared(1).tell([ONE.unknown(start(0))]);
    let row = marked(Phase::Unknown, alloc::vec![open(start(0))]);
    assert_eq!(decide(&row, &story).row, 9);
}
