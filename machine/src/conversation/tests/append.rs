//! Appends: atomic, idempotent, conflict-checked.

use super::*;

#[test]
fn dur_007_a_batch_is_appended_whole_and_the_reply_tells_the_new_tail() {
    let mut log = Log::at(1);
    let sent = inputs(&[1, 2, 3]);
    let Ok(Reply::Appended(tail)) = log.push(1, Arc::clone(&sent)) else { panic!("refused") };
    assert_eq!(tail, log.tail());
    assert_eq!((tail.epoch, tail.next_sequence), (Epoch(1), Sequence(4)));
    assert_eq!(tail.content, sent.content());
    let stored = log.batches.last().unwrap();
    assert_eq!(stored.batch().records(), sent.records());
    assert_eq!(stored.envelope().committed_at, Timestamp(1_000));
    assert_eq!(stored.envelope().producer, producer());
    log.verify();
}

#[test]
fn case_cr_11_a_lost_acknowledgement_is_answered_as_the_first_time() {
    let mut log = Log::at(1);
    let command = append(1, log.end(), inputs(&[1]));
    let first = log.send(command.clone());
    assert!(matches!(first, Ok(Reply::Appended(_))));
    // The store's clock has moved on; what was committed has not.
    log.now = Timestamp(9_000);
    assert_eq!(log.again(command), first);
    assert_eq!(log.batches.last().unwrap().envelope().committed_at, Timestamp(1_000));
}

#[test]
fn store_004_a_replay_succeeds_whatever_the_tail_is_now() {
    let mut log = Log::at(1);
    let command = append(1, log.end(), inputs(&[1]));
    log.send(command.clone()).unwrap();
    log.push(1, inputs(&[2])).unwrap();
    assert_eq!(log.again(command), Ok(Reply::Appended(log.tail())));
    // Not even the expected tail of the replay matters.
    let elsewhere = TailRef { next_sequence: Sequence(77), content: Digest::ZERO };
    assert_eq!(log.again(append(1, elsewhere, inputs(&[1]))), Ok(Reply::Appended(log.tail())));
}

#[test]
fn store_004_batch_conflict_other_content_under_one_batch_id() {
    let mut log = Log::at(1);
    log.push(1, inputs(&[1])).unwrap();
    let other = batch(Vec::from([input(1, "something else")]));
    assert_eq!(other.id(), inputs(&[1]).id());
    assert_eq!(log.push(1, other), Err(Refusal::BatchConflict));
}

#[test]
fn store_004_tail_conflict_carries_the_actual_tail() {
    let mut log = Log::at(1);
    let stale = log.end();
    log.push(1, inputs(&[1])).unwrap();
    let actual = log.end();
    let refused = Err(Refusal::TailConflict { actual });
    assert_eq!(log.send(append(1, stale, inputs(&[2]))), refused);
    // Length and content both count.
    let shorter = TailRef { next_sequence: Sequence(0), ..actual };
    assert_eq!(log.send(append(1, shorter, inputs(&[2]))), refused);
    let other = TailRef { content: Digest::ZERO, ..actual };
    assert_eq!(log.send(append(1, other, inputs(&[2]))), refused);
    assert!(log.push(1, inputs(&[2])).is_ok());
}

#[test]
fn store_004_record_reused_in_another_batch() {
    let mut log = Log::at(1);
    log.push(1, inputs(&[1])).unwrap();
    assert_eq!(log.push(1, inputs(&[2, 1])), Err(Refusal::RecordReused));
    assert!(log.push(1, inputs(&[2])).is_ok());
}

#[test]
fn store_004_duplicate_record_within_one_batch() {
    let mut log = Log::at(1);
    let twice = batch(Vec::from([input(1, "a"), input(2, "b"), input(1, "c")]));
    assert_eq!(log.push(1, twice), Err(Refusal::DuplicateRecord));
}

#[test]
fn store_004_not_a_creation_appending_one_is_refused() {
    let mut log = Log::at(1);
    assert_eq!(log.push(1, created()), Err(Refusal::NotACreation));
    let hidden = batch(Vec::from([input(1, "a"), creation(&desk(), "clerk")]));
    assert_eq!(log.push(1, hidden), Err(Refusal::NotACreation));
}

