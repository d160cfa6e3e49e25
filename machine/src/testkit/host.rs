//! The smallest host: performs an attempt's effects in order, one after the other.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::agent::{BOOK, binding, booking, bound, policy, step};
use super::store::Memory;
use crate::admission::{self, AdmissionMachine, Call};
use crate::agent::{
    AgentPolicy, Binding, Diagnostic, FinishReason, Joins, ModelRequest, ModelResponse,
    ResponsePart, ToolCall, ToolOutcome, Usage, Verdict,
};
use crate::attempt::{Attempt, Effect, End, Input, Setup, State};
use crate::clearance;
use crate::contract::Machine;
use crate::effect::{Answer, ApprovalQuestion, Authorization, External, Reconciliation};
use crate::event::RunEvent;
use crate::identity::{ConversationId, DurationMs, ProducerId, Token, ToolName};
use crate::json::CanonicalJson;
use crate::projection::Reader;
use crate::record::Doubt;
use crate::run::Timer;
use crate::store::{Store, StoreFault};

/// What the outside answers.
pub(crate) struct Outside {
    /// The calls of each turn; a turn beyond them answers in words.
    pub(crate) turns: Vec<Vec<&'static str>>,
    /// What is granted, and what the host's policy says.
    pub(crate) clearance: clearance::State,
    /// What the approver says at once; none leaves it to people.
    pub(crate) verdict: Option<Verdict>,
    /// What the authorizer says.
    pub(crate) authorization: Authorization,
    /// What the reconciler says.
    pub(crate) reconciliation: Reconciliation,
    /// What the checker says of every value.
    pub(crate) misfit: Option<Diagnostic>,
    /// How many starts of tools give no answer from now on.
    pub(crate) silent: usize,
    /// Every question, in order.
    pub(crate) asked: Vec<External>,
    /// Every body of a step that ran, in order: for which start, and behind how many steps.
    pub(crate) bodies: Vec<(Doubt, u32)>,
}

