//! Lanes, rows and tails as bytes: what a value looks like inside the file.
//!
//! ```text
//! layout version, 2 bytes | postcard | seal, 16 bytes
//! ```
//!
//! The seal is a digest of everything before it and of whose value it is, so neither a flipped
//! bit nor a value in somebody else's place reads as anything. It protects against accidents; who
//! can write the file can also write a seal. Batches need no cell, since they carry the digests
//! of the log's own chain.

use everstep_machine::digest::Hasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the layout of lanes, rows and tails. A change of any of them changes it.
pub(crate) const LAYOUT_VERSION: u16 = 1;

const VERSION_BYTES: usize = 2;
const SEAL_BYTES: usize = 16;

/// Why bytes are no value (STORE-006).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CellError {
    /// There are fewer bytes than version and seal take.
    #[error("it is too short")]
    Truncated,
    /// The value was written in a layout that this build does not read (STORE-005).
    #[error("it has layout version {found}; this build reads {LAYOUT_VERSION}")]
    Version {
        /// What the bytes say.
        found: u16,
    },
    /// The seal is not the seal of these bytes at this place.
    #[error("its seal does not fit its bytes")]
    Seal,
    /// The bytes are sealed but are not exactly what this build writes for any value.
    #[error("it does not decode")]
    Malformed,
}

/// What a cell holds: its table and whose it is.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a> {
    /// The seal's domain: one a table.
    pub(crate) tag: &'static str,
    /// The conversation.
    pub(crate) owner: &'a str,
    /// The position in a table with several cells an owner.
    pub(crate) position: u64,
}

impl Label<'_> {
    fn seal(&self, bytes: &[u8]) -> [u8; SEAL_BYTES] {
        Hasher::new(self.tag).bytes(self.owner.as_bytes()).number(self.position).bytes(bytes).id()
    }
}

/// Encodes and seals a value.
///
/// # Panics
/// Never: the values of a store always encode.
pub(crate) fn seal(label: Label<'_>, value: &impl Serialize) -> Vec<u8> {
    let mut bytes = postcard::to_extend(value, LAYOUT_VERSION.to_be_bytes().to_vec())
        .expect("STORE-006: a lane, a row and a tail always encode");
    let seal = label.seal(&bytes);
    bytes.extend_from_slice(&seal);
    bytes
}

/// Reads what [`seal`] wrote, and nothing else.
pub(crate) fn unseal<T: Serialize + DeserializeOwned>(
    label: Label<'_>,
    bytes: &[u8],
) -> Result<T, CellError> {
    let (version, _) = bytes.split_first_chunk::<VERSION_BYTES>().ok_or(CellError::Truncated)?;
    let (sealed, seal) = bytes.split_last_chunk::<SEAL_BYTES>().ok_or(CellError::Truncated)?;
    let body = sealed.get(VERSION_BYTES..).ok_or(CellError::Truncated)?;
    if label.seal(sealed) != *seal {
        return Err(CellError::Seal);
    }
    let found = u16::from_be_bytes(*version);
    if found != LAYOUT_VERSION {
        return Err(CellError::Version { found });
    }
    let (value, left) = postcard::take_from_bytes(body).map_err(|_| CellError::Malformed)?;
    // postcard spells a number in several ways; only the way of this build counts.
    if !left.is_empty() || self::seal(label, &value) != bytes {
        return Err(CellError::Malformed);
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
