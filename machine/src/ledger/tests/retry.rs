//! What was given up is tried again, once, by a recorded act (DUR-018, SEC-07).

use alloc::vec;

use super::*;
use crate::limits::TEXT_BYTES;

/// The number of the submission that tries `n` again.
const fn again(n: u8) -> u8 {
    n + RETRIES
}

fn wanted(who: &str, why: &str) -> RetryIntent {
    RetryIntent { principal: principal(who), reason: Arc::from(why) }
}

fn retry(n: u8, who: &str) -> Command {
    Command::Retry { submission: submission(n), intent: wanted(who, "it is mended") }
}

/// A lane whose first submission was given up; the second one waits.
fn given_up() -> Bench {
    let mut bench = Bench::ready(&[1, 2]);
    give_up(&mut bench, 1, 10);
    bench
}

/// Five owners of `n` die, and the sixth gives it up.
fn give_up(bench: &mut Bench, n: u8, from: u8) {
    let mut owner = bench.claim(n, from).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    for with in from + 1..=from + 5 {
        bench.expire();
        owner = bench.claim(n, with).unwrap();
    }
    bench.finish(owner, &poison(n));
}

#[test]
fn dur_018_what_was_given_up_is_tried_again_at_the_end_of_its_lane() {
    let mut bench = given_up();
    assert_eq!(bench.row(1).standing(), Standing::GivenUp);
    let ended = bench.row(1).phase.clone();
    let lane = bench.lane.clone();
    let retried = Retried {
        intent: wanted("carol", "it is mended"),
        successor: SubmissionId::retry_of(submission(1)),
        position: AdmissionSequence(2),
        at: bench.time(),
    };
    assert_eq!(bench.send(retry(1, "carol")), Ok(Reply::Retried(retried.clone())));
    let dead = bench.row(1);
    assert_eq!((&dead.phase, dead.standing()), (&ended, Standing::Resting), "it stays as it ended");
    assert_eq!(dead.chain, Chain { retry_of: None, retried: Some(retried) });
    let new = bench.row(again(1));
    assert_eq!((&new.phase, new.sequence), (&Phase::Ready, AdmissionSequence(2)));
    assert_eq!(new.chain, Chain { retry_of: Some(submission(1)), retried: None });
    assert_eq!((new.claims, &new.fruitless), (0, &vec![]), "with as many attempts as any other");
    assert_eq!(new.admission.key.as_str(), alloc::format!("retry of {}", submission(1)));
    let (submission, key) = (bench.row(1).admission.submission, bench.row(1).admission.key.clone());
    let same = Admission { submission, key, ..Admission::clone(&new.admission) };
    assert_eq!(same, *bench.row(1).admission, "the same once more");
    assert_eq!((bench.lane.epoch, &bench.lane.owner), (lane.epoch, &lane.owner));
    assert_eq!(bench.candidate(), Some(super::submission(2)), "behind what waits");
}

#[test]
fn dur_018_sec_07_the_first_who_asks_stands_whoever_asks_again() {
    let mut bench = given_up();
    let first = bench.send(retry(1, "carol"));
    assert_eq!(bench.again(retry(1, "carol")), first);
    let other = Command::Retry { submission: submission(1), intent: wanted("bob", "no idea") };
    assert_eq!(bench.again(other), first, "another person, for another reason");
    bench.now.0 += DAY;
    assert_eq!(bench.again(retry(1, "carol")), first, "much later");
    assert_eq!(bench.rows.len(), 3);
    let owner = bench.claim(2, 40).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    bench.finish(owner, &completed(2));
    let owner = bench.claim(again(1), 41).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    bench.finish(owner, &completed(again(1)));
    assert_eq!(bench.again(retry(1, "bob")), first, "what came of it changes nothing");
}

#[test]
fn dur_018_a_retry_that_is_given_up_is_tried_again_like_any_other() {
    let mut bench = given_up();
    bench.send(retry(1, "carol")).unwrap();
    let owner = bench.claim(2, 40).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    bench.finish(owner, &completed(2));
    give_up(&mut bench, again(1), 50);
    let row = bench.row(again(1));
    assert_eq!((row.claims, row.standing()), (6, Standing::GivenUp), "its attempts are its own");
    let Ok(Reply::Retried(retried)) = bench.send(retry(again(1), "bob")) else { panic!() };
    assert_eq!(retried.successor, SubmissionId::retry_of(submission(again(1))));
    assert_eq!(retried.position, AdmissionSequence(3));
    let row = bench.row(again(1));
    assert_eq!(row.chain.retry_of, Some(submission(1)));
    assert_eq!(row.chain.retried, Some(retried));
    assert_eq!(bench.candidate(), Some(submission(again(again(1)))));
}

#[test]
fn dur_018_it_is_tried_again_while_somebody_owns_the_lane() {
    let mut bench = given_up();
    let owner = bench.claim(2, 40).unwrap();
    bench.send(retry(1, "carol")).unwrap();
    bench.send(Command::MarkInput { owner }).unwrap();
    bench.finish(owner, &completed(2));
    assert_eq!(bench.candidate(), Some(submission(again(1))));
}

#[test]
fn refusal_not_given_up_and_not_settled_name_what_there_is_nothing_to_try_again_of() {
    let (mut bench, owner) = Bench::running();
    assert_eq!(bench.send(retry(7, "carol")), Err(Refusal::NoSuchSubmission));
    assert_eq!(bench.send(retry(1, "carol")), Err(Refusal::NotSettled));
    bench.abort(1, "ada").unwrap();
    assert_eq!(bench.send(retry(1, "carol")), Err(Refusal::NotSettled));
    bench.finish(owner, &aborted(1));
    assert_eq!(bench.send(retry(1, "carol")), Err(Refusal::NotGivenUp));
    let (mut bench, _) = Bench::settled();
    assert_eq!(bench.send(retry(1, "carol")), Err(Refusal::NotGivenUp));
}

#[test]
fn dur_017_what_is_in_doubt_is_resolved_before_it_is_tried_again() {
    let (mut bench, owner) = Bench::unknown(&[1]);
    bench.abort(1, "ada").unwrap();
    bench.finish(owner, &aborted(1));
    assert_eq!(bench.send(retry(1, "carol")), Err(Refusal::UnknownOpen));
}

#[test]
fn refusal_too_long_names_a_reason_that_nobody_could_read() {
    let mut bench = given_up();
    let long = "x".repeat(TEXT_BYTES + 1);
    let command = |why| Command::Retry { submission: submission(1), intent: wanted("carol", why) };
    assert_eq!(bench.send(command(&long)), Err(Refusal::TooLong));
    assert!(bench.send(command(&long[1..])).is_ok());
}
