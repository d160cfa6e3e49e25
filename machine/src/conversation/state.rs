//! The part of a log that one command sees, and the only way it changes.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::identity::{BatchId, ConversationId, Epoch, RecordId, Sequence};
use crate::record::StoredBatch;

/// Where a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tail {
    /// The epoch that may append.
    pub epoch: Epoch,
    /// Sequence of the next record.
    pub next_sequence: Sequence,
    /// Content digest of the last batch: known to its writer before it is committed.
    pub content: Digest,
    /// Chain digest of the last batch: known only after.
    pub chain: Digest,
}

/// The part of a tail that a producer can predict, and therefore expect.
///
/// A log never changes what it holds, so length and last content name one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TailRef {
    /// Sequence of the next record.
    pub next_sequence: Sequence,
    /// Content digest of the last batch.
    pub content: Digest,
}

impl Tail {
    /// What a producer expects to find.
    #[must_use]
    pub const fn reference(&self) -> TailRef {
        TailRef { next_sequence: self.next_sequence, content: self.content }
    }
}

/// A committed batch, as far as a replay needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Committed {
    /// Its id.
    pub batch: BatchId,
    /// The epoch that wrote it.
    pub epoch: Epoch,
    /// Its content digest.
    pub content: Digest,
}

/// The part of a log that one command sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Whose log it is.
    pub conversation: ConversationId,
    /// Where the log ends; none while it does not exist.
    pub tail: Option<Tail>,
    /// The committed batch with the command's batch id.
    pub committed: Option<Committed>,
    /// Those of the command's record ids that the log holds.
    pub used: Vec<RecordId>,
}

/// What a store has to write, exactly as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Add this batch and move the tail behind it.
    Commit(Box<StoredBatch>),
    /// Raise the epoch; nothing else of the tail changes.
    Raise(Epoch),
}

impl Slice {
    /// What a command sees that meets nothing of its own in the log: no batch with its id, no
    /// record of its batch.
    #[must_use]
    pub const fn new(conversation: ConversationId, tail: Option<Tail>) -> Self {
        Self { conversation, tail, committed: None, used: Vec::new() }
    }

    /// Makes a change: the only way a slice changes. Returns the tail after it.
    ///
    /// # Panics
    /// The change was not made by a step over this slice. Sequence and epoch of a log never
    /// fall, and every batch follows the one before it.
    pub fn apply(&mut self, change: &Change) -> Tail {
        let tail = match change {
            Change::Commit(stored) => self.commit(stored),
            Change::Raise(epoch) => self.raise(*epoch),
        };
        self.tail = Some(tail);
        tail
    }

    fn commit(&mut self, stored: &StoredBatch) -> Tail {
        let (envelope, batch) = (stored.envelope(), stored.batch());
        assert!(
            envelope.conversation == self.conversation
                && *batch.conversation() == self.conversation,
            "STORE-004: a log holds only its own batches"
        );
        assert_eq!(
            (envelope.first_sequence, envelope.previous),
            self.end(),
            "STORE-004: a batch follows the one before it"
        );
        let current = self.tail.map_or(envelope.epoch, |tail| tail.epoch);
        assert_eq!(envelope.epoch, current, "DUR-006: only the current epoch appends");
        self.committed =
            Some(Committed { batch: batch.id(), epoch: envelope.epoch, content: batch.content() });
        self.used = batch.record_ids().to_vec();
        Tail {
            epoch: current,
            next_sequence: stored.next_sequence(),
            content: batch.content(),
            chain: stored.chain(),
        }
    }

    fn raise(&self, epoch: Epoch) -> Tail {
        let tail = self.tail.filter(|tail| tail.epoch < epoch);
        let tail = tail.expect("DUR-006: the epoch of an existing log only rises");
        Tail { epoch, ..tail }
    }

    /// Where the next batch goes and which link it continues.
    pub(super) fn end(&self) -> (Sequence, Digest) {
        self.tail.map_or((Sequence(0), Digest::ZERO), |tail| (tail.next_sequence, tail.chain))
    }
}
