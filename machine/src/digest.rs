//! SHA-256 over domain-tagged, length-prefixed parts: the root of identity and of every chain.
//!
//! Two values of different kinds never share a digest, because each kind has its own tag, and
//! parts never run into each other, because each carries its length.

pub(crate) mod spelled;

use core::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(#[serde(with = "spelled")] pub [u8; 32]);

impl Digest {
    /// What stands before the first link of a chain.
    pub const ZERO: Self = Self([0; 32]);

    /// SHA-256 of bytes as they are, without a domain: what anybody else's program makes of them.
    /// For what is named by its content and shown to others (STORE-009).
    #[must_use]
    pub fn plain(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of plain bytes under a domain tag.
    #[must_use]
    pub fn of(tag: &'static str, bytes: &[u8]) -> Self {
        Hasher::new(tag).bytes(bytes).digest()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0[..6])?;
        f.write_str("…")
    }
}

/// Writes bytes as lower-case hexadecimal.
pub(crate) fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Hashes a sequence of parts under one domain tag.
#[derive(Clone)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts a digest in the domain `tag`.
    #[must_use]
    pub fn new(tag: &'static str) -> Self {
        Self(Sha256::new()).bytes(tag.as_bytes())
    }

    /// Adds one part of bytes.
    #[must_use]
    pub fn bytes(mut self, part: &[u8]) -> Self {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
        self
    }

    /// Adds one number.
    #[must_use]
    pub fn number(mut self, part: u64) -> Self {
        self.0.update(part.to_be_bytes());
        self
    }

    /// The whole digest.
    #[must_use]
    pub fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    /// The first 128 bits, for a derived identifier.
    #[must_use]
    pub fn id(self) -> [u8; 16] {
        let Digest(full) = self.digest();
        let mut id = [0; 16];
        id.copy_from_slice(&full[..16]);
        id
    }
}
