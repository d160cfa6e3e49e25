//! Why a schema is not sound.

use crate::limits::{SCHEMA_BYTES, SCHEMA_LOOKS, SCHEMA_STEPS};

/// Why a schema is not sound (CAP-002). `at` is the place in the schema, as a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Its text has more than [`SCHEMA_BYTES`] bytes.
    #[error("a schema has at most {SCHEMA_BYTES} bytes")]
    TooLarge,
    /// It breaks the rules of JSON Schema.
    #[error("it is no JSON Schema at `{at}`: {why}")]
    Invalid {
        /// Where.
        at: String,
        /// Which rule.
        why: String,
    },
    /// It refers to something outside of itself; nothing is ever fetched.
    #[error("`{at}` refers to {reference}; only references that begin with `#` are followed")]
    Remote {
        /// Where.
        at: String,
        /// To what.
        reference: String,
    },
    /// It refers to a place that it does not have.
    #[error("`{at}` refers to {reference}, which is not there")]
    Missing {
        /// Where.
        at: String,
        /// To what.
        reference: String,
    },
    /// It uses a keyword that changes what references mean.
    #[error("`{at}` uses {keyword}, which is not supported")]
    Unsupported {
        /// Where.
        at: String,
        /// Which one.
        keyword: &'static str,
    },
    /// It comes back to itself without going down into the value.
    #[error("`{at}` refers to itself for the same value")]
    Endless {
        /// Where.
        at: String,
    },
    /// Schemas for the same value follow each other in more than [`SCHEMA_STEPS`] steps.
    #[error("more than {SCHEMA_STEPS} schemas follow each other from `{at}` on for the same value")]
    TooManySteps {
        /// Where that begins.
        at: String,
    },
    /// More than [`SCHEMA_LOOKS`] schemas look at the same value.
    #[error("more than {SCHEMA_LOOKS} schemas look at the value of `{at}`")]
    TooManyLooks {
        /// Where that begins.
        at: String,
    },
}
