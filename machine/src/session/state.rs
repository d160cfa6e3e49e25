//! A session, and what is known of all of them.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::identity::{ConversationId, Revision, SessionId, TenantId, Timestamp};
use crate::json::CanonicalJson;

/// What a client remembers of its session, and the version of the schema that it fits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Metadata {
    /// The version: whoever reads compares it with the one that it knows.
    pub version: u32,
    /// At most [`crate::limits::SESSION_METADATA_BYTES`].
    pub json: CanonicalJson,
}

/// A session as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Session {
    /// Its name.
    pub id: SessionId,
    /// Whose data it is. It stays as it was made.
    pub tenant: TenantId,
    /// Names the last change.
    pub revision: Revision,
    /// What is remembered of it.
    pub metadata: Metadata,
    /// The conversations that it points to, in the order in which they were added, at most
    /// [`crate::limits::SESSION_CONVERSATIONS`].
    pub conversations: Vec<ConversationId>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// What is known of all sessions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shelf {
    /// The last revision that was given. It never falls, so none is ever given twice.
    pub last: Revision,
    /// How many sessions there are, at most [`crate::limits::SESSIONS`].
    pub sessions: u32,
}

/// What one command has to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// What is known of all sessions.
    pub shelf: Shelf,
    /// The session that the command names, if it is there.
    pub session: Option<Session>,
}
