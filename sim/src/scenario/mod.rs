//! Scenarios: an agent, its tools, its model's script, its clients and operators, as data.
//!
//! A scenario is what a user writes, in TOML or in Rust. It says what the outside *would* do;
//! the world decides when, and what breaks meanwhile.
//!
//! ```text
//! file  --read-->  text  --syntax-->  tree  --validate, parse-->  parts --check-->  Scenario
//! Rust  --builder---------------------------------------------------^
//! ```
//!
//! | room | what it does |
//! | --- | --- |
//! | `read` | bounds the file and decodes it |
//! | `syntax`, `tree` | TOML and YAML; values with their places |
//! | `grammar` | says which tables, keys and words there are, as data |
//! | `validate` | holds the tree against the grammar |
//! | `parse`, `value` | turn it into parts; values into JSON text |
//! | `builder` | makes the same parts in Rust |
//! | `check` | identifiers, references, bounds: the one way to a [`Scenario`] |
//! | `fault`, `error` | what can be wrong, where, and how it is shown |
//! | `schema` | the grammar as JSON Schema |
//! | `script`, `model` | what a checked scenario holds |
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
mod function;
mod grammar;
mod model;
mod noun;
mod parse;
mod read;
mod schema;
mod script;
mod syntax;
mod tree;
mod validate;
mod value;
mod words;

use std::path::Path;

use everstep_machine::agent::Resolution;
use everstep_machine::identity::ToolName;

pub use agent::{
    AgentFile, AgentSource, AgentStep, AgentTool, ApproverFile, AuthorityFile, ServiceFile,
};
pub use bounds::{ABORTS, LATENCY_MS, RULES, SCENARIO_BYTES, SUBMISSIONS, TOOLS, TRIES, WORKERS};
pub use draft::{Abort, Retry, Revision, Rule, ScenarioBuilder, Submission, Tool, Turn};
pub use error::{Place, ScenarioError};
pub use fault::Fault;
pub use function::{Called, Function};
pub use model::{ModelScript, RuleScript, ThenScript, WhenScript};
pub use noun::{Noun, Type};
pub use schema::{agent_json_schema, json_schema, script_json_schema};
pub use script::{
    AbortScript, AgentScript, AnswerScript, CallScript, CompactorScript, Exactly, FaultScript,
    GroupScript, Occasion, ProviderCallScript, ResolutionScript, RetryScript, RevisionScript,
    RevocationScript, Says, Silence, SteeringScript, SubmissionScript, ToolScript, TurnScript,
    USUAL_USAGE, fallback,
};
pub use syntax::Beyond;

/// A whole scenario, checked: every reference in it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name: the file's stem.
    pub name: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The agent.
    pub agent: AgentScript,
    /// What it becomes for workers that start again after a crash, if anything.
    pub revision: Option<RevisionScript>,
    /// Its tools.
    pub tools: Vec<ToolScript>,
    /// Tools that the host's authorizer turns down.
    pub denied: Vec<ToolName>,
    /// Tools whose calls an approver turns down; those of others that ask are approved.
    pub disapproved: Vec<ToolName>,
    /// Tools whose calls an approver leaves to people, who then say the same of them.
    pub people: Vec<ToolName>,
    /// Whether what an approver approves it approves for the session.
    pub allows_for_session: bool,
    /// What is granted, and who is asked: `tools` and `agent` have it in them already.
    pub authority: AuthorityFile,
    /// What is taken back while runs are under way, if anything is.
    pub revocation: Option<RevocationScript>,
    /// What its model goes by.
    pub model: ModelScript,
    /// How its host makes smaller what the model is shown, if it does.
    pub compactor: Option<CompactorScript>,
    /// Groups of tools whose calls wait for places of their host.
    pub groups: Vec<GroupScript>,
    /// What clients submit, in this order.
    pub submissions: Vec<SubmissionScript>,
    /// Aborts that clients ask for.
    pub aborts: Vec<AbortScript>,
    /// What operators have tried again when it was given up, in this order.
    pub retries: Vec<RetryScript>,
    /// What operators answer when a tool's outcome stays unknown.
    pub resolutions: Vec<ResolutionScript>,
    /// Worker processes, 1 to 8.
    pub workers: usize,
    /// Whether hosts remember what they have folded of a log, and keep it beside the log.
    pub checkpoints: bool,
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

#[cfg(test)]
mod tests;
