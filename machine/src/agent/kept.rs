//! Large results: the record says where they begin and end, and an artifact holds all of them.

use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::Truncated;
use crate::digest::Digest;
use crate::json::CanonicalJson;

/// What kind of bytes an artifact holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Media {
    /// Canonical JSON.
    Json,
}

impl Media {
    /// Its name among media types.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
        }
    }
}

/// A result that was longer than the tool may show. A model is shown where it begins and ends; all of
/// it, at most [`crate::limits::JSON_BYTES`] and without what nobody is to see, is an artifact beside
/// the log (STORE-009).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kept {
    /// Where it begins and ends, and how long it is.
    pub cut: Truncated,
    /// SHA-256 of all of its bytes: the name of the artifact.
    pub digest: Digest,
    /// What the bytes are.
    pub media: Media,
    /// The bytes, on their way to a store.
    #[serde(skip)]
    pub whole: Whole,
}

/// The bytes of an artifact, as long as the record that names it is on its way to a store. They are
/// no part of the record: with or without them it is the same.
#[derive(Clone, Default)]
pub struct Whole(Option<Arc<str>>);

impl Kept {
    /// Keeps all of a result, and shows at most `most` bytes of it.
    #[must_use]
    pub fn of(result: &CanonicalJson, most: usize) -> Self {
        let text = result.as_str();
        let whole = Whole(Some(Arc::from(text)));
        let digest = Digest::plain(text.as_bytes());
        Self { cut: Truncated::of(text, most), digest, media: Media::Json, whole }
    }

    /// The same without the bytes.
    #[must_use]
    pub fn named(&self) -> Self {
        Self { whole: Whole(None), ..self.clone() }
    }
}

impl Whole {
    /// The bytes, if they are here.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref().map(str::as_bytes)
    }
}

impl PartialEq for Whole {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Whole {}

impl Hash for Whole {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn store_009_an_artifact_is_named_by_what_anybody_makes_of_its_bytes() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(format!("{}", Digest::plain(b"abc")), abc);
    }

    #[test]
    fn store_009_the_bytes_are_no_part_of_the_record() {
        let kept = Kept::of(&CanonicalJson::string(&"x".repeat(100)).unwrap(), 10);
        let bytes = postcard::to_allocvec(&kept).unwrap();
        assert!(bytes.len() < 80, "{}", bytes.len());
        let read: Kept = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((&read, read.whole.bytes()), (&kept, None));
        assert_eq!((&kept.named(), kept.named().whole.bytes()), (&kept, None));
    }
}
