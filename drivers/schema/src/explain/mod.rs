//! Words for a value that does not fit.
//!
//! Schema and value are gone down side by side. A violation is only reported where it is certain:
//! keywords that are not understood here say nothing, and if nothing at all is found, the words
//! are as general as they have to be.

mod alternatives;
mod parts;
mod plain;

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::compiled::cut;
use crate::limits::{EXPLAINING_DEPTH, EXPLAINING_LOOKS, VIOLATIONS};
use crate::subschema::local;

/// The first few violations, each with its place.
pub(crate) fn explain(document: &Value, value: &Value) -> String {
    let mut explainer =
        Explainer { document, plain: HashMap::new(), looks: EXPLAINING_LOOKS, depth: 0 };
    let root = Spot { at: String::new(), schema: document, place: String::new(), value };
    match explainer.violations(&root) {
        Ok(mut found) if !found.is_empty() => {
            found.sort_by(|a, b| (&a.place, &a.words).cmp(&(&b.place, &b.words)));
            found.dedup_by(|a, b| a.place == b.place && a.words == b.words);
            found.truncate(VIOLATIONS);
            let words: Vec<_> = found.into_iter().map(Violation::in_words).collect();
            words.join("; ")
        }
        Ok(_) | Err(TooFar) => "the value does not fit the schema".to_owned(),
    }
}

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq)]
struct Violation<'a> {
    /// Where in the value, as a JSON pointer.
    place: String,
    kind: Kind<'a>,
    words: String,
}

/// What alternatives are told apart by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind<'a> {
    /// The value is of another type.
    Type,
    /// The value is not this one.
    Constant(&'a Value),
    /// Anything else.
    Other,
}

impl Violation<'_> {
    fn in_words(self) -> String {
        let place = if self.place.is_empty() { "the top".to_owned() } else { quoted(self.place) };
        format!("at {place}: {}", cut(self.words))
    }
}

fn quoted(place: String) -> String {
    format!("`{}`", cut(place))
}

/// The words would take longer to find than they are worth.
struct TooFar;

type Found<'a> = Result<Vec<Violation<'a>>, TooFar>;

/// A schema and the value that it looks at, each with its place.
struct Spot<'a> {
    at: String,
    schema: &'a Value,
    place: String,
    value: &'a Value,
}

impl<'a> Spot<'a> {
    /// Another schema that looks at the same value.
    fn step(&self, way: &str, schema: &'a Value) -> Self {
        let at = format!("{}{way}", self.at);
        Self { at, schema, place: self.place.clone(), value: self.value }
    }
}

struct Explainer<'a> {
    document: &'a Value,
    /// The plain rules of a schema, by its place; none where it has none.
    plain: HashMap<String, Option<Validator>>,
    looks: u32,
    /// Schemas that are being looked at, one inside the other.
    depth: u32,
}

impl<'a> Explainer<'a> {
    fn violations(&mut self, spot: &Spot<'a>) -> Found<'a> {
        self.looks = self.looks.checked_sub(1).ok_or(TooFar)?;
        self.depth += 1;
        if self.depth > EXPLAINING_DEPTH {
            return Err(TooFar);
        }
        let found = self.look(spot);
        self.depth -= 1;
        found
    }

    fn look(&mut self, spot: &Spot<'a>) -> Found<'a> {
        let keywords = match spot.schema {
            Value::Bool(false) => return Ok(vec![spot.violation("nothing may stand here")]),
            Value::Object(keywords) => keywords,
            // `true` forbids nothing; anything else was refused as a schema.
            Value::Bool(true)
            | Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => return Ok(Vec::new()),
        };
        let reference = self.reference(spot, keywords);
        if let Some(target) = reference.as_ref().filter(|_| self.references_stand_alone()) {
            return self.violations(target);
        }
        let mut found = self.plain(spot, keywords);
        // A value of another type, or with another tag, is another thing: what is inside it does
        // not matter. Without this, alternatives that contain themselves would never end.
        if found.iter().any(|it| it.kind == Kind::Type) {
            return Ok(found);
        }
        let tags = self.each(spot.tags(keywords))?;
        if !tags.is_empty() {
            return Ok(tags);
        }
        found.extend(self.each(reference)?);
        found.extend(self.each(spot.list(keywords, "allOf"))?);
        for keyword in ["anyOf", "oneOf"] {
            found.extend(self.alternatives(spot, keywords, keyword)?);
        }
        if found.len() < VIOLATIONS {
            found.extend(self.each(spot.parts(keywords))?);
        }
        Ok(found)
    }

    /// What each of them finds, until there is enough.
    fn each(&mut self, spots: impl IntoIterator<Item = Spot<'a>>) -> Found<'a> {
        let mut found = Vec::new();
        for spot in spots {
            found.extend(self.violations(&spot)?);
            if found.len() >= VIOLATIONS {
                break;
            }
        }
        Ok(found)
    }

    fn reference(&self, spot: &Spot<'a>, keywords: &'a Map<String, Value>) -> Option<Spot<'a>> {
        let place = local(keywords.get("$ref")?.as_str()?)?;
        let schema = self.document.pointer(&place)?;
        Some(Spot { at: place, schema, place: spot.place.clone(), value: spot.value })
    }

    /// Until draft 7 nothing beside a reference counts.
    fn references_stand_alone(&self) -> bool {
        let draft = self.document.get("$schema").and_then(Value::as_str);
        draft.is_some_and(|draft| draft.contains("/draft-0"))
    }
}

impl<'a> Spot<'a> {
    fn violation(&self, words: &str) -> Violation<'a> {
        Violation { place: self.place.clone(), kind: Kind::Other, words: words.to_owned() }
    }

    /// The schemas in a list that look at the same value.
    fn list(&self, keywords: &'a Map<String, Value>, keyword: &str) -> Vec<Self> {
        let schemas = keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let numbered = schemas.enumerate();
        numbered.map(|(index, schema)| self.step(&format!("/{keyword}/{index}"), schema)).collect()
    }
}
