//! Unknown outcomes: marked, spoken on, covered.

use super::*;

fn mark(owner: Ownership, doubts: &[u8]) -> Command {
    Command::MarkUnknown { owner, doubts: doubts.iter().map(|n| doubt(*n)).collect() }
}

fn cover(owner: Ownership, doubts: &[u8]) -> Command {
    Command::CoverUnknown { owner, doubts: doubts.iter().map(|n| doubt(*n)).collect() }
}

fn failed(text: &str) -> Resolution {
    Resolution::Failed(Diagnostic::cut("Test", text))
}

#[test]
fn dur_017_marks_are_aged_and_kept_in_order() {
    let (mut bench, owner) = Bench::unknown(&[5, 2]);
    bench.now = Timestamp(START + HOUR);
    assert_eq!(bench.send(mark(owner, &[3, 5, 3])), Ok(Reply::UnknownMarked));
    let row = bench.row(1);
    assert_eq!(row.phase, Phase::Unknown);
    let marks: Vec<_> = row.marks.iter().map(|it| (it.doubt, it.since.0, &it.state)).collect();
    let open = &MarkState::Open;
    assert_eq!(
        marks,
        [(doubt(2), START, open), (doubt(3), START + HOUR, open), (doubt(5), START, open)]
    );
    bench.now = Timestamp(START + DAY);
    assert_eq!(bench.again(mark(owner, &[2, 3])), Ok(Reply::UnknownMarked));
    assert_eq!(bench.again(mark(owner, &[])), Ok(Reply::UnknownMarked));
}

#[test]
fn dur_017_starts_of_one_call_are_doubted_one_by_one() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    bench.send(cover(owner, &[1])).unwrap();
    let later = Doubt { start: Epoch(2), ..doubt(1) };
    bench.send(Command::MarkUnknown { owner, doubts: Vec::from([later]) }).unwrap();
    let row = bench.row(1);
    assert_eq!(row.phase, Phase::Unknown);
    assert!(row.mark(doubt(1)).is_some_and(Mark::is_closed));
    assert!(row.mark(later).is_some_and(Mark::is_open), "an old resolution covers no later start");
}

#[test]
fn dur_017_marking_a_closed_doubt_again_does_nothing() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.again(mark(owner, &[1])), Ok(Reply::UnknownMarked));
    bench.send(cover(owner, &[1])).unwrap();
    assert_eq!(bench.again(mark(owner, &[1])), Ok(Reply::UnknownMarked));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
}

#[test]
fn dur_017_not_running_run_closing_already_settled_what_cannot_become_unknown() {
    let mut bench = Bench::new();
    bench.send(Command::Admit(admission(1, "hello"))).unwrap();
    let owner = bench.claim(1, 1).unwrap();
    assert_eq!(bench.send(mark(owner, &[1])), Err(Refusal::NotRunning));
    let (mut bench, owner) = Bench::running();
    bench.send(Command::Reserve { owner, reserved: completed(1) }).unwrap();
    assert_eq!(bench.send(mark(owner, &[1])), Err(Refusal::RunClosing));
    let (mut bench, owner) = errand_of_a_settled_row();
    assert_eq!(bench.send(mark(owner, &[2])), Err(Refusal::AlreadySettled));
}

/// A settled row that is owned again because a resolution of it is not canonical.
fn errand_of_a_settled_row() -> (Bench, Ownership) {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.abort(1, "ada").unwrap();
    bench.finish(owner, &aborted(1));
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    let owner = bench.claim(1, 2).unwrap();
    (bench, owner)
}

#[test]
fn dur_017_the_first_resolution_stands_and_answers_an_equal_one() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    assert_eq!(bench.resolve(1, failed("card refused")), Ok(Reply::Resolved));
    let first = bench.row(1).mark(doubt(1)).unwrap().state.clone();
    assert_eq!(first, MarkState::Intended(intent(failed("card refused"))));
    let mut other = intent(failed("card refused"));
    (other.principal, other.reason) = (principal("bob"), Arc::from("me too"));
    let repeated = Command::Resolve { submission: submission(1), doubt: doubt(1), intent: other };
    assert_eq!(bench.again(repeated.clone()), Ok(Reply::Resolved));
    bench.send(cover(owner, &[1])).unwrap();
    assert_eq!(bench.again(repeated), Ok(Reply::Resolved));
    let kept = MarkState::Closed(intent(failed("card refused")));
    assert_eq!(bench.row(1).mark(doubt(1)).unwrap().state, kept);
}

