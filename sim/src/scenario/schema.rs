//! The grammar as JSON Schema (2020-12), for editors and other checkers.
//!
//! A file that the schema refuses is refused by the parser. The reverse does not hold: whether a
//! name refers to something, or a number can be kept exactly, no schema can say.

use std::fmt::Write;

use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::IDENTIFIER_CHARS;

use super::agent::{AGENT_FILE, SCRIPT_FILE};
use super::grammar::{Key, Presence, ROOT, Rule, Shape, Table};

/// The schema of scenario files: what `docs/scenario.schema.json` holds.
#[must_use]
pub fn json_schema() -> String {
    schema(&ROOT, "Everstep scenario")
}

/// The schema of agent files: what `docs/agent.schema.json` holds.
#[must_use]
pub fn agent_json_schema() -> String {
    schema(&AGENT_FILE, "Everstep agent")
}

/// The schema of models' scripts: what `docs/model-script.schema.json` holds.
#[must_use]
pub fn script_json_schema() -> String {
    schema(&SCRIPT_FILE, "Everstep model script")
}

fn schema(root: &'static Table, title: &str) -> String {
    let mut tables = Vec::new();
    collect(root, &mut tables);
    let definitions = tables.iter().skip(1).map(|table| (table.definition, definition(table)));
    let mut members = vec![
        ("$schema", quoted("https://json-schema.org/draft/2020-12/schema")),
        ("title", quoted(title)),
    ];
    members.extend(body(root));
    members.push(("$defs", object(definitions)));
    let mut text = String::new();
    indent(&mut text, &object(members));
    text.push('\n');
    text
}

/// The table and every table below it, each once.
fn collect(table: &'static Table, tables: &mut Vec<&'static Table>) {
    if tables.iter().any(|known| known.definition == table.definition) {
        return;
    }
    tables.push(table);
    for key in table.keys {
        if let Some(inner) = key.shape.table() {
            collect(inner, tables);
        }
    }
}

fn definition(table: &Table) -> String {
    object(body(table))
}

fn body(table: &Table) -> Vec<(&'static str, String)> {
    let required = table.keys.iter().filter(|key| matches!(key.presence, Presence::Required));
    let mut members = vec![
        ("description", quoted(table.about)),
        ("type", quoted("object")),
        ("additionalProperties", "false".to_owned()),
        ("required", list(required.map(|key| quoted(key.name)))),
        ("properties", object(table.keys.iter().map(|key| (key.name, property(key))))),
    ];
    if !table.rules.is_empty() {
        members.push(("allOf", list(table.rules.iter().map(rule))));
    }
    members
}

fn property(key: &Key) -> String {
    let mut members = vec![("description", quoted(key.about))];
    members.extend(shape(&key.shape));
    if let Presence::Default(json) = key.presence {
        members.push(("default", json.to_owned()));
    }
    object(members)
}

fn shape(shape: &Shape) -> Vec<(&'static str, String)> {
    let list_of = |items: String| vec![("type", quoted("array")), ("items", items)];
    match shape {
        Shape::Text => vec![("type", quoted("string"))],
        Shape::Name => vec![
            ("type", quoted("string")),
            ("minLength", "1".to_owned()),
            ("maxLength", IDENTIFIER_CHARS.to_string()),
        ],
        Shape::Whole(only, most) if only == most => vec![("const", only.to_string())],
        Shape::Whole(least, most) => vec![
            ("type", quoted("integer")),
            ("minimum", least.to_string()),
            ("maximum", most.to_string()),
        ],
        Shape::Flag => vec![("type", quoted("boolean"))],
        Shape::Value => Vec::new(),
        Shape::Word(words) => vec![("enum", list(words.iter().map(|word| quoted(word))))],
        Shape::Words(words) => {
            let mut members = list_of(object([("enum", list(words.iter().map(|w| quoted(w))))]));
            members.push(("uniqueItems", "true".to_owned()));
            members
        }
        Shape::Names(most) => {
            let mut members = list_of(object(self::shape(&Shape::Name)));
            members.push(("maxItems", most.to_string()));
            members.push(("uniqueItems", "true".to_owned()));
            members
        }
        Shape::Texts(most) => {
            let mut members = list_of(object(self::shape(&Shape::Text)));
            members.push(("maxItems", most.to_string()));
            members
        }
        Shape::Entries(each, most) => vec![
            ("type", quoted("object")),
            ("maxProperties", most.to_string()),
            ("additionalProperties", object(self::shape(each))),
        ],
        Shape::Table(table) => vec![reference(table)],
        Shape::Tables(table, least, most) => {
            let mut members = list_of(object([reference(table)]));
            members.push(("minItems", least.to_string()));
            members.push(("maxItems", most.to_string()));
            members
        }
    }
}

fn reference(table: &Table) -> (&'static str, String) {
    ("$ref", quoted(&format!("#/$defs/{}", table.definition)))
}

fn rule(rule: &Rule) -> String {
    let required = |keys: &[&str]| ("required", list(keys.iter().map(|key| quoted(key))));
    match rule {
        Rule::Excludes(key, other) => object([("not", object([required(&[key, other])]))]),
        Rule::Only(key, other, word) => object([
            ("if", object([required(&[key])])),
            (
                "then",
                object([("properties", object([(*other, object([("const", quoted(word))]))]))]),
            ),
        ]),
        Rule::Never(key, other, word) => {
            let is = object([(*other, object([("const", quoted(word))]))]);
            object([("not", object([required(&[key, other]), ("properties", is)]))])
        }
        Rule::Needs(key, other, word) => {
            let is = object([(*other, object([("const", quoted(word))]))]);
            let condition = object([required(&[other]), ("properties", is)]);
            object([("if", condition), ("then", object([required(&[key])]))])
        }
        Rule::Some(keys) => {
            object([("anyOf", list(keys.iter().map(|key| object([required(&[key])]))))])
        }
    }
}

fn quoted(text: &str) -> String {
    CanonicalJson::string(text).map_or_else(|_| "\"\"".to_owned(), |json| json.as_str().to_owned())
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter().map(|(name, value)| format!("{}:{value}", quoted(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Breaks a compact document into lines: one member a line, lists of plain values on one line.
fn indent(out: &mut String, json: &str) {
    let mut depth = 0;
    let mut characters = json.char_indices().peekable();
    let mut in_text = false;
    let mut flat = false;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' if in_text => {
                out.push(character);
                out.extend(characters.next().map(|(_, escaped)| escaped));
                continue;
            }
            '"' => in_text = !in_text,
            _ if in_text => {}
            '[' => {
                let end = json[at..].find(']').map_or(json.len(), |end| at + end);
                flat = !json[at..end].contains('{');
            }
            _ => {}
        }
        let plain = in_text || flat;
        if !plain && matches!(character, '}' | ']') {
            depth -= 1;
            line(out, depth);
        }
        out.push(character);
        match character {
            '{' | '[' if !plain => {
                depth += 1;
                line(out, depth);
            }
            ',' if !plain => line(out, depth),
            ',' | ':' if !in_text => out.push(' '),
            ']' if !in_text => flat = false,
            _ => {}
        }
    }
}

fn line(out: &mut String, depth: usize) {
    let _infallible = write!(out, "\n{:1$}", "", depth * 2);
}
