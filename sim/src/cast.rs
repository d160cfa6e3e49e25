//! A scenario made ready to be played: everything that never changes while a world runs.
//!
//! Ids are derived once, model answers are built once, and every call that a run could declare is
//! known by its id before it is declared. A world only looks up.

mod canary;
mod clearances;
mod retry;
mod verified;

use std::collections::BTreeMap;
use std::sync::Arc;

use everstep_machine::admission::Call;
use everstep_machine::agent::{
    Binding, Bound, Diagnostic, Judgement, LostResponse, ModelFault, ModelResponse, Resolution,
    RetryClass, StepOutput, ToolOutcome, Verdict,
};
use everstep_machine::approval;
use everstep_machine::clearance::Said;
use everstep_machine::digest::Digest;
use everstep_machine::effect::{ApprovalQuestion, Asker, Fitting, Invocation};
use everstep_machine::identity::{
    ConversationId, DurationMs, ProducerId, RunId, SubmissionId, ToolCallId, ToolName, Turn,
};
use everstep_machine::ledger::{AbortIntent, Command};
use everstep_machine::limits::RENEWAL_MS;
use everstep_machine::record::Resolver;
use everstep_machine::store::{Pipeline, StoreCommand};
use everstep_schema::Checker;

use crate::defect::Defect;
use crate::fingerprint::Printed;
use crate::profile::Profile;
use crate::scenario::{
    AbortScript, AgentScript, FaultScript, Function, GroupScript, ModelScript, Occasion,
    RevisionScript, Says, Scenario, Silence, SubmissionScript, TurnScript, fallback,
};

pub(crate) use canary::Canaries;
pub(crate) use clearances::Clearances;
pub(crate) use retry::Retry;
pub(crate) use verified::Verified;

/// The least that [`Cast::step_bound`] is.
const STEPS: u64 = 20_000;

/// What a model says to a turn.
pub(crate) type ModelAnswer = Result<Arc<ModelResponse>, LostResponse>;

/// A scenario and everything that follows from it.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) profile: Profile,
    pub(crate) defect: Option<Defect>,
    pub(crate) binding: Arc<Binding>,
    /// What runs of it are bound to.
    pub(crate) bound: Bound,
    /// What the agent becomes for workers that start again.
    pub(crate) revised: Option<Revised>,
    pub(crate) lanes: Vec<ConversationId>,
    pub(crate) clients: Vec<Client>,
    pub(crate) aborts: Vec<Abort>,
    pub(crate) retries: Vec<Retry>,
    pub(crate) workers: Vec<ProducerId>,
    /// Micro-events after which a world of this scenario has no excuse for not having ended.
    pub(crate) step_bound: u64,
    /// Batches that some world of this scenario has verified.
    pub(crate) verified: Verified,
    /// Texts that nobody may ever keep or be shown.
    pub(crate) canaries: Canaries,
    /// What processes may do, and what is left of it once something was taken back.
    pub(crate) clearances: Clearances,
    /// Says whether values fit schemas, the same in every world.
    pub(crate) checker: Checker,
    tools: Vec<Tool>,
    calls: BTreeMap<ToolCallId, Declared>,
}

/// What an agent has become.
#[derive(Debug)]
pub(crate) struct Revised {
    pub(crate) binding: Arc<Binding>,
    /// What runs of it are bound to.
    pub(crate) bound: Bound,
    /// Whether the operator has runs bound to it that are bound to what the agent was.
    pub(crate) rebinds: bool,
    /// Whether a week passes for it while somebody is held up, too.
    pub(crate) outlasts_pauses: bool,
}

/// A client with its one call.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) call: Call,
    pub(crate) lane: usize,
    pub(crate) submission: SubmissionId,
    pub(crate) run: RunId,
    /// When it speaks, if it is said to a run: of this submission.
    pub(crate) steers: Option<(SubmissionId, Occasion)>,
    turns: Vec<Scripted>,
}

/// One turn of a script.
#[derive(Debug)]
pub(crate) struct Scripted {
    /// What the first who ask for it meet.
    pub(crate) faults: Vec<FaultScript>,
    /// What it says.
    answer: Result<Arc<ModelResponse>, FaultScript>,
}

/// A client's abort.
#[derive(Debug)]
pub(crate) struct Abort {
    pub(crate) lane: usize,
    pub(crate) moment: Occasion,
    pub(crate) pipeline: Arc<Printed<Pipeline>>,
}

