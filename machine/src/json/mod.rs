//! Canonical JSON: one text for each value, so that equal values have equal digests.
//!
//! Whatever a client, a model or a tool hands over as JSON is brought into the form of RFC 8785
//! once, at the boundary, and carried as text from then on: members sorted by the UTF-16 code
//! units of their names, no spare whitespace, one spelling for every string and every number. A
//! [`CanonicalJson`] is therefore compared, hashed and stored as plain bytes.
//!
//! # What is refused
//!
//! | input | error |
//! | --- | --- |
//! | more than [`JSON_BYTES`], before or after | [`JsonError::TooLarge`] |
//! | not UTF-8, or half of a surrogate pair in an escape | [`JsonError::Utf8`], [`JsonError::LoneSurrogate`] |
//! | over [`JSON_DEPTH`], [`JSON_ENTRIES`] or [`JSON_NODES`] | [`JsonError::Depth`], [`JsonError::Entries`], [`JsonError::Nodes`] |
//! | not JSON, or JSON and then more | [`JsonError::Syntax`], [`JsonError::TrailingData`] |
//! | two members of one name, however they are spelled | [`JsonError::DuplicateKey`] |
//! | a number outside the number rule | [`JsonError::NumberOutOfRange`], [`JsonError::NumberInexact`] |
//!
//! The four bounds are counted over the raw bytes before anything is parsed or allocated.
//! Noncharacters such as U+FFFF are valid Unicode and pass; text is never normalized, so a
//! composed and a decomposed letter stay two different strings.
//!
//! # The number rule
//!
//! RFC 8785 gives every number the text of its nearest double, which makes neighbours beyond 2⁵³
//! share one digest. Here the *decimal value* of a literal decides, never its notation, and it
//! is kept exactly or refused:
//!
//! - A whole value from −2⁶³ to 2⁶⁴ − 1 is written as plain digits: `1.0`, `10e-1` and `1` are
//!   `1`; `9007199254740993.0` keeps its last digit; `-0` and `0e9` are `0`.
//! - Any other whole value is refused, `1e30` as much as its thirty-one digits.
//! - A value with a fraction is accepted exactly when it is the value that ECMAScript would
//!   print for the double nearest to it. `0.10` becomes `0.1`, while `0.10000000000000001` would
//!   be rounded silently and is refused, as is what underflows.
//!
//! So the text denotes exactly the value that came in, and two different numbers never share a
//! text. Where RFC 8785 would round, this module differs from it or refuses; nowhere else.
//!
//! # Deliberately absent
//!
//! A value tree, and any JSON library underneath: the order of members and the reading of numbers
//! could then change with a feature that some other crate switches on.

mod bounds;
mod canonicalize;
mod error;
mod number;
mod pointer;
mod scan;
mod text;

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::limits::JSON_BYTES;
#[cfg(doc)]
use crate::limits::{JSON_DEPTH, JSON_ENTRIES, JSON_NODES};

pub use error::JsonError;

/// A JSON value as its canonical text. Cloning shares the text.
///
/// Ordered and hashed by that text; the order has no meaning beyond being total.
///
/// ```
/// use everstep_machine::json::CanonicalJson;
///
/// let sent = CanonicalJson::parse(br#"{ "b": 1.0, "a": "\u00e9" }"#)?;
/// assert_eq!(sent.as_str(), r#"{"a":"é","b":1}"#);
/// assert_eq!(sent.digest(), CanonicalJson::parse(sent.as_str().as_bytes())?.digest());
/// # Ok::<(), everstep_machine::json::JsonError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CanonicalJson(Arc<str>);

impl CanonicalJson {
    /// Reads one JSON document of at most [`JSON_BYTES`] bytes and brings it into canonical form.
    ///
    /// # Errors
    /// Every [`JsonError`] but [`JsonError::NotCanonical`]. Offsets count bytes of `text`.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        if text.len() > JSON_BYTES {
            return Err(JsonError::TooLarge);
        }
        let text = core::str::from_utf8(text)
            .map_err(|broken| JsonError::Utf8 { at: broken.valid_up_to() })?;
        bounds::check(text.as_bytes())?;
        Self::bounded(canonicalize::canonicalize(text)?)
    }

    /// Takes a text that claims to be canonical already, as stored values do (ARC-09).
    ///
    /// # Errors
    /// [`JsonError::NotCanonical`] where the text is JSON in another form, and what
    /// [`CanonicalJson::parse`] refuses.
    pub fn from_canonical(text: &str) -> Result<Self, JsonError> {
        let json = Self::parse(text.as_bytes())?;
        if json.as_str() == text { Ok(json) } else { Err(JsonError::NotCanonical) }
    }

    /// The value that says nothing.
    #[must_use]
    pub fn null() -> Self {
        Self(Arc::from("null"))
    }

    /// The JSON string with the content `text`.
    ///
    /// # Errors
    /// [`JsonError::TooLarge`] where it takes more than [`JSON_BYTES`] bytes with its quotes and
    /// escapes.
    pub fn string(text: &str) -> Result<Self, JsonError> {
        if text.len() > JSON_BYTES {
            return Err(JsonError::TooLarge);
        }
        let mut quoted = String::with_capacity(text.len() + 2);
        text::write(&mut quoted, text);
        Self::bounded(quoted)
    }

    /// Canonical text can be longer than what was sent: `1e19` has twenty digits. A value that
    /// was accepted must be readable again, so the bound holds for both.
    fn bounded(canonical: String) -> Result<Self, JsonError> {
        if canonical.len() > JSON_BYTES {
            return Err(JsonError::TooLarge);
        }
        Ok(Self(Arc::from(canonical)))
    }

    /// The canonical text, at most [`JSON_BYTES`] bytes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Equal for equal values, different for different ones (case ID-05).
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of("everstep/json", self.0.as_bytes())
    }
}

impl Serialize for CanonicalJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CanonicalJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CanonicalText;

        impl Visitor<'_> for CanonicalText {
            type Value = CanonicalJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text of canonical JSON")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                CanonicalJson::from_canonical(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(CanonicalText)
    }
}

#[cfg(test)]
mod tests;
