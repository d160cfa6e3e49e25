//! Agent files in YAML: they mean what they mean in TOML, and are refused with the same words.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{AgentFile, AgentSource, Beyond, Fault, Noun, Place, Scenario, Type};

const SMALL: &str = r#"schema: 1

agent:
  id: cashier
  instructions: Charge once.

tools:
  - name: charge
    append: charges.txt
    result: { receipt: 7 }

turns:
  - calls: [{ tool: charge }]
  - text: Done.
"#;

/// The same in TOML.
const TWIN: &str = r#"schema = 1

[agent]
id = "cashier"
instructions = "Charge once."

[[tools]]
name = "charge"
append = "charges.txt"
result = { receipt = 7 }

[[turns]]
calls = [{ tool = "charge" }]

[[turns]]
text = "Done."
"#;

#[track_caller]
fn read(text: &str) -> AgentFile {
    AgentFile::parse("small.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

/// What a result of this spelling is, as JSON.
#[track_caller]
fn result(spelling: &str) -> String {
    let text = SMALL.replacen("{ receipt: 7 }", spelling, 1);
    match &read(&text).tools[0].outcome {
        everstep_machine::agent::ToolOutcome::Success(json) => json.as_str().to_owned(),
        other => panic!("{other:?}"),
    }
}

/// The fault of the small agent with one passage replaced, and what its carets show.
#[track_caller]
fn refused(old: &str, new: &str) -> (Fault, (usize, usize), String) {
    assert!(SMALL.contains(old), "the small agent has no {old:?}");
    fault(&SMALL.replacen(old, new, 1))
}

#[track_caller]
fn fault(text: &str) -> (Fault, (usize, usize), String) {
    let error = AgentFile::parse("small.yaml", text).expect_err("the text is refused");
    let Place::Text { line, column, source, width, .. } = error.place() else {
        panic!("no place in the text: {error}")
    };
    assert!(error.to_string().contains(&format!("small.yaml:{line}:{column}")), "{error}");
    let shown = source.chars().skip(column - 1).take(*width).collect();
    (error.fault().clone(), (*line, *column), shown)
}

#[test]
fn auth_17_an_agent_file_in_yaml_means_what_its_twin_in_toml_means() {
    let twin = AgentFile::parse("small.toml", TWIN).unwrap();
    assert_eq!(read(SMALL), twin);
    for text in [
        SMALL.replace('\n', "\r\n"),
        format!("\u{feff}{SMALL}"),
        format!("# a comment\n---\n{SMALL}...\n"),
        SMALL.replace(": charge\n", ": \"charge\"\n").replace("Done.", "'Done.'"),
        SMALL.replace("Charge once.", ">-\n    Charge\n    once."),
        "{schema: 1, agent: {id: cashier, instructions: Charge once.}, tools: [{name: charge, \
         append: charges.txt, result: {receipt: 7}}], turns: [{calls: [{tool: charge}]}, \
         {text: Done.}]}"
            .to_owned(),
        r#"{"schema": 1, "agent": {"id": "cashier", "instructions": "Charge once."}, "tools":
           [{"name": "charge", "append": "charges.txt", "result": {"receipt": 7}}],
           "turns": [{"calls": [{"tool": "charge"}]}, {"text": "Done."}]}"#
            .to_owned(),
    ] {
        assert_eq!(read(&text), twin, "{text}");
    }
    for name in ["a.yml", "A.YAML", "folder.toml/a.yaml"] {
        assert!(AgentFile::parse(name, SMALL).is_ok(), "{name}");
        assert!(AgentFile::parse(name, TWIN).is_err(), "{name}");
    }
    for name in ["a.toml", "a", "yaml", "a.yaml/b", "a.yaml.txt"] {
        assert!(AgentFile::parse(name, TWIN).is_ok(), "{name}");
    }
}

#[test]
fn auth_17_the_corpus_has_one_agent_in_both_syntaxes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/agents");
    let read = |name: &str| AgentFile::read(&folder.join(name)).unwrap_or_else(|it| panic!("{it}"));
    let ((toml, of_toml), (yaml, of_yaml)) = (read("charge.toml"), read("charge.yaml"));
    assert_eq!(toml, yaml);
    // What is run is named by the bytes of the file, so the twins are not the same.
    assert_ne!(of_toml, of_yaml);
    assert_eq!(of_yaml.agent, fs::read(folder.join("charge.yaml")).unwrap());
}

