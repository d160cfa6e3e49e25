//! Why a stream is no response.

use alloc::string::ToString;

use crate::agent::{Diagnostic, LostResponse, ModelFault};
use crate::identity::NameError;
use crate::json::JsonError;
use crate::limits::{RESPONSE_BYTES, RESPONSE_CALLS, RESPONSE_PARTS, TEXT_BYTES};

/// Why a stream is no response. No error holds a word of what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Something came before the start.
    #[error("a part came before the start of the stream")]
    NotStarted,
    /// The stream started a second time.
    #[error("the stream started twice")]
    StartedTwice,
    /// Something came after the finish, be it a second finish.
    #[error("a part came after the finish of the stream")]
    AfterFinish,
    /// The stream ended before its finish (RUN-004).
    #[error("the stream was cut before its finish")]
    Cut,
    /// A part began under the label of a part of its kind that was still open.
    #[error("a part began under the label of one that was still open")]
    LabelOpen,
    /// A piece or an end came for a label under which nothing of its kind was open.
    #[error("a piece or an end came for a part that was not open")]
    LabelUnknown,
    /// A label is over [`TEXT_BYTES`].
    #[error("a label has at most {TEXT_BYTES} bytes")]
    LabelTooLong,
    /// The stream finished while a part was open.
    #[error("the stream finished before each of its parts had ended")]
    PartNotEnded,
    /// A tool's name is no name.
    #[error("a call names no tool: {0}")]
    ToolName(NameError),
    /// The arguments of a call are cut off, or no JSON that is accepted (ARC-02).
    #[error("the arguments of a call are not complete: {0}")]
    Arguments(JsonError),
    /// The arguments of a call are a JSON value other than an object.
    #[error("the arguments of a call are no JSON object")]
    ArgumentsNotObject,
    /// The result of a provider's call is no JSON that is accepted.
    #[error("the result of a provider's call is no JSON value: {0}")]
    Result(JsonError),
    /// A result names no call of the provider before it, or one that has its result.
    #[error("a result came for no call of the provider that waits for one")]
    ResultWithoutCall,
    /// More was read from caches and written to them than was read at all (RUN-020).
    #[error("the response used less than it cached")]
    UsageImpossible,
    /// What was used so far became less (BU-05).
    #[error("the response had used more before")]
    UsageFell,
    /// There are more than [`RESPONSE_PARTS`] parts.
    #[error("a response has at most {RESPONSE_PARTS} parts")]
    TooManyParts,
    /// There are more than [`RESPONSE_CALLS`] calls.
    #[error("a response has at most {RESPONSE_CALLS} calls")]
    TooManyCalls,
    /// The parts and their labels have more than [`RESPONSE_BYTES`] bytes.
    #[error("a response has at most {RESPONSE_BYTES} bytes")]
    TooManyBytes,
}

impl ProtocolError {
    /// The stable tag of its diagnostic.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::NotStarted => "StreamNotStarted",
            Self::StartedTwice => "StreamStartedTwice",
            Self::AfterFinish => "StreamAfterFinish",
            Self::Cut => "StreamCut",
            Self::LabelOpen => "LabelOpen",
            Self::LabelUnknown => "LabelUnknown",
            Self::LabelTooLong => "LabelTooLong",
            Self::PartNotEnded => "PartNotEnded",
            Self::ToolName(_) => "ToolNameInvalid",
            Self::Arguments(_) => "ArgumentsIncomplete",
            Self::ArgumentsNotObject => "ArgumentsNotObject",
            Self::Result(_) => "ProviderResultInvalid",
            Self::ResultWithoutCall => "ProviderResultUnasked",
            Self::UsageImpossible => "UsageImpossible",
            Self::UsageFell => "UsageFell",
            Self::TooManyParts => "ResponseParts",
            Self::TooManyCalls => "ResponseCalls",
            Self::TooManyBytes => "ResponseBytes",
        }
    }
}

impl From<ProtocolError> for LostResponse {
    fn from(error: ProtocolError) -> Self {
        ModelFault::from(error).into()
    }
}

impl From<ProtocolError> for ModelFault {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(Diagnostic::cut(error.tag(), &error.to_string()))
    }
}
