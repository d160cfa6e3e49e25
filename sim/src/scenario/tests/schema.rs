//! The JSON Schema and the parser say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::super::grammar::{Presence, ROOT, Shape, Table};
use super::super::json_schema;
use super::{accepted, refused, small_with};

fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn committed() -> Value {
    let text =
        fs::read_to_string(repository("docs/scenario.schema.json")).expect("it is committed");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn scenario_schema_in_docs_is_the_grammars() {
    let path = repository("docs/scenario.schema.json");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, json_schema()).expect("it can be written");
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == json_schema(),
        "docs/scenario.schema.json is out of date; rewrite it with: \
         UPDATE=1 cargo test -p everstep-sim scenario_schema_in_docs"
    );
}

/// Every table of the grammar, each once.
fn tables() -> Vec<&'static Table> {
    let mut tables = vec![&ROOT];
    let mut index = 0;
    while let Some(table) = tables.get(index).copied() {
        for key in table.keys {
            if let Some(inner) = table_of(&key.shape)
                && !tables.iter().any(|known| known.name == inner.name)
            {
                tables.push(inner);
            }
        }
        index += 1;
    }
    tables
}

/// The table that a key holds, be it under names of the author's.
fn table_of(shape: &'static Shape) -> Option<&'static Table> {
    match shape {
        Shape::Entries(each, _) => table_of(each),
        other => other.table(),
    }
}

#[test]
fn scenario_schema_knows_exactly_the_keys_that_the_parser_knows() {
    let schema = committed();
    let tables = tables();
    assert_eq!(schema["$defs"].as_object().map(|defs| defs.len()), Some(tables.len() - 1));
    for table in tables {
        let object =
            if table.name == ROOT.name { &schema } else { &schema["$defs"][table.definition] };
        let properties = object["properties"].as_object().expect("a table has keys");
        let keys: BTreeSet<_> = properties.keys().map(String::as_str).collect();
        assert_eq!(keys, table.names().collect::<BTreeSet<_>>(), "{}", table.name);
        assert_eq!(object["additionalProperties"], Value::Bool(false), "{}", table.name);
        let required = object["required"].as_array().expect("a list");
        let required: BTreeSet<_> = required.iter().filter_map(Value::as_str).collect();
        let needed = table.keys.iter().filter(|key| matches!(key.presence, Presence::Required));
        assert_eq!(required, needed.map(|key| key.name).collect(), "{}", table.name);
    }
}

/// The words and bounds of the schema, tried on the parser.
#[test]
fn scenario_schema_words_and_bounds_are_those_of_the_parser() {
    let schema = committed();
    let tool = &schema["$defs"]["tool"]["properties"];
    for class in tool["class"]["enum"].as_array().expect("words") {
        let steps = if class == "durable" { "steps = [{ name = \"a\" }]" } else { "" };
        let tool = format!("name = \"charge\"\nclass = {class}\n{steps}");
        accepted(&small_with("name = \"charge\"", &tool));
    }
    let workers = &schema["properties"]["workers"];
    let with = |count: u64| small_with("schema = 1", &format!("schema = 1\nworkers = {count}"));
    let most = workers["maximum"].as_u64().expect("a bound");
    assert_eq!(accepted(&with(most)).workers as u64, most);
    refused(&with(most + 1));
    assert_eq!(workers["default"], 2);
}

#[test]
fn scenario_reference_explains_every_key_and_word() {
    let reference = fs::read_to_string(repository("docs/scenarios.md")).expect("it is committed");
    for table in tables() {
        for key in table.keys {
            assert!(reference.contains(&format!("`{}`", key.name)), "no word on `{}`", key.name);
            if let Shape::Word(words) | Shape::Words(words) = &key.shape {
                for word in *words {
                    assert!(reference.contains(&format!("`{word}`")), "no word on `{word}`");
                }
            }
        }
    }
}

#[test]
fn scenario_reference_example_is_a_scenario() {
    let reference = fs::read_to_string(repository("docs/scenarios.md")).expect("it is committed");
    let examples: Vec<_> = reference
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|example| example.contains("schema = 1"))
        .collect();
    assert!(!examples.is_empty());
    for example in examples {
        accepted(example);
    }
}
