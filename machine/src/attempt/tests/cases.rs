//! Cases from the field that take several people and several runs.

use alloc::sync::Arc;

use super::approvals::{decide, pays, settle};
use super::history;
use super::stage::{Fate, Stage};
use crate::agent::{
    AgentPolicy, Binding, ExecutionClass, Judgement, Message, Resolution, RetryClass,
    ToolDefinition, ToolOutcome, Verdict,
};
use crate::attempt::End;
use crate::effect::External;
use crate::identity::{PrincipalId, RunId, ToolCallId, ToolName, Turn};
use crate::ledger::{Command, DecisionIntent, Phase};
use crate::record::{Outcome, Record};
use crate::testkit::{Host, bound, call, policy, submission, text};

fn phase(stage: &Stage, key: &str) -> Phase {
    stage.host.store.row(submission(key)).expect("it is admitted").phase.clone()
}

fn outcome(stage: &Stage, key: &str) -> Outcome {
    match phase(stage, key) {
        Phase::Settled(it) => it.outcome,
        other => panic!("not settled: {other:?}"),
    }
}

/// What is recorded of calls, in the order of the log.
fn results(stage: &Stage) -> alloc::vec::Vec<ToolOutcome> {
    let records = stage.host.store.log.iter().flat_map(|stored| stored.batch().records());
    let settled = records.filter_map(|record| match record {
        Record::ToolSettled(it) => Some((*it.outcome).clone()),
        _ => None,
    });
    settled.collect()
}

#[test]
fn case_cr_19_after_a_doubt_resolved_as_failed_two_further_submissions_succeed() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    // Its process is gone, and so is the answer.
    stage.actors.clear();
    stage.admit(call("2", "and now?"));
    stage.admit(call("3", "and now?"));
    let why = crate::agent::Diagnostic::cut("Declined", "the bank says no");
    assert_eq!(stage.settle(&Resolution::Failed(why.clone())), 1);
    for key in ["1", "2", "3"] {
        assert_eq!(outcome(&stage, key), Outcome::Completed, "submission {key}");
    }
    assert_eq!(results(&stage)[0], ToolOutcome::Failure(why), "the model was told");
}

/// One tool for each way in which a call may come to start.
fn mixed() -> Arc<Binding> {
    let tool = |name, approval| ToolDefinition {
        approval,
        retry: RetryClass::Transient,
        ..ToolDefinition::new(ToolName::new(name).unwrap(), ExecutionClass::Ordinary)
    };
    let tools = alloc::vec![tool("pay", Judgement::Prompt), tool("wire", Judgement::Auto)];
    bound(tools, AgentPolicy { ..policy() })
}

