//! Values, where they are, and what is still open about them.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::identity::{AgentId, Epoch, RunId, StateKey, TenantId, Timestamp, ToolCallId};
use crate::json::CanonicalJson;

pub use crate::identity::Revision;

/// What kind of effect a write is. Whoever writes says it: there is no default (CAP-012).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WriteClass {
    /// For its own run alone, and gone when the run's submission settles.
    RunLocal,
    /// One with the canonical record of its call: others see it once the call's success is
    /// recorded, and if the call ends otherwise it never was. Until then nobody else writes the key.
    Canonical,
    /// Beside the log, and can be taken back: others see it at once, and it is undone in the commit
    /// that records that its call did not succeed. Until then nobody else writes the key.
    Compensatable,
    /// Beside the log, and stays: others see it at once, whatever becomes of its call.
    Uncertain,
}

impl WriteClass {
    /// Every class.
    pub const ALL: [Self; 4] =
        [Self::RunLocal, Self::Canonical, Self::Compensatable, Self::Uncertain];

    /// Its name on a command line and in a digest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunLocal => "run-local",
            Self::Canonical => "canonical",
            Self::Compensatable => "compensatable",
            Self::Uncertain => "uncertain",
        }
    }

    /// Whether nobody else may write the key before the call's end is canonical.
    #[must_use]
    pub const fn holds(self) -> bool {
        match self {
            Self::Canonical | Self::Compensatable => true,
            Self::RunLocal | Self::Uncertain => false,
        }
    }
}

/// An agent, for one tenant: another tenant's state is out of its reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// Whose data it is.
    pub tenant: TenantId,
    /// The agent.
    pub agent: AgentId,
}

/// Whose values are meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// An agent's, for one tenant.
    Agent(Owner),
    /// A run's.
    Run(RunId),
}

impl Scope {
    /// A text of its own for each. No name holds a line break.
    #[must_use]
    pub fn spelled(&self) -> String {
        match self {
            Self::Agent(Owner { tenant, agent }) => alloc::format!("agent\n{tenant}\n{agent}"),
            Self::Run(run) => alloc::format!("run\n{run}"),
        }
    }
}

/// Where a value is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address {
    /// Whose it is.
    pub scope: Scope,
    /// Under which key.
    pub key: StateKey,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Agent(Owner { tenant, agent }) => {
                write!(f, "{} of agent {agent} for {tenant}", self.key)
            }
            Scope::Run(run) => write!(f, "{} of run {run}", self.key),
        }
    }
}

/// A value and the version of the schema that it fits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Value {
    /// The version: whoever reads compares it with the one that it knows.
    pub version: u32,
    /// The value, at most [`crate::limits::STATE_VALUE_BYTES`].
    pub json: CanonicalJson,
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stored {
    /// Names this write among all of its scope.
    pub revision: Revision,
    /// The value.
    pub value: Value,
    /// As what it was written.
    pub class: WriteClass,
    /// When.
    pub at: Timestamp,
}

/// What there is under a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// What everybody sees.
    pub current: Option<Stored>,
    /// The call that has written and whose end is not canonical: until then nobody else writes.
    pub hold: Option<ToolCallId>,
}

impl Slot {
    /// Whether there is nothing to keep.
    #[must_use]
    pub const fn is_blank(&self) -> bool {
        self.current.is_none() && self.hold.is_none()
    }
}

/// What is known of all values of a scope together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shelf {
    /// The last revision that was given here. It never falls, so none is ever given twice.
    pub last: Revision,
    /// Keys with anything under them, at most [`crate::limits::STATE_KEYS`].
    pub keys: u32,
}

/// What a call has written under a key, as long as the call's end is not canonical.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// Which call.
    pub call: ToolCallId,
    /// Where.
    pub address: Address,
    /// The start that has said it last.
    pub start: Epoch,
    /// What was said, to the byte.
    pub content: Digest,
    /// As what.
    pub class: WriteClass,
    /// What was answered.
    pub revision: Revision,
    /// What was there before.
    pub before: Option<Stored>,
    /// What is there by this write; none if it removes.
    pub after: Option<Stored>,
}

/// What one command has to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where it is about.
    pub address: Address,
    /// What there is.
    pub slot: Slot,
    /// The shelf that it is on.
    pub shelf: Shelf,
    /// What the call that asks has written here.
    pub mark: Option<Mark>,
    /// How many keys the call that asks has written, here and elsewhere.
    pub writes: u32,
}
