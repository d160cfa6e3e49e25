//! Folds that outlive their process (STORE-007).
//!
//! A checkpoint says what a log comes to up to one of its batches, so that whoever takes over reads
//! only what was appended since. Nothing depends on it. It names the chain digest of that batch, and
//! the log has to confirm that; it is sealed, so no damage to it reads as anything; and it bears the
//! version of the fold, so what an older build has folded is not believed. One that is not right in
//! every respect is as good as none: the log is read from its beginning.

use alloc::vec::Vec;

use super::Reader;
use crate::digest::Hasher;
use crate::identity::ConversationId;
use crate::record::SCHEMA_VERSION;

/// The version of the fold: a change of what it holds, or of what a record does to it, changes it.
pub const FOLD_VERSION: u16 = 5;

/// Bytes of a seal.
const SEAL_BYTES: usize = 16;
/// Bytes of both versions.
const VERSION_BYTES: usize = 4;

impl Reader {
    /// The fold as bytes.
    ///
    /// # Panics
    /// Never: a fold always encodes.
    #[must_use]
    pub fn checkpoint(&self, conversation: &ConversationId) -> Vec<u8> {
        let mut bytes = postcard::to_extend(self, versions().to_vec())
            .expect("STORE-007: a fold always encodes");
        let seal = seal(conversation, &bytes);
        bytes.extend_from_slice(&seal);
        bytes
    }

    /// The fold that [`Reader::checkpoint`] wrote of this conversation. None if the bytes are
    /// anything else, or were written by another version: then the log is read.
    #[must_use]
    pub fn from_checkpoint(conversation: &ConversationId, bytes: &[u8]) -> Option<Self> {
        let (sealed, found) = bytes.split_last_chunk::<SEAL_BYTES>()?;
        if seal(conversation, sealed) != *found {
            return None;
        }
        let (version, body) = sealed.split_first_chunk::<VERSION_BYTES>()?;
        let (fold, left) = postcard::take_from_bytes::<Self>(body).ok()?;
        (*version == versions() && left.is_empty()).then_some(fold)
    }
}

const fn versions() -> [u8; VERSION_BYTES] {
    let ([a, b], [c, d]) = (FOLD_VERSION.to_be_bytes(), SCHEMA_VERSION.to_be_bytes());
    [a, b, c, d]
}

fn seal(conversation: &ConversationId, bytes: &[u8]) -> [u8; SEAL_BYTES] {
    let owner = conversation.as_str().as_bytes();
    Hasher::new("everstep/checkpoint").bytes(owner).bytes(bytes).id()
}
