//! A scenario made ready to be played: everything that never changes while a world runs.
//!
//! Ids are derived once, model answers are built once, and every call that a run could declare is
//! known by its id before it is declared. A world only looks up.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_machine::admission::Call;
use everstep_machine::agent::{
    AgentDefinition, Allowance, Binding, Diagnostic, FinishReason, ModelFault, ModelResponse,
    Resolution, ResponsePart, ToolCall, ToolOutcome, Usage,
};
use everstep_machine::digest::Digest;
use everstep_machine::effect::{ApprovalAnswer, ApprovalQuestion, Authorization};
use everstep_machine::identity::{
    ConversationId, DurationMs, ProducerId, RunId, SubmissionId, ToolCallId, ToolName, Turn,
};
use everstep_machine::ledger::{AbortIntent, Command};
use everstep_machine::limits::RENEWAL_MS;
use everstep_machine::store::{Pipeline, StoreCommand};

use foldhash::fast::FixedState;

use crate::defect::Defect;
use crate::fingerprint::Printed;
use crate::profile::Profile;
use crate::scenario::{AbortMoment, AbortScript, Scenario, SubmissionScript, TurnScript, fallback};

/// The least that [`Cast::step_bound`] is.
const STEPS: u64 = 20_000;

/// What a model says to a turn.
pub(crate) type ModelAnswer = Result<Arc<ModelResponse>, ModelFault>;

/// A scenario and everything that follows from it.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) profile: Profile,
    pub(crate) defect: Option<Defect>,
    pub(crate) binding: Arc<Binding>,
    pub(crate) lanes: Vec<ConversationId>,
    pub(crate) clients: Vec<Client>,
    pub(crate) aborts: Vec<Abort>,
    pub(crate) workers: Vec<ProducerId>,
    /// Micro-events after which a world of this scenario has no excuse for not having ended.
    pub(crate) step_bound: u64,
    /// Batches that some world of this scenario has verified.
    pub(crate) verified: Verified,
    tools: Vec<Tool>,
    calls: BTreeMap<ToolCallId, Declared>,
}

/// A client with its one call.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) call: Call,
    pub(crate) lane: usize,
    pub(crate) submission: SubmissionId,
    pub(crate) run: RunId,
    answers: Vec<ModelAnswer>,
}

/// A client's abort.
#[derive(Debug)]
pub(crate) struct Abort {
    pub(crate) lane: usize,
    pub(crate) moment: AbortMoment,
    pub(crate) pipeline: Arc<Printed<Pipeline>>,
}

/// What a tool does.
#[derive(Debug)]
pub(crate) struct Tool {
    name: ToolName,
    pub(crate) latency: DurationMs,
    pub(crate) outcome: Arc<ToolOutcome>,
    pub(crate) reconciles: bool,
    /// What who looks says of a start that ran.
    pub(crate) honest: Resolution,
    denied: bool,
    /// Whether the approver turns it down.
    disapproved: bool,
    scripted: Option<Resolution>,
}

/// A call that a run may declare.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) submission: SubmissionId,
    pub(crate) run: RunId,
    pub(crate) turn: Turn,
    pub(crate) tool: ToolName,
}

impl Cast {
    pub(crate) fn new(scenario: Arc<Scenario>, profile: Profile, defect: Option<Defect>) -> Self {
        let binding = Arc::new(binding(&scenario));
        let mut lanes = Vec::new();
        for submission in &scenario.submissions {
            if !lanes.contains(&submission.conversation) {
                lanes.push(submission.conversation.clone());
            }
        }
        let clients: Vec<_> =
            scenario.submissions.iter().map(|it| client(it, &lanes, &binding)).collect();
        let aborts = scenario.aborts.iter().map(|it| abort(it, &clients)).collect();
        let workers = (1..=scenario.workers).map(|number| producer(&format!("worker-{number}")));
        let mut cast = Self {
            profile,
            defect,
            binding,
            lanes,
            aborts,
            workers: workers.collect(),
            step_bound: 0,
            verified: Verified::default(),
            tools: tools(&scenario),
            calls: calls(&clients, scenario.agent.max_turns),
            clients,
            scenario,
        };
        cast.step_bound = cast.patience();
        cast
    }

