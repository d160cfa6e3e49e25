//! Agent files: what `everstep run` executes.
//!
//! An agent file is a scenario without a world: the same tables for agent, tools, authorizer and
//! the model's script, but nobody who submits, aborts or resolves, for that is done by people.
//! What is added is an effect that a person can see: a tool may append a line to a file.

use std::path::Path;

use everstep_machine::agent::{ToolDefinition, ToolOutcome};
use everstep_machine::identity::{DurationMs, ToolName};

use super::bounds::{DEFAULT_MAX_TURNS, LATENCY_MS, TOOLS};
use super::check::{self, Tools};
use super::draft::{Checked, Said, Tool};
use super::error::ScenarioError;
use super::grammar::{
    AGENT, AUTHORIZER, FAILURE, Presence, Rule, SCHEMA, Shape, TURNS, Table, key,
};
use super::parse::{self, Row};
use super::words::{CLASSES, RECONCILERS, words};
use super::{AgentScript, TurnScript, read};

use Presence::{Default, Optional, Required};

pub(super) static AGENT_FILE: Table = Table {
    name: "the file",
    definition: "agent-file",
    about: "An agent, its tools, and its model's script.",
    keys: &[
        key("schema", Shape::Whole(SCHEMA, SCHEMA), Required, "Version of this format."),
        key("about", Shape::Text, Optional, "What the agent is for, in a sentence."),
        key("agent", Shape::Table(&AGENT), Required, "The agent."),
        key("tools", Shape::Tables(&AGENT_TOOL, 0, TOOLS), Default("[]"), "The agent's tools."),
        key(
            "authorizer",
            Shape::Table(&AUTHORIZER),
            Optional,
            "The host's authorizer; without it everything is allowed.",
        ),
        key(
            "turns",
            TURNS,
            Required,
            "What the scripted model does, turn by turn. The last turn repeats.",
        ),
    ],
    rules: &[],
};

static AGENT_TOOL: Table = Table {
    name: "[[tools]]",
    definition: "tool",
    about: "A tool, and what it does.",
    keys: &[
        key("name", Shape::Name, Required, "What the model calls it by."),
        key(
            "class",
            Shape::Word(&words(&CLASSES)),
            Default("\"ordinary\""),
            "What may be done when nobody knows whether a call happened: readonly and idempotent calls run again, ordinary ones do not.",
        ),
        key(
            "append",
            Shape::Text,
            Optional,
            "A file to which every call appends one line: the call's id and its parameters. An idempotent tool leaves the file alone when the id is there already.",
        ),
        key(
            "reconciler",
            Shape::Word(&words(&RECONCILERS)),
            Default("\"none\""),
            "Who can be asked what became of a start: nobody, or the file that the tool appends to.",
        ),
        key(
            "latency_ms",
            Shape::Whole(0, LATENCY_MS),
            Default("0"),
            "How long a call takes before it does anything, in milliseconds.",
        ),
        key("result", Shape::Value, Default("null"), "What it returns, every time."),
        key("failure", Shape::Table(&FAILURE), Optional, "How it fails, every time."),
    ],
    rules: &[
        Rule::Excludes("failure", "result"),
        Rule::Excludes("failure", "append"),
        Rule::Never("append", "class", "readonly"),
    ],
};

/// An agent as `everstep run` executes it, checked: every reference in it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFile {
    /// The agent.
    pub agent: AgentScript,
    /// Its tools.
    pub tools: Vec<AgentTool>,
    /// Tools that the host's authorizer turns down.
    pub denied: Vec<ToolName>,
    /// What the model does, turn by turn. A turn beyond the script repeats the last.
    pub turns: Vec<TurnScript>,
}

/// A tool and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTool {
    /// Name, class, and whether somebody can be asked what became of a start.
    pub definition: ToolDefinition,
    /// How long a call takes before it does anything.
    pub latency: DurationMs,
    /// The file it appends to, if any.
    pub append: Option<String>,
    /// What it returns, every time.
    pub outcome: ToolOutcome,
}

impl AgentFile {
    /// Reads an agent file's text. Errors call the file `path`.
    ///
    /// # Errors
    /// The text is no agent: the error says what is wrong and where.
    pub fn parse(path: &str, text: &str) -> Result<Self, ScenarioError> {
        parse::file(path, text, &AGENT_FILE, agent_file)
    }

    /// Reads an agent file's bytes, as [`AgentFile::parse`] does its text.
    ///
    /// # Errors
    /// The bytes are not UTF-8, or the text is no agent.
    pub fn decode(path: &str, bytes: &[u8]) -> Result<Self, ScenarioError> {
        Self::parse(path, read::text(path, bytes)?)
    }

    /// Reads an agent file of at most [`super::SCENARIO_BYTES`], and returns its bytes too.
    ///
    /// # Errors
    /// The file cannot be read, or holds no agent.
    pub fn read(path: &Path) -> Result<(Self, Vec<u8>), ScenarioError> {
        let bytes = read::whole(path)?;
        Self::decode(&path.to_string_lossy(), &bytes).map(|file| (file, bytes))
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &ToolName) -> Option<&AgentTool> {
        self.tools.iter().find(|tool| tool.definition.name == *name)
    }
}

fn agent_file(root: &Row<'_, '_>) -> Checked<AgentFile> {
    let agent = root.row("agent");
    let agent = agent.as_ref().unwrap_or(root);
    let agent = check::agent(
        &agent.need("id", "[agent]")?,
        &agent.need("instructions", "[agent]")?,
        &agent.whole_or("max_turns", u64::from(DEFAULT_MAX_TURNS)),
    )?;
    if let Some(about) = root.text("about") {
        check::text("about", &about)?;
    }
    let drafts: Vec<(Tool, Option<Said>)> =
        root.each("tools", |row| Ok((parse::tool(row)?, row.text("append"))))?;
    let (parts, appends): (Vec<_>, Vec<_>) = drafts.into_iter().unzip();
    let tools = Tools::check(&parts)?;
    let denies = root.row("authorizer");
    let denies: Vec<_> =
        denies.map_or(Vec::new(), |row| parse::texts(row.items("denies")).collect());
    let denied = tools.denied(&denies)?;
    let turns = tools.turns(&root.each("turns", parse::turn)?)?;
    let Tools(tools) = tools;
    let tools = tools.into_iter().zip(appends).map(|(script, append)| {
        let append = append.as_ref().map(file_name).transpose()?;
        let (definition, latency, outcome) = (script.definition, script.latency, script.outcome);
        Ok(AgentTool { definition, latency, append, outcome })
    });
    Ok(AgentFile { agent, tools: tools.collect::<Checked<_>>()?, denied, turns })
}

/// A path that is worth trying: some text, nothing in it that steers a terminal.
fn file_name(said: &Said) -> Checked<String> {
    check::name("append", said, |text| {
        everstep_machine::identity::IdempotencyKey::new(text).map(|_| text.to_owned())
    })
}
