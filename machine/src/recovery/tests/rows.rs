//! Every row of the table, and every decision in it, on the smallest evidence that leads there.

use super::*;

#[test]
fn dur_013_row_01_a_settled_row_needs_nothing() {
    let story = declared(&[]).tell([ONE.settled(completed())]);
    let row = ONE.row(settled(&story));
    assert_eq!(decide(&row, &story), classified(1, Decision::Nothing));
}

#[test]
fn dur_013_row_01_an_intent_on_a_settled_row_is_applied_covered_and_then_at_rest() {
    let story = aborted_in_doubt();
    let phase = settled(&story);
    let waits = marked(phase.clone(), alloc::vec![open(start(0))]);
    assert_eq!(decide(&waits, &story), classified(1, Decision::Nothing));

    let how = Resolution::Completed(text("paid"));
    let row = marked(phase.clone(), alloc::vec![intended(start(0), how.clone())]);
    let apply = Decision::ApplyResolutions(alloc::vec![(start(0), intent(how.clone()))]);
    assert_eq!(decide(&row, &story), classified(1, apply));

    let result = ONE.tool_settled(start(0).call, success("paid"));
    let story = story.at(2).tell([ONE.resolved(start(0), how.clone()), result]);
    let cover = Decision::CoverUnknown(starts(&[0]));
    assert_eq!(decide(&row, &story), classified(1, cover));

    let row = marked(phase, alloc::vec![closed(start(0), how)]);
    assert_eq!(decide(&row, &story), classified(1, Decision::Nothing));
}

#[test]
fn dur_013_row_02_a_canonical_settlement_is_finalized_whatever_the_row_knows() {
    let story = declared(&[]).tell([ONE.settled(completed())]);
    let finalize = Decision::FinalizeFromHistory(settlement(&story));
    for phase in [
        Phase::Admitted,
        Phase::Ready,
        CLAIMED,
        RUNNING,
        Phase::Unknown,
        Phase::Terminalizing(reserved(completed())),
    ] {
        assert_eq!(decide(&ONE.row(phase), &story), classified(2, finalize.clone()));
    }
}

#[test]
fn dur_013_row_03_a_reserved_settlement_is_appended_exactly() {
    let reserved = reserved(completed());
    let row = ONE.row(Phase::Terminalizing(reserved.clone()));
    assert_eq!(decide(&row, &declared(&[])), classified(3, Decision::AppendReserved(reserved)));
}

#[test]
fn dur_013_row_06_an_abort_is_audited_marked_and_reserved_in_this_order() {
    let story = prepared(2);
    let row = aborted(RUNNING);
    let audit =
        AbortStep::Audit { request: Some(abort()), doubts: starts(&[0, 1]), decided: Vec::new() };
    assert_eq!(decide(&row, &story), classified(6, Decision::SettleAborted(audit)));

    let story = story.tell([ONE.abort_requested(), unknown(0)]);
    let audit = AbortStep::Audit { request: None, doubts: starts(&[1]), decided: Vec::new() };
    assert_eq!(decide(&row, &story), classified(6, Decision::SettleAborted(audit)));

    let story = story.tell([unknown(1)]);
    let mark = AbortStep::Mark(starts(&[0, 1]));
    assert_eq!(decide(&row, &story), classified(6, Decision::SettleAborted(mark)));

    let row = Row { phase: Phase::Unknown, ..row };
    let row = Row { marks: alloc::vec![open(start(0)), open(start(1))], ..row };
    let reserve = Decision::SettleAborted(AbortStep::Reserve);
    assert_eq!(decide(&row, &story), classified(6, reserve));
}

#[test]
fn dur_013_row_06_an_abort_needs_neither_input_nor_log() {
    let audit =
        AbortStep::Audit { request: Some(abort()), doubts: Vec::new(), decided: Vec::new() };
    let audit = classified(6, Decision::SettleAborted(audit));
    assert_eq!(decide(&aborted(Phase::Ready), &Story::new()), audit);
    let (row, own) = (aborted(Phase::Admitted), OwnKnowledge::default());
    let missing = Projection::default();
    assert_eq!(
        classify(&Evidence::gather(&row, &[], &missing, &own, &binding().bound(), NOW)),
        audit
    );
}

#[test]
fn dur_013_row_07_every_open_start_is_examined_in_one_decision() {
    let story = prepared(3).tell([ONE.tool_settled(start(1).call, success("paid"))]);
    let expected = classified(7, Decision::Reconcile(starts(&[0, 2])));
    assert_eq!(decide(&ONE.row(RUNNING), &story.at(2)), expected);
}

/// A running row of which these owners died.
fn dying(epochs: &[u64]) -> Row {
    Row { fruitless: epochs.iter().copied().map(Epoch).collect(), ..ONE.row(RUNNING) }
}

#[test]
fn dur_018_row_19_what_kills_every_owner_is_given_up_instead_of_resumed() {
    let story = declared(&["look"]);
    let given_up = classified(19, Decision::GiveUp);
    assert_eq!(decide(&dying(&[2, 3, 4, 5, 6]), &story), given_up);
    assert_eq!(decide(&dying(&[3, 4, 5, 6]), &story).row, 14, "an attempt is left");
    // What the log tells outranks what a claim was told: the first of them got somewhere.
    let story = story.at(2).tell([ONE.tool_settled(start(0).call, success("seen"))]);
    assert_eq!(decide(&dying(&[2, 3, 4, 5, 6]), &story).row, 18);
    assert_eq!(decide(&dying(&[3, 4, 5, 6, 7]), &story), given_up);
}

