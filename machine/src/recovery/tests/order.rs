//! The first match wins: evidence that two rows of the table speak of.

use super::*;

/// A log with a canonical doubt, an open start and a call that never started.
fn everything() -> Story {
    let story = declared(&["pay", "pay", "look"]);
    let story = story.tell([ONE.prepared(start(0), "pay"), ONE.prepared(start(1), "pay")]);
    story.at(2).tell([unknown(0)])
}

fn row_of(row: &Row, story: &Story) -> u8 {
    decide(row, story).row
}

#[test]
fn dur_002_a_settled_row_is_settled_whatever_the_log_holds() {
    let row = |phase| Row { marks: alloc::vec![open(start(0))], ..aborted(phase) };
    let phase = settled(&aborted_in_doubt());
    for story in [Story::new(), declared(&["look"]), prepared(2), everything()] {
        assert_eq!(decide(&row(phase.clone()), &story), classified(1, Decision::Nothing));
    }
}

#[test]
fn dur_011_canonical_history_beats_the_reservation() {
    let story = declared(&[]).tell([ONE.settled(completed())]);
    let row = ONE.row(Phase::Terminalizing(reserved(Settlement::Aborted)));
    assert_eq!(row_of(&row, &story), 2, "what is canonical is final");
}

#[test]
fn dur_011_a_fixed_outcome_beats_an_abort_and_every_doubt() {
    let row = aborted(Phase::Terminalizing(reserved(completed())));
    let expected = classified(3, Decision::AppendReserved(reserved(completed())));
    assert_eq!(decide(&row, &everything()), expected);
    let story = everything().tell([ONE.settled(completed())]);
    assert_eq!(row_of(&aborted(RUNNING), &story), 2);
}

#[test]
fn dur_012_an_abort_beats_every_doubt_and_starts_nothing() {
    let how = Resolution::SafeToRepeat;
    for marks in [Vec::new(), alloc::vec![intended(start(0), how)]] {
        let row = Row { marks, ..aborted(Phase::Unknown) };
        let audit =
            AbortStep::Audit { request: Some(abort()), doubts: starts(&[1]), decided: Vec::new() };
        let expected = classified(6, Decision::SettleAborted(audit));
        assert_eq!(decide(&row, &everything()), expected);
    }
}

#[test]
fn dur_012_an_abort_beats_the_batch_the_beginning_and_the_next_turn() {
    let answered = declared(&[]);
    for story in [Story::new(), declared(&["look"]), answered] {
        for phase in [Phase::Admitted, Phase::Ready, CLAIMED, RUNNING] {
            assert_eq!(row_of(&aborted(phase), &story), 6);
        }
    }
}

#[test]
fn dur_009_open_starts_are_examined_before_a_doubt_is_marked() {
    let expected = classified(7, Decision::Reconcile(starts(&[1])));
    assert_eq!(decide(&ONE.row(RUNNING), &everything()), expected);
}

#[test]
fn dur_009_a_doubt_is_marked_before_a_resolution_is_covered_and_covered_before_it_waits() {
    let how = Resolution::NeverStarted;
    let story = prepared(2).at(2).tell([unknown(0), unknown(1)]);
    let story = story.tell([ONE.resolved(start(0), how.clone())]);
    let row = marked(Phase::Unknown, alloc::vec![intended(start(0), how.clone())]);
    let expected = classified(8, Decision::EnsureUnknown(starts(&[1])));
    assert_eq!(decide(&row, &story), expected);

    let row = marked(Phase::Unknown, alloc::vec![intended(start(0), how.clone()), open(start(1))]);
    let expected = classified(8, Decision::CoverUnknown(starts(&[0])));
    assert_eq!(decide(&row, &story), expected);

    let row = marked(Phase::Unknown, alloc::vec![closed(start(0), how), open(start(1))]);
    assert_eq!(decide(&row, &story), classified(9, Decision::AwaitResolution));
}

#[test]
fn dur_009_a_doubt_of_one_call_holds_back_its_siblings() {
    let story = declared(&["pay", "look"]).tell([ONE.prepared(start(0), "pay")]);
    assert_eq!(row_of(&ONE.row(RUNNING), &story), 7, "before row 14");
    let story = story.at(2).tell([unknown(0)]);
    assert_eq!(row_of(&ONE.row(RUNNING), &story), 8, "before row 14");
    let row = marked(Phase::Unknown, alloc::vec![open(start(0))]);
    assert_eq!(row_of(&row, &story), 9, "before row 14");
}

#[test]
fn dur_013_a_batch_is_resumed_before_a_marker_is_repaired() {
    assert_eq!(row_of(&ONE.row(CLAIMED), &declared(&["look"])), 14);
}

#[test]
fn dur_013_readiness_comes_before_the_input_and_the_input_before_its_marker() {
    let story = Story::new().tell([ONE.input()]);
    let row = ONE.row(Phase::Admitted);
    assert_eq!(decide(&row, &story), classified(15, Decision::RepairReadiness));
    assert_eq!(row_of(&ONE.row(CLAIMED), &Story::new()), 16);
    assert_eq!(row_of(&ONE.row(CLAIMED), &story), 17);
}
