//! Which schemas are inside a schema, and what each of them looks at.

use serde_json::{Map, Value};

/// What an inner schema looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The value that the outer schema looks at.
    Same,
    /// A part of that value.
    Part,
    /// Nothing, until something refers to it.
    Nothing,
}

/// How the schemas of a keyword are held.
#[derive(Clone, Copy)]
enum Held {
    One,
    List,
    Named,
}

const KEYWORDS: [(&str, Held, Look); 23] = [
    ("allOf", Held::List, Look::Same),
    ("anyOf", Held::List, Look::Same),
    ("oneOf", Held::List, Look::Same),
    ("not", Held::One, Look::Same),
    ("if", Held::One, Look::Same),
    ("then", Held::One, Look::Same),
    ("else", Held::One, Look::Same),
    ("dependentSchemas", Held::Named, Look::Same),
    ("dependencies", Held::Named, Look::Same),
    ("properties", Held::Named, Look::Part),
    ("patternProperties", Held::Named, Look::Part),
    ("additionalProperties", Held::One, Look::Part),
    ("propertyNames", Held::One, Look::Part),
    ("prefixItems", Held::List, Look::Part),
    ("items", Held::One, Look::Part),
    // The older form: one schema for each place.
    ("items", Held::List, Look::Part),
    ("additionalItems", Held::One, Look::Part),
    ("contains", Held::One, Look::Part),
    ("unevaluatedItems", Held::One, Look::Part),
    ("unevaluatedProperties", Held::One, Look::Part),
    ("contentSchema", Held::One, Look::Nothing),
    ("$defs", Held::Named, Look::Nothing),
    ("definitions", Held::Named, Look::Nothing),
];

/// A schema inside another.
pub(crate) struct Inner<'a> {
    /// The way there, to be put behind the outer schema's place.
    pub(crate) way: String,
    /// What it looks at.
    pub(crate) look: Look,
    /// The schema.
    pub(crate) schema: &'a Value,
}

/// Every schema that stands directly inside this one. References are not followed.
pub(crate) fn inside(outer: &Map<String, Value>) -> Vec<Inner<'_>> {
    let mut found = Vec::new();
    for (keyword, held, look) in KEYWORDS {
        let Some(value) = outer.get(keyword) else { continue };
        let mut add = |way, schema| found.push(Inner { way, look, schema });
        match (held, value) {
            (Held::One, Value::Object(_) | Value::Bool(_)) => add(format!("/{keyword}"), value),
            (Held::List, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    add(format!("/{keyword}/{index}"), schema);
                }
            }
            (Held::Named, Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    add(format!("/{keyword}/{}", escaped(name)), schema);
                }
            }
            // Another form is no schema, and the metaschema judges it.
            (Held::One | Held::List | Held::Named, _) => {}
        }
    }
    found
}

/// The place in the same document that a reference names, as a JSON pointer; none if the
/// reference leads elsewhere.
pub(crate) fn local(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    unescaped(fragment).filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
}

/// A name as a JSON pointer spells it.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Undoes the percent escapes of a fragment.
fn unescaped(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}
