//! Rules that look at one value and at no schema inside: the library judges them and has the
//! words for them.

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::{Explainer, Kind, Spot, Violation};
use crate::compiled::options;

const PLAIN: [&str; 17] = [
    "type",
    "const",
    "enum",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
];

impl<'a> Explainer<'a> {
    /// What the plain rules of a schema have against a value.
    pub(super) fn plain(
        &mut self,
        spot: &Spot<'a>,
        keywords: &'a Map<String, Value>,
    ) -> Vec<Violation<'a>> {
        if !self.plain.contains_key(&spot.at) {
            let rules = rules(keywords, self.document.get("$schema"));
            self.plain.insert(spot.at.clone(), rules);
        }
        let Some(Some(rules)) = self.plain.get(&spot.at) else { return Vec::new() };
        let violations = rules.iter_errors(spot.value).map(|error| Violation {
            place: spot.place.clone(),
            kind: kind(error.kind(), keywords),
            words: error.masked().to_string(),
        });
        violations.collect()
    }
}

fn kind<'a>(kind: &ValidationErrorKind, keywords: &'a Map<String, Value>) -> Kind<'a> {
    match (kind, keywords.get("const")) {
        (ValidationErrorKind::Constant { .. }, Some(constant)) => Kind::Constant(constant),
        (ValidationErrorKind::Type { .. }, _) => Kind::Type,
        // Of the library's many rules only these two tell alternatives apart.
        _ => Kind::Other,
    }
}

/// The plain rules alone, as a schema of their own; none if there are none.
fn rules(keywords: &Map<String, Value>, draft: Option<&Value>) -> Option<Validator> {
    let named =
        PLAIN.iter().filter_map(|&name| Some((name.to_owned(), keywords.get(name)?.clone())));
    let mut rules: Map<String, Value> = named.collect();
    if keywords.get("additionalProperties") == Some(&Value::Bool(false)) {
        rules.insert("additionalProperties".to_owned(), Value::Bool(false));
        for known in ["properties", "patternProperties"] {
            let names = keywords.get(known).and_then(Value::as_object).into_iter().flatten();
            let names = names.map(|(name, _)| (name.clone(), Value::Bool(true)));
            rules.insert(known.to_owned(), Value::Object(names.collect()));
        }
    }
    if rules.is_empty() {
        return None;
    }
    if let Some(draft) = draft {
        rules.insert("$schema".to_owned(), draft.clone());
    }
    // What was sound as a whole is sound in part; if not, there are no words for it.
    options().build(&Value::Object(rules)).ok()
}
