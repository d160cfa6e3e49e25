//! Durable calls through crashes: a handler is entered again, and nothing that is recorded runs again.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::history;
use super::stage::{ACK_LOST, Fate, Stage};
use crate::agent::Resolution;
use crate::attempt::{Effect, End, Input};
use crate::effect::External;
use crate::ledger::{self, Phase};
use crate::limits::CALL_STARTS;
use crate::store::Refusal;
use crate::testkit::{BOOK, Host, call, submission};

/// How often each step ran, in order.
fn bodies(host: &Host) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    for (_, ordinal) in &host.outside.bodies {
        *counts.entry(*ordinal).or_insert(0) += 1;
    }
    counts.into_values().collect()
}

/// How many steps are recorded.
fn steps(host: &Host) -> usize {
    history(host).iter().filter(|it| **it == "step").count()
}

/// Each body that ran was of the next step behind what was recorded for the start that ran it.
fn follow_each_other(host: &Host) {
    let mut last = BTreeMap::new();
    for (start, ordinal) in &host.outside.bodies {
        if let Some(before) = last.insert(*start, *ordinal) {
            assert_eq!(before + 1, *ordinal, "{start:?}: {:?}", host.outside.bodies);
        }
    }
}

#[test]
fn dur_010_a_crash_before_every_effect_repeats_at_most_the_step_that_was_not_recorded() {
    for crash_at in 0.. {
        let mut host = Host::booking(&[&["book"]]);
        host.admit(call("1", "hello"));
        let (state, effects) = host.attempt();
        let mut count = 0;
        let crashed = host.perform(state, effects, |_| {
            count += 1;
            count <= crash_at
        });
        let recorded = steps(&host);
        let ran = bodies(&host);
        host.wait_for_lease();
        while host.work() != End::Idle {
            host.wait_for_lease();
        }
        let expected = (0..BOOK.len()).map(|at| {
            let is_in_flight = at == recorded && ran.len() > recorded;
            if is_in_flight { 2 } else { 1 }
        });
        assert_eq!(bodies(&host), expected.collect::<Vec<_>>(), "crashed before effect {crash_at}");
        assert_eq!(steps(&host), BOOK.len());
        follow_each_other(&host);
        assert!(matches!(host.store.row(submission("1")).unwrap().phase, Phase::Settled(_)));
        if crashed.is_err() {
            assert!(crash_at > 10, "there are effects to crash at");
            return;
        }
    }
}

#[test]
fn dur_010_a_lost_acknowledgement_records_a_step_once_and_its_handler_goes_on_once() {
    for fate in [ACK_LOST, Fate::Lost(0)] {
        let mut stage = Stage::booking(&[&["book"]]);
        for _ in BOOK {
            stage.until(0, "conversation.append:StepRecorded");
            assert!(stage.perform(0, fate));
        }
        assert_eq!(stage.finish(0), Some(End::Settled));
        assert_eq!((bodies(&stage.host), steps(&stage.host)), (Vec::from([1; 3]), 3));
        let onward = stage.left.iter().filter(|it| matches!(it, External::NextStep(_))).count();
        assert_eq!(onward, BOOK.len());
    }
}

#[test]
fn dur_010_a_refused_step_that_was_not_stored_is_offered_again_without_running_again() {
    let mut stage = Stage::booking(&[&["book"]]);
    stage.until(0, "conversation.append:StepRecorded");
    let why = Refusal::Ledger(ledger::Refusal::NotRunning);
    assert!(stage.perform(0, Fate::Refused(0, why)));
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!((bodies(&stage.host), steps(&stage.host)), (Vec::from([1; 3]), 3));
}

#[test]
fn dur_010_a_step_that_was_stored_before_a_refusal_lets_its_handler_go_on() {
    let mut stage = Stage::booking(&[&["book"]]);
    stage.until_out(0, "tool.invoke");
    // A renewal stands behind the step in one pipeline, and is refused.
    stage.answer(0, 0);
    stage.actors[0].told(Input::RenewalDue);
    while stage.actors[0].commands().len() < 2 {
        if !stage.perform(0, Fate::Done) {
            stage.answer(0, 0);
            stage.actors[0].told(Input::RenewalDue);
        }
    }
    let commands = stage.actors[0].commands();
    let at = commands.iter().position(|it| *it == "conversation.append:StepRecorded");
    let stored = at.map_or(0, |at| at + 1).min(commands.len() - 1);
    let why = Refusal::Ledger(ledger::Refusal::NotRunning);
    assert!(stage.perform(0, Fate::Refused(stored, why)));
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!((bodies(&stage.host), steps(&stage.host)), (Vec::from([1; 3]), 3));
}

#[test]
fn dur_006_dur_010_a_superseded_owner_records_no_step_and_its_handler_does_not_go_on() {
    let mut stage = Stage::booking(&[&["book"]]);
    stage.until(0, "conversation.append:StepRecorded");
    stage.host.wait_for_lease();
    let heir = stage.enter();
    assert_eq!(stage.finish(heir), Some(End::Settled));
    let before = stage.left.len();
    assert_eq!(stage.finish(0), Some(End::Settled), "by somebody else");
    assert_eq!(stage.left.len(), before, "nothing of the first owner leaves any more");
    assert_eq!(steps(&stage.host), 3);
    assert_eq!(bodies(&stage.host), [2, 1, 1], "the step in flight ran again, and no other");
}

#[test]
fn dur_010_an_abort_between_two_steps_keeps_what_has_succeeded_and_leaves_a_doubt() {
    let mut stage = Stage::booking(&[&["book"]]);
    stage.until_out(0, "tool.next_step");
    stage.abort();
    stage.answer(0, 0);
    stage.actors[0].told(Input::Woken);
    while stage.perform(0, Fate::Done) {}
    // Its handler was told and does not come back.
    stage.actors[0].out.clear();
    assert!(stage.finish(0).is_some());
    let told = history(&stage.host);
    assert_eq!(told.iter().filter(|it| **it == "step").count(), 2, "{told:?}");
    assert!(told.contains(&"unknown") && told.last() == Some(&"settled"), "{told:?}");
    assert_eq!(bodies(&stage.host), [1, 1]);
}

#[test]
fn dur_014_a_durable_call_that_gets_nowhere_ends_in_unknown_and_goes_on_where_it_was() {
    let mut host = Host::booking(&[&["book"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    // Its first owner dies behind the first step.
    let crashed = host.perform(state, effects, |effect| {
        !matches!(effect, Effect::External(External::NextStep(_)))
    });
    assert!(crashed.is_ok() && steps(&host) == 1);
    host.outside.silent = usize::MAX;
    let mut starts = 0;
    loop {
        host.wait_for_lease();
        match host.work() {
            End::Unanswered => starts += 1,
            End::Parked => break,
            end => panic!("{end:?}"),
        }
        assert!(starts < 20, "it comes to an end");
    }
    assert_eq!(host.outside.invocations(), 1 + CALL_STARTS, "the first start got somewhere");
    let mut stage = Stage::of(host);
    stage.host.outside.silent = 0;
    assert_eq!(stage.resolve(&Resolution::SafeToRepeat), 1, "a person sees it");
    stage.settle(&Resolution::SafeToRepeat);
    assert_eq!((bodies(&stage.host), steps(&stage.host)), (Vec::from([1; 3]), 3));
}

#[test]
fn dur_010_a_durable_call_beside_others_of_its_batch() {
    let mut stage = Stage::booking(&[&["look", "book", "pay", "file"]]);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(bodies(&stage.host), [1; 3]);
    assert_eq!(history(&stage.host).iter().filter(|it| **it == "tool-settled").count(), 4);
}