#[test]
fn auth_17_a_script_may_be_in_either_syntax_whatever_its_agent_is_in() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let split = |text: &str, at: &str| {
        let (before, turns) = text.split_once(at).unwrap();
        (before.to_owned(), turns.to_owned())
    };
    let (agent, turns) = split(SMALL, "turns:\n");
    let (twin, turns_of_twin) = split(TWIN, "[[turns]]\n");
    let yaml = format!("schema: 1\nturns:\n{turns}");
    write("script.yml", &yaml);
    write("script.toml", &format!("schema = 1\n[[turns]]\n{turns_of_twin}"));
    for script in ["script.yml", "script.toml"] {
        let one = write("agent.yaml", &format!("{agent}model:\n  script: {script}\n"));
        let two = write("agent.toml", &format!("{twin}[model]\nscript = \"{script}\"\n"));
        for path in [one, two] {
            let (file, source) = AgentFile::read(&path).unwrap_or_else(|it| panic!("{it}"));
            assert_eq!(file, read(SMALL), "{script}");
            let bytes = fs::read(home.path().join(script)).unwrap();
            assert_eq!(
                source,
                AgentSource { agent: fs::read(&path).unwrap(), script: Some(bytes) }
            );
        }
    }
    write("script.yml", &yaml.replace("tool: charge", "tool: chrge"));
    let agent = write("agent.toml", &format!("{twin}[model]\nscript = \"script.yml\"\n"));
    let error = AgentFile::read(&agent).unwrap_err();
    assert!(matches!(error.fault(), Fault::Undeclared { nearest: Some(it), .. } if it == "charge"));
    assert_eq!(error.line_column(), Some((3, 21)));
    assert!(error.to_string().contains("script.yml:3:21"), "{error}");
}

#[test]
fn auth_17_each_mistake_in_yaml_is_told_with_line_column_key_and_the_nearest_word() {
    let (unknown, at, shown) = refused("append:", "apend:");
    assert!(matches!(unknown, Fault::UnknownKey { nearest: Some("append"), .. }));
    assert_eq!((at, shown.as_str()), ((9, 5), "apend"));
    let (word, at, shown) = refused("append: charges.txt", "class: ordinry");
    assert!(matches!(word, Fault::UnknownWord { key: "class", nearest: Some("ordinary"), .. }));
    assert_eq!((at, shown.as_str()), ((9, 12), "ordinry"));
    let (missing, at, shown) = refused("name: charge\n    append", "append");
    assert_eq!(missing, Fault::MissingKey { key: "name", table: "[[tools]]" });
    assert_eq!((at, shown.as_str()), ((8, 5), "append: charges.txt"));
    let (missing, at, shown) =
        refused("- calls: [{ tool: charge }]", "- calls: [{ parameters: {} }]");
    assert_eq!(missing, Fault::MissingKey { key: "tool", table: "`calls`" });
    assert_eq!((at, shown.as_str()), ((13, 13), "{ parameters: {} }"));
    let (undeclared, at, shown) = refused("tool: charge", "tool: 'chrge'");
    assert!(
        matches!(undeclared, Fault::Undeclared { nearest: Some(near), .. } if near == "charge")
    );
    assert_eq!((at, shown.as_str()), ((13, 21), "'chrge'"));
    let (range, at, shown) = refused("id: cashier", "id: cashier\n  max_turns: 0");
    assert!(matches!(range, Fault::OutOfRange { key: "max_turns", least: 1, .. }), "{range:?}");
    assert_eq!((at, shown.as_str()), ((5, 14), "0"));
    let (twice, at, shown) = refused("turns:", "  - { name: charge }\nturns:");
    assert!(matches!(twice, Fault::Duplicate { noun: Noun::Tool, .. }), "{twice:?}");
    assert_eq!((at, shown.as_str()), ((12, 13), "charge"));
    let (schema, at, _) = refused("schema: 1", "schema: 2");
    assert_eq!((schema, at), (Fault::UnknownSchema { found: "2".to_owned() }, (1, 9)));
    let (long, at, _) = refused("Charge once.", &"x".repeat(70_000));
    assert_eq!((long, at), (Fault::TextTooLong { key: "instructions" }, (5, 17)));
}

#[test]
fn auth_17_places_in_yaml_count_characters_behind_a_byte_order_mark_and_wide_letters() {
    let text = SMALL.replacen("schema: 1", "about: für \u{1F600}\nschema: 1", 1);
    let text =
        text.replace("calls: [{ tool: charge }]", "calls: [{ \"tool\": charge, \u{1F600}: 1 }]");
    for text in [text.clone(), format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
        let (unknown, at, shown) = fault(&text);
        assert!(matches!(unknown, Fault::UnknownKey { .. }), "{unknown:?}");
        assert_eq!((at, shown.as_str()), ((14, 31), "\u{1F600}"));
    }
    let (fault, at, _) = fault("\u{feff}shema: 1\n");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("schema"), .. }));
    assert_eq!(at, (1, 1));
}

