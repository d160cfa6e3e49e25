//! What a log can be asked, and how it answers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::state::{Change, Tail, TailRef};
use crate::identity::{BatchId, Epoch, ProducerId, RecordId, Timestamp};
use crate::record::Batch;

/// A command for one Conversation Log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Make sure the log exists. Creates it at `epoch` with its first batch; leaves an existing
    /// one as it is and says what is there.
    Materialize {
        /// 0 for admission, the claimed epoch for an attempt.
        epoch: Epoch,
        /// Who asks.
        producer: ProducerId,
        /// The batch that holds exactly `ConversationCreated`.
        created: Arc<Batch>,
    },
    /// Raise the log to a claimed epoch, over exactly the tail that was read: whoever wrote
    /// since makes the reader read again.
    Fence {
        /// The claimed epoch.
        epoch: Epoch,
        /// The tail that was read.
        expected: TailRef,
    },
    /// Append one batch.
    Append {
        /// The epoch that writes; must be the current one.
        epoch: Epoch,
        /// Who writes.
        producer: ProducerId,
        /// The tail that the batch follows.
        expected: TailRef,
        /// The records.
        batch: Arc<Batch>,
    },
}

/// A command with the store's time, which only a store can give.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stamped {
    /// The command.
    pub command: Command,
    /// The store's clock.
    pub now: Timestamp,
}

/// What of a log a command needs to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The batch that may already be there.
    pub batch: Option<BatchId>,
    /// The record ids that may already be used.
    pub records: Vec<RecordId>,
}

impl Command {
    /// What of the log this command needs to see, beside its tail.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        match self {
            Self::Fence { .. } => Footprint::default(),
            Self::Materialize { created: batch, .. } | Self::Append { batch, .. } => {
                Footprint { batch: Some(batch.id()), records: batch.record_ids().to_vec() }
            }
        }
    }
}

/// How a log answers a command that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The log exists now, by this command or by an identical one before.
    Materialized(Tail),
    /// The log existed already, made by somebody else or under another epoch.
    Exists(Tail),
    /// The log is at the asked epoch.
    Fenced(Tail),
    /// The batch is in the log, by this command or by an identical one before. The tail is the
    /// current one.
    Appended(Tail),
}

impl Reply {
    /// Where the log ends.
    #[must_use]
    pub const fn tail(self) -> Tail {
        match self {
            Self::Materialized(tail)
            | Self::Exists(tail)
            | Self::Fenced(tail)
            | Self::Appended(tail) => tail,
        }
    }
}

/// Why a log refuses a command. A refusal changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// There is no such log.
    #[error("the conversation does not exist")]
    Absent,
    /// The log is at another epoch (DUR-006).
    #[error("the conversation is at epoch {current}")]
    Fenced {
        /// The epoch of the log.
        current: Epoch,
    },
    /// The batch id is taken by other content.
    #[error("another batch has this id")]
    BatchConflict,
    /// The log does not end where the command expects (STORE-004).
    #[error("the conversation ends at sequence {}", actual.next_sequence)]
    TailConflict {
        /// Where it ends.
        actual: TailRef,
    },
    /// Two records of the batch have one id.
    #[error("two records of the batch have one id")]
    DuplicateRecord,
    /// A record of the batch is in the log already, in another batch.
    #[error("a record of the batch is already canonical")]
    RecordReused,
    /// The batch of a materialization is not exactly one `ConversationCreated`, or an append
    /// holds one.
    #[error("the first batch, and only the first, is the creation of the conversation")]
    NotACreation,
    /// The batch was made for another log: stored here, it could never be read again.
    #[error("the batch was made for another conversation")]
    ForeignBatch,
}

/// What a step of the machine asks for: changes to write exactly as they are, and then exactly
/// one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// To be written.
    Change(Change),
    /// The command was accepted.
    Reply(Reply),
    /// The command was refused, and nothing changes.
    Refuse(Refusal),
}
