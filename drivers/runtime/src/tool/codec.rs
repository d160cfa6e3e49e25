//! From canonical JSON to a handler's types and back.

use everstep_machine::agent::{Diagnostic, Pointer, ToolDefinition, ToolOutcome, Truncated};
use everstep_machine::json::{CanonicalJson, JsonError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::derive::tag_of;

/// Decodes parameters. A value that fits the schema may still be none of the type; what is wrong
/// is said, but not where parameters may hold what nobody is to see.
pub(super) fn decode<P: DeserializeOwned>(
    parameters: &CanonicalJson,
    redact: &[Pointer],
) -> Result<P, ToolOutcome> {
    serde_json::from_str(parameters.as_str()).map_err(|why| {
        let words = if redact.is_empty() {
            why.to_string()
        } else {
            format!("the parameters cannot be decoded at column {}", why.column())
        };
        ToolOutcome::InvalidInput(Diagnostic::cut("InvalidInput", &words))
    })
}

/// Encodes a result. One that is no canonical value is a defect of the call; one that is only too
/// long is kept in part, unless the machine has to look through it for what nobody is to see.
pub(super) fn encode_success(result: &impl Serialize, tool: &ToolDefinition) -> ToolOutcome {
    let text = match serde_json::to_string(result) {
        Ok(text) => text,
        Err(why) => return defect(&why.to_string()),
    };
    match CanonicalJson::parse(text.as_bytes()) {
        Ok(json) => ToolOutcome::Success(json),
        Err(JsonError::TooLarge) if tool.redact.is_empty() => {
            ToolOutcome::Truncated(Truncated::of(&text, tool.result_bytes as usize))
        }
        Err(why) => defect(&why.to_string()),
    }
}

/// Encodes a failure: its stable name, and its canonical JSON as the message. Beside it the whole
/// failure, as it has to fit what the tool declares: before anything is taken out or cut off.
pub(super) fn encode_failure<E: Serialize + JsonSchema>(
    failure: &E,
    redact: &[Pointer],
) -> (ToolOutcome, Option<CanonicalJson>) {
    let value: Value = match serde_json::to_value(failure) {
        Ok(value) => value,
        Err(why) => return (defect(&why.to_string()), None),
    };
    match CanonicalJson::parse(value.to_string().as_bytes()) {
        Ok(json) => {
            let message = json.redacted(redact);
            let why = Diagnostic::cut(&tag_of::<E>(&value), message.as_str());
            (ToolOutcome::Failure(why), Some(json))
        }
        Err(why) => (defect(&why.to_string()), None),
    }
}

fn defect(why: &str) -> ToolOutcome {
    ToolOutcome::Defect(Diagnostic::cut("OutputInvalid", why))
}
