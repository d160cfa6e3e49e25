//! The words for what does not fit.

use super::*;

#[test]
fn cap_004_words_name_the_place_and_the_rule_and_show_no_value() {
    let rules = json!({
        "type": "object",
        "properties": {
            "card": {"type": "string", "maxLength": 3},
            "sum": {"type": "integer", "minimum": 1},
        },
        "required": ["card", "sum"],
        "additionalProperties": false,
    });
    fits(&rules, &json!({"card": "abc", "sum": 3}));
    let said = refusal(&rules, &json!({"card": "4111 1111", "sum": 0, "a~/b": "secret"})).unwrap();
    assert_eq!(
        said,
        "at the top: Additional properties are not allowed ('a~/b' was unexpected); \
         at `/card`: value is longer than 3 characters; \
         at `/sum`: value is less than the minimum of 1"
    );
    assert!(!said.contains("4111") && !said.contains("secret"));
    says(&rules, &json!([1]), "at the top: value is not of type \"object\"");
    says(&rules, &json!({"card": "a"}), "at the top: \"sum\" is a required property");
}

#[test]
fn cap_004_words_go_into_lists_references_and_other_members() {
    let rules = json!({
        "$defs": {"id": {"type": "string", "pattern": "^[a-z]+$"}},
        "properties": {"ids": {"type": "array", "items": {"$ref": "#/$defs/id"}}},
        "additionalProperties": {"type": "array", "prefixItems": [{"type": "null"}], "items": false},
    });
    fits(&rules, &json!({"ids": ["a", "b"], "other": [null]}));
    says(
        &rules,
        &json!({"ids": ["a", "B", 3], "a~/b": [1, 2]}),
        "at `/a~0~1b/0`: value is not of type \"null\"; \
         at `/a~0~1b/1`: nothing may stand here; \
         at `/ids/1`: value does not match \"^[a-z]+$\"; \
         at `/ids/2`: value is not of type \"string\"",
    );
    let all = json!({"allOf": [{"minLength": 2}, {"pattern": "b"}]});
    says(
        &all,
        &json!("a"),
        "at the top: value does not match \"b\"; at the top: value is shorter than 2 characters",
    );
}

#[test]
fn cap_004_words_are_about_the_alternative_that_was_meant() {
    let or_nothing = json!({
        "anyOf": [
            {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            {"type": "null"},
        ],
    });
    fits(&or_nothing, &json!(null));
    says(&or_nothing, &json!({"n": "x"}), "at `/n`: value is not of type \"integer\"");
    says(&or_nothing, &json!({}), "at the top: \"n\" is a required property");
    says(&or_nothing, &json!(7), "at the top: value fits none of 2 alternatives");

    let tagged = json!({
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "a": {"type": "integer"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}, "b": {"type": "integer"}}, "required": ["kind"]},
        ],
    });
    fits(&tagged, &json!({"kind": "b", "b": 1}));
    says(&tagged, &json!({"kind": "b", "b": ""}), "at `/b`: value is not of type \"integer\"");
    says(&tagged, &json!({"kind": "c"}), "at `/kind`: value is none of \"a\", \"b\"");
    let words = json!({"oneOf": [{"const": "red"}, {"const": "green"}]});
    says(&words, &json!("blue"), "at the top: value is none of \"red\", \"green\"");
}

#[test]
fn cap_004_case_mm_09_alternatives_that_contain_themselves_have_words_at_every_depth() {
    let rules = expression();
    let good = json!({"op": "and", "args": []});
    for levels in [1, 4, 30] {
        fits(&rules, &nested(levels, good.clone()));
        let place = "/args/0".repeat(levels);
        let wrong = nested(levels, json!({"op": "nor", "args": []}));
        let words = format!("at `{place}/op`: value is none of \"and\", \"or\", \"not\"");
        says(&rules, &wrong, &words);
    }
}

#[test]
fn cap_004_words_stay_general_where_nothing_is_certain() {
    let general = "the value does not fit the schema";
    says(&json!({"not": {"type": "string"}}), &json!("a"), general);
    says(&json!({"contains": {"type": "string"}}), &json!([1]), general);
    says(&json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}), &json!(3), general);
    says(
        &json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
        &json!({"b": 1}),
        general,
    );
    says(&json!({"patternProperties": {"a": {"type": "null"}}}), &json!({"a": 1}), general);
    says(&json!({"uniqueItems": true}), &json!([1, 1]), general);
}

#[test]
fn cap_004_sec_06_words_are_bounded_whatever_the_value_is() {
    let long = "x".repeat(20_000);
    let rules =
        json!({"additionalProperties": {"type": "null"}, "propertyNames": {"maxLength": 9}});
    let members = (0..100).map(|index| (format!("{index}{long}"), json!(index)));
    let members = members.take(40).collect::<serde_json::Map<_, _>>();
    let said = refusal(&rules, &Value::Object(members)).unwrap();
    assert_eq!(said.matches("value is not of type").count(), 8);
    assert!(said.len() < 16 * 1024, "{}", said.len());
    let strict = json!({"additionalProperties": false});
    let said = refusal(&strict, &json!({long.clone(): 1})).unwrap();
    assert!(said.starts_with("at the top: Additional properties are not allowed ('xxx"), "{said}");
    assert!(said.len() < 500, "{}", said.len());
}

#[test]
fn cap_004_until_draft_7_nothing_beside_a_reference_counts() {
    let rules = |draft: &str| {
        json!({
            "$schema": draft,
            "definitions": {"short": {"maxLength": 2}},
            "properties": {"a": {"$ref": "#/definitions/short", "type": "integer"}},
        })
    };
    let old = rules("http://json-schema.org/draft-07/schema#");
    fits(&old, &json!({"a": "x"}));
    says(&old, &json!({"a": "xxx"}), "at `/a`: value is longer than 2 characters");
    let new = rules("https://json-schema.org/draft/2020-12/schema");
    says(&new, &json!({"a": "x"}), "at `/a`: value is not of type \"integer\"");
    let tuple = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "null"}],
        "additionalItems": {"type": "string"},
    });
    says(&tuple, &json!([null, 1]), "at `/1`: value is not of type \"string\"");
}
