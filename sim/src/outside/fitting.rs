//! A small value that fits a JSON Schema, made from the schema alone.
//!
//! Whoever makes it knows the keywords that tools use: `const`, `enum`, `examples`, `default`,
//! `type`, `properties`, `required`, `items`, `minItems`, `minimum`, `minLength`, `anyOf` and
//! `oneOf`. What it does not know it leaves out, and then the value may not fit.

use everstep_machine::agent::Schema;
use everstep_machine::json::CanonicalJson;
use serde_json::{Map, Value};

/// Characters that are made up to reach a minimum.
const CHARACTERS: u64 = 64;
/// Entries that are made up to reach a minimum.
const ENTRIES: u64 = 4;
/// How deep schemas are followed.
const DEPTH: usize = 6;

/// A value for a tool that takes what the schema says. Where anything fits, an empty object.
pub(super) fn value(schema: &Schema) -> CanonicalJson {
    let schema = serde_json::from_str(schema.json().as_str()).unwrap_or_default();
    let made = make(&schema, DEPTH).to_string();
    // What is over the bounds of a value was made from a schema that nobody shows to a model.
    CanonicalJson::parse(made.as_bytes()).unwrap_or_else(|_| nothing())
}

fn nothing() -> CanonicalJson {
    CanonicalJson::parse(b"{}").expect("ID-03: an empty object is JSON")
}

fn make(schema: &Value, depth: usize) -> Value {
    let empty = || Value::Object(Map::new());
    let Some(schema) = schema.as_object().filter(|_| depth > 0) else { return empty() };
    let first = |list: &str| schema.get(list)?.as_array()?.first();
    let said = schema.get("const").or_else(|| first("enum"));
    if let Some(said) = said.or_else(|| first("examples")).or_else(|| schema.get("default")) {
        return said.clone();
    }
    if let Some(one) = first("anyOf").or_else(|| first("oneOf")) {
        return make(one, depth - 1);
    }
    let kind = schema.get("type");
    let kind = kind.and_then(|kind| kind.as_array().and_then(|all| all.first()).or(Some(kind)));
    let least = |key: &str| schema.get(key).and_then(Value::as_u64).unwrap_or_default();
    match kind.and_then(Value::as_str) {
        Some("string") => Value::from("x".repeat(least("minLength").min(CHARACTERS) as usize)),
        Some("integer" | "number") => {
            schema.get("minimum").cloned().unwrap_or_else(|| Value::from(0))
        }
        Some("boolean") => Value::from(false),
        Some("null") => Value::Null,
        Some("array") => {
            let item = schema.get("items").map_or_else(empty, |items| make(items, depth - 1));
            Value::from(vec![item; least("minItems").min(ENTRIES) as usize])
        }
        Some(_) | None => object(schema, depth),
    }
}

/// The members that are required.
fn object(schema: &Map<String, Value>, depth: usize) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let members = names.map(|name| {
        let member = schema.get("properties").and_then(|all| all.get(name));
        let value = member.map_or(Value::Null, |member| make(member, depth - 1));
        (name.to_owned(), value)
    });
    Value::Object(members.collect())
}
