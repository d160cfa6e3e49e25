//! Batches: what a producer sends, and what a log keeps of it.
//!
//! Two digests with two purposes. The *content digest* covers batch id and encoded records, so
//! the same command sent again is the same batch whatever the tail is now. The *chain digest*
//! also covers the envelope and the previous link, so no stored bit can change unnoticed.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::codec::{CodecError, SCHEMA_VERSION, decode_records, encode_records};
use super::{BatchKind, Record};
use crate::digest::{Digest, Hasher};
use crate::identity::{BatchId, ConversationId, Epoch, ProducerId, RecordId, Sequence, Timestamp};

/// Why records make no batch.
pub type BatchError = CodecError;

/// Records that are appended together or not at all (DUR-007).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    conversation: ConversationId,
    id: BatchId,
    content: Digest,
    records: Arc<[Record]>,
    record_ids: Arc<[RecordId]>,
    bytes: Arc<[u8]>,
}

impl Batch {
    /// Encodes and names a batch.
    ///
    /// # Errors
    /// Too many or no records, too many bytes, or a record that breaks a rule of its kind.
    pub fn new(conversation: &ConversationId, records: Vec<Record>) -> Result<Self, BatchError> {
        let bytes = encode_records(&records)?;
        Ok(Self::from_parts(conversation, records, bytes))
    }

    fn from_parts(conversation: &ConversationId, records: Vec<Record>, bytes: Vec<u8>) -> Self {
        let record_ids: Arc<[RecordId]> = records.iter().map(Record::id).collect();
        let id = BatchId::derive(conversation, &record_ids);
        let content = Hasher::new("everstep/content").bytes(&id.0).bytes(&bytes).digest();
        let (conversation, records) = (conversation.clone(), records.into());
        Self { conversation, id, content, records, record_ids, bytes: bytes.into() }
    }

    /// The log that the batch was made for.
    #[must_use]
    pub const fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// Derived from conversation and record ids.
    #[must_use]
    pub const fn id(&self) -> BatchId {
        self.id
    }

    /// Decides "already there".
    #[must_use]
    pub const fn content(&self) -> Digest {
        self.content
    }

    /// The records, in order.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Their ids, in the same order.
    #[must_use]
    pub fn record_ids(&self) -> &[RecordId] {
        &self.record_ids
    }

    /// The kind of an append with this batch; none for the batch of a materialization.
    #[must_use]
    pub fn kind(&self) -> Option<BatchKind> {
        self.records.first().and_then(BatchKind::of)
    }
}

/// Where, when and by whom a batch was committed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Envelope {
    /// The log.
    pub conversation: ConversationId,
    /// Sequence of the first record.
    pub first_sequence: Sequence,
    /// The epoch that wrote.
    pub epoch: Epoch,
    /// The process that wrote.
    pub producer: ProducerId,
    /// The store's time at the first commit; a replay does not change it.
    pub committed_at: Timestamp,
    /// Chain digest of the batch before, [`Digest::ZERO`] for the first.
    pub previous: Digest,
}

/// A committed batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredBatch {
    envelope: Envelope,
    batch: Batch,
    chain: Digest,
}

/// What a store keeps of a batch, behind the schema version.
#[derive(Serialize, Deserialize)]
struct Stored {
    envelope: Envelope,
    batch: BatchId,
    content: Digest,
    chain: Digest,
    records: Vec<u8>,
}

/// What is wrong with stored bytes, and where (STORE-006).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Corruption {
    /// The bytes of a batch do not decode.
    #[error("the stored batch does not decode")]
    Undecodable,
    /// The batch was written under a schema version that this build does not read (STORE-005).
    #[error("the stored batch has schema version {found}; this build reads {SCHEMA_VERSION}")]
    Version {
        /// What the bytes say.
        found: u16,
    },
    /// The records of a batch do not decode.
    #[error("the records at sequence {at} do not decode: {why}")]
    Records {
        /// Sequence of the batch's first record.
        at: Sequence,
        /// What the codec says.
        why: CodecError,
    },
    /// The stored name is not the one that the stored records give the batch.
    #[error("the batch at sequence {at} is {expected:?}, stored is {found:?}")]
    BatchId {
        /// Sequence of the batch's first record.
        at: Sequence,
        /// What the records derive.
        expected: BatchId,
        /// What is stored.
        found: BatchId,
    },
    /// The stored digest is not the digest of the stored content.
    #[error("the content digest at sequence {at} is {expected:?}, stored is {found:?}")]
    Content {
        /// Sequence of the batch's first record.
        at: Sequence,
        /// What the content hashes to.
        expected: Digest,
        /// What is stored.
        found: Digest,
    },
    /// The stored link is not the link of the stored batch.
    #[error("the chain digest at sequence {at} is {expected:?}, stored is {found:?}")]
    Chain {
        /// Sequence of the batch's first record.
        at: Sequence,
        /// What the batch hashes to.
        expected: Digest,
        /// What is stored.
        found: Digest,
    },
    /// A batch does not follow the one before it.
    #[error("expected a batch at sequence {expected}, found one at {found}")]
    Gap {
        /// Where the next batch must start.
        expected: Sequence,
        /// Where it starts.
        found: Sequence,
    },
    /// A batch was written by an epoch older than the one before it.
    #[error("the batch at sequence {at} has epoch {found} after epoch {previous}")]
    EpochOrder {
        /// Sequence of the batch's first record.
        at: Sequence,
        /// Epoch of the batch before.
        previous: Epoch,
        /// Epoch of this one.
        found: Epoch,
    },
    /// The ledger's row says something that the log does not.
    #[error("the ledger says more of a submission than the log, which ends at sequence {end}")]
    Ahead {
        /// Sequence of the next record.
        end: Sequence,
    },
    /// A record contradicts the records before it.
    #[error("the record at sequence {at} contradicts the records before it")]
    History {
        /// Sequence of the record.
        at: Sequence,
    },
}