/// What a tool does.
#[derive(Debug)]
pub(crate) struct Tool {
    name: ToolName,
    pub(crate) latency: DurationMs,
    /// How long a host lets it run.
    pub(crate) timeout: DurationMs,
    /// How many starts of each call give no answer.
    pub(crate) silent_starts: usize,
    pub(crate) silence: Silence,
    /// How many starts of each call kill their process.
    pub(crate) deadly_starts: usize,
    /// Whether its host tries a call again that had no effect.
    pub(crate) retry: RetryClass,
    /// How many tries of each call fail for a passing reason.
    pub(crate) passing_failures: u32,
    /// What a durable one is made of, in the first start of a call and in later ones.
    steps: [Vec<Arc<StepOutput>>; 2],
    pub(crate) outcome: Arc<ToolOutcome>,
    /// What says instead how each call ends, if something does.
    pub(crate) function: Option<Function>,
    pub(crate) reconciles: bool,
    /// What who looks says of a start that ran.
    pub(crate) honest: Resolution,
    pub(crate) denied: bool,
    /// Whether the approver leaves it to people.
    people: bool,
    /// Whether whoever is asked turns it down.
    disapproved: bool,
    scripted: Option<Resolution>,
}

/// A call that a run may declare.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) submission: SubmissionId,
    pub(crate) run: RunId,
    pub(crate) turn: Turn,
    /// Of which tool; a live model alone knows that, and the outside remembers it.
    pub(crate) tool: Option<ToolName>,
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
            scenario.submissions.iter().map(|it| client(&scenario, it, &lanes, &binding)).collect();
        let aborts = scenario.aborts.iter().map(|it| abort(it, &clients)).collect();
        let retries = retry::retries(&scenario, &clients);
        let workers = (1..=scenario.workers).map(|number| producer(&format!("worker-{number}")));
        let checker = Checker::new();
        let mut cast = Self {
            profile,
            defect,
            bound: binding.bound(),
            revised: scenario.revision.as_ref().map(|it| revised(&scenario, it)),
            clearances: Clearances::of(&scenario, &clients),
            binding,
            lanes,
            aborts,
            retries,
            workers: workers.collect(),
            step_bound: 0,
            verified: Verified::default(),
            canaries: Canaries::of(&scenario),
            tools: tools(&scenario, &checker),
            checker,
            calls: BTreeMap::new(),
            clients,
            scenario,
        };
        cast.calls = calls(cast.runs(), &cast.scenario);
        cast.step_bound = cast.patience();
        cast
    }

    /// Many times what the scenario takes when nothing breaks: each submission, each turn, each
    /// call, and each renewal while a slow tool runs.
    fn patience(&self) -> u64 {
        let takes = |tool: &Tool| {
            let silent = tool.silent_starts as u64 * tool.timeout.0;
            silent + tool.latency.0.min(tool.timeout.0) * (1 + tool.most_steps())
        };
        let slowest = self.tools.iter().map(takes).max().unwrap_or_default();
        let latency = |call: &Declared| match &call.tool {
            Some(tool) => self.tool(tool).map_or(0, takes),
            None => slowest,
        };
        let renewals = |call: &Declared| latency(call) / RENEWAL_MS;
        let steps = self.tools.iter().map(Tool::most_steps).max().unwrap_or_default();
        let takes = |call: &Declared| 50 * (1 + steps) + 10 * renewals(call);
        let calls: u64 = self.calls.values().map(takes).sum();
        let policy = &self.scenario.agent.policy;
        let pause = policy.retry.longest.0 + policy.model_timeout.0;
        let pauses = u64::from(policy.retry.retries) * (50 + 10 * (pause / RENEWAL_MS));
        let turns = u64::from(self.scenario.agent.max_turns() + 1) * (50 + pauses);
        let submissions = self.runs().count() as u64 * (200 + turns);
        STEPS.max(16 * (submissions + calls))
    }

    /// Every run that there may be: those of clients, and those that try one again.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Client> {
        self.clients.iter().chain(self.retries.iter().map(|retry| &retry.successor))
    }

    /// A tool of the agent.
    pub(crate) fn tool(&self, name: &ToolName) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == *name)
    }

    /// A call that some run may declare.
    pub(crate) fn declared(&self, call: ToolCallId) -> Option<&Declared> {
        self.calls.get(&call)
    }

    /// What a script says to a turn. Beyond its end it repeats the last turn.
    pub(crate) fn scripted(&self, run: RunId, turn: Turn) -> Option<&Scripted> {
        self.runs().find(|client| client.run == run)?.scripted(turn)
    }

    /// What a scripted model answers once nothing is in its way.
    pub(crate) fn answer(&self, run: RunId, turn: Turn) -> Result<Arc<ModelResponse>, FaultScript> {
        let scripted = self.scripted(run, turn).map(|turn| turn.answer.clone());
        scripted.unwrap_or_else(|| {
            let why = Diagnostic::cut("NoScript", "the model has no script");
            Err(FaultScript { fault: ModelFault::Protocol(why), is_silent: false, used: None })
        })
    }

    /// How long a model may take to answer.
    pub(crate) fn model_timeout(&self) -> DurationMs {
        self.scenario.agent.policy.model_timeout
    }

    /// Whether what a call is made with is what its tool takes.
    pub(crate) fn fits(&self, call: &Invocation) -> bool {
        self.binding.definition.tool(&call.tool).is_none_or(|tool| {
            let (schema, value) = (tool.parameters.clone(), call.parameters.clone());
            schema.is_anything() || self.checker.check(&Fitting { schema, value }).is_none()
        })
    }

    /// What the policy says of the calls of a tool.
    pub(crate) fn judgement(&self, tool: &ToolName) -> Judgement {
        let (client, definition) = (self.clients.first(), self.binding.definition.tool(tool));
        let (Some(client), Some(tool)) = (client, definition) else { return Judgement::Deny };
        let asker = Asker {
            tenant: client.call.tenant.clone(),
            principal: client.call.principal.clone(),
            conversation: client.call.conversation.clone(),
            binding: self.binding.clone(),
        };
        self.clearances.whole.ruling(&asker, tool).judgement
    }

    /// The group of a tool, if its calls wait for places.
    pub(crate) fn group_of(&self, tool: &ToolName) -> Option<&GroupScript> {
        let group = self.binding.definition.tool(tool)?.group.as_ref()?;
        self.scenario.groups.iter().find(|it| it.name == *group)
    }

    /// What an approver says at once of a call, if it does not leave it to people.
    pub(crate) fn approve(&self, question: &ApprovalQuestion) -> Option<Said> {
        let is_left = self.tool(&question.tool).is_some_and(|tool| tool.people);
        let answer = match self.verdict(&question.tool) {
            Verdict::Denied => approval::Answer::Deny,
            Verdict::Approved if self.scenario.allows_for_session => approval::Answer::ForSession,
            Verdict::Approved => approval::Answer::Once,
        };
        let (by, reason) = (Resolver::Policy, Arc::from("decided at once"));
        (!is_left).then_some(Said { answer, by, reason })
    }

    /// What is said of the calls of a tool, by whoever says it.
    pub(crate) fn verdict(&self, tool: &ToolName) -> Verdict {
        match self.tool(tool) {
            Some(tool) if !tool.disapproved => Verdict::Approved,
            Some(_) | None => Verdict::Denied,
        }
    }

    /// What the scenario's operator is told to say of a tool.
    pub(crate) fn scripted_resolution(&self, tool: &ToolName) -> Option<&Resolution> {
        self.tool(tool).and_then(|tool| tool.scripted.as_ref())
    }

    /// The name of a submission in the scenario.
    pub(crate) fn name_of(&self, submission: SubmissionId) -> &str {
        let client = self.clients.iter().position(|it| it.submission == submission);
        let retry = self.retries.iter().find(|it| it.successor.submission == submission);
        match (client, retry) {
            (Some(at), _) => &self.scenario.submissions[at].name,
            (None, Some(retry)) => &retry.name,
            (None, None) => "a submission of nobody",
        }
    }
}

