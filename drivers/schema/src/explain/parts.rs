//! From a value to its parts.

use serde_json::{Map, Value};

use super::Spot;
use crate::subschema::escaped;

impl<'a> Spot<'a> {
    /// Members that say which alternative a value is: those that may have one value only.
    pub(super) fn tags(&self, keywords: &'a Map<String, Value>) -> Vec<Self> {
        let mut members = self.members(keywords);
        members.retain(|member| member.schema.get("const").is_some());
        members
    }

    /// The parts of the value that a schema is named for.
    pub(super) fn parts(&self, keywords: &'a Map<String, Value>) -> Vec<Self> {
        let mut parts = self.members(keywords);
        parts.extend(self.others(keywords));
        parts.extend(self.elements(keywords));
        parts
    }

    fn members(&self, keywords: &'a Map<String, Value>) -> Vec<Self> {
        let (Some(members), Some(schemas)) =
            (self.value.as_object(), keywords.get("properties").and_then(Value::as_object))
        else {
            return Vec::new();
        };
        let both = sorted(members).into_iter().filter_map(|(name, value)| {
            let schema = schemas.get(name)?;
            Some(self.part(&format!("/properties/{}", escaped(name)), schema, name, value))
        });
        both.collect()
    }

    /// Members that no name is said for. With patterns about, it is not known here which they are.
    fn others(&self, keywords: &'a Map<String, Value>) -> Vec<Self> {
        let (Some(members), Some(schema)) =
            (self.value.as_object(), keywords.get("additionalProperties"))
        else {
            return Vec::new();
        };
        if !schema.is_object() || keywords.contains_key("patternProperties") {
            return Vec::new();
        }
        let named = keywords.get("properties").and_then(Value::as_object);
        let is_named = |name: &str| named.is_some_and(|it| it.contains_key(name));
        let others = sorted(members).into_iter().filter(|(name, _)| !is_named(name));
        others
            .map(|(name, value)| self.part("/additionalProperties", schema, name, value))
            .collect()
    }

    fn elements(&self, keywords: &'a Map<String, Value>) -> Vec<Self> {
        let Some(elements) = self.value.as_array() else { return Vec::new() };
        let list = |keyword: &'static str| {
            let schemas = keywords.get(keyword).and_then(Value::as_array);
            schemas.map(|schemas| (keyword, schemas))
        };
        let (first, rest) = match (list("prefixItems"), list("items")) {
            (Some(first), _) => (Some(first), "items"),
            (None, Some(first)) => (Some(first), "additionalItems"),
            (None, None) => (None, "items"),
        };
        let rest_schema = keywords.get(rest).filter(|schema| !schema.is_array());
        let numbered = elements.iter().enumerate().filter_map(|(index, value)| {
            let own = first.and_then(|(keyword, schemas)| Some((keyword, schemas.get(index)?)));
            let (way, schema) = match own {
                Some((keyword, schema)) => (format!("/{keyword}/{index}"), schema),
                None => (format!("/{rest}"), rest_schema?),
            };
            Some(self.part(&way, schema, &index.to_string(), value))
        });
        numbered.collect()
    }

    fn part(&self, way: &str, schema: &'a Value, name: &str, value: &'a Value) -> Self {
        let at = format!("{}{way}", self.at);
        Self { at, schema, place: format!("{}/{}", self.place, escaped(name)), value }
    }
}

/// In an order that no feature of the library changes.
fn sorted(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    members
}