impl Outside {
    pub(crate) fn new(turns: &[&[&'static str]]) -> Self {
        Self {
            turns: turns.iter().map(|calls| calls.to_vec()).collect(),
            clearance: clearance::State::default(),
            verdict: Some(Verdict::Approved),
            authorization: Authorization::Allowed,
            reconciliation: Reconciliation::Unprovable,
            misfit: None,
            silent: 0,
            asked: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// How often a tool was invoked.
    pub(crate) fn invocations(&self) -> usize {
        self.asked.iter().filter(|it| matches!(it, External::InvokeTool(_))).count()
    }

    pub(crate) fn answer(&mut self, external: External) -> Answer {
        self.asked.push(external.clone());
        match external {
            External::CallModel(request) => Answer::Model {
                run: request.run,
                turn: request.turn,
                purpose: request.purpose,
                response: Ok(Arc::new(self.respond(&request))),
            },
            External::Authorize { run, turn, .. } => {
                Answer::Authorizer { run, turn, authorization: self.authorization }
            }
            External::Permits { run, calls, .. } => {
                Answer::Permitted { run, calls: calls.into_iter().map(|it| it.call).collect() }
            }
            External::Check { run, turn, subject, values } => {
                let verdicts = values.iter().map(|_| self.misfit.clone()).collect();
                Answer::Checked { run, turn, subject, verdicts }
            }
            External::Clear { run, turn, asker, calls } => {
                Answer::Cleared { run, turn, said: self.clearance.clear(&asker, &calls) }
            }
            External::Approve { run, turn, questions, .. } => {
                let answer =
                    |it: &ApprovalQuestion| self.verdict.map(|verdict| it.at_once(verdict));
                let answers = questions.iter().filter_map(answer).collect();
                Answer::Approver { run, turn, questions, answers }
            }
            External::InvokeTool(it) if self.silent > 0 => {
                self.silent -= 1;
                Answer::Unsure { start: Doubt { call: it.call, start: it.epoch } }
            }
            External::InvokeTool(it) if it.tool.as_str() == "book" => {
                let start = Doubt { call: it.call, start: it.epoch };
                self.leg(start, it.steps.len() as u32, it.parameters)
            }
            External::NextStep(it) => self.leg(it.start, it.recorded + 1, super::text("book")),
            External::InvokeTool(it) => Answer::Tool {
                start: Doubt { call: it.call, start: it.epoch },
                outcome: Arc::new(ToolOutcome::Success(it.parameters)),
            },
            External::Reconcile(it) => {
                Answer::Reconciler { doubt: it.doubt, reconciliation: self.reconciliation.clone() }
            }
        }
    }

    /// A handler with so many steps behind it: its next one, or its end.
    fn leg(&mut self, start: Doubt, ordinal: u32, result: CanonicalJson) -> Answer {
        match BOOK.get(ordinal as usize) {
            Some(name) => {
                self.bodies.push((start, ordinal));
                Answer::Step { start, ordinal, output: step(name) }
            }
            None => Answer::Tool { start, outcome: Arc::new(ToolOutcome::Success(result)) },
        }
    }

    fn respond(&self, request: &ModelRequest) -> ModelResponse {
        let calls = self.turns.get(request.turn.0 as usize).cloned().unwrap_or_default();
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let mut parts: Vec<ResponsePart> = calls.into_iter().map(declared).collect();
        parts.push(ResponsePart::Text("done".into()));
        ModelResponse { parts, finish, usage: Some(Usage::default()) }
    }
}

fn declared(tool: &str) -> ResponsePart {
    ResponsePart::Call(ToolCall {
        label: "same".into(),
        tool: ToolName::new(tool).unwrap(),
        parameters: super::text(tool),
    })
}

/// A process that serves clients and works lanes.
pub(crate) struct Host {
    pub(crate) store: Memory,
    pub(crate) outside: Outside,
    /// What attempts have told, in order.
    pub(crate) told: Vec<RunEvent>,
    /// The agent that its attempts work with.
    pub(crate) binding: Arc<Binding>,
    tokens: u8,
}

impl Host {
    pub(crate) fn new(turns: &[&[&'static str]]) -> Self {
        let conversation = ConversationId::new("main").unwrap();
        Self {
            store: Memory::new(conversation),
            outside: Outside::new(turns),
            told: Vec::new(),
            binding: binding(),
            tokens: 0,
        }
    }

    /// The same with an agent that has a durable tool as well.
    pub(crate) fn booking(turns: &[&[&'static str]]) -> Self {
        Self::joining(turns, Joins::None)
    }

    /// The same with an agent that answers together what this says.
    pub(crate) fn joining(turns: &[&[&'static str]], joins: Joins) -> Self {
        let desk = booking();
        let policy = AgentPolicy { joins, ..policy() };
        Self { binding: bound(desk.definition.tools().to_vec(), policy), ..Self::new(turns) }
    }

    /// Serves one client call to its end.
    pub(crate) fn admit(&mut self, call: Call) -> admission::Effect {
        let state = admission::State::new(call);
        let mut step = AdmissionMachine::step(state, admission::Input::Started);
        loop {
            match step.effects.pop().expect("an admission always asks for something") {
                admission::Effect::Store(pipeline) => {
                    let answer = self.store.execute(&pipeline);
                    step = AdmissionMachine::step(step.state, admission::Input::Stored(answer));
                }
                answered => return answered,
            }
        }
    }

    /// A new attempt at the lane, begun.
    pub(crate) fn attempt(&mut self) -> (State, Vec<Effect>) {
        self.attempt_with(None)
    }

    /// The same in a process that remembers what an earlier one has folded.
    pub(crate) fn attempt_with(&mut self, fold: Option<Reader>) -> (State, Vec<Effect>) {
        self.tokens += 1;
        let setup = Setup {
            lane: self.store.lane.conversation.clone(),
            producer: ProducerId::new("worker").unwrap(),
            binding: self.binding.clone(),
            lease: DurationMs(30_000),
            renewal: DurationMs(10_000),
            watched: true,
        };
        let token = Token([self.tokens; 16]);
        let state = match fold {
            Some(fold) => State::remembering(setup, fold),
            None => State::new(setup),
        };
        let step = Attempt::step(state, Input::Started { token });
        (step.state, step.effects)
    }

    /// Works the lane until an attempt ends.
    pub(crate) fn work(&mut self) -> End {
        let (state, effects) = self.attempt();
        let goes_on = |_: &Effect| true;
        self.perform(state, effects, goes_on).expect_err("nothing stops the attempt")
    }

    /// Performs effects in order, and those that follow, until `goes_on` says no to one that is
    /// about to be performed, which is a crash just before it. Ok is the stopped attempt and what
    /// it was about to do.
    pub(crate) fn perform(
        &mut self,
        mut state: State,
        effects: Vec<Effect>,
        mut goes_on: impl FnMut(&Effect) -> bool,
    ) -> Result<(State, Vec<Effect>), End> {
        let mut queue = VecDeque::from(effects);
        while let Some(effect) = queue.pop_front() {
            if !goes_on(&effect) {
                queue.push_front(effect);
                return Ok((state, queue.into()));
            }
            let input = match effect {
                Effect::Store(pipeline) => {
                    let answer = self.store.execute(&pipeline);
                    if answer.is_err() {
                        queue.clear();
                    }
                    Input::Stored(answer)
                }
                Effect::External(external) => Input::Answered(self.outside.answer(external)),
                Effect::Tell { event, .. } => {
                    self.told.push(event);
                    continue;
                }
                // Its calls have had their time.
                Effect::Schedule { timer: timer @ Timer::CallOff, .. } => Input::Due(timer),
                Effect::CallOff
                | Effect::CancelExternals
                | Effect::ScheduleRenewal { .. }
                | Effect::Schedule { .. } => continue,
                Effect::End(end) => return Err(end),
            };
            let step = Attempt::step(state, input);
            state = step.state;
            queue.extend(step.effects);
        }
        panic!("the attempt waits for nothing: {state:?}")
    }

    /// Lets every lease run out.
    pub(crate) fn wait_for_lease(&mut self) {
        self.store.now = self.store.now.after(DurationMs(60_000));
    }
}

/// A store fault that says nothing.
pub(crate) const LOST: StoreFault = StoreFault::Indeterminate;