fn asking(calls: &[&[&'static str]]) -> Stage {
    let mut host = Host::new(calls);
    host.binding = mixed();
    host.outside.verdict = None;
    let mut stage = Stage::of(host);
    stage.admit(call("1", "hello"));
    stage
}

#[test]
fn case_ap_15_the_results_of_a_batch_that_was_asked_about_are_shown_in_call_order() {
    let mut stage = asking(&[&["wire", "pay", "wire", "pay"]]);
    assert_eq!(settle(&mut stage, Verdict::Approved), Outcome::Completed);
    let mut requests = stage.left.iter().filter_map(|it| match it {
        External::CallModel(request) => Some(request),
        _ => None,
    });
    let last = requests.next_back().expect("the model was told");
    let shown = last.messages.iter().filter_map(|message| match message {
        Message::ToolResult { call, .. } => Some(*call),
        _ => None,
    });
    let run = RunId::derive(submission("1"));
    let declared = (0..4).map(|at| ToolCallId::derive(run, Turn(0), at));
    assert!(shown.eq(declared), "all four, as they were declared");
    assert_eq!((pays(&stage), stage.invoked()), (2, 4), "each once");
}

#[test]
fn case_ap_17_what_was_answered_is_not_asked_again_after_a_restart() {
    let mut stage = asking(&[&["pay", "pay"]]);
    let at = stage.enter();
    assert_eq!(stage.finish(at), Some(End::Parked));
    let row = stage.host.store.row(submission("1")).unwrap().clone();
    let first = row.approvals[0].request;
    let principal = PrincipalId::new("bob").unwrap();
    let intent = DecisionIntent { verdict: Verdict::Approved, principal, reason: "yes".into() };
    let command = Command::Decide { submission: submission("1"), request: first, intent };
    stage.host.store.ledger(command).unwrap();
    // Another process takes over before the second is decided: nothing is asked anew.
    let at = stage.enter();
    stage.finish(at);
    assert_eq!(decide(&mut stage, Verdict::Approved), 1, "only the second waits");
    assert_eq!(settle(&mut stage, Verdict::Approved), Outcome::Completed);
    let told = history(&stage.host);
    assert_eq!(told.iter().filter(|it| **it == "asked").count(), 2, "{told:?}");
    assert_eq!(pays(&stage), 2);
}

/// Wanting approval is a value in the protocol, and not a way of failing: a tool that may be tried
/// again is not tried because somebody was asked.
#[test]
fn case_cr_23_a_call_that_waits_for_people_is_neither_retried_nor_made_twice() {
    for stops in 0.. {
        let mut stage = asking(&[&["pay"]]);
        let at = stage.enter();
        let goes_on = (0..stops).all(|_| stage.go_on(at));
        assert_eq!(settle(&mut stage, Verdict::Approved), Outcome::Completed);
        assert!(pays(&stage) <= 1, "crashed behind {stops} steps");
        if !goes_on {
            assert!(stops > 6);
            return;
        }
    }
}

/// The run is blocked in its append, somebody wants its end, and another process settles it. What
/// was blocked comes through then, and is refused.
#[test]
fn case_cr_25_a_write_that_was_blocked_over_an_abort_is_refused_by_its_epoch() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.answer(0, 0);
    assert_eq!(stage.actors[0].commands()[0], "conversation.append:ToolSettled");
    stage.abort();
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Settled));
    let log = stage.host.store.log.clone();
    stage.perform(0, Fate::Done);
    stage.finish(0);
    assert_eq!(stage.host.store.log, log, "the late write is nowhere");
    assert_eq!(outcome(&stage, "1"), Outcome::Aborted);
    assert!(history(&stage.host).contains(&"unknown"), "and what it knew stays a doubt");
}

#[test]
fn case_ab_01_the_first_canonical_end_stands_whichever_it_is() {
    // The abort first: what the call says later changes nothing.
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.abort();
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Settled));
    stage.answer(0, 0);
    stage.finish(0);
    assert_eq!(outcome(&stage, "1"), Outcome::Aborted);
    // The answer first: the abort comes too late and is refused.
    let mut stage = Stage::new(&[]);
    assert_eq!(stage.finish(0), Some(End::Settled));
    let command =
        Command::Abort { submission: submission("1"), intent: crate::testkit::story::abort() };
    assert!(stage.host.store.ledger(command).is_err());
    assert_eq!(outcome(&stage, "1"), Outcome::Completed);
    let told = history(&stage.host);
    assert_eq!(told.iter().filter(|it| **it == "settled").count(), 1, "{told:?}");
    assert!(!told.contains(&"abort"), "{told:?}");
}

/// At every boundary of a run whose process is gone.
#[test]
fn case_ab_09_an_abort_while_nobody_works_is_followed_before_anything_else() {
    for stops in 0.. {
        let mut stage = Stage::new(&[&["look", "pay"], &["pay"]]);
        let goes_on = (0..stops).all(|_| stage.go_on(0));
        let is_over = matches!(phase(&stage, "1"), Phase::Settled(_));
        stage.actors.clear();
        stage.abort();
        let before = stage.left.len();
        stage.settle(&Resolution::Completed(text("by hand")));
        if !is_over {
            let asked = &stage.left[before..];
            assert!(asked.is_empty(), "{asked:?} behind {stops} steps");
        }
        if !goes_on {
            assert!(stops > 12);
            return;
        }
    }
}
