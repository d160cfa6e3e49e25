//! Why tools do not make a toolkit, or a toolkit does not serve an agent.

use std::fmt;

use everstep_machine::agent::{ExecutionClass, PointerError};
use everstep_machine::identity::{AgentId, NameError, ToolName};
use everstep_machine::json::JsonError;
use everstep_machine::limits::TOOL_RESULT_BYTES;
use everstep_schema::SchemaError;

/// Why a tool is not declared as it has to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFault {
    /// Its name is none.
    #[error("its name is none: {0}")]
    Name(NameError),
    /// The name of its group is none.
    #[error("`{text}` is no name of a group: {why}")]
    Group {
        /// What was given.
        text: String,
        /// Why not.
        why: NameError,
    },
    /// A place in its parameters or results is none.
    #[error("`{text}` is no place: {why}")]
    Place {
        /// What was given.
        text: String,
        /// Why not.
        why: PointerError,
    },
    /// Only a tool that is made of steps is durable, and it is nothing else.
    #[error("a tool made of steps is durable, and no other one is: this one is {0:?}")]
    Steps(ExecutionClass),
    /// It may take no time at all.
    #[error("it has no time to run: a timeout is at least a millisecond")]
    NoTime,
    /// It wants more of its results kept than anything may.
    #[error("it wants {0} bytes of a result kept; at most {TOOL_RESULT_BYTES} are")]
    ResultBytes(u32),
    /// The schema of one of its types is over the bounds of JSON.
    #[error("the schema of its {of} cannot be held: {why}")]
    Underivable {
        /// Of which type.
        of: &'static str,
        /// Which bound.
        why: JsonError,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolkitFault {
    /// A tool is not declared as it has to be.
    #[error("the tool {tool:?}: {fault}")]
    Tool {
        /// Which one, as it was named.
        tool: String,
        /// What is wrong with it.
        fault: ToolFault,
    },
    /// Two tools have one name.
    #[error("two tools are named {0}")]
    DuplicateTool(ToolName),
    /// A schema of a tool is not sound.
    #[error("the {of} of the tool {tool}: {why}")]
    Unsound {
        /// Which tool.
        tool: ToolName,
        /// Which of its schemas.
        of: &'static str,
        /// Why not.
        why: SchemaError,
    },
    /// A tool says that it can be asked what became of a start, and there is nobody to ask.
    #[error("the tool {0} reconciles, but has no reconciler")]
    NoReconciler(ToolName),
    /// An agent declares a tool that nobody handles (CAP-001).
    #[error("the agent {agent} declares the tool {tool}, which has no handler")]
    NoHandler {
        /// Which agent.
        agent: AgentId,
        /// Which tool.
        tool: ToolName,
    },
    /// An agent declares a tool durable whose handler would do all of it again (DUR-010).
    #[error("the agent {agent} declares the tool {tool} durable; its handler is not made of steps")]
    NotOfSteps {
        /// Which agent.
        agent: AgentId,
        /// Which tool.
        tool: ToolName,
    },
    /// An agent declares a tool otherwise than it is (SEC-03).
    #[error("the agent {agent} declares the tool {tool} otherwise than it is")]
    Differs {
        /// Which agent.
        agent: AgentId,
        /// Which tool.
        tool: ToolName,
    },
    /// What an agent's answers have to look like is not sound.
    #[error("the output of the agent {agent}: {why}")]
    UnsoundOutput {
        /// Which agent.
        agent: AgentId,
        /// Why not.
        why: SchemaError,
    },
    /// A tool that no agent declares.
    #[error("no agent declares the tool {0}")]
    NoDeclaration(ToolName),
}

/// Everything that is wrong, at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolkitError(Vec<ToolkitFault>);

impl ToolkitError {
    /// An error, unless nothing is wrong.
    pub(crate) fn unless_empty(faults: Vec<ToolkitFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self(faults)) }
    }

    /// The same, to be told together with something else.
    pub(crate) fn into_faults(self) -> Vec<ToolkitFault> {
        self.0
    }

    /// What is wrong, one thing after the other. Never empty.
    #[must_use]
    pub fn faults(&self) -> &[ToolkitFault] {
        &self.0
    }
}

impl fmt::Display for ToolkitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(f, "{between}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ToolkitError {}
