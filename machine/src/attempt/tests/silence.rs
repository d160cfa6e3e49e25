//! Calls that give no answer: the lane is let go, and a later epoch finds out, as after a crash.

use alloc::vec;
use alloc::vec::Vec;

use super::history;
use crate::agent::Resolution;
use crate::attempt::End;
use crate::effect::{External, Reconciliation};
use crate::identity::Epoch;
use crate::ledger::Phase;
use crate::limits::CALL_STARTS;
use crate::testkit::{Host, call, submission, text};

/// A host whose model makes one call of a tool, of which the first `silent` starts give no answer.
fn host(tool: &'static str, silent: usize, reconciliation: Reconciliation) -> Host {
    let mut host = Host::new(&[&[tool]]);
    host.outside.reconciliation = reconciliation;
    host.outside.silent = silent;
    host.admit(call("1", "hello"));
    host
}

/// How the attempts end that follow each other until the lane rests.
fn ends(host: &mut Host) -> Vec<End> {
    let mut ends = Vec::new();
    while ends.last().is_none_or(|end| *end == End::Unanswered) {
        ends.push(host.work());
        assert!(ends.len() < 20, "it comes to an end");
    }
    ends
}

const NEVER: Reconciliation = Reconciliation::Proven(Resolution::NeverStarted);

#[test]
fn dur_017_a_call_that_gives_no_answer_is_reconciled_or_unknown_without_a_crash() {
    let mut unprovable = host("wire", 1, Reconciliation::Unprovable);
    assert_eq!(ends(&mut unprovable), [End::Unanswered, End::Parked]);
    assert_eq!(history(&unprovable).last(), Some(&"unknown"));
    let done = Reconciliation::Proven(Resolution::Completed(text("it happened")));
    let mut proven = host("wire", 1, done);
    assert_eq!(ends(&mut proven), [End::Unanswered, End::Settled]);
    assert!(!history(&proven).contains(&"unknown"));
    for host in [unprovable, proven] {
        assert_eq!(host.outside.invocations(), 1, "it is not made again");
    }
    // With nobody to ask there is nothing to find out, and no other epoch is needed for it.
    let mut host = host("pay", 1, Reconciliation::Unprovable);
    assert_eq!(ends(&mut host), [End::Parked]);
}

#[test]
fn bug_silence_never_started_is_asked_under_an_epoch_that_keeps_the_silent_start_out() {
    let mut host = host("wire", 1, NEVER);
    assert_eq!(ends(&mut host), [End::Unanswered, End::Settled]);
    let asking = host.outside.asked.iter().find_map(|asked| match asked {
        External::Reconcile(it) => Some((it.doubt.start, it.asking)),
        _ => None,
    });
    assert_eq!(asking, Some((Epoch(1), Epoch(2))), "the promise covers what it is about");
    let starts = host.outside.asked.iter().filter_map(|asked| match asked {
        External::InvokeTool(it) => Some(it.epoch),
        _ => None,
    });
    assert_eq!(starts.collect::<Vec<_>>(), [Epoch(1), Epoch(2)]);
}

#[test]
fn run_014_an_idempotent_call_that_gives_no_answer_is_made_again_under_its_key() {
    let mut host = host("file", 2, Reconciliation::Unprovable);
    assert_eq!(ends(&mut host), [End::Unanswered, End::Unanswered, End::Settled]);
    let keys = host.outside.asked.iter().filter_map(|asked| match asked {
        External::InvokeTool(it) => Some(it.call),
        _ => None,
    });
    let keys: Vec<_> = keys.collect();
    assert_eq!(keys, vec![keys[0]; 3]);
    assert_eq!(history(&host).iter().filter(|it| **it == "tool-settled").count(), 1);
}

#[test]
fn dur_014_a_call_that_never_gives_an_answer_ends_in_unknown_whatever_its_class_allows() {
    for (tool, reconciliation) in [("file", Reconciliation::Unprovable), ("wire", NEVER)] {
        let mut host = host(tool, usize::MAX, reconciliation);
        let ends = ends(&mut host);
        assert_eq!(ends.len(), CALL_STARTS, "{tool}: {:?}", history(&host));
        assert_eq!(ends.last(), Some(&End::Parked));
        assert_eq!(host.outside.invocations(), CALL_STARTS);
        let row = host.store.row(submission("1")).unwrap();
        assert!(row.phase == Phase::Unknown && row.marks.len() == 1, "a person sees it: {row:?}");
    }
}

#[test]
fn run_014_a_readonly_call_that_gives_no_answer_has_failed() {
    let mut host = host("look", 1, Reconciliation::Unprovable);
    assert_eq!(ends(&mut host), [End::Settled]);
    assert_eq!(host.outside.invocations(), 1, "the model decides what it does about it");
}
