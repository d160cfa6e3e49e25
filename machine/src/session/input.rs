//! What can be asked.

use alloc::vec::Vec;

use super::state::Metadata;
use crate::identity::{ConversationId, Revision, SessionId, TenantId, Timestamp};

/// A session that is to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Draft {
    /// Whose data it is.
    pub tenant: TenantId,
    /// What is remembered of it.
    pub metadata: Metadata,
    /// The conversations that it points to, each once.
    pub conversations: Vec<ConversationId>,
}

/// What is to be changed of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Patch {
    /// What is remembered of it from now on; none leaves it.
    pub metadata: Option<Metadata>,
    /// Conversations that it points to as well; those that it points to already stay where they are.
    pub add: Vec<ConversationId>,
    /// Conversations that it points to no more.
    pub remove: Vec<ConversationId>,
}

/// A command about one session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Make it.
    Create {
        /// Its name.
        id: SessionId,
        /// What it is to be.
        draft: Draft,
    },
    /// Change it.
    Update {
        /// Its name.
        id: SessionId,
        /// The revision that was read.
        expected: Revision,
        /// What is to be changed.
        patch: Patch,
    },
    /// Delete it. Its conversations stay.
    Delete {
        /// Its name.
        id: SessionId,
        /// The revision that was read.
        expected: Revision,
    },
}

/// A command with the store's time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stamped {
    /// The command.
    pub command: Command,
    /// The store's clock.
    pub now: Timestamp,
}

impl Command {
    /// Which session it is about.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        match self {
            Self::Create { id, .. } | Self::Update { id, .. } | Self::Delete { id, .. } => id,
        }
    }
}
