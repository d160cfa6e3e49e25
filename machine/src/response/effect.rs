//! What a reduction asks for.

use alloc::sync::Arc;

use crate::agent::{LostResponse, ModelResponse};
use crate::identity::ToolName;

/// What the world is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Show this to whoever watches. May never become canonical (DUR-008).
    Show(Delta),
    /// The reduction is over: this is the model's answer, and nothing more is wanted of the
    /// stream. Once.
    Done(Result<Arc<ModelResponse>, LostResponse>),
}

/// A piece of a response that is not complete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Delta {
    /// The next words; never empty.
    Text {
        /// Place of the part in the response, from 0.
        part: usize,
        /// The words.
        text: Arc<str>,
    },
    /// The next thoughts; never empty.
    Reasoning {
        /// Place of the part in the response, from 0.
        part: usize,
        /// Their words.
        text: Arc<str>,
    },
    /// A call is being declared. Its arguments may still be on their way, and it may come to
    /// nothing.
    Call {
        /// Place of the part in the response, from 0.
        part: usize,
        /// Place among the calls of the response, from 0: what the engine's id of the call is
        /// derived from, should the response become canonical.
        call: usize,
        /// Which tool.
        tool: ToolName,
    },
}
