//! Materialization and fencing: who may write.

use super::*;

#[test]
fn store_002_materialize_creates_the_log_once() {
    let mut log = Log::absent();
    let command = materialize(0, created());
    let Ok(Reply::Materialized(tail)) = log.send(command.clone()) else { panic!("refused") };
    assert_eq!(tail, log.tail());
    assert_eq!((tail.epoch, tail.next_sequence), (Epoch(0), Sequence(1)));
    let first = log.batches[0].envelope();
    assert_eq!((first.first_sequence, first.previous), (Sequence(0), Digest::ZERO));
    assert_eq!(log.again(command), Ok(Reply::Materialized(tail)));
    log.verify();
}

#[test]
fn store_002_materialize_at_a_claimed_epoch_needs_no_fence() {
    let mut log = Log::absent();
    let command = materialize(4, created());
    assert!(matches!(log.send(command.clone()), Ok(Reply::Materialized(_))));
    assert_eq!(log.tail().epoch, Epoch(4));
    log.push(4, inputs(&[1])).unwrap();
    // Its own replay is answered as the first time, whatever was appended since.
    assert_eq!(log.again(command), Ok(Reply::Materialized(log.tail())));
    assert_eq!(log.again(fence(4, log.end())), Ok(Reply::Fenced(log.tail())));
}

#[test]
fn dur_001_materialize_over_an_existing_log_says_what_is_there() {
    let mut log = Log::at(2);
    log.push(2, inputs(&[1])).unwrap();
    let exists = Ok(Reply::Exists(log.tail()));
    // Below the epoch, at it and above it; the same creation and another one.
    for epoch in [0, 2, 3] {
        assert_eq!(log.again(materialize(epoch, created())), exists);
        let other = batch(Vec::from([creation(&desk(), "chef")]));
        assert_eq!(log.again(materialize(epoch, other)), exists);
    }
}

#[test]
fn store_002_another_creation_under_the_same_epoch_is_not_the_first_one() {
    let mut log = Log::created();
    let other = batch(Vec::from([creation(&desk(), "chef")]));
    assert_eq!(other.id(), created().id());
    assert_eq!(log.again(materialize(0, other)), Ok(Reply::Exists(log.tail())));
}

#[test]
fn store_004_not_a_creation_nothing_else_makes_a_log() {
    let mut log = Log::absent();
    assert_eq!(log.send(materialize(0, inputs(&[1]))), Err(Refusal::NotACreation));
    let more = batch(Vec::from([creation(&desk(), "clerk"), input(1, "a")]));
    assert_eq!(log.send(materialize(0, more)), Err(Refusal::NotACreation));
}

#[test]
fn store_004_foreign_batch_of_another_conversation_makes_no_log() {
    let mut log = Log::absent();
    let kitchen = ConversationId::new("kitchen").unwrap();
    let misaddressed = batch(Vec::from([creation(&kitchen, "chef")]));
    assert_eq!(log.send(materialize(0, misaddressed)), Err(Refusal::ForeignBatch));
    let foreign = Batch::new(&kitchen, Vec::from([creation(&desk(), "clerk")])).unwrap();
    assert_eq!(log.send(materialize(0, Arc::new(foreign))), Err(Refusal::ForeignBatch));
}

#[test]
fn dur_006_fence_raises_the_epoch_and_nothing_else() {
    let mut log = Log::created();
    let before = log.tail();
    let command = fence(5, log.end());
    let raised = Tail { epoch: Epoch(5), ..before };
    assert_eq!(log.send(command.clone()), Ok(Reply::Fenced(raised)));
    assert_eq!(log.tail(), raised);
    // Its own replay succeeds, also after the claim has appended.
    log.push(5, inputs(&[1])).unwrap();
    assert_eq!(log.again(command), Ok(Reply::Fenced(log.tail())));
}

#[test]
fn dur_006_fence_needs_exactly_the_tail_that_was_read() {
    let mut log = Log::at(1);
    let read = log.end();
    log.push(1, inputs(&[1])).unwrap();
    let actual = log.end();
    assert_eq!(log.send(fence(2, read)), Err(Refusal::TailConflict { actual }));
    assert_eq!(log.tail().epoch, Epoch(1));
    assert!(log.send(fence(2, actual)).is_ok());
}

#[test]
fn dur_006_fence_below_the_epoch_is_fenced() {
    let mut log = Log::at(3);
    assert_eq!(log.send(fence(2, log.end())), Err(Refusal::Fenced { current: Epoch(3) }));
}

#[test]
fn dur_006_absent_a_log_that_does_not_exist_cannot_be_fenced() {
    let nowhere = TailRef { next_sequence: Sequence(0), content: Digest::ZERO };
    assert_eq!(Log::absent().send(fence(1, nowhere)), Err(Refusal::Absent));
}

#[test]
fn dur_006_superseded_epoch_cannot_append() {
    let mut log = Log::at(2);
    let fenced = Err(Refusal::Fenced { current: Epoch(2) });
    for epoch in [0, 1, 3, u64::MAX] {
        assert_eq!(log.push(epoch, inputs(&[1])), fenced, "epoch {epoch}");
    }
    assert!(log.push(2, inputs(&[1])).is_ok());
}

#[test]
fn case_cr_07_a_paused_writer_wakes_behind_the_fence() {
    let mut log = Log::at(1);
    let paused = append(1, log.end(), inputs(&[1]));
    log.send(fence(2, log.end())).unwrap();
    assert_eq!(log.again(paused.clone()), Err(Refusal::Fenced { current: Epoch(2) }));
    // The successor decides the same: the same bytes, under its own epoch.
    log.push(2, inputs(&[1])).unwrap();
    assert_eq!(log.again(paused), Err(Refusal::Fenced { current: Epoch(2) }));
    log.verify();
}

#[test]
fn dur_006_a_replay_never_crosses_a_fence() {
    let mut log = Log::at(1);
    log.push(1, inputs(&[1])).unwrap();
    log.send(fence(2, log.end())).unwrap();
    // Neither for the epoch that wrote, nor for the one that finds it written.
    let fenced = Err(Refusal::Fenced { current: Epoch(2) });
    assert_eq!(log.push(1, inputs(&[1])), fenced);
    assert_eq!(log.push(2, inputs(&[1])), fenced);
    assert_eq!(log.push(2, batch(Vec::from([input(1, "other")]))), fenced);
}

#[test]
fn store_002_a_slice_with_the_finds_of_another_command_misleads_nobody() {
    let mut log = Log::at(1);
    log.push(1, inputs(&[1])).unwrap();
    // An attempt predicts on one slice: it still holds what the last append found.
    let held = log.slice(&append(1, log.end(), inputs(&[1])).footprint());
    assert!(held.committed.is_some());
    let next = Stamped { command: append(1, log.end(), inputs(&[2])), now: log.now };
    let step = Conversation::step(held, next);
    assert!(matches!(step.effects.last(), Some(Effect::Reply(Reply::Appended(_)))));
}
