//! What the library cannot promise: that a check ends soon and on a small stack.
//!
//! The library remembers what it has found out about a reference and an array or object, so going
//! down into a value is cheap however schemas refer to each other. What is left is how many
//! schemas look at *one* value. That is counted here, once, before a schema is compiled: the
//! graph of steps that stay at the same value has no cycle, no long way and no crowd.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::error::SchemaError;
use crate::limits::{SCHEMA_LOOKS, SCHEMA_STEPS, UNEVALUATED_LOOKS};
use crate::subschema::{Look, inside, local};

/// Keywords that would make a reference mean something else than the place it spells.
const UNSUPPORTED: [&str; 6] =
    ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "id"];

/// Refuses what cannot be followed, and what would make a check expensive.
pub(crate) fn check(root: &Value) -> Result<(), SchemaError> {
    let mut walk = Walk { root, costs: HashMap::new(), later: vec![(String::new(), root)] };
    while let Some((at, schema)) = walk.later.pop() {
        walk.look(at, schema, &mut Vec::new())?;
    }
    Ok(())
}

/// What looking at one value with a schema costs.
#[derive(Clone, Copy)]
struct Cost {
    /// The longest way, in steps.
    steps: usize,
    /// Schemas that look.
    looks: u64,
}

const ONE: Cost = Cost { steps: 0, looks: 1 };

struct Walk<'a> {
    root: &'a Value,
    /// Of every schema that is known to be sound, by its place.
    costs: HashMap<String, Cost>,
    /// Schemas that look at another value.
    later: Vec<(String, &'a Value)>,
}

impl<'a> Walk<'a> {
    /// `way` holds the places that led here without leaving the value. Recursion is as deep as
    /// that, and that is bounded.
    fn look(
        &mut self,
        at: String,
        schema: &'a Value,
        way: &mut Vec<String>,
    ) -> Result<Cost, SchemaError> {
        let Value::Object(keywords) = schema else { return Ok(ONE) };
        if let Some(cost) = self.costs.get(&at) {
            return Ok(*cost);
        }
        if way.contains(&at) {
            return Err(SchemaError::Endless { at });
        }
        if way.len() > SCHEMA_STEPS {
            return Err(SchemaError::TooManySteps { at: way[0].clone() });
        }
        supported(&at, keywords)?;
        way.push(at.clone());
        let mut cost = ONE;
        for (at, schema) in self.steps(&at, keywords)? {
            let further = self.look(at, schema, way)?;
            cost.steps = cost.steps.max(further.steps + 1);
            cost.looks = cost.looks.saturating_add(further.looks);
        }
        way.pop();
        let looks_again = ["unevaluatedProperties", "unevaluatedItems"];
        if looks_again.iter().any(|keyword| keywords.contains_key(*keyword)) {
            cost.looks = cost.looks.saturating_mul(UNEVALUATED_LOOKS);
        }
        if cost.steps > SCHEMA_STEPS {
            return Err(SchemaError::TooManySteps { at });
        }
        if cost.looks > SCHEMA_LOOKS {
            return Err(SchemaError::TooManyLooks { at });
        }
        self.costs.insert(at, cost);
        Ok(cost)
    }

    /// The schemas that look at the same value; those that look at others are put aside.
    fn steps(
        &mut self,
        at: &str,
        keywords: &'a Map<String, Value>,
    ) -> Result<Vec<(String, &'a Value)>, SchemaError> {
        let mut steps = Vec::new();
        for inner in inside(keywords) {
            let entry = (format!("{at}{}", inner.way), inner.schema);
            match inner.look {
                Look::Same => steps.push(entry),
                Look::Part | Look::Nothing => self.later.push(entry),
            }
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            steps.push(self.target(at, reference)?);
        }
        Ok(steps)
    }

    fn target(&self, at: &str, reference: &str) -> Result<(String, &'a Value), SchemaError> {
        let (at, reference) = (format!("{at}/$ref"), reference.to_owned());
        let Some(place) = local(&reference) else {
            return Err(SchemaError::Remote { at, reference });
        };
        match self.root.pointer(&place) {
            Some(target) => Ok((place, target)),
            None => Err(SchemaError::Missing { at, reference }),
        }
    }
}

fn supported(at: &str, keywords: &Map<String, Value>) -> Result<(), SchemaError> {
    let is_text = |keyword: &str| keywords.get(keyword).is_some_and(|it| !it.is_object());
    let unsupported = UNSUPPORTED.into_iter().find(|keyword| is_text(keyword));
    // The identifier of the whole document changes nothing inside it.
    let unsupported = unsupported.filter(|keyword| *keyword != "id" || !at.is_empty());
    let inner_id = (!at.is_empty() && is_text("$id")).then_some("$id");
    match unsupported.or(inner_id) {
        Some(keyword) => Err(SchemaError::Unsupported { at: at.to_owned(), keyword }),
        None => Ok(()),
    }
}
