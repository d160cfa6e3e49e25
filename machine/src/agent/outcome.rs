//! How a call can end, and how a doubt about it is closed.

use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::Kept;
use crate::json::CanonicalJson;
use crate::limits::{DIAGNOSTIC_MESSAGE_BYTES, DIAGNOSTIC_TAG_CHARS};
use crate::{approval, authority};

/// A failure in words: a stable tag and a message, both bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    tag: Arc<str>,
    message: Arc<str>,
}

/// Why two texts make no diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiagnosticError {
    /// The tag has more than [`DIAGNOSTIC_TAG_CHARS`] characters.
    #[error("a diagnostic's tag has at most {DIAGNOSTIC_TAG_CHARS} characters")]
    TagTooLong,
    /// The message has more than [`DIAGNOSTIC_MESSAGE_BYTES`] bytes.
    #[error("a diagnostic's message has at most {DIAGNOSTIC_MESSAGE_BYTES} bytes")]
    MessageTooLong,
}

impl Diagnostic {
    /// Checks and wraps a tag and a message.
    ///
    /// # Errors
    /// One of them is over its bound.
    pub fn new(tag: &str, message: &str) -> Result<Self, DiagnosticError> {
        let diagnostic = Self { tag: Arc::from(tag), message: Arc::from(message) };
        diagnostic.check().map(|()| diagnostic)
    }

    /// Like [`Diagnostic::new`], but cuts what is too long, on a character boundary.
    #[must_use]
    pub fn cut(tag: &str, message: &str) -> Self {
        let tag_end = tag.char_indices().nth(DIAGNOSTIC_TAG_CHARS).map_or(tag.len(), |(at, _)| at);
        let message_end = message.floor_char_boundary(DIAGNOSTIC_MESSAGE_BYTES.min(message.len()));
        Self { tag: Arc::from(&tag[..tag_end]), message: Arc::from(&message[..message_end]) }
    }

    /// Whether both texts keep their bounds; asked of everything that is decoded.
    ///
    /// # Errors
    /// One of them is over its bound.
    pub fn check(&self) -> Result<(), DiagnosticError> {
        if self.tag.chars().count() > DIAGNOSTIC_TAG_CHARS {
            return Err(DiagnosticError::TagTooLong);
        }
        if self.message.len() > DIAGNOSTIC_MESSAGE_BYTES {
            return Err(DiagnosticError::MessageTooLong);
        }
        Ok(())
    }

    /// The stable, short name of the failure.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// What happened, in a sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Why a call was turned down before it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RejectionReason {
    /// The host's authorizer said no (RUN-028).
    NotAuthorized,
    /// Another call of the same batch could not start; a batch starts whole or not at all.
    BatchRefused,
    /// An approver said no.
    NotApproved,
    /// The run may make no further call (RUN-015).
    OverBudget,
    /// What the call takes is not granted, or not any more: which layer says so (AUTH-01, SEC-02).
    NotGranted(authority::Layer),
    /// The policy denies the call, and nobody was asked: which layer says so (AUTH-06).
    PolicyDenied(approval::Layer),
}

/// In the words that a model is told.
impl fmt::Display for RejectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAuthorized => f.write_str("not authorized"),
            Self::BatchRefused => f.write_str("another call of the batch was refused"),
            Self::NotApproved => f.write_str("not approved"),
            Self::OverBudget => f.write_str("over budget"),
            Self::NotGranted(layer) => write!(f, "not granted by {layer}"),
            Self::PolicyDenied(layer) => write!(f, "denied by {layer}"),
        }
    }
}

/// A result that was longer than the tool may give: where it begins and ends (RUN-019).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Truncated {
    /// The beginning of its JSON text.
    pub head: Arc<str>,
    /// The end of it.
    pub tail: Arc<str>,
    /// How many bytes it had.
    pub bytes: u64,
}

impl Truncated {
    /// Keeps the beginning and the end of a text, together at most `most` bytes.
    #[must_use]
    pub fn of(text: &str, most: usize) -> Self {
        let head = text.floor_char_boundary(most / 2);
        let tail = text.ceil_char_boundary(text.len().saturating_sub(most / 2)).max(head);
        let (head, tail) = (Arc::from(&text[..head]), Arc::from(&text[tail..]));
        Self { head, tail, bytes: text.len() as u64 }
    }
}

/// How a call ended. *Unknown* is not among them: it is a state, not an outcome (DUR-017).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToolOutcome {
    /// The tool did it and says so.
    Success(CanonicalJson),
    /// The tool declares that it failed.
    Failure(Diagnostic),
    /// The call was turned down before it started.
    Rejected(RejectionReason),
    /// The call does not fit any tool of the agent.
    InvalidInput(Diagnostic),
    /// The handler broke: a panic, or an output that is no valid value.
    Defect(Diagnostic),
    /// The tool did it; what it says is too long to be kept whole.
    Truncated(Truncated),
    /// The tool did it; what it says is too long to be shown whole, and is kept beside the log.
    Kept(Kept),
}

impl ToolOutcome {
    /// Bytes of what it says.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Success(result) => result.as_str().len(),
            Self::Truncated(it) | Self::Kept(Kept { cut: it, .. }) => it.head.len() + it.tail.len(),
            Self::Failure(it) | Self::InvalidInput(it) | Self::Defect(it) => {
                it.tag().len() + it.message().len()
            }
            Self::Rejected(_) => 0,
        }
    }

    /// Whether the call counts as a failure of the model's plan (RUN-029).
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        match self {
            Self::Success(_) | Self::Truncated(_) | Self::Kept(_) => false,
            Self::Failure(_) | Self::Rejected(_) | Self::InvalidInput(_) | Self::Defect(_) => true,
        }
    }
}

/// How a person or a reconciler closes an unknown outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Resolution {
    /// It happened, and this is the result.
    Completed(CanonicalJson),
    /// It happened, and it failed.
    Failed(Diagnostic),
    /// It has not started, *and can no longer start*: the call is tombstoned below the epoch
    /// that asks.
    NeverStarted,
    /// It may have happened, and doing it again does no harm.
    SafeToRepeat,
}

impl Resolution {
    /// The result that this resolution proves, if it proves one.
    #[must_use]
    pub fn outcome(&self) -> Option<ToolOutcome> {
        match self {
            Self::Completed(result) => Some(ToolOutcome::Success(result.clone())),
            Self::Failed(diagnostic) => Some(ToolOutcome::Failure(diagnostic.clone())),
            Self::NeverStarted | Self::SafeToRepeat => None,
        }
    }
}
