//! Admission and readiness.

use super::*;

#[test]
fn dur_001_admitted_first_and_ready_when_the_conversation_is_durable() {
    let mut bench = Bench::new();
    let admitted = bench.send(Command::Admit(admission(1, "hello")));
    assert_eq!(admitted, Ok(Reply::Admitted(AdmissionSequence(0))));
    let row = bench.row(1);
    assert_eq!((&row.phase, row.claims, row.admitted_at), (&Phase::Admitted, 0, bench.now));
    let ready = Command::Ready { submission: submission(1) };
    assert_eq!(bench.send(ready.clone()), Ok(Reply::Ready));
    assert_eq!(bench.row(1).phase, Phase::Ready);
    assert_eq!(bench.again(ready), Ok(Reply::Ready));
}

#[test]
fn dur_001_an_owner_that_finishes_the_admission_runs_at_once() {
    let mut bench = Bench::new();
    bench.send(Command::Admit(admission(1, "hello"))).unwrap();
    let owner = bench.claim(1, 1).unwrap();
    assert_eq!(bench.row(1).phase, Phase::Admitted);
    assert_eq!(bench.send(Command::MarkInput { owner }), Err(Refusal::NotRunning));
    let ready = Command::Ready { submission: submission(1) };
    assert_eq!(bench.send(ready.clone()), Ok(Reply::Ready));
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Missing));
    assert_eq!(bench.again(ready), Ok(Reply::Ready));
}

#[test]
fn dur_001_ready_behind_a_released_claim_waits_for_the_next_one() {
    let mut bench = Bench::new();
    bench.send(Command::Admit(admission(1, "hello"))).unwrap();
    let owner = bench.claim(1, 1).unwrap();
    bench.send(Command::Release { owner }).unwrap();
    bench.send(Command::Ready { submission: submission(1) }).unwrap();
    assert_eq!(bench.row(1).phase, Phase::Ready);
    bench.claim(1, 2).unwrap();
    assert_eq!(bench.row(1).phase, Phase::Running(InputMarker::Missing));
}

#[test]
fn dur_001_ready_beside_another_rows_owner_does_not_run() {
    let (mut bench, _) = Bench::claimed();
    bench.send(Command::Admit(admission(2, "hello"))).unwrap();
    bench.send(Command::Ready { submission: submission(2) }).unwrap();
    assert_eq!(bench.row(2).phase, Phase::Ready);
}

#[test]
fn case_id_01_the_same_key_twice_is_one_receipt_and_another_payload_a_conflict() {
    let mut bench = Bench::new();
    let first = bench.send(Command::Admit(admission(1, "hello")));
    assert_eq!(bench.again(Command::Admit(admission(1, "hello"))), first);
    let other = Command::Admit(admission(1, "hello, again"));
    assert_eq!(bench.send(other.clone()), Err(Refusal::IdempotencyConflict));
    // As late as after the end, and with a clock that has moved on.
    let owner = bench.claim(1, 1).unwrap();
    bench.abort(1, "ada").unwrap();
    bench.finish(owner, &aborted(1));
    bench.now = Timestamp(START + DAY);
    assert_eq!(bench.again(Command::Admit(admission(1, "hello"))), first);
    assert_eq!(bench.send(other), Err(Refusal::IdempotencyConflict));
}

#[test]
fn case_id_01_eight_interleaved_clients_get_one_receipt() {
    let mut bench = Bench::ready(&[9]);
    let answers: Vec<_> =
        (0..8).map(|_| bench.send(Command::Admit(admission(1, "hello")))).collect();
    assert!(answers.iter().all(|answer| *answer == Ok(Reply::Admitted(AdmissionSequence(1)))));
    assert_eq!(bench.rows.len(), 2);
}

#[test]
fn case_id_03_equal_keys_of_two_principals_are_two_submissions() {
    let mut bench = Bench::ready(&[1]);
    let bob = principal("bob");
    let theirs = SubmissionId::derive(&desk(), &bob, &IdempotencyKey::new("1").unwrap());
    let mut other = Admission::clone(&admission(1, "something else"));
    (other.submission, other.principal) = (theirs, bob);
    let admitted = bench.send(Command::Admit(Arc::new(other)));
    assert_eq!(admitted, Ok(Reply::Admitted(AdmissionSequence(1))));
    assert_eq!(bench.rows.len(), 2);
}

#[test]
fn store_002_no_such_submission_whatever_is_asked_of_it() {
    let mut bench = Bench::ready(&[1]);
    let missing = Err(Refusal::NoSuchSubmission);
    assert_eq!(bench.send(Command::Ready { submission: submission(2) }), missing);
    assert_eq!(bench.abort(2, "ada"), missing);
    let doubted = (doubt(1), intent(Resolution::NeverStarted));
    let (doubt, intent) = doubted;
    assert_eq!(bench.send(Command::Resolve { submission: submission(2), doubt, intent }), missing);
    assert_eq!(bench.claim(2, 1), Err(Refusal::NoSuchSubmission));
}
