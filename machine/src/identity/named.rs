//! Identifiers that people and other systems choose.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SubmissionId;
use crate::limits::IDENTIFIER_CHARS;

/// Why a text is no identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("an identifier cannot be empty")]
    Empty,
    /// The text has more than [`IDENTIFIER_CHARS`] characters.
    #[error("an identifier has at most {IDENTIFIER_CHARS} characters")]
    TooLong,
    /// The text has a control character, which would break logs and terminals.
    #[error("an identifier cannot hold control characters")]
    Control,
}

fn checked(text: &str) -> Result<Arc<str>, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.chars().count() > IDENTIFIER_CHARS {
        return Err(NameError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    Ok(Arc::from(text))
}

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// 1 to 256 characters, none of them a control character.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and wraps a text.
            ///
            /// # Errors
            /// The text is empty, too long, or holds a control character.
            pub fn new(text: &str) -> Result<Self, NameError> {
                checked(text).map(Self)
            }

            /// The text itself.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                checked(&text).map(Self).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

impl IdempotencyKey {
    /// What the submission is called that tries another one again.
    #[must_use]
    pub fn retry_of(submission: SubmissionId) -> Self {
        Self(Arc::from(alloc::format!("retry of {submission}")))
    }
}

named! {
    /// One Conversation, and with it one Conversation Log and one lane of the ledger.
    ConversationId;
    /// One Agent Definition, whatever its revision.
    AgentId;
    /// Who submits, aborts or resolves.
    PrincipalId;
    /// Whose data it is.
    TenantId;
    /// A client's name for one submission, scoped to principal and conversation.
    IdempotencyKey;
    /// The name of a tool as the model sees it.
    ToolName;
    /// A step of a durable tool, once in a call (DUR-010).
    StepName;
    /// A named pointer to conversations (CAP-012).
    SessionId;
    /// What a value of an agent's state is found by (CAP-012).
    StateKey;
    /// Tools whose calls share permits.
    GroupName;
    /// A process that claims lanes and writes batches.
    ProducerId;
    /// Which version of which compactor has made a summary.
    CompactorVersion;
}
