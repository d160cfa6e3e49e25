//! An Agent Definition and the binding that makes it runnable.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use crate::digest::{Digest, Hasher};
use crate::identity::{AgentId, ToolName};
use crate::limits::RUN_TURNS;

use super::policy::AgentPolicy;
use super::tool::{ExecutionClass, ToolDefinition};

/// An agent, without its model: pure data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentDefinition {
    id: AgentId,
    instructions: Arc<str>,
    tools: Arc<[ToolDefinition]>,
    policy: Arc<AgentPolicy>,
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
    /// No call may run at all.
    #[error("parallel_calls is at least 1")]
    NoParallelCalls,
    /// The context that stays is not below the limit that makes it smaller.
    #[error("keep_tokens is {keep} and has to be less than limit_tokens, which is {limit}")]
    Context {
        /// The tokens that stay.
        keep: u64,
        /// The tokens beyond which context is made smaller.
        limit: u64,
    },
    /// A disposition is wanted and none is allowed, so no answer could ever complete a run.
    #[error("a disposition allows at least one word")]
    NoDisposition,
}

impl AgentDefinition {
    /// Checks and builds a definition with the usual policy and so many turns.
    ///
    /// # Errors
    /// Two tools have one name, or `max_turns` is not between 1 and [`RUN_TURNS`].
    pub fn new(
        id: AgentId,
        instructions: &str,
        tools: Vec<ToolDefinition>,
        max_turns: u32,
    ) -> Result<Self, DefinitionError> {
        let mut policy = AgentPolicy::default();
        policy.allowance.turns = Some(max_turns);
        Self::with_policy(id, instructions, tools, policy)
    }

    /// Checks and builds a definition.
    ///
    /// # Errors
    /// Two tools have one name, the turns are not between 1 and [`RUN_TURNS`], or the policy
    /// contradicts itself.
    pub fn with_policy(
        id: AgentId,
        instructions: &str,
        tools: Vec<ToolDefinition>,
        mut policy: AgentPolicy,
    ) -> Result<Self, DefinitionError> {
        let turns = *policy.allowance.turns.get_or_insert(RUN_TURNS);
        if !(1..=RUN_TURNS).contains(&turns) {
            return Err(DefinitionError::Turns);
        }
        if policy.parallel_calls == 0 {
            return Err(DefinitionError::NoParallelCalls);
        }
        if let Some(it) = policy.context.filter(|it| it.keep_tokens >= it.limit_tokens) {
            let (keep, limit) = (it.keep_tokens, it.limit_tokens);
            return Err(DefinitionError::Context { keep, limit });
        }
        if policy.disposition.as_ref().is_some_and(|it| it.allowed.is_empty()) {
            return Err(DefinitionError::NoDisposition);
        }
        for (index, tool) in tools.iter().enumerate() {
            if tools[..index].iter().any(|earlier| earlier.name == tool.name) {
                return Err(DefinitionError::DuplicateTool(tool.name.clone()));
            }
        }
        let (instructions, policy) = (Arc::from(instructions), Arc::new(policy));
        Ok(Self { id, instructions, tools: tools.into(), policy })
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

    /// How a run may go.
    #[must_use]
    pub fn policy(&self) -> &AgentPolicy {
        &self.policy
    }

    /// Every tool, in the order of declaration.
    #[must_use]
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// The same agent with nothing to call.
    #[must_use]
    pub fn without_tools(&self) -> Self {
        Self { tools: Arc::from([]), ..self.clone() }
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
            .bytes(&encoded(&*self.policy))
            .digest()
    }

    /// What identifies the tools, in order.
    #[must_use]
    pub fn tools_digest(&self) -> Digest {
        Hasher::new("everstep/tools").bytes(&encoded(&*self.tools)).digest()
    }

    /// What identifies the version of the approval policy: a decision counts for one version.
    #[must_use]
    pub fn approval_digest(&self) -> Digest {
        let policy = (&self.policy.approval, self.policy.on_denial);
        let rules: Vec<_> = self
            .tools
            .iter()
            .map(|tool| (&tool.name, tool.approval, tool.risk, &tool.capability))
            .collect();
        Hasher::new("everstep/approval-policy").bytes(&encoded(&(policy, rules))).digest()
    }
}

fn encoded(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    postcard::to_allocvec(value).expect("ID-03: plain data of known length is encoded in memory")
}

/// A definition with its model: what a run needs and a host supplies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The agent.
    pub definition: AgentDefinition,
    /// Which model, as an opaque digest.
    pub model: Digest,
}
