//! An Agent Definition and the binding that makes it runnable.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::digest::{Digest, Hasher};
use crate::identity::{AgentId, ToolName};
use crate::limits::RUN_TURNS;

use super::tool::{ExecutionClass, ToolDefinition};

/// An agent, without its model: pure data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentDefinition {
    id: AgentId,
    instructions: Arc<str>,
    tools: Arc<[ToolDefinition]>,
    max_turns: u32,
}

/// Why parts make no definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// Two tools have one name.
    #[error("two tools are named {0}")]
    DuplicateTool(ToolName),
    /// The turns are zero or over [`RUN_TURNS`].
    #[error("max_turns is between 1 and {RUN_TURNS}")]
    Turns,
}

impl AgentDefinition {
    /// Checks and builds a definition.
    ///
    /// # Errors
    /// Two tools have one name, or `max_turns` is not between 1 and [`RUN_TURNS`].
    pub fn new(
        id: AgentId,
        instructions: &str,
        tools: Vec<ToolDefinition>,
        max_turns: u32,
    ) -> Result<Self, DefinitionError> {
        if !(1..=RUN_TURNS).contains(&max_turns) {
            return Err(DefinitionError::Turns);
        }
        for (index, tool) in tools.iter().enumerate() {
            if tools[..index].iter().any(|earlier| earlier.name == tool.name) {
                return Err(DefinitionError::DuplicateTool(tool.name.clone()));
            }
        }
        Ok(Self { id, instructions: Arc::from(instructions), tools: tools.into(), max_turns })
    }

    /// The agent's name.
    #[must_use]
    pub const fn id(&self) -> &AgentId {
        &self.id
    }

    /// What the agent is told to be.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// The most turns one run may take.
    #[must_use]
    pub const fn max_turns(&self) -> u32 {
        self.max_turns
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &ToolName) -> Option<&ToolDefinition> {
        self.tools.iter().find(|tool| tool.name == *name)
    }

    /// The class of the tool of that name; what is not declared is ordinary.
    #[must_use]
    pub fn class_of(&self, name: &ToolName) -> ExecutionClass {
        self.tool(name).map_or(ExecutionClass::Ordinary, |tool| tool.class)
    }

    /// What identifies everything but the tools.
    #[must_use]
    pub fn definition_digest(&self) -> Digest {
        Hasher::new("everstep/definition")
            .bytes(self.id.as_str().as_bytes())
            .bytes(self.instructions.as_bytes())
            .number(u64::from(self.max_turns))
            .digest()
    }

    /// What identifies the tools, in order.
    #[must_use]
    pub fn tools_digest(&self) -> Digest {
        let hasher = Hasher::new("everstep/tools").number(self.tools.len() as u64);
        let whole = self.tools.iter().fold(hasher, |hasher, tool| {
            hasher
                .bytes(tool.name.as_str().as_bytes())
                .number(match tool.class {
                    ExecutionClass::Readonly => 0,
                    ExecutionClass::Idempotent => 1,
                    ExecutionClass::Ordinary => 2,
                })
                .number(u64::from(tool.reconciles))
        });
        whole.digest()
    }
}

/// A definition with its model: what a run needs and a host supplies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The agent.
    pub definition: AgentDefinition,
    /// Which model, as an opaque digest.
    pub model: Digest,
}
