//! The parts of a scenario before they are checked: what both a file and Rust code fill in.
//!
//! Each part remembers where it was said, so that [`check`](super::check) can say what is wrong
//! without knowing which of the two it came from.

use std::ops::Range;
use std::panic::Location;

use everstep_machine::agent::{
    AgentPolicy, Allowance, Dimension, ExecutionClass, FailureMode, Judgement, RetryClass, Risk,
    Usage,
};
use everstep_machine::record::{FinishKind, Outcome, PolicyLimit};

use super::Silence;
use super::fault::Fault;
use super::function::Function;
use super::words::FaultKind;

/// Where something was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Bytes of a file.
    Text(Range<usize>),
    /// A call of the builder.
    Rust(&'static Location<'static>),
}

/// A fault that knows where it is, but not yet in which file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spotted {
    pub(super) fault: Fault,
    pub(super) site: Site,
}

/// A result whose error is spotted; boxed, since it is rare and large.
pub(super) type Checked<T> = Result<T, Box<Spotted>>;

impl Site {
    /// The fault, here.
    pub(super) fn fault(&self, fault: Fault) -> Box<Spotted> {
        Box::new(Spotted { fault, site: self.clone() })
    }
}

/// A value and where it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) site: Site,
}

impl<T> Located<T> {
    pub(super) const fn new(value: T, site: Site) -> Self {
        Self { value, site }
    }

    #[track_caller]
    pub(super) fn here(value: T) -> Self {
        Self { value, site: Site::Rust(Location::caller()) }
    }
}

/// A text as it was said.
pub(super) type Said = Located<String>;

/// Text that should be JSON.
pub(super) type Json = Located<String>;

/// A failure in words.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) tag: Said,
    pub(super) message: Said,
}

/// What a tool's outside does.
#[derive(Clone, Debug)]
pub(super) enum Reaction {
    Result(Json),
    Failure(Failure),
    /// What a function makes of it; in Rust only.
    Function(Function),
}

/// What an operator answers. Without a payload it is the tool's own.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Completed(Option<Json>),
    Failed(Option<Failure>),
    NeverStarted,
    SafeToRepeat,
}

/// Why the model gives no response.
#[derive(Clone, Debug)]
pub(super) struct ModelFailure {
    pub(super) kind: FaultKind,
    pub(super) failure: Failure,
    pub(super) retry_after_ms: Option<Located<u64>>,
    pub(super) used: Option<Usage>,
}

/// A tool of the agent and what its outside does. It returns `null` at once unless told otherwise.
#[derive(Clone, Debug)]
pub struct Tool {
    pub(super) name: Said,
    pub(super) class: ExecutionClass,
    pub(super) reconciles: bool,
    pub(super) latency_ms: Located<u64>,
    pub(super) silent_starts: Located<u64>,
    pub(super) silence: Silence,
    pub(super) deadly_starts: Located<u64>,
    pub(super) passing_failures: Located<u64>,
    pub(super) steps: Vec<StepPart>,
    /// Of starts after the first one, if they are others.
    pub(super) later_steps: Vec<StepPart>,
    pub(super) reaction: Reaction,
    pub(super) traits: Traits,
}

/// A step of a durable tool.
#[derive(Clone, Debug)]
pub(super) struct StepPart {
    pub(super) name: Said,
    pub(super) version: Located<u64>,
    pub(super) result: Json,
}

/// What else a tool declares; what is not there is as in [`ToolDefinition::new`].
///
/// [`ToolDefinition::new`]: everstep_machine::agent::ToolDefinition::new
#[derive(Clone, Debug, Default)]
pub(super) struct Traits {
    pub(super) description: Option<Said>,
    pub(super) parameters: Option<Json>,
    pub(super) success: Option<Json>,
    pub(super) fails_with: Option<Json>,
    pub(super) risk: Option<Risk>,
    pub(super) resource: Option<Said>,
    pub(super) group: Option<Said>,
    pub(super) timeout_ms: Option<Located<u64>>,
    pub(super) retry: Option<RetryClass>,
    pub(super) result_bytes: Option<Located<u64>>,
    pub(super) redact: Vec<Said>,
    pub(super) failure: Option<FailureMode>,
    pub(super) approval: Option<Judgement>,
}

/// A call of a turn.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: Said,
    pub(super) parameters: Json,
    pub(super) undeclared: bool,
}

/// A call that the provider makes by itself.
#[derive(Clone, Debug)]
pub(super) struct ProviderCall {
    pub(super) tool: Said,
    pub(super) parameters: Json,
    pub(super) result: Json,
    pub(super) failed: bool,
}

