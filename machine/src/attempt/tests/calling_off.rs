//! A run that is to end: its calls are told, and what they still say is kept (RUN-008).

use super::history;
use super::stage::{Fate, Stage};
use crate::agent::Resolution;
use crate::attempt::{Effect, End, Input};
use crate::identity::DurationMs;
use crate::limits::CALL_OFF_MS;
use crate::run::Timer;
use crate::store::Refusal;

const TRANSIENT: Refusal = Refusal::Ledger(crate::ledger::Refusal::NotRunning);

/// Calls are out, somebody wants the end, and the attempt has learned of it.
fn called_off(calls: &'static [&'static str]) -> Stage {
    let mut stage = Stage::new(&[calls]);
    stage.until_out(0, "tool.invoke");
    stage.abort();
    stage.actors[0].told(Input::Woken);
    stage.perform(0, Fate::Done);
    let after = DurationMs(CALL_OFF_MS);
    let expected = [Effect::CallOff, Effect::Schedule { timer: Timer::CallOff, after }];
    assert_eq!(stage.actors[0].waiting, expected, "nothing is decided before they are back");
    while stage.perform(0, Fate::Done) {}
    stage
}

#[test]
fn run_008_a_call_that_ends_by_itself_leaves_no_doubt() {
    let mut stage = called_off(&["pay"]);
    assert_eq!(stage.finish(0), Some(End::Settled));
    let expected = ["input", "responded", "prepared", "tool-settled", "abort", "settled"];
    assert_eq!(history(&stage.host), expected);
    stage.settle(&Resolution::NeverStarted);
}

#[test]
fn run_008_what_does_not_come_back_in_time_is_in_doubt_and_nothing_else() {
    let mut stage = called_off(&["pay", "pay"]);
    stage.answer(0, 1);
    assert!(stage.actors[0].waiting.is_empty(), "one is still out");
    // A second hint, and a timer of another kind, decide nothing.
    stage.actors[0].told(Input::Woken);
    stage.perform(0, Fate::Done);
    stage.actors[0].told(Input::Due(Timer::Deadline));
    assert!(stage.actors[0].waiting.is_empty());
    stage.actors[0].out.clear();
    assert_eq!(stage.finish(0), Some(End::Settled));
    let expected = ["tool-settled", "abort", "unknown", "settled"];
    assert_eq!(history(&stage.host)[4..], expected);
    stage.settle(&Resolution::NeverStarted);
}

#[test]
fn dur_005_the_lease_is_renewed_while_calls_are_waited_for() {
    let mut stage = called_off(&["pay"]);
    let before = stage.host.store.lane.owner.clone().unwrap().lease_until;
    stage.host.store.now = stage.host.store.now.after(DurationMs(10_000));
    stage.actors[0].told(Input::RenewalDue);
    assert_eq!(stage.actors[0].commands(), ["ledger.renew", "ledger.read"]);
    while stage.perform(0, Fate::Done) {}
    assert!(stage.host.store.lane.owner.clone().unwrap().lease_until > before);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host)[3..], ["tool-settled", "abort", "settled"]);
}

/// A predecessor that was only paused while it waited finds its lane taken: it says nothing more,
/// and what its call says is lost to a doubt, not recorded twice.
#[test]
fn dur_007_whoever_was_paused_while_it_waited_writes_nothing() {
    let mut stage = called_off(&["pay"]);
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Settled));
    stage.answer(0, 0);
    assert_eq!(stage.finish(0), Some(End::Settled), "somebody else has settled it");
    assert_eq!(history(&stage.host)[3..], ["recovery", "abort", "unknown", "settled"]);
    stage.settle(&Resolution::NeverStarted);
}

#[test]
fn dur_012_a_refusal_while_calls_are_waited_for_loses_neither_abort_nor_call() {
    let mut stage = called_off(&["pay"]);
    stage.actors[0].told(Input::RenewalDue);
    stage.perform(0, Fate::Refused(0, TRANSIENT));
    while stage.perform(0, Fate::Done) {}
    assert_eq!(history(&stage.host).last(), Some(&"prepared"), "it waits on");
    stage.answer(0, 0);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host)[3..], ["tool-settled", "abort", "settled"]);
}
