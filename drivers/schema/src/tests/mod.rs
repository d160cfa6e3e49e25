//! What fits, what does not and why, and what is no schema at all.

mod checks;
mod properties;
mod sound;
mod words;

use everstep_machine::agent::Schema;
use everstep_machine::effect::Fitting;
use everstep_machine::json::CanonicalJson;
use serde_json::{Value, json};

use super::*;

fn canonical(value: &Value) -> CanonicalJson {
    CanonicalJson::parse(value.to_string().as_bytes()).unwrap()
}

fn schema(value: &Value) -> Schema {
    Schema::from(canonical(value))
}

fn fitting(rules: &Value, value: &Value) -> Fitting {
    Fitting { schema: schema(rules), value: canonical(value) }
}

/// Why a value does not fit, in words; none if it does.
fn refusal(rules: &Value, value: &Value) -> Option<String> {
    let said = Checker::new().check(&fitting(rules, value))?;
    assert_eq!(said.tag(), "DoesNotFit");
    Some(said.message().to_owned())
}

#[track_caller]
fn says(rules: &Value, value: &Value, words: &str) {
    assert_eq!(refusal(rules, value).as_deref(), Some(words));
}

#[track_caller]
fn fits(rules: &Value, value: &Value) {
    assert_eq!(refusal(rules, value), None);
}

/// An expression whose alternatives contain themselves.
fn expression() -> Value {
    let operation = |name: &str| {
        json!({
            "type": "object",
            "properties": {
                "args": {"type": "array", "items": {"$ref": "#/$defs/expression"}},
                "op": {"const": name},
            },
            "required": ["op", "args"],
        })
    };
    json!({
        "$defs": {"expression": {"anyOf": [operation("and"), operation("or"), operation("not")]}},
        "$ref": "#/$defs/expression",
    })
}

/// So many expressions, one inside the other, around something else.
fn nested(levels: usize, inner: Value) -> Value {
    (0..levels).fold(inner, |inner, _| json!({"op": "not", "args": [inner]}))
}