/// One turn of a model: it says something, calls tools, or fails.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) site: Site,
    pub(super) reasoning: Option<Said>,
    pub(super) text: Option<Said>,
    pub(super) provider_calls: Vec<ProviderCall>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<Usage>,
    pub(super) fault: Option<ModelFailure>,
    pub(super) faults: Vec<ModelFailure>,
}

/// What a live model does when a request shows something; without a condition, always.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    pub(super) site: Option<Site>,
    pub(super) instructions_contain: Option<Said>,
    pub(super) shows: Option<Said>,
    pub(super) last_user_contains: Option<Said>,
    pub(super) tool_result_of: Option<Said>,
    pub(super) result_contains: Option<Said>,
    pub(super) tools_forbidden: Option<bool>,
    pub(super) output_wanted: Option<bool>,
    pub(super) status_shows: Option<Dimension>,
    pub(super) text: Option<Said>,
    pub(super) calls: Vec<Said>,
}

/// A submission of a client, in conversation `main`, by `client`, under its own name as key,
/// unless told otherwise.
#[derive(Clone, Debug)]
pub struct Submission {
    pub(super) name: Said,
    pub(super) conversation: Said,
    pub(super) principal: Said,
    pub(super) tenant: Said,
    pub(super) key: Said,
    pub(super) input: Json,
    pub(super) turns: Vec<Turn>,
    pub(super) allowance: Allowance,
    /// The submission whose run it is said to, and when, in the spelling of a scenario file.
    pub(super) steers: Option<(Said, Said)>,
    pub(super) expect: Vec<Located<Outcome>>,
    pub(super) exactly: ExactlySaid,
}

/// What more is expected of a settlement.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactlySaid {
    pub(super) finish: Option<Located<FinishKind>>,
    pub(super) output: Option<Json>,
    pub(super) disposition: Option<Said>,
    pub(super) tag: Option<Said>,
    pub(super) limit: Option<Located<PolicyLimit>>,
}

/// An abort that a client asks for, at every moment unless told otherwise.
#[derive(Clone, Debug)]
pub struct Abort {
    pub(super) submission: Said,
    /// In the spelling of a scenario file.
    pub(super) at: Said,
    pub(super) principal: Said,
    pub(super) reason: Said,
}

/// What an operator has tried again once it was given up, for a reason, unless told otherwise by
/// one person with the turns that the submission had.
#[derive(Clone, Debug)]
pub struct Retry {
    pub(super) submission: Said,
    pub(super) people: Located<u64>,
    pub(super) principal: Said,
    pub(super) reason: Said,
    pub(super) turns: Vec<Turn>,
    pub(super) expect: Vec<Located<Outcome>>,
}

/// What the agent becomes for workers that start again after a crash. Nobody binds its runs anew,
/// unless told otherwise.
#[derive(Clone, Debug)]
pub struct Revision {
    pub(super) instructions: Said,
    pub(super) rebinds: bool,
    pub(super) outlasts_pauses: bool,
}

/// The host's own way to make smaller what a model is shown.
#[derive(Clone, Debug)]
pub(super) struct Compactor {
    pub(super) summary: Said,
    pub(super) keep: Located<u64>,
}

/// A group of tools, and how many of its calls a host runs at once.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: Said,
    pub(super) places: Located<u64>,
}

/// An answer of an operator.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) tool: Said,
    pub(super) reply: Reply,
}

/// A scenario that grows part by part; see [`Scenario::builder`](super::Scenario::builder).
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ScenarioBuilder {
    pub(super) name: String,
    pub(super) about: Said,
    pub(super) workers: Located<u64>,
    pub(super) checkpoints: bool,
    pub(super) agent: Said,
    pub(super) instructions: Said,
    pub(super) max_turns: Located<u64>,
    /// Its turns are those above.
    pub(super) policy: Located<AgentPolicy>,
    pub(super) revision: Option<Revision>,
    pub(super) tools: Vec<Tool>,
    pub(super) denied: Vec<Said>,
    pub(super) disapproved: Vec<Said>,
    pub(super) people: Vec<Said>,
    /// Whether there is a policy beside what tools say of themselves.
    pub(super) is_layered: bool,
    /// The rules of a live model; without them it follows a script.
    pub(super) rules: Option<Located<Vec<Rule>>>,
    pub(super) compactor: Option<Compactor>,
    pub(super) groups: Vec<Group>,
    pub(super) turns: Vec<Turn>,
    pub(super) submissions: Vec<Submission>,
    pub(super) aborts: Vec<Abort>,
    pub(super) retries: Vec<Retry>,
    pub(super) answers: Vec<Answer>,
}
