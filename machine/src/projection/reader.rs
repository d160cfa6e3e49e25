//! Reading a log: each batch must link to the one before (STORE-006, STORE-011).

use serde::{Deserialize, Serialize};

use super::Projection;
use crate::digest::Digest;
use crate::identity::{Epoch, Sequence};
use crate::record::{Corruption, StoredBatch};

/// Folds a log as it is read, batch by batch, and refuses what does not link.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reader {
    projection: Projection,
    chain: Digest,
    epoch: Epoch,
}

impl Default for Reader {
    fn default() -> Self {
        Self { projection: Projection::default(), chain: Digest::ZERO, epoch: Epoch(0) }
    }
}

impl Reader {
    /// Goes on where a log is known to end: `projection` is its fold.
    pub(crate) const fn at(projection: Projection, chain: Digest, epoch: Epoch) -> Self {
        Self { projection, chain, epoch }
    }

    /// Folds the next batch.
    ///
    /// # Errors
    /// The batch does not start where the last one ended, does not carry its chain digest, was
    /// written by an older epoch, or contradicts what is folded already.
    pub fn feed(&mut self, batch: &StoredBatch) -> Result<(), Corruption> {
        let envelope = batch.envelope();
        let (expected, found) = (self.projection.next_sequence(), envelope.first_sequence);
        if expected != found {
            return Err(Corruption::Gap { expected, found });
        }
        if envelope.previous != self.chain {
            let (expected, stored) = (self.chain, envelope.previous);
            return Err(Corruption::Chain { at: found, expected, found: stored });
        }
        if envelope.epoch < self.epoch {
            let (previous, epoch) = (self.epoch, envelope.epoch);
            return Err(Corruption::EpochOrder { at: found, previous, found: epoch });
        }
        self.projection.apply(envelope.epoch, batch.batch())?;
        self.chain = batch.chain();
        self.epoch = envelope.epoch;
        Ok(())
    }

    /// Sequence of the next record.
    #[must_use]
    pub const fn next_sequence(&self) -> Sequence {
        self.projection.next_sequence()
    }

    /// Chain digest of the last batch.
    #[must_use]
    pub const fn chain(&self) -> Digest {
        self.chain
    }

    /// What is folded so far.
    #[must_use]
    pub const fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What was folded.
    #[must_use]
    pub fn into_projection(self) -> Projection {
        self.projection
    }
}
