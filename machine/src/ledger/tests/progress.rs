//! The input marker and the abort intent.

use super::*;

#[test]
fn store_002_the_input_marker_is_set_once() {
    let (mut bench, owner) = Bench::claimed();
    let mark = Command::MarkInput { owner };
    assert_eq!(bench.send(mark.clone()), Ok(Reply::InputMarked));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Applied));
    assert_eq!(bench.again(mark), Ok(Reply::InputMarked));
}

#[test]
fn dur_012_the_first_abort_intent_wins_and_answers_every_later_one() {
    let mut bench = Bench::ready(&[1]);
    let first = Ok(Reply::AbortIntended(abort("ada")));
    assert_eq!(bench.abort(1, "ada"), first);
    bench.now = Timestamp(START + HOUR);
    for who in ["ada", "bob"] {
        let intent = abort(who);
        assert_eq!(bench.again(Command::Abort { submission: submission(1), intent }), first);
    }
    assert_eq!(bench.row(1).abort, Some(abort("ada")));
}

#[test]
fn dur_012_a_standing_intent_is_answered_also_after_the_end() {
    let (mut bench, owner) = Bench::running();
    let first = bench.abort(1, "ada");
    let reserved = aborted(1);
    bench.send(Command::Reserve { owner, reserved: reserved.clone() }).unwrap();
    assert_eq!(bench.abort(1, "bob"), first);
    bench.finish(owner, &reserved);
    assert_eq!(bench.abort(1, "bob"), first);
    assert_eq!(bench.row(1).abort, Some(abort("ada")));
}

#[test]
fn dur_012_run_closing_a_reserved_outcome_is_not_rewritten() {
    let (mut bench, owner) = Bench::running();
    bench.send(Command::Reserve { owner, reserved: completed(1) }).unwrap();
    assert_eq!(bench.abort(1, "ada"), Err(Refusal::RunClosing));
    assert_eq!(bench.row(1).abort, None);
}

#[test]
fn dur_012_already_settled_an_outcome_is_not_rewritten() {
    let (mut bench, _) = Bench::settled();
    assert_eq!(bench.abort(1, "ada"), Err(Refusal::AlreadySettled));
    assert_eq!(bench.row(1).abort, None);
}

#[test]
fn dur_012_an_abort_needs_no_ownership_and_leaves_the_owner_alone() {
    let (mut bench, owner) = Bench::running();
    let lane = bench.lane.clone();
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.lane, lane);
    assert!(bench.send(Command::Renew { owner, lease: LEASE }).is_ok());
}
