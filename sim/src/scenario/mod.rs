//! Scenarios: an agent, its tools, its model's script, its clients and operators, as data.
//!
//! A scenario is what a user writes, in TOML or in Rust. It says what the outside *would* do;
//! the world decides when, and what breaks meanwhile.
//!
//! ```text
//! file  --read-->  text  --parse-->  TOML  --validate-->  parts --check-->  Scenario
//! Rust  --builder------------------------------------------^
//! ```
//!
//! | room | what it does |
//! | --- | --- |
//! | `read` | bounds the file and decodes it |
//! | `grammar` | says which tables, keys and words there are, as data |
//! | `validate` | holds the TOML against the grammar |
//! | `parse`, `value` | turn it into parts; values into JSON text |
//! | `builder` | makes the same parts in Rust |
//! | `check` | identifiers, references, bounds: the one way to a [`Scenario`] |
//! | `fault`, `error` | what can be wrong, where, and how it is shown |
//! | `schema` | the grammar as JSON Schema |
//! | `agent` | agent files: the same tables without a world around them |
//! | [`corpus`] | the scenarios that the binary carries |

mod agent;
mod bounds;
mod builder;
mod check;
pub mod corpus;
mod draft;
mod error;
mod fault;
mod grammar;
mod parse;
mod read;
mod schema;
mod validate;
mod value;
mod words;

use std::path::Path;

use everstep_machine::agent::{Diagnostic, ModelFault, Resolution, ToolDefinition, ToolOutcome};
use everstep_machine::effect::Failpoint;
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, IdempotencyKey, PrincipalId, TenantId, ToolName,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Outcome;

pub use agent::{AgentFile, AgentSource, AgentTool};
pub use bounds::{ABORTS, LATENCY_MS, SCENARIO_BYTES, SUBMISSIONS, TOOLS, WORKERS};
pub use draft::{Abort, ScenarioBuilder, Submission, Tool, Turn};
pub use error::{Place, ScenarioError};
pub use fault::{Fault, Noun, Type};
pub use schema::{agent_json_schema, json_schema, script_json_schema};

/// A whole scenario, checked: every reference in it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name: the file's stem.
    pub name: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The agent.
    pub agent: AgentScript,
    /// Its tools.
    pub tools: Vec<ToolScript>,
    /// Tools that the host's authorizer turns down.
    pub denied: Vec<ToolName>,
    /// What clients submit, in this order.
    pub submissions: Vec<SubmissionScript>,
    /// Aborts that clients ask for.
    pub aborts: Vec<AbortScript>,
    /// What operators answer when a tool's outcome stays unknown.
    pub resolutions: Vec<ResolutionScript>,
    /// Worker processes, 1 to 8.
    pub workers: usize,
}

impl Scenario {
    /// Reads a scenario file's text. Errors call the file `path`; its last part without `.toml`
    /// is the scenario's name.
    ///
    /// # Errors
    /// The text is no scenario: the error says what is wrong and where.
    pub fn parse(path: &str, text: &str) -> Result<Self, ScenarioError> {
        parse::scenario(path, text)
    }

    /// Reads a scenario file's bytes, as [`Scenario::parse`] does its text.
    ///
    /// # Errors
    /// The bytes are not UTF-8, or the text is no scenario.
    pub fn decode(path: &str, bytes: &[u8]) -> Result<Self, ScenarioError> {
        read::decoded(path, bytes)
    }

    /// Reads a scenario file of at most [`SCENARIO_BYTES`].
    ///
    /// # Errors
    /// The file cannot be read, or holds no scenario.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        read::scenario(path)
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &ToolName) -> Option<&ToolScript> {
        self.tools.iter().find(|tool| tool.definition.name == *name)
    }

    /// What operators answer when a call of that tool stays unknown, if the scenario says.
    #[must_use]
    pub fn resolution(&self, tool: &ToolName) -> Option<&Resolution> {
        self.resolutions.iter().find(|script| script.tool == *tool).map(|script| &script.resolution)
    }
}

/// The agent of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentScript {
    /// Its id.
    pub id: AgentId,
    /// What it is told to be.
    pub instructions: String,
    /// The most turns one run may take.
    pub max_turns: u32,
}

/// A tool and what its outside does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolScript {
    /// Name, class, and whether a reconciler answers for it (truthfully: from what happened).
    pub definition: ToolDefinition,
    /// How long a run of it takes.
    pub latency: DurationMs,
    /// What it returns, every time.
    pub outcome: ToolOutcome,
}

/// One turn of a model's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnScript {
    /// The model answers.
    Answer {
        /// What it says, if anything.
        text: Option<String>,
        /// What it calls; no calls end the run.
        calls: Vec<CallScript>,
    },
    /// The model fails.
    Fault(ModelFault),
}

/// One call of a model's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallScript {
    /// Which tool; need not be declared, since models name what they like.
    pub tool: ToolName,
    /// With what.
    pub parameters: CanonicalJson,
}

/// One submission of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionScript {
    /// Its name in the scenario.
    pub name: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// Who submits.
    pub principal: PrincipalId,
    /// Whose data it is.
    pub tenant: TenantId,
    /// The idempotency key.
    pub key: IdempotencyKey,
    /// The input.
    pub input: CanonicalJson,
    /// What the model does in its run, turn by turn. A turn beyond the script repeats the last.
    pub turns: Vec<TurnScript>,
    /// How it may end; empty means any way.
    pub expect: Vec<Outcome>,
}

/// When a client asks for an abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortMoment {
    /// At every moment, one schedule each.
    Every,
    /// When the n-th occurrence (from 1) of this failpoint is reached.
    At(Failpoint, u32),
}

/// One abort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbortScript {
    /// Position in [`Scenario::submissions`].
    pub submission: usize,
    /// When.
    pub moment: AbortMoment,
    /// By whom.
    pub principal: PrincipalId,
    /// Why.
    pub reason: String,
}

/// What an operator answers when a tool's outcome stays unknown.
///
/// An operator looks before answering: `NeverStarted` is said only of what has not happened, and
/// tombstones the call; what has happened is answered with [`fallback`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolutionScript {
    /// Which tool.
    pub tool: ToolName,
    /// How the first unknown of it is resolved, and each later one.
    pub resolution: Resolution,
}

/// The outcome that an honest operator falls back to when the scripted answer would be a lie.
#[must_use]
pub fn fallback(tool: &ToolScript) -> Resolution {
    match &tool.outcome {
        ToolOutcome::Success(result) => Resolution::Completed(result.clone()),
        ToolOutcome::Failure(diagnostic)
        | ToolOutcome::InvalidInput(diagnostic)
        | ToolOutcome::Defect(diagnostic) => Resolution::Failed(diagnostic.clone()),
        ToolOutcome::Rejected(_) => Resolution::Failed(Diagnostic::cut("Rejected", "rejected")),
        ToolOutcome::Truncated(_) => Resolution::Failed(Diagnostic::cut("Truncated", "cut")),
    }
}

#[cfg(test)]
mod tests;