impl StoredBatch {
    /// Commits a batch under an envelope.
    ///
    /// # Panics
    /// The envelope names another log than the one the batch was made for; the `conversation`
    /// machine refuses such a batch before it gets here.
    #[must_use]
    pub fn commit(envelope: Envelope, batch: Batch) -> Self {
        assert!(
            envelope.conversation == batch.conversation,
            "STORE-004: a batch is committed to the log that it was made for",
        );
        let chain = chain_of(&envelope, batch.content);
        Self { envelope, batch, chain }
    }

    /// Where, when and by whom.
    #[must_use]
    pub const fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// What.
    #[must_use]
    pub const fn batch(&self) -> &Batch {
        &self.batch
    }

    /// This link of the chain.
    #[must_use]
    pub const fn chain(&self) -> Digest {
        self.chain
    }

    /// Sequence after the last record. Saturates, so no stored number can make it wrap.
    #[must_use]
    pub fn next_sequence(&self) -> Sequence {
        let records = self.batch.records.len() as u64;
        Sequence(self.envelope.first_sequence.0.saturating_add(records))
    }

    /// The bytes that a store keeps.
    ///
    /// # Panics
    /// Never: the parts of a stored batch always encode.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let stored = Stored {
            envelope: self.envelope.clone(),
            batch: self.batch.id,
            content: self.batch.content,
            chain: self.chain,
            records: self.batch.bytes.to_vec(),
        };
        postcard::to_extend(&stored, SCHEMA_VERSION.to_be_bytes().to_vec())
            .expect("STORE-006: a stored batch always encodes")
    }

    /// Reads the bytes that a store kept, and recomputes both digests.
    ///
    /// # Errors
    /// The bytes are not exactly what [`StoredBatch::encode`] once wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corruption> {
        let (version, rest) = bytes.split_first_chunk().ok_or(Corruption::Undecodable)?;
        let found = u16::from_be_bytes(*version);
        if found != SCHEMA_VERSION {
            return Err(Corruption::Version { found });
        }
        let (stored, left) =
            postcard::take_from_bytes::<Stored>(rest).map_err(|_| Corruption::Undecodable)?;
        let at = stored.envelope.first_sequence;
        let records =
            decode_records(&stored.records).map_err(|why| Corruption::Records { at, why })?;
        let batch = Batch::from_parts(&stored.envelope.conversation, records, stored.records);
        if batch.id != stored.batch {
            return Err(Corruption::BatchId { at, expected: batch.id, found: stored.batch });
        }
        if batch.content != stored.content {
            return Err(Corruption::Content { at, expected: batch.content, found: stored.content });
        }
        let read = Self::commit(stored.envelope, batch);
        if read.chain != stored.chain {
            return Err(Corruption::Chain { at, expected: read.chain, found: stored.chain });
        }
        // postcard's varints have several spellings of one number: only the canonical one counts.
        if !left.is_empty() || read.encode() != bytes {
            return Err(Corruption::Undecodable);
        }
        Ok(read)
    }
}

fn chain_of(envelope: &Envelope, content: Digest) -> Digest {
    Hasher::new("everstep/chain")
        .bytes(&envelope.previous.0)
        .bytes(envelope.conversation.as_str().as_bytes())
        .number(envelope.first_sequence.0)
        .number(envelope.epoch.0)
        .bytes(envelope.producer.as_str().as_bytes())
        .number(envelope.committed_at.0)
        .bytes(&content.0)
        .digest()
}
