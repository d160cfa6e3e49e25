//! Any value against any schema.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;
use crate::explain::explain;

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "~/", "kind"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..300).prop_map(Value::from),
        prop::sample::select(vec![0.5, -0.25, 1e-7]).prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(name(), inner, 0..4).prop_map(object),
        ]
    })
}

fn object(members: BTreeMap<String, Value>) -> Value {
    Value::Object(members.into_iter().collect())
}

fn plain() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec!["null", "string", "object", "array", "integer", "number"])
            .prop_map(|name| json!({"type": name})),
        value().prop_map(|value| json!({"const": value})),
        (0..4).prop_map(|most| json!({"maxLength": most, "maxItems": most, "maxProperties": most})),
        prop::sample::select(vec!["^a", "(a+)+$", "(?=b)b", "(.)\\1"])
            .prop_map(|pattern| json!({"pattern": pattern})),
        prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b", "#/$defs/c", "x:y"])
            .prop_map(|reference| json!({"$ref": reference})),
        name().prop_map(|name| json!({"required": [name]})),
        // Not always a schema at all.
        value(),
    ]
}

fn rules() -> impl Strategy<Value = Value> {
    let one = plain().prop_recursive(4, 24, 3, |inner| {
        let keyword = |keywords: &[&'static str]| prop::sample::select(keywords.to_vec());
        let listed = keyword(&["allOf", "anyOf", "oneOf", "prefixItems"]);
        let single = keyword(&[
            "not",
            "items",
            "contains",
            "additionalProperties",
            "propertyNames",
            "unevaluatedProperties",
        ]);
        let keyed = keyword(&["properties", "patternProperties", "dependentSchemas"]);
        prop_oneof![
            (listed, vec(inner.clone(), 1..4)).prop_map(|(key, list)| json!({key: list})),
            (single, inner.clone()).prop_map(|(key, one)| json!({key: one})),
            (keyed, btree_map(name(), inner.clone(), 0..3))
                .prop_map(|(key, all)| json!({key: object(all)})),
            (btree_map(name(), inner.clone(), 0..3), any::<bool>()).prop_map(|(all, open)| {
                json!({"type": "object", "properties": object(all), "additionalProperties": open})
            }),
            (inner.clone(), inner).prop_map(|(one, other)| json!({"if": one, "then": other})),
        ]
    });
    (one.clone(), one.clone(), one).prop_map(|(root, a, b)| match root {
        Value::Object(mut keywords) => {
            keywords.insert("$defs".to_owned(), json!({"a": a, "b": b}));
            Value::Object(keywords)
        }
        root => root,
    })
}

proptest! {
    #[test]
    fn cap_004_any_value_against_any_schema_has_one_bounded_answer(
        rules in rules(),
        values in vec(value(), 1..5),
    ) {
        let shared = Checker::new();
        let sound = shared.compile(&schema(&rules));
        prop_assert_eq!(&sound, &Checker::new().compile(&schema(&rules)));
        for value in values {
            let fitting = fitting(&rules, &value);
            let said = shared.check(&fitting);
            prop_assert_eq!(&said, &Checker::new().check(&fitting));
            prop_assert_eq!(&said, &shared.check(&fitting));
            if let Some(said) = &said {
                prop_assert!(said.check().is_ok());
                prop_assert!(!said.message().is_empty());
            }
            if sound.is_ok() && !fitting.schema.is_anything() {
                let oracle = jsonschema::options().offline().should_validate_formats(false);
                let oracle = oracle.build(&rules).unwrap();
                prop_assert_eq!(said.is_none(), oracle.is_valid(&value));
                // Nothing is ever held against a value that fits.
                let words = explain(&rules, &value);
                prop_assert!(said.is_some() || words == "the value does not fit the schema");
            }
        }
    }
}
