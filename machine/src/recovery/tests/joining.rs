//! Rows 4 and 5: what has joined a run, or was about to.

use alloc::sync::Arc;

use super::*;
use crate::identity::{AdmissionSequence, SubmissionId};
use crate::record::{InputKind, InputRecorded, SubmissionSettled};

const TWO: Tale = Tale("2");

fn host() -> SubmissionId {
    ONE.submission()
}

/// The input of the second submission, in the run of the first.
fn joined() -> Record {
    let Record::InputRecorded(own) = TWO.input() else { unreachable!() };
    let kind = InputKind::FollowUp { host: host() };
    Record::InputRecorded(InputRecorded { run: ONE.run(), kind, ..own })
}

fn attached(phase: Phase) -> Vec<Arc<Row>> {
    alloc::vec![Arc::new(Row { sequence: AdmissionSequence(1), ..TWO.row(phase) })]
}

fn decide_beside(row: &Row, beside: &[Arc<Row>], story: &Story) -> Classified {
    let own = OwnKnowledge::default();
    classify(&Evidence::gather(row, beside, &story.fold, &own, &binding().bound(), NOW))
}

fn joining() -> Phase {
    Phase::Joining { host: host() }
}

#[test]
fn dur_013_row_04_a_joining_row_is_marked_if_the_log_holds_its_input_and_given_back_if_not() {
    let (row, beside) = (ONE.row(RUNNING), attached(joining()));
    let silent = declared(&[]);
    let revert = Decision::RevertJoin(alloc::vec![TWO.submission()]);
    assert_eq!(decide_beside(&row, &beside, &silent), classified(4, revert));
    let spoken = declared(&[]).tell([joined()]);
    let repair = Decision::RepairJoin(alloc::vec![TWO.submission()]);
    assert_eq!(decide_beside(&row, &beside, &spoken), classified(4, repair));
}

#[test]
fn dur_013_row_04_stands_before_the_end_of_the_run_and_before_an_abort() {
    let beside = attached(joining());
    let story = declared(&[]).tell([joined()]);
    let closing = ONE.row(Phase::Terminalizing(reserved(completed())));
    assert_eq!(decide_beside(&closing, &beside, &story).row, 4);
    assert_eq!(decide_beside(&aborted(RUNNING), &beside, &story).row, 4);
}

#[test]
fn dur_013_row_05_what_has_joined_is_settled_before_its_host() {
    let story = declared(&[]).tell([joined()]).tell([ONE.responded(1, &[])]);
    let beside = attached(Phase::Joined { host: host() });
    assert_eq!(decide_beside(&ONE.row(RUNNING), &beside, &story).row, 18, "the run goes on");
    let together = SubmissionSettled {
        submission: TWO.submission(),
        run: Some(ONE.run()),
        settlement: completed().of_joined(host()),
    };
    let records = [ONE.settled(completed()), Record::SubmissionSettled(together)];
    let story = story.tell(records);
    let closing = ONE.row(Phase::Terminalizing(reserved(completed())));
    let settled = story.view(TWO).settled.expect("canonical");
    let expected = Decision::SettleJoined(alloc::vec![settled]);
    assert_eq!(decide_beside(&closing, &beside, &story), classified(5, expected));
    let done = decide_beside(&closing, &[], &story);
    assert_eq!(done, classified(2, Decision::FinalizeFromHistory(settlement(&story))));
}

#[test]
fn dur_013_row_05_a_row_that_has_joined_is_left_to_its_host() {
    let story = declared(&[]).tell([joined()]);
    for phase in [joining(), Phase::Joined { host: host() }] {
        let row = TWO.row(phase);
        assert_eq!(decide(&row, &story), classified(5, Decision::AwaitHost));
    }
}