#[test]
fn store_004_foreign_batch_made_for_another_conversation() {
    let mut log = Log::at(1);
    let other = ConversationId::new("kitchen").unwrap();
    let foreign = Arc::new(Batch::new(&other, Vec::from([input(1, "a")])).unwrap());
    assert_eq!(log.push(1, foreign), Err(Refusal::ForeignBatch));
    assert!(log.push(1, batch(Vec::from([input(1, "a")]))).is_ok());
}

#[test]
fn store_004_absent_a_log_that_does_not_exist_takes_no_batch() {
    let nowhere = TailRef { next_sequence: Sequence(0), content: Digest::ZERO };
    let mut log = Log::absent();
    assert_eq!(log.send(append(0, nowhere, inputs(&[1]))), Err(Refusal::Absent));
}

#[test]
fn store_004_checks_come_in_their_order() {
    let mut log = Log::at(2);
    let nowhere = TailRef { next_sequence: Sequence(9), content: Digest::ZERO };
    log.push(2, inputs(&[1])).unwrap();
    let fenced = Err(Refusal::Fenced { current: Epoch(2) });
    // What is wrong with the batch itself comes before everything else.
    let twice = batch(Vec::from([input(3, "a"), input(3, "a")]));
    assert_eq!(log.send(append(1, nowhere, Arc::clone(&twice))), Err(Refusal::DuplicateRecord));
    assert_eq!(Log::absent().send(append(1, nowhere, twice)), Err(Refusal::DuplicateRecord));
    // Then the epoch, whatever the content.
    assert_eq!(log.send(append(1, nowhere, inputs(&[1]))), fenced);
    let other = batch(Vec::from([input(1, "other")]));
    assert_eq!(log.send(append(1, nowhere, Arc::clone(&other))), fenced);
    // Then the batch id, then the tail, then the records.
    assert_eq!(log.send(append(2, nowhere, other)), Err(Refusal::BatchConflict));
    let conflict = Err(Refusal::TailConflict { actual: log.end() });
    assert_eq!(log.send(append(2, nowhere, inputs(&[1, 2]))), conflict);
    assert_eq!(log.push(2, inputs(&[1, 2])), Err(Refusal::RecordReused));
}

#[test]
fn case_cr_29_a_hundred_appends_under_a_frozen_clock_are_ordered_by_sequence_only() {
    let mut log = Log::at(1);
    for n in 0..100 {
        log.push(1, inputs(&[n])).unwrap();
    }
    let appended = &log.batches[1..];
    assert_eq!(appended.len(), 100);
    assert!(appended.iter().all(|stored| stored.envelope().committed_at == Timestamp(1_000)));
    for (place, stored) in (1_u64..).zip(appended) {
        assert_eq!(stored.envelope().first_sequence, Sequence(place));
        assert_eq!(stored.batch().records()[0].submission(), Some(submission(place as u8 - 1)));
    }
    log.verify();
}

#[test]
fn case_cl_01_a_clock_that_runs_back_changes_no_order() {
    let mut log = Log::at(1);
    for (n, now) in [(1, 90_000_000), (2, 5), (3, 0), (4, u64::MAX)] {
        log.now = Timestamp(now);
        log.push(1, inputs(&[n])).unwrap();
    }
    let times: Vec<_> = log.batches[1..].iter().map(|it| it.envelope().committed_at.0).collect();
    assert_eq!(times, [90_000_000, 5, 0, u64::MAX]);
    log.verify();
}

/// A step of a call, with what it gave. Its record id names call and step only.
fn step(gave: &str) -> Arc<Batch> {
    let step = crate::testkit::step("charge").step.clone();
    let output = CanonicalJson::string(gave).unwrap();
    let digest = output.digest();
    let output = Arc::new(crate::agent::StepOutput { step, output });
    let (submission, call) = (submission(1), crate::identity::ToolCallId([7; 16]));
    let record = crate::record::StepRecorded { submission, call, ordinal: 0, output, digest };
    batch(Vec::from([Record::StepRecorded(record)]))
}

#[test]
fn case_cr_03_dur_010_two_who_are_both_let_in_commit_one_step_once() {
    // Both hold the epoch, as if nothing guarded the lane, and one of them has read the newest tail.
    let mut log = Log::at(1);
    log.push(1, step("receipt 1")).unwrap();
    let stored = log.batches.len();
    assert_eq!(log.push(1, step("receipt 2")), Err(Refusal::BatchConflict), "its body ran again");
    assert!(matches!(log.push(1, step("receipt 1")), Ok(Reply::Appended(_))), "it is there");
    assert_eq!(log.batches.len(), stored);
}
