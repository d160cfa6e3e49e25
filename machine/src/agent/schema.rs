//! JSON Schemas, as data. Checking a value against one is a computation that hosts perform.

use serde::{Deserialize, Serialize};

use crate::json::{CanonicalJson, JsonError};

/// A JSON Schema. Whether it is a sound one is checked when a runtime is built (CAP-002).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Schema(CanonicalJson);

impl Schema {
    /// The schema that every value fits.
    ///
    /// # Panics
    /// Never: `true` is JSON.
    #[must_use]
    pub fn anything() -> Self {
        Self(CanonicalJson::parse(b"true").expect("CAP-004: `true` is a schema"))
    }

    /// Takes a schema from its JSON text.
    ///
    /// # Errors
    /// The text is no JSON.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        CanonicalJson::parse(text).map(Self)
    }

    /// The schema's text.
    #[must_use]
    pub const fn json(&self) -> &CanonicalJson {
        &self.0
    }

    /// Whether every value fits, so that nothing needs to be checked.
    #[must_use]
    pub fn is_anything(&self) -> bool {
        matches!(self.0.as_str(), "true" | "{}")
    }
}

impl From<CanonicalJson> for Schema {
    fn from(json: CanonicalJson) -> Self {
        Self(json)
    }
}
