//! Agent files: what `everstep run` executes.
//!
//! An agent file is a scenario without a world: the same tables for agent, tools, authorizer and
//! the model's script, but nobody who submits, aborts or resolves, for that is done by people.
//! What is added is an effect that a person can see: a tool may append a line to a file. The
//! model's script may stand in a file of its own, so that several agents can share it.

mod approver;

use std::collections::BTreeMap;
use std::path::Path;

use everstep_machine::agent::{StepOutput, ToolDefinition, ToolOutcome};
use everstep_machine::approval::{Entries, Override};
use everstep_machine::authority::Policy;
use everstep_machine::identity::{DurationMs, ToolName};

use super::bounds::TOOLS;
use super::check::{self, Tools};
use super::draft::{Checked, Said, Tool};
use super::error::ScenarioError;
use super::grammar::{
    AGENT, AGENT_TOOL, APPROVAL_POLICY, AUTHORIZER, CAPABILITIES, Key, METADATA, Presence, Rule,
    SCHEMA, Shape, TURNS, Table, key,
};
use super::parse::{self, Row, denials};
use super::{AgentScript, TurnScript, read};

pub use approver::{ApproverFile, ServiceFile};

use Presence::{Default, Optional, Required};

pub(super) static AGENT_FILE: Table = Table {
    name: "the file",
    definition: "agent-file",
    about: "An agent, its tools, and its model's script.",
    keys: &[
        VERSION,
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
            "approver",
            Shape::Table(&approver::APPROVER),
            Optional,
            "Who is asked about calls of tools that want it; without it none of them is approved.",
        ),
        key("capabilities", Shape::Table(&CAPABILITIES), Optional, CAPABILITIES.about),
        key("approval", Shape::Table(&APPROVAL_POLICY), Optional, APPROVAL_POLICY.about),
        key(
            "tool_metadata",
            Shape::Entries(&METADATA, TOOLS),
            Default("{}"),
            "What the registry is to say of tools, by their names.",
        ),
        key("turns", TURNS, Optional, SCRIPT),
        key("model", Shape::Table(&MODEL), Optional, "The model, if its script stands elsewhere."),
    ],
    rules: &[Rule::Some(&["turns", "model"]), Rule::Excludes("model", "turns")],
};

const VERSION: Key =
    key("schema", Shape::Whole(SCHEMA, SCHEMA), Required, "Version of this format.");

const SCRIPT: &str = "What the scripted model does, turn by turn. The last turn repeats.";

static MODEL: Table = Table {
    name: "[model]",
    definition: "model",
    about: "The model.",
    keys: &[key(
        "script",
        Shape::Text,
        Required,
        "The file with its script, from the folder of this file.",
    )],
    rules: &[],
};

pub(super) static SCRIPT_FILE: Table = Table {
    name: "the file",
    definition: "model-script",
    about: "The script of a model, for the agent files that name it.",
    keys: &[
        VERSION,
        key("about", Shape::Text, Optional, "What the model does, in a sentence."),
        key("turns", TURNS, Required, SCRIPT),
    ],
    rules: &[],
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
    /// Who is asked about calls about which somebody is to be asked.
    pub approver: ApproverFile,
    /// What is granted, and who is asked: `tools` and `agent` have it in them already.
    pub authority: AuthorityFile,
    /// What the model does, turn by turn. A turn beyond the script repeats the last.
    pub turns: Vec<TurnScript>,
}

/// What a file says about authority (AUTH-17).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorityFile {
    /// What is granted; none if the file says nothing of grants, and then no tool takes anything that
    /// has to be, unless it says so.
    pub grants: Option<Policy>,
    /// The agent's layer of the policy of approvals.
    pub approval: Entries,
    /// What the registry is to say of tools.
    pub metadata: BTreeMap<ToolName, Override>,
}

/// A tool and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTool {
    /// What it declares.
    pub definition: ToolDefinition,
    /// How long a call takes before it does anything.
    pub latency: DurationMs,
    /// The file it appends to, if any.
    pub append: Option<String>,
    /// What a durable one is made of.
    pub steps: Vec<AgentStep>,
    /// What it returns, every time.
    pub outcome: ToolOutcome,
}

/// A step of a durable tool and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStep {
    /// Which step, and what it gives, every time.
    pub output: StepOutput,
    /// The file it appends to, if any.
    pub append: Option<String>,
}

/// The bytes of an agent file and of its script: together they say what is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSource {
    /// Of the agent file.
    pub agent: Vec<u8>,
    /// Of the file that it names as its model's script, if it names one.
    pub script: Option<Vec<u8>>,
}

impl AgentFile {
    /// Reads an agent file's text. Errors call the file `path`; a script that it names is read
    /// from the folder of that path, and errors in the script call it by its own.
    ///
    /// # Errors
    /// The text is no agent, or its script cannot be read or is none: the error says what is wrong
    /// and where.
    pub fn parse(path: &str, text: &str) -> Result<Self, ScenarioError> {
        scripted(path, text).map(|(file, _)| file)
    }

