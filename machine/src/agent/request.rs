//! What goes to a model.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::definition::AgentDefinition;
use super::messages::Messages;
use super::model::ModelResponse;
use super::outcome::ToolOutcome;
use super::policy::Dimension;
use super::schema::Schema;
use crate::identity::{RunId, Sequence, ToolCallId, Turn};
use crate::json::CanonicalJson;

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// What a user submitted.
    User(CanonicalJson),
    /// What stands for older messages: neutral words, and a summary if there is one.
    Summary(Arc<str>),
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

impl Message {
    /// Bytes of what it says.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::User(input) => input.as_str().len(),
            Self::Summary(text) => text.len(),
            Self::Assistant(response) => response.bytes(),
            Self::ToolResult { label, outcome, .. } => label.len() + outcome.bytes(),
        }
    }
}

/// Whether the model may call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// It may.
    Allowed,
    /// It may not, because a budget is used up: a call fails the run (RUN-017).
    Forbidden,
}

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// The next response of the run.
    Respond,
    /// A summary of older messages, to be shown instead of them. No tool is advertised.
    Summarize {
        /// The last record that is covered. An answer carries it back, so a summary is never
        /// taken for more than it was made of.
        through: Sequence,
    },
}

/// How much of one dimension is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gauge {
    /// Of what.
    pub dimension: Dimension,
    /// So much.
    pub used: u64,
    /// Of so much.
    pub limit: u64,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelRequest {
    /// The agent that asks: its instructions and the tools that it advertises.
    pub agent: AgentDefinition,
    /// The run that asks.
    pub run: RunId,
    /// Its turn.
    pub turn: Turn,
    /// What is asked for.
    pub purpose: Purpose,
    /// Whole batches only: no call without its result, no result without its call.
    pub messages: Messages,
    /// Whether tools may be called.
    pub tools: ToolChoice,
    /// What the final answer has to look like. Shown behind everything, and in no history.
    pub output: Option<Schema>,
    /// How much of the budget is used. Shown last, and in no history (RUN-021).
    pub status: Vec<Gauge>,
}