impl Tool {
    /// What a start of a durable call is made of.
    pub(crate) fn steps(&self, is_first: bool) -> &[Arc<StepOutput>] {
        let [first, later] = &self.steps;
        if is_first { first } else { later }
    }

    fn most_steps(&self) -> u64 {
        self.steps.iter().map(|steps| steps.len() as u64).max().unwrap_or_default()
    }
}

impl Client {
    fn scripted(&self, turn: Turn) -> Option<&Scripted> {
        self.turns.get(turn.0 as usize).or(self.turns.last())
    }
}

fn producer(name: &str) -> ProducerId {
    ProducerId::new(name).expect("ARC-09: a producer's name is short and plain")
}

fn binding(scenario: &Scenario) -> Binding {
    let tools = scenario.tools.iter().map(|tool| tool.definition.clone()).collect();
    let definition = scenario.agent.definition(tools);
    Binding { definition, model: Digest::of("everstep/scripted-model", b"1") }
}

fn revised(scenario: &Scenario, revision: &RevisionScript) -> Revised {
    let instructions = revision.instructions.clone();
    let agent = AgentScript { instructions, ..scenario.agent.clone() };
    let tools = scenario.tools.iter().map(|tool| tool.definition.clone()).collect();
    let binding = Binding { definition: agent.definition(tools), ..binding(scenario) };
    let bound = binding.bound();
    let RevisionScript { rebinds, outlasts_pauses, .. } = *revision;
    Revised { binding: Arc::new(binding), bound, rebinds, outlasts_pauses }
}

