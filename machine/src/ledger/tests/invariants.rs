//! The second place where invariants are asserted: a change that no step makes is not applied.

use super::*;

fn with_lane(bench: &Bench, edit: impl FnOnce(&mut Lane)) {
    let mut lane = bench.lane.clone();
    edit(&mut lane);
    bench.slice(Footprint::Submission(submission(1))).apply(&Change::Lane(lane));
}

fn with_row(bench: &Bench, edit: impl FnOnce(&mut Row)) {
    let mut row = bench.row(1).clone();
    edit(&mut row);
    bench.slice(Footprint::Submission(submission(1))).apply(&Change::Row(Arc::new(row)));
}

#[test]
#[should_panic(expected = "DUR-006: the epoch")]
fn dur_006_an_epoch_never_falls() {
    with_lane(&Bench::claimed().0, |lane| lane.epoch = Epoch(0));
}

#[test]
#[should_panic(expected = "CL-01: the stamp")]
fn case_cl_01_a_stamp_never_falls() {
    with_lane(&Bench::claimed().0, |lane| lane.stamp = Timestamp(START - 1));
}

#[test]
#[should_panic(expected = "DUR-004: a place")]
fn dur_004_a_place_is_given_once() {
    with_lane(&Bench::claimed().0, |lane| lane.next = AdmissionSequence(0));
}

#[test]
#[should_panic(expected = "DUR-004: a lane")]
fn dur_004_a_lane_keeps_its_name() {
    let kitchen = ConversationId::new("kitchen").unwrap();
    with_lane(&Bench::claimed().0, |lane| lane.conversation = kitchen);
}

#[test]
#[should_panic(expected = "DUR-005")]
fn dur_005_a_new_owner_takes_a_higher_epoch() {
    with_lane(&Bench::claimed().0, |lane| lane.owner.as_mut().unwrap().token = token(2));
}

#[test]
#[should_panic(expected = "DUR-004: a row")]
fn dur_004_a_row_keeps_its_place() {
    with_row(&Bench::claimed().0, |row| row.sequence = AdmissionSequence(9));
}

#[test]
#[should_panic(expected = "DUR-006: a claim")]
fn dur_006_a_claim_is_never_forgotten() {
    with_row(&Bench::claimed().0, |row| row.claims = 0);
}

#[test]
#[should_panic(expected = "DUR-012")]
fn dur_012_an_abort_intent_is_never_replaced() {
    let (mut bench, _) = Bench::claimed();
    bench.abort(1, "ada").unwrap();
    with_row(&bench, |row| row.abort = Some(abort("bob")));
}

#[test]
#[should_panic(expected = "DUR-018: what is retried")]
fn dur_018_a_row_keeps_what_it_tries_again() {
    let chain = Chain { retry_of: Some(submission(2)), retried: None };
    with_row(&Bench::claimed().0, |row| row.chain = chain);
}

#[test]
#[should_panic(expected = "DUR-018: only")]
fn dur_018_only_what_was_given_up_is_tried_again() {
    let intent = RetryIntent { principal: principal("ada"), reason: Arc::from("why not") };
    let (successor, position) = (submission(RETRIES + 1), AdmissionSequence(1));
    let retried = Some(Retried { intent, successor, position, at: Timestamp(START) });
    with_row(&Bench::settled().0, |row| row.chain = Chain { retry_of: None, retried });
}

#[test]
#[should_panic(expected = "DUR-002")]
fn dur_002_a_settled_row_stays_settled() {
    with_row(&Bench::settled().0, |row| row.phase = Phase::Ready);
}

#[test]
#[should_panic(expected = "DUR-002")]
fn dur_002_a_settled_row_keeps_its_outcome() {
    with_row(&Bench::settled().0, |row| {
        let Phase::Settled(settled) = &mut row.phase else { unreachable!() };
        settled.outcome = Outcome::Failed;
    });
}

#[test]
#[should_panic(expected = "DUR-002")]
fn dur_002_a_reservation_is_never_replaced() {
    let (mut bench, owner) = Bench::running();
    bench.send(Command::Reserve { owner, reserved: completed(1) }).unwrap();
    let other = settled(1, Outcome::Failed, "broke");
    with_row(&bench, |row| row.phase = Phase::Terminalizing(other));
}

#[test]
#[should_panic(expected = "DUR-017: a row")]
fn dur_017_a_doubtful_row_does_not_run() {
    let running = Phase::Running(InputMarker::Applied);
    with_row(&Bench::unknown(&[1]).0, |row| row.phase = running);
}

#[test]
#[should_panic(expected = "DUR-017: a row")]
fn dur_017_a_row_without_doubts_is_not_unknown() {
    with_row(&Bench::running().0, |row| row.phase = Phase::Unknown);
}

#[test]
#[should_panic(expected = "DUR-017: a doubt")]
fn dur_017_a_doubt_has_one_mark() {
    with_row(&Bench::unknown(&[1]).0, |row| row.marks.push(row.marks[0].clone()));
}

#[test]
fn dur_004_a_new_row_stands_at_its_place() {
    let bench = Bench::ready(&[1, 2, 3]);
    let mut slice = Slice { lane: bench.lane.clone(), rows: Vec::new() };
    for n in [2, 3, 1] {
        slice.apply(&Change::Row(Arc::new(bench.row(n).clone())));
    }
    assert_eq!(slice.rows, bench.rows);
}
