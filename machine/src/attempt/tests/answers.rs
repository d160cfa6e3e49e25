//! What the outside answers, in whatever order and shape, and what becomes canonical of it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::history;
use crate::agent::{FinishReason, Message, ModelResponse, Purpose, ResponsePart, ToolCall, Usage};
use crate::attempt::{Attempt, Effect, End, Input};
use crate::contract::Machine;
use crate::effect::{Answer, External};
use crate::identity::{PrincipalId, RunId, ToolCallId, ToolName, Turn};
use crate::ledger::{AbortIntent, Command, Phase, Refusal};
use crate::limits::TEXT_BYTES;
use crate::projection::Projection;
use crate::record::Record;
use crate::store::StoreCommand;
use crate::testkit::{Host, call, submission, text};

fn invokes(effect: &Effect) -> bool {
    matches!(effect, Effect::External(External::InvokeTool(_)))
}

/// Runs two calls in one turn; `order` arranges the order in which they return.
fn transcript(order: fn(&mut Vec<Effect>)) -> (Vec<Message>, Vec<ToolCallId>) {
    let mut host = Host::new(&[&["look", "pay"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let (state, mut calls) = host.perform(state, effects, |effect| !invokes(effect)).unwrap();
    calls.retain(|effect| matches!(effect, Effect::External(_)));
    assert_eq!(calls.len(), 2);
    order(&mut calls);
    let end = host.perform(state, calls, |_| true).unwrap_err();
    assert_eq!(end, End::Settled);
    let log = Projection::of(host.store.log.iter().map(Arc::as_ref)).unwrap();
    let records = host.store.log.iter().flat_map(|stored| stored.batch().records());
    let settled = records.filter_map(|record| match record {
        Record::ToolSettled(it) => Some(it.call),
        _ => None,
    });
    (log.transcript().iter().cloned().collect(), settled.collect())
}

#[test]
fn arc_04_the_transcript_is_in_declaration_order_whatever_returns_first() {
    let (declared, forward) = transcript(|_| {});
    let (reversed, backward) = transcript(|calls| calls.reverse());
    assert_ne!(forward, backward, "the log says which returned first");
    assert_eq!(declared, reversed, "the transcript does not");
}

/// Answers the first question to the model with this response, and works on to the end.
fn respond(host: &mut Host, response: ModelResponse) -> End {
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let asks = |effect: &Effect| matches!(effect, Effect::External(External::CallModel(_)));
    let (state, _) = host.perform(state, effects, |effect| !asks(effect)).unwrap();
    let (run, turn) = (RunId::derive(submission("1")), Turn(0));
    let purpose = Purpose::Respond;
    let answer = Answer::Model { run, turn, purpose, response: Ok(Arc::new(response)) };
    let step = Attempt::step(state, Input::Answered(answer));
    host.perform(step.state, step.effects, |_| true).unwrap_err()
}

fn declares(label: &str, finish: FinishReason) -> ModelResponse {
    let tool = ToolName::new("pay").unwrap();
    let call = ToolCall { label: label.into(), tool, parameters: text("pay") };
    let parts = alloc::vec![ResponsePart::Text("I pay.".into()), ResponsePart::Call(call)];
    ModelResponse { parts, finish, usage: Some(Usage::default()) }
}

#[test]
fn dur_008_an_incomplete_response_executes_nothing_and_is_not_canonical() {
    for finish in [FinishReason::Length, FinishReason::Stop] {
        let mut host = Host::new(&[]);
        assert_eq!(respond(&mut host, declares("a", finish)), End::Settled);
        assert_eq!(history(&host), ["input", "interrupted", "settled"], "{finish:?}");
        assert_eq!(host.outside.invocations(), 0);
    }
}

#[test]
fn arc_08_of_a_provider_only_its_label_enters_the_log_and_names_nothing() {
    let logs = ["toolu_01", "call_9f8"].map(|label| {
        let mut host = Host::new(&[]);
        assert_eq!(respond(&mut host, declares(label, FinishReason::ToolCalls)), End::Settled);
        host.store.log
    });
    let ids = logs.each_ref().map(|log| {
        let ids = log.iter().flat_map(|stored| stored.batch().record_ids().to_vec());
        ids.collect::<Vec<_>>()
    });
    assert_eq!(ids[0], ids[1], "no id depends on what a provider calls a call");
    let differing = logs[0]
        .iter()
        .zip(&logs[1])
        .filter(|(one, other)| one.batch().records() != other.batch().records());
    assert_eq!(differing.count(), 1, "only the response holds the label");
}

/// An intent that fits no record could never become canonical, and the first intent stands.
#[test]
fn bug_too_long_a_reason_is_refused_before_it_can_wedge_the_lane() {
    let mut host = Host::new(&[]);
    host.admit(call("1", "hello"));
    let long: alloc::string::String = core::iter::repeat_n('x', TEXT_BYTES + 1).collect();
    let abort = |reason: &str| Command::Abort {
        submission: submission("1"),
        intent: AbortIntent { principal: PrincipalId::new("ada").unwrap(), reason: reason.into() },
    };
    assert_eq!(host.store.ledger(abort(&long)), Err(Refusal::TooLong));
    host.store.ledger(abort(&long[1..])).unwrap();
    assert_eq!(host.work(), End::Settled);
    assert_eq!(history(&host), ["abort", "settled"]);
}

/// The first attempt at the errand dies after its claim; the row must not join the queue.
#[test]
fn bug_errand_stays_an_errand_however_often_it_is_claimed() {
    let mut host = Host::new(&[&["pay"]]);
    host.admit(call("1", "hello"));
    host.admit(call("2", "never"));
    let (state, effects) = host.attempt();
    host.perform(state, effects, |effect| !invokes(effect)).unwrap();
    host.wait_for_lease();
    assert_eq!(host.work(), End::Parked, "the first one is unknown");
    let intent = AbortIntent { principal: PrincipalId::new("ada").unwrap(), reason: "no".into() };
    host.store.ledger(Command::Abort { submission: submission("2"), intent }).unwrap();
    let (state, effects) = host.attempt();
    let claims = |effect: &Effect| match effect {
        Effect::Store(it) => matches!(it.commands[0], StoreCommand::Ledger(Command::Claim(_))),
        _ => false,
    };
    let crashed = host.perform(state, effects, |effect| !claims(effect));
    let Ok((_, rest)) = crashed else { panic!("it dies before its claim is answered") };
    let Some(Effect::Store(opening)) = rest.first() else { panic!("{rest:?}") };
    host.store.one(&opening.commands[0]).unwrap();
    host.wait_for_lease();
    assert_eq!(host.work(), End::Settled, "and no person has to speak on the first one");
    let row = host.store.row(submission("2")).unwrap();
    assert!(matches!(row.phase, Phase::Settled(_)), "{row:?}");
}
