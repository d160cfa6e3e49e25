//! What a run may use up, and what happens when it has.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::approval::ApprovalPolicy;
use super::schema::Schema;
use super::tool::Pointer;
use crate::identity::DurationMs;
use crate::json::CanonicalJson;
use crate::limits::{
    CONTEXT_KEEP_TOKENS, JOINED_A_RUN, MODEL_TIMEOUT_MS, REPEATED_FAILURES, RETRY_FIRST_MS,
    RETRY_LONGEST_MS, RUN_PARALLEL_CALLS, RUN_TURNS,
};

/// Something that a run uses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Dimension {
    /// Responses of the model.
    Turns,
    /// Calls that it declares, those that a provider makes by itself included (RUN-030).
    ToolCalls,
    /// Tokens of requests and responses together.
    Tokens,
    /// Money, in millionths of the binding's currency.
    Cost,
    /// Milliseconds of wall-clock time since the first canonical input (RUN-027).
    Duration,
}

impl Dimension {
    /// The name in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::ToolCalls => "tool calls",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Duration => "duration",
        }
    }
}

/// The most that a run may use of each dimension; none means that there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Allowance {
    /// Turns.
    pub turns: Option<u32>,
    /// Tool calls.
    pub tool_calls: Option<u32>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Millionths of the binding's currency.
    pub cost_micros: Option<u64>,
    /// Wall-clock time.
    pub duration: Option<DurationMs>,
}

impl Allowance {
    /// Bytes that are equal for equal allowances only.
    ///
    /// # Panics
    /// Never: five numbers fit into memory.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("ID-03: five numbers are encoded in memory")
    }
}

fn tighter<T: Ord + Copy>(policy: Option<T>, given: Option<T>, least: T) -> Option<T> {
    match (policy, given.map(|given| given.max(least))) {
        (Some(policy), Some(given)) => Some(policy.min(given)),
        (limit, None) | (None, limit) => limit,
    }
}

impl Allowance {
    /// This allowance, tightened by one that a caller gave. It only ever tightens, and never to
    /// nothing (RUN-018).
    #[must_use]
    pub fn tightened(&self, given: &Self) -> Self {
        Self {
            turns: tighter(self.turns, given.turns, 1),
            tool_calls: tighter(self.tool_calls, given.tool_calls, 1),
            tokens: tighter(self.tokens, given.tokens, 1),
            cost_micros: tighter(self.cost_micros, given.cost_micros, 1),
            duration: tighter(self.duration, given.duration, DurationMs(1)),
        }
    }
}

/// What happens when turns, calls or tokens are used up. Cost, duration and repeated failures
/// always end the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OnExhaustion {
    /// The model is asked once more, with tools forbidden, for a final answer (RUN-015, RUN-016).
    FinalAnswer,
    /// The run fails before the work that would exceed the limit.
    Fail,
}

/// What becomes of a run when a call is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OnDenial {
    /// It fails; no call that has not started runs.
    FailRun,
    /// The model is told, and goes on.
    ReturnToModel,
}

/// How a model that could not answer is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRetry {
    /// How often at most, after the first time, for one turn.
    pub retries: u32,
    /// The pause before the first time; each further one is twice as long.
    pub first: DurationMs,
    /// The longest pause. A provider that wants a longer one is not waited for: the run fails with
    /// what the provider says.
    pub longest: DurationMs,
}

/// Whether the provider says what a response used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UsageReporting {
    /// It does; a response that does not say is a protocol failure.
    Reported,
    /// It does not; every response is taken to have used so many tokens (BU-09).
    Unreported {
        /// Tokens a response.
        tokens: u64,
    },
}

/// When old context is made smaller, and how much of it stays (RUN-023).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ContextPolicy {
    /// Estimated tokens of a request beyond which context is compacted first. Choose it below the
    /// model's own window, with room for a response: beyond that the provider refuses.
    pub limit_tokens: u64,
    /// Estimated tokens of recent context that stay as they are.
    pub keep_tokens: u64,
}

impl ContextPolicy {
    /// A limit, with the usual amount kept.
    #[must_use]
    pub const fn new(limit_tokens: u64) -> Self {
        Self { limit_tokens, keep_tokens: CONTEXT_KEEP_TOKENS }
    }
}

/// Where in an answer the application's word for the outcome stands (RUN-026).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DispositionRule {
    /// The place in the answer.
    pub at: Pointer,
    /// The words that may stand there.
    pub allowed: Vec<Arc<str>>,
}

impl DispositionRule {
    /// The word that an answer names, if it is one of those that are allowed.
    #[must_use]
    pub fn of(&self, answer: &CanonicalJson) -> Option<Arc<str>> {
        let word = answer.at(&self.at)?.as_text()?;
        self.allowed.iter().find(|allowed| ***allowed == *word).cloned()
    }
}

/// Which of the submissions that wait behind a run it answers together with its first, when it
/// would otherwise stop (RUN-013).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Joins {
    /// None: each has a run of its own.
    #[default]
    None,
    /// The next one, and then perhaps the one behind that.
    One,
    /// All that may join, up to [`JOINED_A_RUN`].
    All,
}

impl Joins {
    /// How many at once.
    #[must_use]
    pub const fn most(self) -> usize {
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::All => JOINED_A_RUN,
        }
    }
}

/// How a run of the agent may go.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AgentPolicy {
    /// What it may use up.
    pub allowance: Allowance,
    /// What happens when it has.
    pub on_exhaustion: OnExhaustion,
    /// How many calls in a row may fail before the run ends; zero means any number (RUN-029).
    pub repeated_failures: u32,
    /// What people have to say about calls, and until when.
    pub approval: ApprovalPolicy,
    /// What a denied call does.
    pub on_denial: OnDenial,
    /// Calls of one run that run at once (RUN-009).
    pub parallel_calls: u32,
    /// How a model is asked again.
    pub retry: ModelRetry,
    /// How long a model may take to answer; one that has not by then could not be asked.
    pub model_timeout: DurationMs,
    /// What the provider says about usage.
    pub usage: UsageReporting,
    /// When context is compacted; none means never.
    pub context: Option<ContextPolicy>,
    /// What the final answer has to look like (RUN-025).
    pub output: Option<Schema>,
    /// Where the answer names its disposition.
    pub disposition: Option<DispositionRule>,
    /// Whether the model is told how much of its budget is left (RUN-021).
    pub status_note: bool,
    /// What a run answers together with its first input.
    pub joins: Joins,
}

impl Default for AgentPolicy {
    fn default() -> Self {
        Self {
            allowance: Allowance { turns: Some(RUN_TURNS), ..Allowance::default() },
            on_exhaustion: OnExhaustion::FinalAnswer,
            repeated_failures: REPEATED_FAILURES,
            approval: ApprovalPolicy::default(),
            on_denial: OnDenial::FailRun,
            parallel_calls: RUN_PARALLEL_CALLS,
            retry: ModelRetry {
                retries: 2,
                first: DurationMs(RETRY_FIRST_MS),
                longest: DurationMs(RETRY_LONGEST_MS),
            },
            model_timeout: DurationMs(MODEL_TIMEOUT_MS),
            usage: UsageReporting::Reported,
            context: None,
            output: None,
            disposition: None,
            status_note: false,
            joins: Joins::None,
        }
    }
}
