//! Hints and timers: a lane that changed, an abort, a lease that wants renewal.

use alloc::vec::Vec;

use super::history;
use super::stage::{Fate, Stage};
use crate::agent::Resolution;
use crate::attempt::{Effect, End, Input};
use crate::identity::{DurationMs, Timestamp};
use crate::ledger::{self, Phase};
use crate::record::Outcome;
use crate::store::{Refusal, StoreCommand, Target};
use crate::testkit::{submission, text};

const TRANSIENT: Refusal = Refusal::Ledger(ledger::Refusal::NotRunning);

fn outcome(stage: &Stage) -> Outcome {
    match &stage.host.store.row(submission("1")).unwrap().phase {
        Phase::Settled(settled) => settled.outcome,
        other => panic!("not settled: {other:?}"),
    }
}

fn lease(stage: &Stage) -> Timestamp {
    stage.host.store.lane.owner.as_ref().expect("an owner").lease_until
}

fn looks_at_the_lane() -> Vec<StoreCommand> {
    alloc::vec![StoreCommand::ReadLane(Target::Owned(submission("1")))]
}

#[test]
fn a_hint_without_an_abort_changes_nothing() {
    let undisturbed = {
        let mut stage = Stage::new(&[&["look", "pay"]]);
        stage.finish(0);
        stage.host.store.log
    };
    for question in ["model.call", "authorizer.authorize", "tool.invoke"] {
        let mut stage = Stage::new(&[&["look", "pay"]]);
        stage.until_out(0, question);
        stage.actors[0].told(Input::Woken);
        assert_eq!(stage.actors[0].pipeline().unwrap().commands, looks_at_the_lane());
        stage.actors[0].told(Input::Woken);
        assert_eq!(stage.actors[0].waiting.len(), 1, "one pipeline at a time");
        stage.perform(0, Fate::Done);
        stage.perform(0, Fate::Done);
        assert!(stage.actors[0].waiting.is_empty(), "it saw nothing: {question}");
        assert_eq!(stage.finish(0), Some(End::Settled));
        assert_eq!(stage.host.store.log, undisturbed, "{question}");
    }
}

#[test]
fn a_hint_is_followed_when_there_is_nothing_better_to_send() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until(0, "conversation.append:ToolPrepared");
    stage.actors[0].told(Input::Woken);
    assert_eq!(stage.actors[0].commands(), ["conversation.append:ToolPrepared"]);
    stage.perform(0, Fate::Done);
    let commands = |effect: &Effect| match effect {
        Effect::Store(pipeline) => Some(pipeline.commands.clone()),
        _ => None,
    };
    let next = stage.actors[0].waiting.iter().find_map(commands);
    assert_eq!(next, Some(looks_at_the_lane()), "remembered until then");
    assert_eq!(stage.finish(0), Some(End::Settled));
}

#[test]
fn bug_hint_while_reading_is_followed_once_the_run_lives() {
    let mut stage = Stage::new(&[]);
    stage.actors[0].told(Input::Woken);
    assert_eq!(stage.actors[0].waiting.len(), 1);
    stage.perform(0, Fate::Done);
    let commands = |effect: &Effect| match effect {
        Effect::Store(pipeline) => Some(pipeline.commands.clone()),
        _ => None,
    };
    // A run that is about to ask looks at its lane anyway, behind what it commits.
    let sent = stage.actors[0].waiting.iter().find_map(commands).unwrap_or_default();
    let looks = |it: &&StoreCommand| matches!(it, StoreCommand::ReadLane(_));
    assert_eq!(sent.iter().filter(looks).count(), 1);
    assert_eq!(stage.finish(0), Some(End::Settled));
}

#[test]
fn hints_and_timers_for_an_attempt_that_is_over_are_ignored() {
    let mut stage = Stage::new(&[]);
    stage.finish(0);
    let before = stage.actors[0].state.clone();
    for input in [Input::Woken, Input::RenewalDue, Input::Stored(Ok(Vec::new()))] {
        stage.actors[0].told(input);
        assert_eq!(stage.actors[0].state, before);
        assert!(stage.actors[0].waiting.is_empty());
    }
}

#[test]
fn dur_012_an_abort_is_followed_whatever_the_attempt_waits_for() {
    let table: [(&str, &[&str]); 3] = [
        ("model.call", &["input", "interrupted", "abort", "settled"]),
        ("authorizer.authorize", &["input", "responded", "abort", "settled"]),
        ("tool.invoke", &["input", "responded", "prepared", "abort", "unknown", "settled"]),
    ];
    for (question, expected) in table {
        let mut stage = Stage::new(&[&["pay"]]);
        stage.until_out(0, question);
        let out = core::mem::take(&mut stage.actors[0].out);
        stage.abort();
        stage.actors[0].told(Input::Woken);
        stage.perform(0, Fate::Done);
        let told =
            if question == "tool.invoke" { Effect::CallOff } else { Effect::CancelExternals };
        assert_eq!(stage.actors[0].waiting[0], told, "{question}");
        assert_eq!(stage.finish(0), Some(End::Settled), "{question}");
        assert_eq!((history(&stage.host), outcome(&stage)), (expected.to_vec(), Outcome::Aborted));
        // What was cancelled may answer all the same.
        stage.actors[0].end = None;
        stage.actors[0].out = out;
        stage.answer(0, 0);
        assert!(stage.actors[0].waiting.is_empty());
        stage.settle(&Resolution::NeverStarted);
    }
}

