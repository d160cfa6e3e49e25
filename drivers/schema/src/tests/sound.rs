//! Schemas that are refused before any value is checked.

use super::*;

fn unsound(rules: &Value) -> SchemaError {
    Checker::new().compile(&schema(rules)).unwrap_err()
}

#[test]
fn cap_002_sound_schemas_of_every_draft_compile() {
    let drafts = [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ];
    for draft in drafts {
        let rules =
            json!({"$schema": draft, "type": "object", "properties": {"id": {"type": "string"}}});
        assert_eq!(Checker::new().compile(&schema(&rules)), Ok(()), "{draft}");
    }
    for rules in [json!(true), json!(false), json!({}), expression(), json!({"$id": "x:y"})] {
        assert_eq!(Checker::new().compile(&schema(&rules)), Ok(()), "{rules}");
    }
    assert_eq!(Checker::new().compile(&Schema::anything()), Ok(()));
}

#[test]
fn cap_002_what_breaks_the_rules_of_json_schema_is_refused_with_its_place() {
    let at = |rules: Value| match unsound(&rules) {
        SchemaError::Invalid { at, why } => (at, why),
        other => panic!("{rules}: {other}"),
    };
    assert_eq!(at(json!({"properties": {"a": {"type": "strin"}}})).0, "/properties/a/type");
    assert_eq!(at(json!({"minLength": -1})).0, "/minLength");
    assert_eq!(at(json!({"pattern": "(("})).0, "/pattern");
    assert_eq!(at(json!([])).0, "");
    assert_eq!(at(json!("string")).0, "");
    let (_, why) = at(json!({"$schema": "https://example.org/mine"}));
    assert!(why.contains("https://example.org/mine"), "{why}");
    let huge = at(json!({"pattern": "^(([a-z]{1000}){1000}){10}$"}));
    assert_eq!(huge.0, "/pattern");
}

#[test]
fn cap_002_nothing_is_fetched_and_no_reference_leads_outside() {
    let elsewhere = [
        "https://example.org/a.json",
        "http://127.0.0.1:1/a",
        "file:///etc/hostname",
        "other.json#/a",
        "https://json-schema.org/draft/2020-12/schema",
        "#name",
        "",
    ];
    for reference in elsewhere {
        let found = unsound(&json!({"properties": {"a": {"$ref": reference}}}));
        let (at, reference) = ("/properties/a/$ref".to_owned(), reference.to_owned());
        assert_eq!(found, SchemaError::Remote { at, reference });
    }
    let found = unsound(&json!({"$ref": "#/$defs/none"}));
    let (at, reference) = ("/$ref".to_owned(), "#/$defs/none".to_owned());
    assert_eq!(found, SchemaError::Missing { at, reference });
    let escaped = json!({"$defs": {"a b/c": {"type": "null"}}, "$ref": "#/$defs/a%20b~1c"});
    fits(&escaped, &json!(null));
    says(&escaped, &json!(1), "at the top: value is not of type \"null\"");
}

#[test]
fn cap_002_keywords_that_move_references_are_refused() {
    for keyword in ["$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$id", "id"] {
        let found = unsound(&json!({"$defs": {"a": {keyword: "x"}}}));
        assert_eq!(found, SchemaError::Unsupported { at: "/$defs/a".to_owned(), keyword });
    }
    // They may well be names of members.
    let named = json!({"properties": {"id": {"type": "null"}, "$anchor": {}, "$ref": {}}});
    fits(&named, &json!({"id": null, "$ref": 1}));
}

#[test]
fn cap_002_sec_06_a_schema_that_never_leaves_a_value_is_refused() {
    let endless = [
        (json!({"$ref": "#"}), ""),
        (json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}), "/$defs/a"),
        (json!({"items": {"not": {"$ref": "#/items"}}}), "/items"),
    ];
    for (rules, at) in endless {
        assert_eq!(unsound(&rules), SchemaError::Endless { at: at.to_owned() }, "{rules}");
    }
    fits(&json!({"items": {"$ref": "#"}}), &json!([[[]]]));
}

/// Schemas in a row, each of which looks at the same value with the next, so many times.
fn row(length: usize, times: usize, more: Value) -> Value {
    let mut defs = serde_json::Map::new();
    for index in 0..length {
        let next = json!({"$ref": format!("#/$defs/{}", index + 1)});
        let mut one = json!({"anyOf": vec![next; times]});
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        defs.insert(index.to_string(), one);
    }
    defs.insert(length.to_string(), json!({"type": "string", "items": {"$ref": "#"}}));
    json!({"$defs": defs, "$ref": "#/$defs/0"})
}

#[test]
fn cap_002_sec_06_case_mm_09_what_would_make_checks_expensive_is_refused() {
    fits(&row(7, 1, json!({})), &json!("x"));
    assert!(matches!(unsound(&row(9, 1, json!({}))), SchemaError::TooManySteps { .. }));
    assert!(matches!(unsound(&row(6, 4, json!({}))), SchemaError::TooManyLooks { .. }));
    let unevaluated = json!({"unevaluatedProperties": false});
    fits(&row(3, 1, unevaluated.clone()), &json!("x"));
    assert!(matches!(unsound(&row(7, 1, unevaluated)), SchemaError::TooManyLooks { .. }));
    let long = json!({"description": "x".repeat(SCHEMA_BYTES)});
    assert_eq!(unsound(&long), SchemaError::TooLarge);
}

#[test]
fn cap_002_a_value_is_never_said_to_fit_an_unsound_schema() {
    let said = Checker::new().check(&fitting(&json!({"$ref": "x:y"}), &json!(1))).unwrap();
    assert_eq!(said.tag(), "SchemaUnsound");
    assert!(said.message().contains("x:y"), "{}", said.message());
}