fn submission(script: &SubmissionScript) -> SubmissionId {
    SubmissionId::derive(&script.conversation, &script.principal, &script.key)
}

fn client(
    scenario: &Scenario,
    script: &SubmissionScript,
    lanes: &[ConversationId],
    binding: &Arc<Binding>,
) -> Client {
    let steers = script.steers.map(|it| (submission(&scenario.submissions[it.host]), it.moment));
    let submission = submission(script);
    let lane = lanes.iter().position(|lane| *lane == script.conversation);
    Client {
        call: Call {
            conversation: script.conversation.clone(),
            principal: script.principal.clone(),
            tenant: script.tenant.clone(),
            key: script.key.clone(),
            input: script.input.clone(),
            allowance: script.allowance,
            steers: steers.map(|(host, _)| host),
            binding: Arc::clone(binding),
            producer: producer("door"),
        },
        lane: lane.expect("DUR-004: every conversation of the scenario is a lane"),
        submission,
        run: RunId::derive(submission),
        steers,
        turns: script.turns.iter().map(scripted).collect(),
    }
}

fn scripted(turn: &TurnScript) -> Scripted {
    let answer = match &turn.says {
        Says::Fault(fault) => Err(fault.clone()),
        Says::Answer(answer) => Ok(Arc::new(answer.response())),
    };
    Scripted { faults: turn.faults.clone(), answer }
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

/// What a tool returns is held against what it declares, as a host does (CAP-004).
fn tools(scenario: &Scenario, checker: &Checker) -> Vec<Tool> {
    let tools = scenario.tools.iter().map(|tool| {
        let name = tool.definition.name.clone();
        let outcome = checker.outcome(&tool.definition, tool.outcome.clone());
        let scripted = scenario.resolutions.iter().find(|it| it.tool == name);
        Tool {
            latency: tool.latency,
            timeout: tool.definition.timeout,
            silent_starts: tool.silent_starts as usize,
            silence: tool.silence,
            deadly_starts: tool.deadly_starts as usize,
            retry: tool.definition.retry,
            passing_failures: tool.passing_failures,
            steps: {
                let later = tool.later_steps.as_ref().unwrap_or(&tool.steps);
                [&tool.steps, later].map(|steps| steps.iter().cloned().map(Arc::new).collect())
            },
            reconciles: tool.definition.reconciles,
            honest: fallback(&outcome),
            outcome: Arc::new(outcome),
            function: tool.function.clone(),
            denied: scenario.denied.contains(&name),
            people: scenario.people.contains(&name),
            disapproved: scenario.disapproved.contains(&name),
            scripted: scripted.map(|it| it.resolution.clone()),
            name,
        }
    });
    tools.collect()
}

fn calls<'a>(
    clients: impl Iterator<Item = &'a Client>,
    scenario: &Scenario,
) -> BTreeMap<ToolCallId, Declared> {
    let mut calls = BTreeMap::new();
    for client in clients {
        let (submission, run) = (client.submission, client.run);
        for turn in (0..scenario.agent.max_turns()).map(Turn) {
            let tools: Vec<_> = match (&scenario.model, client.scripted(turn)) {
                (ModelScript::Scripted, Some(Scripted { answer: Ok(response), .. })) => {
                    response.calls().map(|call| Some(call.tool.clone())).collect()
                }
                (ModelScript::Scripted, _) => Vec::new(),
                (ModelScript::Live(rules), _) => {
                    let most = rules.iter().map(|rule| rule.then.calls.len()).max();
                    vec![None; most.unwrap_or_default()]
                }
            };
            for (index, tool) in tools.into_iter().enumerate() {
                let id = ToolCallId::derive(run, turn, index);
                calls.insert(id, Declared { submission, run, turn, tool });
            }
        }
    }
    calls
}
