//! What an agent is: its definition, its tools, and what it says to and hears from a model.

mod definition;
mod model;
mod tool;

pub use definition::{AgentDefinition, Binding, DefinitionError};
pub use model::{
    FinishReason, Message, ModelFault, ModelRequest, ModelResponse, ResponsePart, ToolCall, Usage,
};
pub use tool::{
    Diagnostic, DiagnosticError, ExecutionClass, RejectionReason, Resolution, ToolDefinition,
    ToolOutcome,
};
