//! Why bytes become no canonical JSON.

use crate::limits::{JSON_BYTES, JSON_DEPTH, JSON_ENTRIES, JSON_NODES};

/// Why bytes become no canonical JSON. Offsets count bytes from the start of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum JsonError {
    /// The document, or its canonical form, is over [`JSON_BYTES`].
    #[error("a JSON document has at most {JSON_BYTES} bytes")]
    TooLarge,
    /// Collections are nested deeper than [`JSON_DEPTH`].
    #[error("JSON is nested at most {JSON_DEPTH} deep")]
    Depth,
    /// A collection has more than [`JSON_ENTRIES`] entries.
    #[error("a JSON array or object has at most {JSON_ENTRIES} entries")]
    Entries,
    /// The document has more than [`JSON_NODES`] values, itself included.
    #[error("a JSON document has at most {JSON_NODES} values")]
    Nodes,
    /// The bytes are not UTF-8.
    #[error("the byte at offset {at} is not UTF-8")]
    Utf8 {
        /// Of the first byte that is not.
        at: usize,
    },
    /// The document breaks the grammar, or ends too early.
    #[error("unexpected character or end at offset {at}")]
    Syntax {
        /// Of what was not expected.
        at: usize,
    },
    /// Something other than whitespace follows the value.
    #[error("more data follows the JSON value at offset {at}")]
    TrailingData {
        /// Of the first byte that follows.
        at: usize,
    },
    /// Two members of one object have one name once their escapes are read.
    #[error("the member at offset {at} has the name of an earlier one")]
    DuplicateKey {
        /// Of the repeated name.
        at: usize,
    },
    /// An escape is one half of a surrogate pair without the other.
    #[error("the escape at offset {at} is half of a surrogate pair")]
    LoneSurrogate {
        /// Of the backslash.
        at: usize,
    },
    /// A whole number is below −2⁶³ or above 2⁶⁴ − 1.
    #[error("the whole number at offset {at} does not fit 64 bits")]
    NumberOutOfRange {
        /// Of its first character.
        at: usize,
    },
    /// A number with a fraction is not the shortest text of any double: it would be rounded.
    #[error("the number at offset {at} would be rounded")]
    NumberInexact {
        /// Of its first character.
        at: usize,
    },
    /// The text is JSON, but was expected to be canonical already.
    #[error("the JSON text is not in canonical form")]
    NotCanonical,
}