#[test]
fn dur_017_resolution_conflict_a_diverging_second_word_is_refused() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.resolve(1, failed("card refused")).unwrap();
    let diverging = [
        failed("card expired"),
        Resolution::NeverStarted,
        Resolution::SafeToRepeat,
        Resolution::Completed(CanonicalJson::string("paid").unwrap()),
    ];
    for resolution in &diverging {
        assert_eq!(bench.resolve(1, resolution.clone()), Err(Refusal::ResolutionConflict));
    }
    bench.send(cover(owner, &[1])).unwrap();
    for resolution in &diverging {
        assert_eq!(bench.resolve(1, resolution.clone()), Err(Refusal::ResolutionConflict));
    }
}

#[test]
fn dur_017_no_such_doubt_only_what_is_marked_can_be_resolved_or_covered() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    assert_eq!(bench.resolve(2, Resolution::NeverStarted), Err(Refusal::NoSuchDoubt));
    let later = Doubt { start: Epoch(2), ..doubt(1) };
    let intent = intent(Resolution::NeverStarted);
    let command = Command::Resolve { submission: submission(1), doubt: later, intent };
    assert_eq!(bench.send(command), Err(Refusal::NoSuchDoubt));
    assert_eq!(bench.send(cover(owner, &[2])), Err(Refusal::NoSuchDoubt));
}

#[test]
fn dur_017_a_settled_row_keeps_its_obligations() {
    let (mut bench, owner) = errand_of_a_settled_row();
    let settled = bench.row(1).phase.clone();
    assert_eq!(bench.send(cover(owner, &[1])), Ok(Reply::UnknownCovered));
    assert_eq!(bench.row(1).phase, settled);
    assert!(!bench.row(1).is_doubtful());
}

#[test]
fn dur_017_unknown_open_covering_is_all_or_nothing() {
    let (mut bench, owner) = Bench::unknown(&[1, 2, 3]);
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    bench.resolve(2, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.send(cover(owner, &[1, 2, 3])), Err(Refusal::UnknownOpen));
    assert_eq!(bench.send(cover(owner, &[1, 9])), Err(Refusal::NoSuchDoubt));
    assert!(bench.row(1).marks.iter().all(|mark| !mark.is_closed()));
    assert_eq!(bench.send(cover(owner, &[1, 2])), Ok(Reply::UnknownCovered));
    assert_eq!(bench.row(1).phase, Phase::Unknown);
    bench.resolve(3, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.send(cover(owner, &[3])), Ok(Reply::UnknownCovered));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
    bench.now = Timestamp(START + HOUR);
    assert_eq!(bench.again(cover(owner, &[1, 2, 3])), Ok(Reply::UnknownCovered));
    assert_eq!(bench.again(cover(owner, &[])), Ok(Reply::UnknownCovered));
}

#[test]
fn dur_017_covering_leaves_a_reserved_settlement_reserved() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.abort(1, "ada").unwrap();
    bench.send(Command::Reserve { owner, reserved: aborted(1) }).unwrap();
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    assert_eq!(bench.send(cover(owner, &[1])), Ok(Reply::UnknownCovered));
    assert_eq!(bench.row(1).phase, Phase::Terminalizing(aborted(1)));
}

#[test]
fn dur_017_an_input_marker_that_is_missing_is_implied_by_a_doubt() {
    let (mut bench, owner) = Bench::claimed();
    bench.send(mark(owner, &[1])).unwrap();
    assert_eq!(bench.again(Command::MarkInput { owner }), Ok(Reply::InputMarked));
    bench.resolve(1, Resolution::NeverStarted).unwrap();
    bench.send(cover(owner, &[1])).unwrap();
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
}
