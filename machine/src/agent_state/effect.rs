//! What comes of it.

use super::state::{Address, Mark, Scope, Shelf, Slot, Stored, WriteClass};
use crate::identity::{Epoch, Revision, RunId, ToolCallId};
use crate::limits::{CALL_STATE_WRITES, STATE_KEYS, STATE_VALUE_BYTES};

/// Something to write, exactly as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A shelf is like this now.
    Shelf(Scope, Shelf),
    /// A key has this under it; one that is blank is not kept.
    Slot(Address, Slot),
    /// A call has written this.
    Mark(Mark),
    /// What a call has written here is no longer open.
    Unmark(ToolCallId, Address),
    /// Every key of a run goes, and its shelf.
    Discard(RunId),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// What is there; none if nothing is.
    Read(Option<Stored>),
    /// It is written, by this command or by an equal one of this call before.
    Written(Revision),
}

/// What a step asks for: changes, and then exactly one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// To be written.
    Change(Change),
    /// The command was accepted.
    Reply(Reply),
    /// The command was refused, and nothing changes.
    Refuse(Refusal),
}

/// Why a command is refused. A refusal changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The start has no say any more: the lane was claimed by somebody else, or is nobody's (DUR-006).
    #[error("the start of epoch {start} is superseded: the lane is at epoch {current}")]
    Superseded {
        /// The epoch of the start.
        start: Epoch,
        /// That of the lane, or of its log where that is higher.
        current: Epoch,
    },
    /// The start is not canonical. A call of a readonly tool never is: it has no effect.
    #[error("only a call whose start is recorded writes state; a readonly tool's never is")]
    NotPrepared,
    /// The call's end, or its submission's, is canonical.
    #[error("the call has ended")]
    Ended,
    /// Something else is there than the writer expects.
    #[error("expected {}, found {}", Named(*expected), Named(*found))]
    Conflict {
        /// What the writer expects.
        expected: Option<Revision>,
        /// What is there.
        found: Option<Revision>,
    },
    /// Another call has written the key, and its end is not canonical.
    #[error("call {by} has written it, and its end is not recorded yet")]
    Held {
        /// Which call.
        by: ToolCallId,
    },
    /// The call has written the key, and it was something else.
    #[error("this call has written the key already, and otherwise: a call writes a key once")]
    Otherwise,
    /// There is nothing to remove.
    #[error("there is nothing to remove")]
    Nothing,
    /// A write of this class belongs to a call.
    #[error("a write that is {} belongs to a call", class.name())]
    NeedsCall {
        /// The class.
        class: WriteClass,
    },
    /// The value is over its bound.
    #[error("the value has {bytes} bytes; at most {STATE_VALUE_BYTES} are kept")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// The scope has as many keys as it may have.
    #[error("there are {STATE_KEYS} keys already")]
    Full,
    /// The call has written as many keys as it may.
    #[error("the call has written {CALL_STATE_WRITES} keys already")]
    TooManyWrites,
    /// The store keeps no state.
    #[error("this store keeps no state")]
    NotKept,
}

/// A revision in words.
struct Named(Option<Revision>);

impl core::fmt::Display for Named {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Some(revision) => write!(f, "revision {revision}"),
            None => f.write_str("nothing"),
        }
    }
}
