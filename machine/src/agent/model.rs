//! What goes to a model and what comes back. Provider types never get this far (ARC-08).

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::tool::{Diagnostic, ToolOutcome};
use crate::identity::{AgentId, RunId, ToolCallId, ToolName, Turn};
use crate::json::CanonicalJson;

/// Why a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FinishReason {
    /// The model had said what it wanted to say.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The response was cut at a length limit: nothing in it executes (RUN-004).
    Length,
}

/// Tokens that one response used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the response.
    pub output_tokens: u64,
}

/// A call as the model declared it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's own id: a label, never an identity (RUN-034).
    pub label: Arc<str>,
    /// Which tool.
    pub tool: ToolName,
    /// Complete, decoded parameters (ARC-02).
    pub parameters: CanonicalJson,
}

/// One part of a complete response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ResponsePart {
    /// Words.
    Text(Arc<str>),
    /// A call.
    Call(ToolCall),
}

/// One complete response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelResponse {
    /// In the order in which the model produced them.
    pub parts: Vec<ResponsePart>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it cost.
    pub usage: Usage,
}

impl ModelResponse {
    /// The declared calls, in declaration order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::Call(call) => Some(call),
            ResponsePart::Text(_) => None,
        })
    }

    /// The words, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::Text(text) => Some(&**text),
            ResponsePart::Call(_) => None,
        })
    }
}

/// Why a model gave no response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ModelFault {
    /// The provider could not be asked or refused to answer.
    Unavailable(Diagnostic),
    /// What came back is no response.
    Protocol(Diagnostic),
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// What a user submitted.
    User(CanonicalJson),
    /// What the model answered.
    Assistant(Arc<ModelResponse>),
    /// How a call ended. Follows its response, in declaration order (RUN-006).
    ToolResult {
        /// The engine's id of the call.
        call: ToolCallId,
        /// The provider's label for it.
        label: Arc<str>,
        /// The outcome.
        outcome: Arc<ToolOutcome>,
    },
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelRequest {
    /// The agent that asks.
    pub agent: AgentId,
    /// The run that asks.
    pub run: RunId,
    /// Its turn.
    pub turn: Turn,
    /// Whole batches only: no call without its result, no result without its call.
    pub messages: Vec<Message>,
}
