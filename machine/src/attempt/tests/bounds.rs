//! Answers as large as answers may be: what fits no batch together goes into several.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::history;
use super::stage::{Fate, Stage};
use crate::agent::{Resolution, ToolOutcome};
use crate::attempt::{End, Input};
use crate::effect::{Answer, External, Reconciliation};
use crate::json::CanonicalJson;
use crate::limits::{BATCH_BYTES, JSON_BYTES};
use crate::record::Doubt;

/// A value of full size.
fn large() -> CanonicalJson {
    CanonicalJson::string(&"x".repeat(JSON_BYTES - 2)).unwrap()
}

/// More calls than results of full size fit a batch.
const MANY: [&str; 13] = ["pay"; 13];

fn too_much_for_a_batch() {
    assert!(MANY.len() * JSON_BYTES > BATCH_BYTES);
}

fn count(stage: &Stage, kind: &str) -> usize {
    history(&stage.host).iter().filter(|it| **it == kind).count()
}

#[test]
fn run_031_resolutions_that_fit_no_batch_together_are_all_recorded() {
    too_much_for_a_batch();
    let mut stage = Stage::new(&[&MANY[..]]);
    stage.until_out(0, "tool.invoke");
    stage.actors.clear();
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Parked));
    assert_eq!(stage.settle(&Resolution::Completed(large())), MANY.len());
    assert_eq!(count(&stage, "resolved"), MANY.len());
    assert_eq!(count(&stage, "tool-settled"), MANY.len());
}

#[test]
fn run_031_proofs_that_fit_no_batch_together_are_all_recorded() {
    let mut stage = Stage::new(&[&["wire"; 13][..]]);
    stage.host.outside.reconciliation = Reconciliation::Proven(Resolution::Completed(large()));
    stage.until_out(0, "tool.invoke");
    stage.actors.clear();
    stage.settle(&Resolution::NeverStarted);
    assert_eq!(count(&stage, "tool-settled"), 13);
    assert_eq!((count(&stage, "unknown"), count(&stage, "resolved")), (0, 0));
}

#[test]
fn run_031_results_that_return_before_an_abort_and_fit_no_batch_together_are_all_recorded() {
    let mut stage = Stage::new(&[&MANY[..]]);
    stage.until_out(0, "tool.invoke");
    stage.abort();
    stage.actors[0].told(Input::Woken);
    let out: Vec<External> = core::mem::take(&mut stage.actors[0].out);
    for external in out {
        let External::InvokeTool(it) = external else { panic!("{external:?}") };
        let start = Doubt { call: it.call, start: it.epoch };
        let outcome = Arc::new(ToolOutcome::Success(large()));
        stage.actors[0].told(Input::Answered(Answer::Tool { start, outcome }));
    }
    while stage.perform(0, Fate::Done) {}
    assert_eq!(stage.actors[0].end, Some(End::Settled));
    assert_eq!((count(&stage, "tool-settled"), count(&stage, "unknown")), (MANY.len(), 0));
}

#[test]
fn dur_017_as_many_doubts_as_a_response_can_have_are_resolved() {
    let most = ["pay"; crate::limits::RESPONSE_CALLS];
    let mut stage = Stage::new(&[&most[..]]);
    stage.until_out(0, "tool.invoke");
    stage.actors.clear();
    assert_eq!(stage.settle(&Resolution::Failed(crate::agent::Diagnostic::cut("Bank", "no"))), 128);
    assert_eq!(count(&stage, "unknown"), 128);
    assert_eq!(count(&stage, "tool-settled"), 128);
}
