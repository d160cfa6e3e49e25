//! What comes of it.

use super::state::{Session, Shelf};
use crate::identity::{Revision, SessionId};
use crate::limits::{SESSION_CONVERSATIONS, SESSION_METADATA_BYTES, SESSIONS};

/// Something to write, exactly as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// What is known of all sessions.
    Shelf(Shelf),
    /// A session is like this now.
    Put(Session),
    /// A session is gone.
    Delete(SessionId),
}

/// What a step asks for: changes, and then exactly one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// To be written.
    Change(Change),
    /// The session as it is now; one that was deleted, as it was.
    Reply(Session),
    /// The command was refused, and nothing changes.
    Refuse(Refusal),
}

/// Why a command is refused. A refusal changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// There is no such session.
    #[error("there is no such session")]
    Absent,
    /// There is one of this name.
    #[error("there is a session of this name, at revision {found}")]
    Exists {
        /// Its revision.
        found: Revision,
    },
    /// It has been changed since it was read.
    #[error("the session is at revision {found}, not {expected}")]
    Conflict {
        /// The revision that was read.
        expected: Revision,
        /// The one that it has.
        found: Revision,
    },
    /// A conversation is named twice.
    #[error("a conversation is named twice")]
    Twice,
    /// A conversation is to be removed that it does not point to.
    #[error("a conversation is to be removed that it does not point to")]
    NotThere,
    /// It would point to too many conversations.
    #[error("a session points to at most {SESSION_CONVERSATIONS} conversations")]
    TooMany,
    /// What is to be remembered of it is over its bound.
    #[error("the metadata has {bytes} bytes; at most {SESSION_METADATA_BYTES} are kept")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// There are as many sessions as there may be.
    #[error("there are {SESSIONS} sessions already")]
    Full,
}