    /// Many times what the scenario takes when nothing breaks: each submission, each turn, each
    /// call, and each renewal while a slow tool runs.
    fn patience(&self) -> u64 {
        let renewals =
            |call: &Declared| self.tool(&call.tool).map_or(0, |tool| tool.latency.0 / RENEWAL_MS);
        let calls: u64 = self.calls.values().map(|call| 50 + 10 * renewals(call)).sum();
        let turns = u64::from(self.scenario.agent.max_turns) * 50;
        let submissions = self.clients.len() as u64 * (200 + turns);
        STEPS.max(16 * (submissions + calls))
    }

    /// A tool of the agent.
    pub(crate) fn tool(&self, name: &ToolName) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == *name)
    }

    /// A call that some run may declare.
    pub(crate) fn declared(&self, call: ToolCallId) -> Option<&Declared> {
        self.calls.get(&call)
    }

    /// What the model says. Beyond its script it repeats the last turn.
    pub(crate) fn answer(&self, run: RunId, turn: Turn) -> ModelAnswer {
        let script = self.clients.iter().find(|client| client.run == run);
        let answer = script.and_then(|client| client.scripted(turn));
        answer.cloned().unwrap_or_else(|| {
            Err(ModelFault::Protocol(Diagnostic::cut("NoScript", "the model has no script")))
        })
    }

    /// Whether the host lets these calls start.
    pub(crate) fn authorize(&self, calls: &[ToolCallId]) -> Authorization {
        let allowed = calls.iter().all(|call| {
            let tool = self.declared(*call).and_then(|declared| self.tool(&declared.tool));
            tool.is_some_and(|tool| !tool.denied)
        });
        if allowed { Authorization::Allowed } else { Authorization::Denied }
    }

    /// Whether an approver lets this call start.
    pub(crate) fn approve(&self, question: &ApprovalQuestion) -> ApprovalAnswer {
        let approved = self.tool(&question.tool).is_some_and(|tool| !tool.disapproved);
        ApprovalAnswer { call: question.call, digest: question.digest, approved }
    }

    /// What the scenario's operator is told to say of a tool.
    pub(crate) fn scripted_resolution(&self, tool: &ToolName) -> Option<&Resolution> {
        self.tool(tool).and_then(|tool| tool.scripted.as_ref())
    }

    /// The name of a submission in the scenario.
    pub(crate) fn name_of(&self, submission: SubmissionId) -> &str {
        let client = self.clients.iter().position(|it| it.submission == submission);
        client.map_or("a submission of nobody", |at| &self.scenario.submissions[at].name)
    }
}

impl Client {
    fn scripted(&self, turn: Turn) -> Option<&ModelAnswer> {
        self.answers.get(turn.0 as usize).or(self.answers.last())
    }
}

/// Links of chains that are known to be sound: a pure memo, shared by every clone of a world. The
/// link names everything before it, so one look at a batch is enough.
#[derive(Debug, Default)]
pub(crate) struct Verified(Mutex<HashSet<Digest, FixedState>>);

impl Verified {
    pub(crate) fn is_new(&self, link: Digest) -> bool {
        !self.links().contains(&link)
    }

    pub(crate) fn add(&self, link: Digest) {
        self.links().insert(link);
    }

    /// A panic elsewhere leaves a sound memo behind.
    fn links(&self) -> MutexGuard<'_, HashSet<Digest, FixedState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn producer(name: &str) -> ProducerId {
    ProducerId::new(name).expect("ARC-09: a producer's name is short and plain")
}