#[test]
fn auth_17_another_type_is_told_where_it_stands_and_nothing_where_it_is_missed() {
    let table = [
        ("id: cashier", "id: 7", "id", Type::Text, Type::Whole, (4, 7), "7"),
        ("id: cashier", "id: 1.5", "id", Type::Text, Type::Float, (4, 7), "1.5"),
        ("id: cashier", "id: true", "id", Type::Text, Type::Flag, (4, 7), "true"),
        ("id: cashier", "id: ~", "id", Type::Text, Type::Nothing, (4, 7), "~"),
        ("id: cashier", "id:", "id", Type::Text, Type::Nothing, (4, 3), "id"),
        ("id: cashier", "id: [a]", "id", Type::Text, Type::List, (4, 7), "[a]"),
        (
            "id: cashier",
            "max_turns: 1_0\n  id: a",
            "max_turns",
            Type::Whole,
            Type::Text,
            (4, 14),
            "1_0",
        ),
        (
            "id: cashier",
            "id: a\n  policy: { status_note: yes }",
            "status_note",
            Type::Flag,
            Type::Text,
            (5, 26),
            "yes",
        ),
        (
            "  - calls: [{ tool: charge }]",
            "  - calls: charge",
            "calls",
            Type::List,
            Type::Text,
            (13, 12),
            "charge",
        ),
        (
            "  - calls: [{ tool: charge }]",
            "  - charge",
            "turns",
            Type::Table,
            Type::Text,
            (13, 5),
            "charge",
        ),
        (
            "tools:",
            "authorizer:\ntools:",
            "authorizer",
            Type::Table,
            Type::Nothing,
            (7, 1),
            "authorizer",
        ),
    ];
    for (old, new, key, expected, found, at, carets) in table {
        let (fault, place, shown) = refused(old, new);
        assert_eq!(fault, Fault::WrongType { key, expected, found }, "{new}");
        assert_eq!((place, shown.as_str()), (at, carets), "{new}");
    }
    let (fault, ..) = fault("- schema: 1\n");
    let (expected, found) = (Type::Table, Type::List);
    assert_eq!(fault, Fault::WrongType { key: "the file", expected, found });
}

#[test]
fn auth_17_values_in_yaml_are_those_of_json() {
    let table = [
        // Words that other versions of YAML take for true and false, and dates, are texts.
        ("[no, off, n, N, No, on, yes, y]", r#"["no","off","n","N","No","on","yes","y"]"#),
        ("[true, True, FALSE]", "[true,true,false]"),
        ("[~, null, Null, ]", "[null,null,null]"),
        ("2026-01-01", r#""2026-01-01""#),
        ("12:30:45", r#""12:30:45""#),
        ("[0, -0, 7, +7, -7, 0x1F, 0o17]", "[0,0,7,7,-7,31,15]"),
        ("18446744073709551615", "18446744073709551615"),
        ("[1.5, -2.25, 1e3, +0.5]", "[1.5,-2.25,1000,0.5]"),
        ("['007', \"1.0\", '~', 'true']", r#"["007","1.0","~","true"]"#),
        (
            "[1_000, 1.2.3, 0b1, 0x, 0xg, e5, '.', +]",
            r#"["1_000","1.2.3","0b1","0x","0xg","e5",".","+"]"#,
        ),
        ("\"\\u0041\\n\"", r#""A\n""#),
        ("|\n      a\n      b\n", r#""a\nb\n""#),
        ("{ b: 1, a: { '1': x } }", r#"{"a":{"1":"x"},"b":1}"#),
        ("", "null"),
    ];
    for (spelling, expected) in table {
        assert_eq!(result(spelling), expected, "{spelling}");
    }
}

#[test]
fn auth_17_a_number_that_json_would_not_keep_is_refused_where_it_stands() {
    let inexact = |number: &str| Fault::Inexact { number: number.to_owned() };
    let odd = |text: &str| Fault::Beyond(Beyond::Number { text: text.to_owned() });
    let wide = |number: &str| Fault::TooWide { number: number.to_owned() };
    let none = |number: &str| Fault::NotFinite { number: number.to_owned() };
    let long = "9".repeat(5_000);
    for (spelling, expected) in [
        ("0.1234567890123456789", inexact("0.1234567890123456789")),
        ("18446744073709551616", wide("18446744073709551616")),
        ("0xfffffffffffffffff", wide("0xfffffffffffffffff")),
        (long.as_str(), wide(&long)),
        ("1e999", wide("1e999")),
        (".inf", none(".inf")),
        ("-.INF", none("-.INF")),
        (".NaN", none(".NaN")),
        ("007", odd("007")),
        ("-01", odd("-01")),
        ("00.5", odd("00.5")),
        (".5", odd(".5")),
        ("5.", odd("5.")),
        ("+.5e1", odd("+.5e1")),
    ] {
        let (fault, at, shown) = refused("{ receipt: 7 }", &format!("[{spelling}]"));
        assert_eq!((fault, at, shown.as_str()), (expected, (10, 14), spelling));
    }
}

/// A trace holds the text of its scenario without the name of its file.
#[test]
fn auth_17_a_scenario_is_toml_whatever_its_name() {
    assert!(Scenario::parse("small.yaml", super::SMALL).is_ok());
}
