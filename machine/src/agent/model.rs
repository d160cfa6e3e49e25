//! What comes back from a model. Provider types never get this far (ARC-08).

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::outcome::Diagnostic;
use crate::identity::{DurationMs, ToolName};
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
    /// The provider withheld the rest; nothing in it executes.
    Withheld,
}

/// What one response used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, those read from or written to a cache included.
    pub input_tokens: u64,
    /// Those of them that were read from a cache.
    pub cache_read_tokens: u64,
    /// Those of them that were written to a cache.
    pub cache_write_tokens: u64,
    /// Tokens of the response.
    pub output_tokens: u64,
    /// What it cost, in millionths of the binding's currency.
    pub cost_micros: u64,
}

impl Usage {
    /// Whether the parts fit the whole (RUN-020).
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let cached = self.cache_read_tokens.checked_add(self.cache_write_tokens);
        cached.is_some_and(|cached| cached <= self.input_tokens)
    }

    /// This usage and another one.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }

    /// Request and response together.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Tokens of the request that no cache had anything to do with; zero if that is impossible.
    #[must_use]
    pub const fn uncached_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_sub(self.cache_read_tokens.saturating_add(self.cache_write_tokens))
    }
}

/// A call as the model declared it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's own id: a label, never an identity (RUN-034).
    pub label: Arc<str>,
    /// Which tool.
    pub tool: ToolName,
    /// Complete parameters (ARC-02).
    pub parameters: CanonicalJson,
}

/// What the model thought before it answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reasoning {
    /// Its words; empty where the provider keeps them to itself.
    pub text: Arc<str>,
    /// What the provider wants to be shown again with the words, as it came.
    pub signature: Option<Arc<str>>,
    /// Whether the provider has taken words out.
    pub redacted: bool,
}

/// How a call ended that the provider made by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderResult {
    /// The label of the call that it answers.
    pub label: Arc<str>,
    /// What came of it.
    pub result: CanonicalJson,
    /// Whether the provider says that it failed.
    pub failed: bool,
}

/// One part of a complete response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ResponsePart {
    /// Words.
    Text(Arc<str>),
    /// A call.
    Call(ToolCall),
    /// Thoughts.
    Reasoning(Reasoning),
    /// A call that the provider makes by itself: recorded and counted, never run (RUN-030).
    ProviderCall(ToolCall),
    /// How such a call ended.
    ProviderResult(ProviderResult),
}

/// One complete response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelResponse {
    /// In the order in which the model produced them.
    pub parts: Vec<ResponsePart>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it used, if the provider says so.
    pub usage: Option<Usage>,
}

impl ModelResponse {
    /// The declared calls, in declaration order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::Call(call) => Some(call),
            ResponsePart::Text(_)
            | ResponsePart::Reasoning(_)
            | ResponsePart::ProviderCall(_)
            | ResponsePart::ProviderResult(_) => None,
        })
    }

    /// The calls that the provider made by itself, in order.
    pub fn provider_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::ProviderCall(call) => Some(call),
            ResponsePart::Text(_)
            | ResponsePart::Reasoning(_)
            | ResponsePart::Call(_)
            | ResponsePart::ProviderResult(_) => None,
        })
    }

    /// The words, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::Text(text) => Some(&**text),
            ResponsePart::Call(_)
            | ResponsePart::Reasoning(_)
            | ResponsePart::ProviderCall(_)
            | ResponsePart::ProviderResult(_) => None,
        })
    }

    /// Bytes of everything that it says.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bytes = self.parts.iter().map(|part| match part {
            ResponsePart::Text(text) => text.len(),
            ResponsePart::Call(call) | ResponsePart::ProviderCall(call) => {
                call.label.len() + call.tool.as_str().len() + call.parameters.as_str().len()
            }
            ResponsePart::Reasoning(it) => {
                it.text.len() + it.signature.as_ref().map_or(0, |it| it.len())
            }
            ResponsePart::ProviderResult(it) => it.label.len() + it.result.as_str().len(),
        });
        bytes.sum()
    }
}

/// Why a model gave no response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ModelFault {
    /// The provider could not be asked, or failed: asking again may help.
    Unavailable(Diagnostic),
    /// What came back is no response. Nothing of it is used.
    Protocol(Diagnostic),
    /// The provider wants to be left alone for a while.
    RateLimited {
        /// What it says.
        diagnostic: Diagnostic,
        /// For how long at least.
        retry_after: Option<DurationMs>,
    },
    /// The request is longer than the model's context.
    ContextLength(Diagnostic),
    /// The provider refuses this request, and would refuse it again.
    Refused(Diagnostic),
}

/// A question of a model that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LostResponse {
    /// Why there is no response.
    pub fault: ModelFault,
    /// What the response had used by the last word of its stream; none if the stream did not say
    /// (BU-07).
    pub used: Option<Usage>,
}

impl From<ModelFault> for LostResponse {
    /// A stream that had not said what it used.
    fn from(fault: ModelFault) -> Self {
        Self { fault, used: None }
    }
}

impl ModelFault {
    /// Whether the provider says that it has not begun: nothing was used, unless it says so.
    #[must_use]
    pub const fn is_turned_away(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::ContextLength(_) | Self::Refused(_) => true,
            Self::Unavailable(_) | Self::Protocol(_) => false,
        }
    }

    /// What is wrong, in words.
    #[must_use]
    pub const fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::Unavailable(diagnostic)
            | Self::Protocol(diagnostic)
            | Self::RateLimited { diagnostic, .. }
            | Self::ContextLength(diagnostic)
            | Self::Refused(diagnostic) => diagnostic,
        }
    }

    /// Whether the same request may be answered later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::RateLimited { .. } => true,
            Self::Protocol(_) | Self::ContextLength(_) | Self::Refused(_) => false,
        }
    }
}
