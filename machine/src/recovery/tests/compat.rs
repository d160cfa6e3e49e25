//! Row 10: nobody goes on with a run that is bound to something else (cases CR-05, CR-09).

use super::*;
use crate::agent::Bound;
use crate::digest::Digest;
use crate::identity::{DurationMs, PrincipalId, ProducerId, Sequence};
use crate::ledger::{ApprovalMark, ApprovalState, Compat, Incompatible, Mismatch, RebindIntent};
use crate::limits::INCOMPATIBLE_MS;

/// Another definition than the one that every story is bound to.
pub(super) fn other() -> Bound {
    Bound { definition: Digest([9; 32]), ..binding().bound() }
}

fn decide_under(bound: &Bound, row: &Row, story: &Story, now: Timestamp) -> Classified {
    classify(&Evidence::gather(row, &[], &story.fold, &OwnKnowledge::default(), bound, now))
}

/// As whoever comes with the other definition decides.
fn decide_other(row: &Row, story: &Story) -> Classified {
    decide_under(&other(), row, story, NOW)
}

fn mismatch() -> Mismatch {
    Mismatch { at: Sequence(1), expected: binding().bound(), found: other() }
}

/// The row, and that somebody came with the other definition a second before.
fn met(row: Row) -> Row {
    let by = ProducerId::new("worker-2").unwrap();
    let known = Incompatible { mismatch: mismatch(), by, since: Timestamp(NOW.0 - 1_000) };
    Row { compat: Compat { incompatible: Some(known), rebind: None }, ..row }
}

fn wanted(replaces: u64, to: Bound) -> RebindIntent {
    let (principal, reason) = (PrincipalId::new("ada").unwrap(), "no harm".into());
    RebindIntent { replaces: Sequence(replaces), to, principal, reason }
}

fn told(row: Row, intent: RebindIntent) -> Row {
    let compat = Compat { rebind: Some(intent), ..row.compat };
    Row { compat, ..row }
}

/// When the wait is over.
fn over() -> Timestamp {
    Timestamp(NOW.0 - 1_000).after(DurationMs(INCOMPATIBLE_MS))
}

fn incompatible() -> Classified {
    classified(10, Decision::Incompatible(mismatch()))
}

#[test]
fn dur_013_row_10_a_run_that_is_bound_to_something_else_is_left_alone() {
    let answered = declared(&[]);
    for story in [Story::new().tell([ONE.input()]), declared(&["look"]), answered] {
        for row in [ONE.row(CLAIMED), ONE.row(RUNNING), met(ONE.row(RUNNING))] {
            assert_eq!(decide_other(&row, &story), incompatible());
        }
        let again = decide(&ONE.row(RUNNING), &story);
        assert_ne!(again.row, 10, "whoever has its definition goes on");
    }
}

#[test]
fn dur_013_row_10_a_run_without_an_input_is_bound_to_nothing_yet() {
    let apply = classified(16, Decision::ApplyInput);
    assert_eq!(decide_other(&ONE.row(CLAIMED), &Story::new()), apply);
}

#[test]
fn dur_009_row_10_nobody_judges_a_start_whose_tools_are_not_theirs() {
    let row = ONE.row(RUNNING);
    assert_eq!(decide(&row, &prepared(1)).row, 7);
    assert_eq!(decide_other(&row, &prepared(1)), incompatible());
}

#[test]
fn dur_017_row_10_what_is_canonical_of_doubts_is_marked_and_covered_all_the_same() {
    let story = prepared(1).tell([unknown(0)]);
    let mark = classified(8, Decision::EnsureUnknown(starts(&[0])));
    assert_eq!(decide_other(&ONE.row(RUNNING), &story), mark);
    let row = marked(Phase::Unknown, alloc::vec![open(start(0))]);
    assert_eq!(decide_other(&row, &story), classified(9, Decision::AwaitResolution));
    let how = Resolution::SafeToRepeat;
    let row = marked(Phase::Unknown, alloc::vec![intended(start(0), how.clone())]);
    assert_eq!(decide(&row, &story).row, 9);
    assert_eq!(decide_other(&row, &story), incompatible(), "what it gave is its tool's to keep");
    let story = story.tell([ONE.resolved(start(0), how)]);
    let cover = classified(8, Decision::CoverUnknown(starts(&[0])));
    assert_eq!(decide_other(&row, &story), cover);
}

#[test]
fn dur_012_row_10_an_end_that_is_asked_for_comes_before_it() {
    let row = Row { abort: Some(abort()), ..met(ONE.row(RUNNING)) };
    assert_eq!(decide_other(&row, &declared(&["look"])).row, 6);
    let row = ONE.row(Phase::Terminalizing(reserved(completed())));
    assert_eq!(decide_other(&row, &declared(&[])).row, 3);
}

