//! What nobody is to see is kept by no way that a result can take into the log, and no result
//! comes in longer than it may be.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::stage::Stage;
use super::{Host, history};
use crate::agent::{ExecutionClass, Kept, Pointer, Resolution, ToolDefinition, ToolOutcome};
use crate::attempt::{End, Input};
use crate::effect::{Answer, External, Reconciliation};
use crate::identity::ToolName;
use crate::json::CanonicalJson;
use crate::record::{Doubt, Record};
use crate::testkit::{bound, call, policy};

const SECRET: &str = "4111-1111-1111-1111";
const BYTES: u32 = 60;

/// A lane of an agent whose ordinary tools return a secret and a long text.
fn stage(tool: &'static str) -> Stage {
    let paying = |name, reconciles| ToolDefinition {
        reconciles,
        result_bytes: BYTES,
        redact: alloc::vec![Pointer::new("/card").unwrap()],
        ..ToolDefinition::new(ToolName::new(name).unwrap(), ExecutionClass::Ordinary)
    };
    let tools = alloc::vec![paying("pay", false), paying("wire", true)];
    let mut host = Host::new(&[&[tool]]);
    host.binding = bound(tools, policy());
    host.outside.reconciliation = Reconciliation::Proven(Resolution::Completed(result()));
    let mut stage = Stage::of(host);
    stage.admit(call("1", "hello"));
    stage.enter();
    stage
}

fn result() -> CanonicalJson {
    let text = alloc::format!("{{\"card\":\"{SECRET}\",\"terms\":\"{}\"}}", "t".repeat(90));
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

/// The outcome that is kept, and no byte of the secret in any batch, request or live event.
fn kept(stage: &Stage) -> ToolOutcome {
    let asked = stage.left.iter().filter(|it| matches!(it, External::CallModel(_)));
    let shown = alloc::format!("{:?} {:?}", asked.collect::<Vec<_>>(), stage.host.told);
    assert!(!shown.contains(SECRET) && shown.contains("ToolCall"), "ARC-12: {shown}");
    for batch in &stage.host.store.log {
        let bytes = batch.encode();
        let is_there = bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
        assert!(!is_there, "ARC-12: {:?}", batch.batch().records());
    }
    let records = stage.host.store.log.iter().flat_map(|stored| stored.batch().records());
    let outcomes = records.filter_map(|record| match record {
        Record::ToolSettled(it) => Some(ToolOutcome::clone(&it.outcome)),
        _ => None,
    });
    let outcomes: Vec<_> = outcomes.collect();
    assert_eq!(outcomes.len(), 1, "ARC-03: {:?}", history(&stage.host));
    outcomes[0].clone()
}

fn cut() -> ToolOutcome {
    let shown = result().redacted(&[Pointer::new("/card").unwrap()]);
    ToolOutcome::Kept(Kept::of(&shown, BYTES as usize))
}

#[test]
fn arc_12_run_019_a_result_that_returned_before_an_abort_is_kept_like_any_other() {
    let mut stage = stage("pay");
    stage.until_out(0, "tool.invoke");
    let Some(External::InvokeTool(it)) = stage.actors[0].out.pop() else { panic!("a call") };
    stage.abort();
    stage.actors[0].told(Input::Woken);
    let start = Doubt { call: it.call, start: it.epoch };
    let outcome = Arc::new(ToolOutcome::Success(result()));
    stage.actors[0].told(Input::Answered(Answer::Tool { start, outcome }));
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(kept(&stage), cut());
}

#[test]
fn arc_12_run_019_what_a_reconciler_proves_is_kept_like_any_other_result() {
    let mut stage = stage("wire");
    stage.until_out(0, "tool.invoke");
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Settled));
    assert_eq!(kept(&stage), cut());
}

#[test]
fn arc_12_run_019_case_se_01_what_a_person_says_is_kept_like_any_other_result() {
    let mut stage = stage("pay");
    stage.until_out(0, "tool.invoke");
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Parked));
    assert_eq!(stage.settle(&Resolution::Completed(result())), 1);
    assert_eq!(kept(&stage), cut());
}
