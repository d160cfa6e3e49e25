//! What can be asked.

use super::state::{Address, Owner, Value, WriteClass};
use crate::digest::{Digest, Hasher};
use crate::identity::{ConversationId, Epoch, Revision, RunId, StateKey, Timestamp, ToolCallId};

/// The start of a call that asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// In which lane.
    pub lane: ConversationId,
    /// Of which run.
    pub run: RunId,
    /// Which call.
    pub call: ToolCallId,
    /// The epoch of the start.
    pub start: Epoch,
}

/// Whose values a call means: its agent's, or its run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// Its agent's, for the tenant of its submission.
    Agent,
    /// Its run's.
    Run,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Put {
    /// Under which key.
    pub key: StateKey,
    /// As what.
    pub class: WriteClass,
    /// The revision that is there, as far as the writer knows; none if nothing is.
    pub expected: Option<Revision>,
    /// What is to be there; none removes it.
    pub value: Option<Value>,
}

/// Something that is asked of the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// A call reads.
    Get {
        /// Who asks.
        caller: Caller,
        /// Whose values.
        whose: Whose,
        /// Which key.
        key: StateKey,
    },
    /// A call writes.
    Put {
        /// Who writes.
        caller: Caller,
        /// What.
        put: Put,
    },
    /// Somebody writes who is no call. There is no record that the write could be one with, and no
    /// end upon which it could be taken back.
    Set {
        /// Whose values.
        owner: Owner,
        /// What.
        put: Put,
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

impl Put {
    /// Everything that is said, in one digest.
    #[must_use]
    pub fn content(&self) -> Digest {
        let number = |it: Option<u64>| (u64::from(it.is_some()), it.unwrap_or_default());
        let (follows, revision) = number(self.expected.map(|it| it.0));
        let (keeps, version) = number(self.value.as_ref().map(|it| u64::from(it.version)));
        Hasher::new("everstep/state/put")
            .bytes(self.key.as_str().as_bytes())
            .bytes(self.class.name().as_bytes())
            .number(follows)
            .number(revision)
            .number(keeps)
            .number(version)
            .bytes(self.value.as_ref().map_or("", |it| it.json.as_str()).as_bytes())
            .digest()
    }
}

impl Command {
    /// The start that asks, if one does.
    #[must_use]
    pub const fn caller(&self) -> Option<&Caller> {
        match self {
            Self::Get { caller, .. } | Self::Put { caller, .. } => Some(caller),
            Self::Set { .. } => None,
        }
    }

    /// Whether it may change anything.
    #[must_use]
    pub const fn writes(&self) -> bool {
        match self {
            Self::Get { .. } => false,
            Self::Put { .. } | Self::Set { .. } => true,
        }
    }
}

impl Address {
    /// A key of an agent.
    #[must_use]
    pub const fn of_agent(owner: Owner, key: StateKey) -> Self {
        Self { scope: super::Scope::Agent(owner), key }
    }
}
