//! A schema, ready to check values.

use everstep_machine::agent::Schema;
use jsonschema::{PatternOptions, ValidationOptions, Validator};
use serde_json::Value;

use crate::bounds;
use crate::error::SchemaError;
use crate::explain::explain;
use crate::limits::{PATTERN_BACKTRACKS, PATTERN_BYTES, SCHEMA_BYTES, VIOLATION_BYTES};

/// A sound schema.
#[derive(Debug)]
pub(crate) struct Compiled {
    document: Value,
    validator: Validator,
}

impl Compiled {
    /// Checks the bounds, then the rules of JSON Schema, and compiles.
    pub(crate) fn new(schema: &Schema) -> Result<Self, SchemaError> {
        let text = schema.json().as_str();
        if text.len() > SCHEMA_BYTES {
            return Err(SchemaError::TooLarge);
        }
        let invalid = |at: String, why: String| SchemaError::Invalid { at, why: cut(why) };
        let document: Value =
            serde_json::from_str(text).map_err(|why| invalid(String::new(), why.to_string()))?;
        bounds::check(&document)?;
        let validator = options().build(&document);
        let validator = validator
            .map_err(|why| invalid(why.instance_path().to_string(), why.masked().to_string()))?;
        Ok(Self { document, validator })
    }

    /// Why a value does not fit; none if it does. The library decides, with its memory of what it
    /// has looked at; the words are sought only for what does not fit.
    pub(crate) fn refusal(&self, value: &Value) -> Option<String> {
        (!self.validator.is_valid(value)).then(|| explain(&self.document, value))
    }
}

/// How the library is used: nothing is fetched, patterns are bounded, and `format` is a remark
/// and no rule, in every draft.
pub(crate) fn options() -> ValidationOptions<'static> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(PATTERN_BACKTRACKS)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    jsonschema::options().offline().with_pattern_options(patterns).should_validate_formats(false)
}

/// Cuts words to their bound, on a character boundary.
pub(crate) fn cut(mut words: String) -> String {
    if words.len() > VIOLATION_BYTES {
        words.truncate(words.floor_char_boundary(VIOLATION_BYTES));
        words.push('…');
    }
    words
}
