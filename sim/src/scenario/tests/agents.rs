//! Agent files: what they mean, and what is refused with which words.

use std::fs;
use std::path::Path;

use everstep_machine::agent::{ExecutionClass, ToolOutcome};

use super::super::{AgentFile, Fault, Says, agent_json_schema, script_json_schema};

const SMALL: &str = r#"schema = 1

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
fn refused(old: &str, new: &str) -> (Fault, Option<(usize, usize)>) {
    assert!(SMALL.contains(old), "the small agent has no {old:?}");
    let error = AgentFile::parse("small.toml", &SMALL.replacen(old, new, 1)).unwrap_err();
    (error.fault().clone(), error.line_column())
}

#[test]
fn an_agent_file_is_a_scenario_without_a_world() {
    let agent = AgentFile::parse("small.toml", SMALL).unwrap();
    assert_eq!(agent.agent.id.as_str(), "cashier");
    assert_eq!(agent.tools[0].append.as_deref(), Some("charges.txt"));
    assert_eq!(agent.tools[0].definition.class, ExecutionClass::Ordinary);
    assert!(
        matches!(&agent.tools[0].outcome, ToolOutcome::Success(it) if it.as_str() == "{\"receipt\":7}")
    );
    assert!(
        matches!(&agent.turns[1].says, Says::Answer(it) if it.text.as_deref() == Some("Done."))
    );
    assert_eq!(agent.tool(&agent.tools[0].definition.name), Some(&agent.tools[0]));
}

#[test]
fn what_belongs_to_a_world_is_an_unknown_key_here() {
    let (fault, place) = refused("schema = 1\n", "schema = 1\nworkers = 2\n");
    assert!(matches!(fault, Fault::UnknownKey { key, .. } if key == "workers"));
    assert_eq!(place, Some((2, 1)));
    let (fault, _) = refused("append =", "apend =");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("append"), .. }));
}

#[test]
fn a_tool_that_appends_is_neither_readonly_nor_failing() {
    let (fault, place) = refused("append =", "class = \"readonly\"\nappend =");
    let never = Fault::NeverWith { key: "append", other: "class", word: "readonly" };
    assert_eq!((fault, place), (never, Some((10, 1))));
    let failing = "failure = { tag = \"T\", message = \"m\" }";
    let (fault, _) = refused("result = { receipt = 7 }", failing);
    assert_eq!(fault, Fault::Excluded { key: "failure", other: "append" });
    let (fault, _) = refused("append =", "class = \"durable\"\nappend =");
    let never = Fault::NeverWith { key: "append", other: "class", word: "durable" };
    assert_eq!(fault, never, "its steps append");
}

#[test]
fn dur_010_each_step_of_a_durable_tool_may_append_to_a_file_of_its_own() {
    let steps = "class = \"durable\"\nsteps = [{ name = \"hold\", append = \"h.txt\" }, \
                 { name = \"charge\", version = 3, result = 7 }]";
    let text = SMALL.replacen("append = \"charges.txt\"", steps, 1);
    let agent = AgentFile::parse("small.toml", &text).unwrap();
    let tool = &agent.tools[0];
    assert_eq!((tool.definition.class, &tool.append), (ExecutionClass::Durable, &None));
    let told = tool.steps.iter().map(|it| {
        let step = &it.output.step;
        (step.name.as_str(), step.version, it.output.output.as_str(), it.append.as_deref())
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, [("hold", 1, "null", Some("h.txt")), ("charge", 3, "7", None)]);
}

#[test]
fn references_and_bounds_are_checked_as_in_a_scenario() {
    let (fault, place) = refused("tool = \"charge\"", "tool = \"chrge\"");
    assert!(matches!(fault, Fault::Undeclared { nearest: Some(near), .. } if near == "charge"));
    assert_eq!(place, Some((13, 19)));
    assert!(matches!(refused("\"charges.txt\"", "\"\"").0, Fault::BadName { key: "append", .. }));
    assert!(matches!(refused("schema = 1", "schema = 2").0, Fault::UnknownSchema { .. }));
    let bytes = AgentFile::decode("small.toml", b"schema = 1\n\xff").unwrap_err();
    assert_eq!(bytes.line_column(), Some((2, 1)));
}

#[track_caller]
fn is_current(name: &str, schema: &str, filter: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, schema).expect("it can be written");
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == schema,
        "docs/{name} is out of date; rewrite it with: UPDATE=1 cargo test -p everstep-sim {filter}"
    );
}

#[test]
fn agent_schema_in_docs_is_the_grammars() {
    is_current("agent.schema.json", &agent_json_schema(), "agent_schema_in_docs");
}

#[test]
fn model_script_schema_in_docs_is_the_grammars() {
    is_current("model-script.schema.json", &script_json_schema(), "model_script_schema_in_docs");
}

#[test]
fn the_agents_of_the_corpus_are_agents() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/agents");
    let paths = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    let mut scripts = 0;
    for file in &files {
        let read = AgentFile::read(file).unwrap_or_else(|error| panic!("{error}"));
        scripts += usize::from(read.1.script.is_some());
    }
    assert!(files.len() >= 5 && (1..files.len()).contains(&scripts), "{files:?}");
}