#[test]
fn dur_012_an_abort_while_a_doubt_is_being_looked_into_asks_no_further() {
    let mut stage = Stage::new(&[&["wire"]]);
    stage.until_out(0, "tool.invoke");
    stage.host.wait_for_lease();
    let successor = stage.enter();
    stage.until_out(successor, "tool.reconcile");
    stage.abort();
    stage.actors[successor].told(Input::Woken);
    assert_eq!(stage.finish(successor), Some(End::Settled));
    let expected = ["recovery", "abort", "unknown", "settled"];
    assert_eq!(history(&stage.host)[3..], expected);
}

#[test]
fn dur_012_an_abort_while_reading_or_while_a_pipeline_is_in_flight_is_found() {
    for effects in 0.. {
        let mut stage = Stage::new(&[&["pay"], &["look"]]);
        for _ in 0..effects {
            stage.go_on(0);
        }
        if stage.actors[0].is_done() {
            assert!(effects > 12, "{effects}");
            return;
        }
        let may_still_end = outcome_is_open(&stage);
        stage.abort();
        stage.actors[0].told(Input::Woken);
        assert!(stage.finish(0).is_some(), "the hint wakes it");
        let resolved = stage.settle(&Resolution::Completed(text("by hand")));
        assert!(resolved <= 1 && stage.invoked() <= 2);
        let expected = if may_still_end { Outcome::Aborted } else { Outcome::Completed };
        assert_eq!(outcome(&stage), expected, "after {effects}");
    }
}

/// Whether an abort still comes in time.
fn outcome_is_open(stage: &Stage) -> bool {
    match stage.host.store.row(submission("1")).unwrap().phase {
        Phase::Admitted | Phase::Ready | Phase::Running(_) | Phase::Unknown | Phase::Suspended => {
            true
        }
        Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Terminalizing(_)
        | Phase::Settled(_) => false,
    }
}

#[test]
fn dur_012_an_abort_without_any_hint_is_found_at_the_latest_at_the_end() {
    for effects in 0..14 {
        let mut stage = Stage::new(&[&["pay"], &["look"]]);
        for _ in 0..effects {
            stage.go_on(0);
        }
        stage.abort();
        assert_eq!(stage.finish(0), Some(End::Settled));
        assert_eq!(outcome(&stage), Outcome::Aborted);
    }
}

#[test]
fn arc_03_a_result_that_comes_twice_before_a_stop_is_recorded_once() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    let twice = stage.actors[0].out[0].clone();
    stage.actors[0].out.push(twice);
    stage.abort();
    stage.actors[0].told(Input::Woken);
    stage.answer(0, 0);
    stage.answer(0, 0);
    assert_eq!(stage.finish(0), Some(End::Settled));
    let expected = ["input", "responded", "prepared", "tool-settled", "abort", "settled"];
    assert_eq!(history(&stage.host), expected);
}

#[test]
fn case_le_07_a_lease_is_renewed_for_as_long_as_the_work_takes() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    for renewals in 1..=9 {
        assert_eq!(stage.actors[0].timers, renewals, "every renewal asks for the next one");
        let before = lease(&stage);
        stage.host.store.now = stage.host.store.now.after(DurationMs(10_000));
        stage.actors[0].told(Input::RenewalDue);
        let expected = ["ledger.renew", "ledger.read"];
        assert_eq!(stage.actors[0].commands(), expected, "a lost hint costs one renewal's time");
        while stage.perform(0, Fate::Done) {}
        assert_eq!(lease(&stage), before.after(DurationMs(10_000)));
        assert_eq!(stage.host.work(), End::Idle, "nobody else gets the lane");
    }
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host).len(), 6, "renewals leave no trace in the log");
}

#[test]
fn case_le_07_a_renewal_that_is_due_meanwhile_travels_with_what_comes_next() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until(0, "conversation.append:CallsDeclared");
    stage.actors[0].told(Input::RenewalDue);
    stage.perform(0, Fate::Done);
    let renews = |effect: &Effect| match effect {
        Effect::Store(pipeline) => pipeline.commands.len() == 2,
        _ => false,
    };
    assert!(stage.actors[0].waiting.iter().any(renews), "at once when there is nothing else");
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(stage.actors[0].timers, 2);
}

#[test]
fn case_le_07_a_refusal_does_not_end_the_renewals() {
    // The claim is committed, what follows is refused: the timer behind it never started.
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until(0, "ledger.claim");
    stage.perform(0, Fate::Refused(1, TRANSIENT));
    stage.until_out(0, "tool.invoke");
    assert!(stage.actors[0].timers > 0, "somebody will say that the lease wants renewal");

    // The same for a renewal that is refused itself.
    let before = stage.actors[0].timers;
    stage.actors[0].told(Input::RenewalDue);
    stage.perform(0, Fate::Refused(0, TRANSIENT));
    while stage.perform(0, Fate::Done) {}
    assert!(stage.actors[0].timers > before);
    assert_eq!(stage.finish(0), Some(End::Settled));
}

#[test]
fn arc_13_whoever_is_superseded_learns_it_from_a_hint_or_from_its_renewal() {
    for input in [Input::Woken, Input::RenewalDue] {
        let mut stage = Stage::new(&[&["pay"]]);
        stage.until_out(0, "tool.invoke");
        stage.host.wait_for_lease();
        let successor = stage.enter();
        assert_eq!(stage.finish(successor), Some(End::Parked), "the call is in doubt");
        let log = stage.host.store.log.clone();
        stage.actors[0].told(input);
        assert_eq!(stage.finish(0), Some(End::Superseded));
        assert_eq!(stage.host.store.log, log);
        stage.settle(&Resolution::Completed(text("by hand")));
        assert_eq!(stage.invoked(), 1);
    }
}
