//! What a reduction is told.

use alloc::sync::Arc;

use crate::agent::{FinishReason, ModelFault, Usage};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The stream brought a part.
    Received(StreamPart),
    /// The stream came to its end.
    Ended,
    /// There is no stream, or no more of it. A transport that breaks is
    /// [`ModelFault::Unavailable`], which may be asked again.
    Failed(ModelFault),
}

/// One part of a stream, in the words of no provider.
///
/// Every `label` is the provider's own, at most [`crate::limits::TEXT_BYTES`] bytes, and may be
/// empty or the same every time. Tools and JSON come as the provider spells them; the reduction
/// checks them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StreamPart {
    /// The stream begins. Once, before anything else.
    Start,
    /// Words begin.
    TextStart {
        /// Under which label.
        label: Arc<str>,
    },
    /// The next words.
    TextDelta {
        /// Of the open text of this label.
        label: Arc<str>,
        /// The words.
        text: Arc<str>,
    },
    /// Words end.
    TextEnd {
        /// Of the open text of this label.
        label: Arc<str>,
    },
    /// Thoughts begin.
    ReasoningStart {
        /// Under which label.
        label: Arc<str>,
    },
    /// The next thoughts.
    ReasoningDelta {
        /// Of the open thoughts of this label.
        label: Arc<str>,
        /// Their words.
        text: Arc<str>,
    },
    /// Thoughts end.
    ReasoningEnd {
        /// The open thoughts of this label.
        label: Arc<str>,
        /// What the provider wants to be shown again with the words, as it came.
        signature: Option<Arc<str>>,
        /// Whether the provider has taken words out.
        redacted: bool,
    },
    /// A call begins.
    CallStart {
        /// Under which label.
        label: Arc<str>,
        /// The tool's name.
        tool: Arc<str>,
    },
    /// The next piece of a call's arguments, as JSON text. A piece may end anywhere.
    CallDelta {
        /// Of the open call of this label.
        label: Arc<str>,
        /// The piece.
        json: Arc<str>,
    },
    /// A call is complete: its pieces together are one JSON object. Where a provider sends
    /// nothing for a tool without parameters, its driver says `{}`.
    CallEnd {
        /// The open call of this label.
        label: Arc<str>,
    },
    /// A call that comes whole, instead of the three parts above.
    Call(WholeCall),
    /// A call that the provider makes by itself (RUN-030).
    ProviderCall(WholeCall),
    /// How such a call ended. Each is answered at most once.
    ProviderResult {
        /// The label of the call.
        label: Arc<str>,
        /// What came of it, as JSON text of any kind.
        json: Arc<str>,
        /// Whether the provider says that it failed.
        failed: bool,
    },
    /// What the response has used so far, from its beginning: the last one counts (BU-05).
    Usage(Usage),
    /// The response is complete. Once, and nothing follows.
    Finish(FinishReason),
}

/// A call in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WholeCall {
    /// The provider's label.
    pub label: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments: the text of one JSON object.
    pub json: Arc<str>,
}
