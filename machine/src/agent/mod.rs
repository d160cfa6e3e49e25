//! What an agent is: its definition, its tools and its policy, and what it says to and hears from
//! a model.

mod approval;
mod artifact;
mod bound;
mod definition;
mod judgement;
mod kept;
mod messages;
mod model;
mod outcome;
mod policy;
mod request;
mod schema;
mod step;
mod tool;

pub use approval::{ApprovalPolicy, ApprovalTerms, Entries, Verdict};
pub use artifact::{
    ArtifactError, CompactionArtifact, SummaryMessage, SummaryRole, apply_artifact, source_digest,
};
pub use bound::{Bound, BoundPart};
pub use definition::{AgentDefinition, Binding, DefinitionError};
pub use judgement::Judgement;
pub use kept::{Kept, Media, Whole};
pub use messages::{Counted, Messages};
pub use model::{
    FinishReason, LostResponse, ModelFault, ModelResponse, ProviderResult, Reasoning, ResponsePart,
    ToolCall, Usage,
};
pub use outcome::{
    Diagnostic, DiagnosticError, RejectionReason, Resolution, ToolOutcome, Truncated,
};
pub use policy::{
    AgentPolicy, Allowance, ContextPolicy, Dimension, DispositionRule, Joins, ModelRetry, OnDenial,
    OnExhaustion, UsageReporting,
};
pub use request::{Gauge, Message, ModelRequest, Purpose, ToolChoice};
pub use schema::Schema;
pub use step::{NamedStep, StepOutput};
pub use tool::{
    ExecutionClass, FailureMode, Pointer, PointerError, RetryClass, Risk, ToolDefinition,
};
