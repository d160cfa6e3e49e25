//! An event and its coordinates.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::RunEvent;
use super::wire;
use crate::identity::{AgentId, ConversationId, RunId, Timestamp};

/// The version of the families and of their spelling. A reader of another version is refused.
pub const EVENT_VERSION: u16 = 1;

/// Position of an event in its trace, and with it the offset from which a watcher reads on. The
/// first event has 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventSequence(pub u64);

impl EventSequence {
    /// The one after this one. Saturates, so a corrupt offset cannot wrap to zero.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for EventSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for EventSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Where the events of a trace come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The run.
    pub run: RunId,
    /// The conversation that it is part of.
    pub conversation: ConversationId,
    /// The agent that runs.
    pub agent: AgentId,
}

/// An event with its coordinates, as it goes to whoever watches (RUN-032).
///
/// Its JSON form is an object of the fields below; `event` is an object whose `type` names the
/// family in snake case, and ids are 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Enveloped {
    /// [`EVENT_VERSION`] of whoever wrote it. Nothing else is read.
    #[serde(deserialize_with = "wire::version")]
    pub version: u16,
    /// The run that it happens to.
    #[serde(with = "wire::id")]
    pub run: RunId,
    /// The run's conversation.
    pub conversation: ConversationId,
    /// The run's agent.
    pub agent: AgentId,
    /// Its place in the trace.
    pub sequence: EventSequence,
    /// When it was told, by the clock of whoever told it. May go backwards: only `sequence`
    /// orders.
    pub at: Timestamp,
    /// What happens.
    pub event: RunEvent,
}

impl Source {
    /// An event that comes from here.
    pub(super) fn envelope(
        &self,
        sequence: EventSequence,
        at: Timestamp,
        event: RunEvent,
    ) -> Enveloped {
        Enveloped {
            version: EVENT_VERSION,
            run: self.run,
            conversation: self.conversation.clone(),
            agent: self.agent.clone(),
            sequence,
            at,
            event,
        }
    }
}