#[test]
fn dur_018_row_19_a_doubt_and_a_person_s_wish_go_first() {
    let dying = dying(&[2, 3, 4, 5, 6]);
    let story = prepared(1);
    assert_eq!(decide(&dying, &story).row, 7, "what may have happened is found out");
    let excused = OwnKnowledge { excused: [start(0)].into(), ..OwnKnowledge::default() };
    assert_eq!(decide_with(&dying, &story, &excused).row, 14, "an open start is never given up");
    let story = story.at(7).tell([unknown(0)]);
    let marked = Row { phase: Phase::Unknown, marks: alloc::vec![open(start(0))], ..dying.clone() };
    assert_eq!(decide(&marked, &story).row, 9, "unknown, not poison");
    let aborted = Row { abort: Some(abort()), ..dying.clone() };
    assert_eq!(decide(&aborted, &declared(&["look"])).row, 6);
    let unmarked = Row { phase: CLAIMED, ..dying };
    assert_eq!(decide(&unmarked, &declared(&[])).row, 17, "the row learns of its input first");
}

#[test]
fn dur_013_row_08_a_canonical_doubt_is_marked() {
    let story = prepared(2).at(2).tell([unknown(0), unknown(1)]);
    let expected = classified(8, Decision::EnsureUnknown(starts(&[0, 1])));
    assert_eq!(decide(&ONE.row(RUNNING), &story), expected);
    let row = marked(Phase::Unknown, alloc::vec![open(start(0))]);
    let expected = classified(8, Decision::EnsureUnknown(starts(&[1])));
    assert_eq!(decide(&row, &story), expected, "marks merge");
}

#[test]
fn dur_013_row_08_a_canonical_resolution_is_covered() {
    let how = Resolution::NeverStarted;
    let story = prepared(1).at(2).tell([unknown(0)]).tell([ONE.resolved(start(0), how.clone())]);
    let row = marked(Phase::Unknown, alloc::vec![intended(start(0), how)]);
    let expected = classified(8, Decision::CoverUnknown(starts(&[0])));
    assert_eq!(decide(&row, &story), expected);
}

#[test]
fn dur_013_row_09_an_unknown_waits_until_somebody_has_spoken() {
    let story = prepared(1).at(2).tell([unknown(0)]);
    let row = marked(Phase::Unknown, alloc::vec![open(start(0))]);
    assert_eq!(decide(&row, &story), classified(9, Decision::AwaitResolution));

    let how = Resolution::SafeToRepeat;
    let row = marked(Phase::Unknown, alloc::vec![intended(start(0), how.clone())]);
    let apply = Decision::ApplyResolutions(alloc::vec![(start(0), intent(how))]);
    assert_eq!(decide(&row, &story), classified(9, apply));
}

#[test]
fn dur_013_row_14_exactly_the_calls_without_a_result_are_resumed() {
    let story = declared(&["look", "look", "look"]);
    let story = story.tell([ONE.tool_settled(ONE.call(0, 1), success("seen"))]);
    let calls = alloc::vec![ONE.call(0, 0), ONE.call(0, 2)];
    let expected = classified(14, Decision::ResumeBatch(calls));
    assert_eq!(decide(&ONE.row(RUNNING), &story), expected);
}

#[test]
fn dur_013_row_15_a_missing_conversation_is_materialized() {
    let (row, own) = (ONE.row(Phase::Admitted), OwnKnowledge::default());
    let missing = Projection::default();
    let bound = binding().bound();
    let evidence = Evidence::gather(&row, &[], &missing, &own, &bound, NOW);
    assert_eq!(classify(&evidence), classified(15, Decision::Materialize));
}

#[test]
fn dur_013_row_15_an_admission_that_stopped_half_way_is_finished() {
    let row = ONE.row(Phase::Admitted);
    assert_eq!(decide(&row, &Story::new()), classified(15, Decision::RepairReadiness));
}

#[test]
fn dur_013_row_16_an_input_that_is_not_canonical_is_applied() {
    for phase in [Phase::Ready, CLAIMED] {
        let expected = classified(16, Decision::ApplyInput);
        assert_eq!(decide(&ONE.row(phase), &Story::new()), expected);
    }
    // The log speaks, but of somebody else.
    let story = Story::new().tell([Tale("2").input()]);
    assert_eq!(decide(&ONE.row(CLAIMED), &story), classified(16, Decision::ApplyInput));
}

#[test]
fn dur_013_row_17_a_marker_that_the_log_is_ahead_of_is_repaired() {
    let story = Story::new().tell([ONE.input()]);
    let expected = classified(17, Decision::RepairInputMarker);
    assert_eq!(decide(&ONE.row(CLAIMED), &story), expected);
}

#[test]
fn dur_013_row_18_a_run_without_open_calls_goes_on() {
    let resume = classified(18, Decision::ResumeTurn);
    let story = Story::new().tell([ONE.input()]);
    assert_eq!(decide(&ONE.row(RUNNING), &story), resume);
    let story = declared(&["look"]).tell([ONE.tool_settled(ONE.call(0, 0), success("seen"))]);
    assert_eq!(decide(&ONE.row(RUNNING), &story), resume);
    assert_eq!(decide(&ONE.row(RUNNING), &declared(&[])), resume);
}
