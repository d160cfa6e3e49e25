//! Tools as an agent declares them: what they take and give, how they may be repeated, and what
//! a host has to keep when it runs them (SEC-03).

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::judgement::Judgement;
use super::schema::Schema;
use crate::authority::CapabilityKey;
use crate::identity::{DurationMs, GroupName, ToolName};
use crate::limits::{TOOL_RESULT_BYTES, TOOL_TIMEOUT_MS};

/// What may be done with a call whose outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExecutionClass {
    /// Has no effect: never prepared, may run again.
    Readonly,
    /// Prepared; may run again under the same key, which the handler receives.
    Idempotent,
    /// Prepared; never run again on doubt (DUR-009). What declares nothing is ordinary.
    Ordinary,
    /// Prepared; made of named steps. Its handler is entered again on doubt, and a step that is
    /// recorded is not run again (DUR-010).
    Durable,
}

impl ExecutionClass {
    /// Whether a start of this class must be canonical before the tool is invoked.
    #[must_use]
    pub const fn is_prepared(self) -> bool {
        match self {
            Self::Readonly => false,
            Self::Idempotent | Self::Ordinary | Self::Durable => true,
        }
    }
}

/// How much harm a call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Risk {
    /// None worth asking about.
    Low,
    /// Some, and it can be undone.
    Medium,
    /// Much, or it cannot be undone.
    High,
    /// So much that a person ought to see every single call: whether one is asked is the approval
    /// rule's to say.
    Critical,
}

/// What becomes of a run when a tool declares that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FailureMode {
    /// The model is told and may try something else.
    Return,
    /// The run fails with the tool's diagnostic.
    Error,
}

/// Whether a call that ended without any effect may be made again by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RetryClass {
    /// Never.
    Never,
    /// When the handler says that it failed for a passing reason and had no effect. Never a call
    /// whose outcome is uncertain (RUN-014).
    Transient,
}

/// A place in a JSON value, as RFC 6901 spells it: empty, or `/` before each name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pointer(Arc<str>);

/// A text is no JSON pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a JSON pointer is empty or begins with `/`, and has `~` only before `0` and `1`")]
pub struct PointerError;

impl Pointer {
    /// Checks and wraps a text.
    ///
    /// # Errors
    /// The text is no JSON pointer.
    pub fn new(text: &str) -> Result<Self, PointerError> {
        let begins = text.is_empty() || text.starts_with('/');
        let mut escapes = text.split('~').skip(1);
        if begins && escapes.all(|rest| rest.starts_with(['0', '1'])) {
            Ok(Self(Arc::from(text)))
        } else {
            Err(PointerError)
        }
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One tool of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name the model calls it by.
    pub name: ToolName,
    /// What may be done on doubt.
    pub class: ExecutionClass,
    /// Whether a reconciler can be asked what became of a start.
    pub reconciles: bool,
    /// What it does, in words for the model.
    pub description: Arc<str>,
    /// What its parameters look like: checked before anything of the batch starts (ARC-01).
    pub parameters: Schema,
    /// What its result looks like: a result that does not fit is a defect of the call.
    pub success: Schema,
    /// What a failure that it declares looks like, as the JSON of its diagnostic's message: one that
    /// does not fit is a defect of the call (CAP-004).
    pub fails_with: Schema,
    /// How much harm it can do.
    pub risk: Risk,
    /// Where in the parameters the resource that it acts on is named.
    pub resource: Option<Pointer>,
    /// Calls of one group share permits.
    pub group: Option<GroupName>,
    /// How long the handler may take.
    pub timeout: DurationMs,
    /// Whether the host may make it again.
    pub retry: RetryClass,
    /// Bytes of a result that its record shows (RUN-019). All of a longer one is an artifact
    /// (STORE-009).
    pub result_bytes: u32,
    /// Places in parameters and results that nobody is shown.
    pub redact: Vec<Pointer>,
    /// What a declared failure does to the run.
    pub failure: FailureMode,
    /// Whether a person is asked first, or no call happens at all. The policy of the agent and that of
    /// its host can only make it stricter (AUTH-06).
    pub approval: Judgement,
    /// What a call takes; none if it takes nothing that has to be granted. Naming it grants nothing
    /// (AUTH-01).
    pub capability: Option<CapabilityKey>,
}

impl ToolDefinition {
    /// A tool of a class that takes and gives any value, with every other property at its
    /// default: medium risk, no group, a minute of time, never retried, failures returned.
    #[must_use]
    pub fn new(name: ToolName, class: ExecutionClass) -> Self {
        Self {
            name,
            class,
            reconciles: false,
            description: Arc::from(""),
            parameters: Schema::anything(),
            success: Schema::anything(),
            fails_with: Schema::anything(),
            risk: Risk::Medium,
            resource: None,
            group: None,
            timeout: DurationMs(TOOL_TIMEOUT_MS),
            retry: RetryClass::Never,
            result_bytes: TOOL_RESULT_BYTES,
            redact: Vec::new(),
            failure: FailureMode::Return,
            approval: Judgement::Auto,
            capability: None,
        }
    }

    /// The same, with a reconciler that can be asked what became of a start.
    #[must_use]
    pub fn reconciling(self) -> Self {
        Self { reconciles: true, ..self }
    }
}