#[test]
fn dur_013_row_10_whoever_has_its_binding_says_so_and_goes_on() {
    let row = met(ONE.row(RUNNING));
    let cover = classified(10, Decision::CoverIncompatible);
    assert_eq!(decide(&row, &declared(&["look"])), cover);
    assert_eq!(decide(&row, &prepared(1)), cover, "before a doubt is judged");
}

#[test]
fn dur_013_row_10_a_run_is_bound_anew_exactly_as_somebody_wants_it() {
    let story = declared(&["look"]);
    let row = told(met(ONE.row(RUNNING)), wanted(1, other()));
    let rebind = Decision::Rebind(wanted(1, other()), binding().bound());
    assert_eq!(decide_other(&row, &story), classified(10, rebind.clone()));
    assert_eq!(decide_other(&row, &prepared(1)), classified(10, rebind), "and then it judges");
    let third = Bound { tools: Digest([8; 32]), ..other() };
    let found = Decision::Incompatible(Mismatch { found: third, ..mismatch() });
    assert_eq!(decide_under(&third, &row, &story, NOW), classified(10, found));
    for stale in [wanted(0, other()), wanted(1, third)] {
        let row = told(met(ONE.row(RUNNING)), stale);
        assert_eq!(decide_other(&row, &story), incompatible());
    }
}

#[test]
fn case_cr_05_row_10_a_word_counts_for_one_rebinding() {
    let word = wanted(1, other());
    let row = told(met(ONE.row(RUNNING)), word.clone());
    let story = declared(&[]).at(2).tell([ONE.rebound(1, binding().bound(), other())]);
    assert_eq!(decide_other(&row, &story), classified(10, Decision::CoverIncompatible));
    let back = Mismatch { at: Sequence(3), expected: other(), found: binding().bound() };
    let expected = classified(10, Decision::Incompatible(back));
    assert_eq!(decide(&row, &story), expected, "what it was bound to before has to wait now");
    let story = story.at(3).tell([ONE.rebound(3, other(), binding().bound())]);
    let again = Decision::Incompatible(Mismatch { at: Sequence(4), ..mismatch() });
    assert_eq!(decide_other(&row, &story), classified(10, again), "the word was about record 1");
}

#[test]
fn dur_014_row_10_a_run_for_which_nobody_comes_ends_after_a_week() {
    let row = met(ONE.row(RUNNING));
    let story = declared(&["look"]);
    let before = Timestamp(over().0 - 1);
    assert_eq!(decide_under(&other(), &row, &story, before), incompatible());
    let end = classified(10, Decision::EndIncompatible(mismatch()));
    assert_eq!(decide_under(&other(), &row, &story, over()), end);
    let own = decide_under(&binding().bound(), &row, &story, over());
    assert_eq!(own.decision, Decision::CoverIncompatible, "whoever fits is never too late");
    let marker = met(ONE.row(CLAIMED));
    let repair = classified(17, Decision::RepairInputMarker);
    assert_eq!(decide_under(&other(), &marker, &story, over()), repair);
    let elsewhere = met(ONE.row(RUNNING));
    let story = story.at(2).tell([ONE.rebound(
        1,
        binding().bound(),
        Bound { model: Digest([5; 32]), ..binding().bound() },
    )]);
    let met_anew = decide_under(&other(), &elsewhere, &story, over());
    assert!(matches!(met_anew.decision, Decision::Incompatible(_)), "bound anew, it waits anew");
}

#[test]
fn dur_014_row_10_a_start_that_nobody_can_judge_in_a_week_is_unknown_and_no_run_ends_over_it() {
    let row = met(ONE.row(RUNNING));
    let decided = decide_under(&other(), &row, &prepared(1), over());
    assert_eq!(decided, classified(7, Decision::Reconcile(starts(&[0]))));
    let story = prepared(1).tell([unknown(0)]);
    let row = Row { phase: Phase::Unknown, marks: alloc::vec![open(start(0))], ..row };
    let waits = classified(9, Decision::AwaitResolution);
    assert_eq!(decide_under(&other(), &row, &story, over()), waits);
    let marks = alloc::vec![intended(start(0), Resolution::NeverStarted)];
    let row = Row { marks, ..row };
    assert_eq!(decide_under(&other(), &row, &story, over()), incompatible(), "it stays listed");
}

#[test]
fn auth_15_row_10_a_request_that_is_asked_waits_until_the_run_can_go_on() {
    let story = declared(&["pay"]).tell([ONE.asked(ONE.call(0, 0), "pay")]);
    let request = ONE.request(ONE.call(0, 0), "pay").request;
    let (since, state) = (Timestamp(1_000), ApprovalState::Open);
    let mark = ApprovalMark { request, since, expires_at: None, approver: None, state };
    let row = met(Row { approvals: alloc::vec![mark], ..ONE.row(Phase::Suspended) });
    assert_eq!(decide_other(&row, &story), incompatible());
    assert_eq!(decide_under(&other(), &row, &story, over()).row, 12, "people first, then the end");
}