    /// Reads an agent file's bytes, as [`AgentFile::parse`] does its text.
    ///
    /// # Errors
    /// The bytes are not UTF-8, or the text is no agent.
    pub fn decode(path: &str, bytes: &[u8]) -> Result<Self, ScenarioError> {
        Self::parse(path, read::text(path, bytes)?)
    }

    /// Reads an agent file and the script that it names, each of at most
    /// [`super::SCENARIO_BYTES`], and returns their bytes too.
    ///
    /// # Errors
    /// A file cannot be read, or holds no agent or no script.
    pub fn read(path: &Path) -> Result<(Self, AgentSource), ScenarioError> {
        let agent = read::whole(path)?;
        let name = path.to_string_lossy();
        let (file, script) = scripted(&name, read::text(&name, &agent)?)?;
        Ok((file, AgentSource { agent, script }))
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &ToolName) -> Option<&AgentTool> {
        self.tools.iter().find(|tool| tool.definition.name == *name)
    }
}

/// Where a model's script stands.
enum Script {
    /// Here.
    Here(Vec<TurnScript>),
    /// In another file.
    Beside(String),
}

/// The files that a tool and its steps append to.
struct Appends {
    tool: Option<String>,
    steps: Vec<Option<String>>,
}

/// An agent file without what other files say.
struct Draft {
    agent: AgentScript,
    tools: Tools,
    appends: Vec<Appends>,
    denied: Vec<ToolName>,
    approver: ApproverFile,
    authority: AuthorityFile,
    script: Script,
}

/// Reads an agent file's text and its script, and returns the bytes of the latter if it stands in
/// a file of its own.
fn scripted(path: &str, text: &str) -> Result<(AgentFile, Option<Vec<u8>>), ScenarioError> {
    let draft = parse::file(path, text, &AGENT_FILE, draft)?;
    let Draft { agent, tools, appends, denied, approver, authority, script } = draft;
    let (turns, bytes) = match script {
        Script::Here(turns) => (turns, None),
        Script::Beside(name) => {
            let path = Path::new(path).with_file_name(name);
            let (bytes, name) = (read::whole(&path)?, path.to_string_lossy());
            let text = read::text(&name, &bytes)?;
            let turns = parse::file(&name, text, &SCRIPT_FILE, |root| {
                about(root)?;
                tools.turns(&root.each("turns", parse::turn)?)
            })?;
            (turns, Some(bytes))
        }
    };
    let Tools(tools) = tools;
    let tools = tools.into_iter().zip(appends).map(|(script, appends)| {
        let (definition, latency, outcome) = (script.definition, script.latency, script.outcome);
        let steps = script.steps.into_iter().zip(appends.steps);
        let steps = steps.map(|(output, append)| AgentStep { output, append }).collect();
        AgentTool { definition, latency, append: appends.tool, steps, outcome }
    });
    let tools = tools.collect();
    Ok((AgentFile { agent, tools, denied, approver, authority, turns }, bytes))
}

fn draft(root: &Row<'_, '_>) -> Checked<Draft> {
    let agent = parse::agent(root)?;
    let agent = check::agent(&agent.id, &agent.instructions, &agent.max_turns, &agent.policy)?;
    about(root)?;
    let drafts: Vec<(Tool, Appends)> =
        root.each("tools", |row| Ok((parse::tool(row)?, appends(row)?)))?;
    let (parts, appends): (Vec<_>, Vec<_>) = drafts.into_iter().unzip();
    let tools = Tools::check(&parts)?;
    let denied = tools.denied(&denials(root, "authorizer"))?;
    let approver = approver::approver(root, &tools, parse::is_layered(root))?;
    let (authority, mut agent, mut tools) = (parse::authority(root, &tools)?, agent, tools);
    parse::lay_down(root, &authority, &mut agent, &mut tools.0)?;
    let script = match root.row("model") {
        Some(model) => Script::Beside(file_name("script", &model.need("script", MODEL.name)?)?),
        None => Script::Here(tools.turns(&root.each("turns", parse::turn)?)?),
    };
    Ok(Draft { agent, tools, appends, denied, approver, authority, script })
}

/// The files that a tool and its steps append to.
fn appends(row: &Row<'_, '_>) -> Checked<Appends> {
    let append =
        |row: &Row<'_, '_>| row.text("append").map(|said| file_name("append", &said)).transpose();
    Ok(Appends { tool: append(row)?, steps: row.each("steps", append)? })
}

fn about(root: &Row<'_, '_>) -> Checked<()> {
    root.text("about").map_or(Ok(()), |said| check::text("about", &said).map(drop))
}

/// A path that is worth trying: some text, nothing in it that steers a terminal.
fn file_name(key: &'static str, said: &Said) -> Checked<String> {
    check::name(key, said, |text| {
        everstep_machine::identity::IdempotencyKey::new(text).map(|_| text.to_owned())
    })
}
