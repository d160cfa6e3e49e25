//! Capabilities, and patterns of them.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::CAPABILITY_BYTES;

/// What stands before the colon of a capability to bind one named secret.
const SECRET: &str = "secret.bind";

/// Why a text is no capability, or no pattern of capabilities. Places count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no text.
    #[error("a capability cannot be empty")]
    Empty,
    /// There are more than [`CAPABILITY_BYTES`] bytes.
    #[error("a capability has at most {CAPABILITY_BYTES} bytes")]
    TooLong,
    /// Two dots in a row, or one at an end.
    #[error("a segment of a capability cannot be empty (byte {at})")]
    EmptySegment {
        /// Where it would stand.
        at: usize,
    },
    /// A colon with nothing behind it.
    #[error("behind the colon of a capability stands its subject")]
    EmptySubject,
    /// More than one colon.
    #[error("a capability has one colon at most (byte {at})")]
    SecondColon {
        /// Where the second one stands.
        at: usize,
    },
    /// A letter that only looks like one of those that are allowed, or another one beyond ASCII.
    #[error("a capability is written in ASCII letters (byte {at})")]
    NotAscii {
        /// Where it stands.
        at: usize,
    },
    /// A capital before the colon. Behind it they are letters of their own.
    #[error("a capability is written in small letters before its colon (byte {at})")]
    UpperCase {
        /// Where it stands.
        at: usize,
    },
    /// A wildcard that is not the whole subject of a grant.
    #[error("a wildcard is the whole subject of a grant: `mcp.call:*` (byte {at})")]
    Wildcard {
        /// Where it stands.
        at: usize,
    },
    /// A wildcard alone, which matches nothing.
    #[error("a wildcard alone matches nothing")]
    BareWildcard,
    /// A wildcard for secrets, which are granted by name (AUTH-04).
    #[error("a secret is granted by its exact name")]
    SecretWildcard,
    /// Any other character.
    #[error("a capability cannot hold this character (byte {at})")]
    Character {
        /// Where it stands.
        at: usize,
    },
}

/// One capability: segments of small letters with dots between them, and perhaps a subject behind a
/// colon: `fs.read`, `mcp.call:docs`. At most [`CAPABILITY_BYTES`] bytes of ASCII (AUTH-02).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityKey(Arc<str>);

impl CapabilityKey {
    /// Checks and wraps a text.
    ///
    /// # Errors
    /// The text is no capability. Nothing is trimmed, folded or normalized.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.len() > CAPABILITY_BYTES {
            return Err(KeyError::TooLong);
        }
        let (stem, subject) = match text.split_once(':') {
            Some((stem, subject)) => (stem, Some(subject)),
            None => (text, None),
        };
        let mut at = 0;
        for segment in stem.split('.') {
            if segment.is_empty() {
                return Err(KeyError::EmptySegment { at });
            }
            letters(segment, at, |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))?;
            at += segment.len() + 1;
        }
        if let Some(subject) = subject {
            if subject.is_empty() {
                return Err(KeyError::EmptySubject);
            }
            let is_named = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
            letters(subject, at, is_named)?;
        }
        Ok(Self(Arc::from(text)))
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the colon.
    #[must_use]
    pub fn stem(&self) -> &str {
        self.parts().0
    }

    /// What stands behind the colon.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.parts().1
    }

    /// Whether it is about secrets: those are granted by name, asked for one at a time, and never
    /// remembered (AUTH-04).
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.stem() == SECRET
    }

    fn parts(&self) -> (&str, Option<&str>) {
        self.0.split_once(':').map_or((&self.0, None), |(stem, subject)| (stem, Some(subject)))
    }
}

/// Whether every byte of a part is allowed, and if not, why.
fn letters(part: &str, from: usize, is_allowed: impl Fn(u8) -> bool) -> Result<(), KeyError> {
    let Some(offset) = part.bytes().position(|byte| !is_allowed(byte)) else { return Ok(()) };
    let at = from + offset;
    Err(match part.as_bytes()[offset] {
        b'*' => KeyError::Wildcard { at },
        b':' => KeyError::SecondColon { at },
        b'A'..=b'Z' => KeyError::UpperCase { at },
        0x80.. => KeyError::NotAscii { at },
        _ => KeyError::Character { at },
    })
}

/// Capabilities that are meant together: one of them, or all with a subject behind the same stem.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// This one.
    Exact(CapabilityKey),
    /// `stem:*`: whatever stands behind the colon.
    AnySubject(CapabilityKey),
}

impl Pattern {
    /// Reads a capability, or one with a wildcard as its subject.
    ///
    /// # Errors
    /// The text is neither.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        if text == "*" {
            return Err(KeyError::BareWildcard);
        }
        let Some(stem) = text.strip_suffix(":*") else {
            return CapabilityKey::new(text).map(Self::Exact);
        };
        match CapabilityKey::new(stem)? {
            key if key.subject().is_some() => Err(KeyError::SecondColon { at: stem.len() }),
            key => Ok(Self::AnySubject(key)),
        }
    }

    /// Whether it means this capability.
    #[must_use]
    pub fn matches(&self, key: &CapabilityKey) -> bool {
        match self {
            Self::Exact(exact) => exact == key,
            Self::AnySubject(stem) => key.subject().is_some() && key.stem() == stem.as_str(),
        }
    }

    /// What both mean.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Exact(key), pattern) | (pattern, Self::Exact(key)) => {
                pattern.matches(key).then(|| Self::Exact(key.clone()))
            }
            (Self::AnySubject(one), Self::AnySubject(two)) => (one == two).then(|| self.clone()),
        }
    }
}

/// A pattern that may be granted: no wildcard reaches a secret (AUTH-04).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant(Pattern);

impl Grant {
    /// Reads a grant.
    ///
    /// # Errors
    /// The text is no pattern, or a wildcard for secrets.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        match Pattern::new(text)? {
            Pattern::AnySubject(stem) if stem.is_secret() => Err(KeyError::SecretWildcard),
            pattern => Ok(Self(pattern)),
        }
    }

    /// Whether it grants this capability.
    #[must_use]
    pub fn matches(&self, key: &CapabilityKey) -> bool {
        self.0.matches(key)
    }

    /// What both grant.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        self.0.meet(&other.0).map(Self)
    }

    /// What it means.
    #[must_use]
    pub const fn pattern(&self) -> &Pattern {
        &self.0
    }
}

impl fmt::Display for CapabilityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(key) => key.fmt(f),
            Self::AnySubject(stem) => write!(f, "{stem}:*"),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! shown_as_text {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "`{self}`")
            }
        }
    )*};
}

shown_as_text!(CapabilityKey, Pattern, Grant);

/// As its text; what is read is checked as anything else is.
macro_rules! serialized_as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

serialized_as_text!(CapabilityKey, Pattern);
