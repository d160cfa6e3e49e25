//! How events are spelled for whoever watches from another process. Everything is checked when it
//! is read (ARC-09).

use alloc::string::String;
use alloc::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::EVENT_VERSION;
use crate::agent;
use crate::limits::{RESPONSE_BYTES, TEXT_BYTES};
use crate::record;

/// Derived ids as 32 hexadecimal digits.
pub(super) mod id {
    use alloc::string::String;
    use core::fmt::Display;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::identity::{RunId, SubmissionId, ToolCallId};

    /// Ids of 128 bits, all of which display alike.
    pub(in crate::event) trait Id: Display {
        fn from_bytes(bytes: [u8; 16]) -> Self;
    }

    impl Id for RunId {
        fn from_bytes(bytes: [u8; 16]) -> Self {
            Self(bytes)
        }
    }

    impl Id for SubmissionId {
        fn from_bytes(bytes: [u8; 16]) -> Self {
            Self(bytes)
        }
    }

    impl Id for ToolCallId {
        fn from_bytes(bytes: [u8; 16]) -> Self {
            Self(bytes)
        }
    }

    pub(in crate::event) fn serialize<T: Id, S: Serializer>(
        id: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(in crate::event) fn deserialize<'de, T: Id, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        bytes(text.as_bytes())
            .map(T::from_bytes)
            .ok_or_else(|| D::Error::custom("an id has 32 lower-case hexadecimal digits"))
    }

    fn bytes(text: &[u8]) -> Option<[u8; 16]> {
        let (pairs, []) = text.as_chunks::<2>() else { return None };
        let pairs: &[[u8; 2]; 16] = pairs.try_into().ok()?;
        let mut bytes = [0; 16];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(bytes)
    }

    const fn digit(letter: u8) -> Option<u8> {
        match letter {
            b'0'..=b'9' => Some(letter - b'0'),
            b'a'..=b'f' => Some(letter - b'a' + 10),
            _ => None,
        }
    }
}

/// A limit that may be missing.
pub(super) mod limit {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::PolicyLimit as Wire;
    use crate::record::PolicyLimit;

    #[derive(Serialize, Deserialize)]
    struct Limit(#[serde(with = "Wire")] PolicyLimit);

    #[expect(clippy::ref_option, reason = "serde hands over the field as it is")]
    pub(in crate::event) fn serialize<S: Serializer>(
        limit: &Option<PolicyLimit>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        limit.map(Limit).serialize(serializer)
    }

    pub(in crate::event) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PolicyLimit>, D::Error> {
        Ok(Option::<Limit>::deserialize(deserializer)?.map(|Limit(limit)| limit))
    }
}

/// [`agent::Dimension`] in snake case. The compiler checks that the two agree.
#[derive(Serialize, Deserialize)]
#[serde(remote = "agent::Dimension", rename_all = "snake_case")]
pub(super) enum Dimension {
    Turns,
    ToolCalls,
    Tokens,
    Cost,
    Duration,
}

/// [`agent::Gauge`] as an object.
#[derive(Serialize, Deserialize)]
#[serde(remote = "agent::Gauge")]
pub(super) struct Gauge {
    #[serde(with = "Dimension")]
    dimension: agent::Dimension,
    used: u64,
    limit: u64,
}

/// [`record::FinishKind`] in snake case.
#[derive(Serialize, Deserialize)]
#[serde(remote = "record::FinishKind", rename_all = "snake_case")]
pub(super) enum FinishKind {
    ModelStop,
    Completed,
    BudgetExhausted(#[serde(with = "Dimension")] agent::Dimension),
}

/// [`record::PolicyLimit`] in snake case.
#[derive(Serialize, Deserialize)]
#[serde(remote = "record::PolicyLimit", rename_all = "snake_case")]
pub(super) enum PolicyLimit {
    Budget(#[serde(with = "Dimension")] agent::Dimension),
    RepeatedFailures,
    Attempts,
}

/// The version of this build, or nothing.
pub(super) fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let version = u16::deserialize(deserializer)?;
    if version == EVENT_VERSION {
        Ok(version)
    } else {
        Err(serde::de::Error::custom(format_args!(
            "events of version {version}; only version {EVENT_VERSION} is read"
        )))
    }
}

/// Words of a model, within their bound.
pub(super) fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    within(RESPONSE_BYTES, deserializer)
}

/// Words of a handler, within their bound.
pub(super) fn progress<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    within(TEXT_BYTES, deserializer)
}

fn within<'de, D: Deserializer<'de>>(most: usize, deserializer: D) -> Result<Arc<str>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.len() <= most {
        Ok(text.into())
    } else {
        Err(serde::de::Error::custom(format_args!("words of more than {most} bytes")))
    }
}
