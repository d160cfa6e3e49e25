//! Values from schemas.

use everstep_machine::agent::Schema;

use crate::outside::fitting::value;

#[test]
fn cap_004_a_value_is_made_from_what_the_schema_says() {
    for (schema, expected) in [
        ("true", "{}"),
        ("{}", "{}"),
        (r#"{"const":[1]}"#, "[1]"),
        (r#"{"enum":["b","a"]}"#, "\"b\""),
        (r#"{"type":"string","examples":["Brno"]}"#, "\"Brno\""),
        (r#"{"type":"integer","default":3}"#, "3"),
        (r#"{"type":"string"}"#, "\"\""),
        (r#"{"type":"string","minLength":3}"#, "\"xxx\""),
        (r#"{"type":"integer","minimum":7}"#, "7"),
        (r#"{"type":["number","null"]}"#, "0"),
        (r#"{"type":"boolean"}"#, "false"),
        (r#"{"type":"null"}"#, "null"),
        (r#"{"type":"array","items":{"type":"integer"}}"#, "[]"),
        (r#"{"type":"array","minItems":2,"items":{"type":"integer"}}"#, "[0,0]"),
        (r#"{"anyOf":[{"type":"boolean"},{"type":"null"}]}"#, "false"),
        (r#"{"oneOf":[{"const":"x"}]}"#, "\"x\""),
        (
            r#"{"required":["a","c"],"properties":{"a":{"type":"string"},"b":{"const":1},"c":{"required":["d"]}}}"#,
            r#"{"a":"","c":{"d":null}}"#,
        ),
    ] {
        let schema = Schema::parse(schema.as_bytes()).unwrap();
        assert_eq!(value(&schema).as_str(), expected, "{schema:?}");
    }
}

#[test]
fn cap_004_a_schema_that_asks_for_too_much_gets_little() {
    let mut deep = String::from("true");
    for _ in 0..50 {
        deep = format!(r#"{{"type":"array","minItems":1000000,"items":{deep}}}"#);
    }
    let made = value(&Schema::parse(deep.as_bytes()).unwrap());
    assert!(made.as_str().len() < 100_000, "{}", made.as_str().len());
    let long = Schema::parse(br#"{"type":"string","minLength":9007199254740991}"#).unwrap();
    assert_eq!(value(&long).as_str().len(), 66);
}
