//! The smallest agent and host: real admissions and real attempts on any store.

use std::collections::VecDeque;
use std::sync::Arc;

use everstep_machine::admission::{self, AdmissionMachine, Call, Receipt};
use everstep_machine::agent::{
    AgentDefinition, Allowance, Binding, ExecutionClass, FinishReason, ModelRequest, ModelResponse,
    ResponsePart, ToolCall, ToolDefinition, ToolOutcome, Usage,
};
use everstep_machine::attempt::{Attempt, Effect, End, Input, Setup, State};
use everstep_machine::contract::Machine;
use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, Authorization, External, Reconciliation};
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, IdempotencyKey, PrincipalId, ProducerId, TenantId, Token,
    ToolName,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Doubt;
use everstep_machine::store::Store;

fn binding() -> Arc<Binding> {
    let pay = ToolDefinition::new(ToolName::new("pay").unwrap(), ExecutionClass::Ordinary);
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::new(id, "You refund.", vec![pay], 4).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"scripted") })
}

pub(crate) fn call(conversation: &ConversationId, key: &str, input: &str) -> Call {
    Call {
        conversation: conversation.clone(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        input: CanonicalJson::string(input).unwrap(),
        allowance: Allowance::default(),
        steers: None,
        binding: binding(),
        producer: ProducerId::new("front").unwrap(),
    }
}

/// Serves one client call to its receipt.
pub(crate) fn admit(store: &mut impl Store, call: Call) -> Receipt {
    let mut step = AdmissionMachine::step(admission::State::new(call), admission::Input::Started);
    loop {
        match step.effects.pop() {
            Some(admission::Effect::Store(pipeline)) => {
                let answer = store.execute(&pipeline);
                step = AdmissionMachine::step(step.state, admission::Input::Stored(answer));
            }
            Some(admission::Effect::Accept(receipt)) => return receipt,
            other => panic!("not accepted: {other:?}"),
        }
    }
}

/// A process that works lanes.
pub(crate) struct Worker {
    /// The tools that the model calls in its first turn.
    pub(crate) calls: Vec<&'static str>,
    tokens: u8,
}

impl Worker {
    pub(crate) const fn new(calls: Vec<&'static str>) -> Self {
        Self { calls, tokens: 0 }
    }

    /// Works a lane until an attempt ends.
    pub(crate) fn work(&mut self, store: &mut impl Store, lane: &ConversationId) -> End {
        self.tokens += 1;
        let setup = Setup {
            lane: lane.clone(),
            producer: ProducerId::new("worker").unwrap(),
            binding: binding(),
            lease: DurationMs(30_000),
            renewal: DurationMs(10_000),
            watched: false,
        };
        let token = Token([self.tokens; 16]);
        let mut step = Attempt::step(State::new(setup), Input::Started { token });
        let mut queue = VecDeque::from(step.effects);
        while let Some(effect) = queue.pop_front() {
            let input = match effect {
                Effect::Store(pipeline) => {
                    let answer = store.execute(&pipeline);
                    if answer.is_err() {
                        queue.clear();
                    }
                    Input::Stored(answer)
                }
                Effect::External(external) => Input::Answered(self.answer(external)),
                Effect::CallOff
                | Effect::CancelExternals
                | Effect::ScheduleRenewal { .. }
                | Effect::Schedule { .. }
                | Effect::Tell { .. } => continue,
                Effect::End(end) => return end,
            };
            step = Attempt::step(step.state, input);
            queue.extend(step.effects);
        }
        panic!("the attempt waits for nothing")
    }

    fn answer(&self, external: External) -> Answer {
        match external {
            External::CallModel(request) => Answer::Model {
                run: request.run,
                turn: request.turn,
                purpose: request.purpose,
                response: Ok(Arc::new(self.respond(&request))),
            },
            External::Clear { .. } => external.cleared().expect("a question about calls"),
            External::Check { .. } | External::Approve { .. } | External::NextStep(_) => {
                panic!("nobody wants it")
            }
            External::Authorize { run, turn, .. } => {
                Answer::Authorizer { run, turn, authorization: Authorization::Allowed }
            }
            External::Permits { run, calls, .. } => {
                Answer::Permitted { run, calls: calls.into_iter().map(|it| it.call).collect() }
            }
            External::InvokeTool(it) => Answer::Tool {
                start: Doubt { call: it.call, start: it.epoch },
                outcome: Arc::new(ToolOutcome::Success(it.parameters)),
            },
            External::Reconcile(it) => {
                Answer::Reconciler { doubt: it.doubt, reconciliation: Reconciliation::Unprovable }
            }
        }
    }

    fn respond(&self, request: &ModelRequest) -> ModelResponse {
        let calls = if request.turn.0 == 0 { &self.calls[..] } else { &[] };
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let mut parts: Vec<ResponsePart> = calls.iter().map(|tool| declared(tool)).collect();
        parts.push(ResponsePart::Text("done".into()));
        ModelResponse { parts, finish, usage: Some(Usage::default()) }
    }
}

fn declared(tool: &str) -> ResponsePart {
    ResponsePart::Call(ToolCall {
        label: "same".into(),
        tool: ToolName::new(tool).unwrap(),
        parameters: CanonicalJson::string(tool).unwrap(),
    })
}