fn binding(scenario: &Scenario) -> Binding {
    let agent = &scenario.agent;
    let tools = scenario.tools.iter().map(|tool| tool.definition.clone()).collect();
    let definition =
        AgentDefinition::new(agent.id.clone(), &agent.instructions, tools, agent.max_turns)
            .expect("ARC-09: a checked scenario holds a sound agent");
    Binding { definition, model: Digest::of("everstep/scripted-model", b"1") }
}

fn client(script: &SubmissionScript, lanes: &[ConversationId], binding: &Arc<Binding>) -> Client {
    let submission = SubmissionId::derive(&script.conversation, &script.principal, &script.key);
    let lane = lanes.iter().position(|lane| *lane == script.conversation);
    Client {
        call: Call {
            conversation: script.conversation.clone(),
            principal: script.principal.clone(),
            tenant: script.tenant.clone(),
            key: script.key.clone(),
            input: script.input.clone(),
            allowance: Allowance::default(),
            binding: Arc::clone(binding),
            producer: producer("door"),
        },
        lane: lane.expect("DUR-004: every conversation of the scenario is a lane"),
        submission,
        run: RunId::derive(submission),
        answers: script.turns.iter().map(answer).collect(),
    }
}

fn answer(turn: &TurnScript) -> ModelAnswer {
    match turn {
        TurnScript::Fault(fault) => Err(fault.clone()),
        TurnScript::Answer { text, calls } => {
            let words = text.iter().map(|text| ResponsePart::Text(Arc::from(text.as_str())));
            // Labels start anew with every turn: an engine that takes them for ids is found out.
            let calls = calls.iter().enumerate().map(|(index, call)| {
                ResponsePart::Call(ToolCall {
                    label: Arc::from(format!("call_{index}")),
                    tool: call.tool.clone(),
                    parameters: call.parameters.clone(),
                })
            });
            let parts: Vec<_> = words.chain(calls).collect();
            let asks = parts.iter().any(|part| matches!(part, ResponsePart::Call(_)));
            let finish = if asks { FinishReason::ToolCalls } else { FinishReason::Stop };
            let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
            Ok(Arc::new(ModelResponse { parts, finish, usage: Some(usage) }))
        }
    }
}

fn abort(script: &AbortScript, clients: &[Client]) -> Abort {
    let client = &clients[script.submission];
    let intent = AbortIntent {
        principal: script.principal.clone(),
        reason: Arc::from(script.reason.as_str()),
    };
    let command = Command::Abort { submission: client.submission, intent };
    let pipeline = Pipeline {
        lane: client.call.conversation.clone(),
        commands: vec![StoreCommand::Ledger(command)],
    };
    Abort { lane: client.lane, moment: script.moment, pipeline: Arc::new(Printed::new(pipeline)) }
}

fn tools(scenario: &Scenario) -> Vec<Tool> {
    let tools = scenario.tools.iter().map(|tool| {
        let name = tool.definition.name.clone();
        let scripted = scenario.resolutions.iter().find(|it| it.tool == name);
        Tool {
            latency: tool.latency,
            outcome: Arc::new(tool.outcome.clone()),
            reconciles: tool.definition.reconciles,
            honest: fallback(tool),
            denied: scenario.denied.contains(&name),
            disapproved: false,
            scripted: scripted.map(|it| it.resolution.clone()),
            name,
        }
    });
    tools.collect()
}

fn calls(clients: &[Client], max_turns: u32) -> BTreeMap<ToolCallId, Declared> {
    let mut calls = BTreeMap::new();
    for client in clients {
        for turn in (0..max_turns).map(Turn) {
            let Some(Ok(response)) = client.scripted(turn) else { continue };
            for (index, call) in response.calls().enumerate() {
                let (submission, run, tool) = (client.submission, client.run, call.tool.clone());
                let id = ToolCallId::derive(run, turn, index);
                calls.insert(id, Declared { submission, run, turn, tool });
            }
        }
    }
    calls
}
