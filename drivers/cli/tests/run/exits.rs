//! Each exit code of `run`, and where it is written down.

use super::{command, complains, desk, desk_with, everstep, killed, line, says};
use crate::common::{Ran, ended};

const FAILS: &str = r#"schema = 1
agent = { id = "clerk", instructions = "Answer." }
turns = [{ fault = { kind = "unavailable", tag = "Down", message = "nobody is there" } }]
"#;

/// What the same line says to machines, which must name the code that it ends with.
fn for_machines(home: &std::path::Path, code: i32) -> serde_json::Value {
    let ran = line(home, &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!((ran.code, value["exit"].as_i64()), (code, Some(code.into())));
    value["settlement"]["outcome"].clone()
}

#[test]
fn ops_02_run_ends_with_0_when_it_is_completed() {
    let home = desk();
    says(&line(home.path(), &[]), &["The charge went through."]);
    assert_eq!(for_machines(home.path(), 0), "completed");
}

#[test]
fn ops_02_run_ends_with_1_when_it_has_failed_or_was_aborted() {
    let home = desk_with(FAILS);
    let ran = line(home.path(), &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "failed: Down: nobody is there\n"));
    assert_eq!(for_machines(home.path(), 1), "failed");

    let home = desk();
    killed(home.path(), "model.call/during");
    let listed = everstep(home.path(), &["submissions", "list"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id");
    assert_eq!(everstep(home.path(), &["submissions", "abort", id]).code, 0);
    let ran = line(home.path(), &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "aborted\n"), "{}", ran.err);
    assert_eq!(for_machines(home.path(), 1), "aborted");
}

#[test]
fn ops_02_run_ends_with_2_when_something_was_asked_that_makes_no_sense() {
    let home = desk();
    complains(&line(home.path(), &["--lease-ms", "soon"]), 2, &["--lease-ms"]);
    let armed: Ran = ended(
        command(home.path(), &[])
            .env("EVERSTEP_FAILPOINT", "tool.invok/after=kill")
            .output()
            .unwrap(),
    );
    complains(&armed, 2, &["EVERSTEP_FAILPOINT", "tool.invok"]);
    complains(&line(desk_with("schema = 1").path(), &[]), 2, &["charge.toml", "agent"]);
}

#[test]
fn ops_02_run_ends_with_3_when_the_environment_fails() {
    let home = desk();
    complains(&line(home.path(), &["--db", "no/such/folder.db"]), 3, &["no such folder"]);
    complains(&line(home.path(), &["--db", "."]), 3, &["not a regular file"]);
    says(&line(home.path(), &[]), &["went through"]);
}

#[test]
fn ops_02_run_ends_with_4_when_somebody_has_to_say_something() {
    let home = desk();
    killed(home.path(), "tool.invoke/after");
    let ran = line(home.path(), &[]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.out.contains("unknown") && ran.out.contains("submissions resolve"), "{}", ran.out);
    assert!(for_machines(home.path(), 4).is_null());
}

/// What a command says about its exit codes, number and meaning.
fn codes(help: &str) -> Vec<(&str, &str)> {
    let codes = help.split_once("Exit codes:\n").expect("it lists them").1;
    codes.lines().filter_map(|line| line.trim().split_once("  ")).collect()
}

/// A section of the document on the command line.
fn section(heading: &str) -> &'static str {
    let document = include_str!("../../../../docs/cli.md");
    let section = document.split_once(heading).expect("it has a section").1;
    section.split("\n## ").next().expect("it goes on to the next")
}

#[test]
fn ops_02_commands_say_their_exit_codes_in_their_help_and_in_the_documents() {
    let home = desk();
    let commands = [
        ("run", "4"),
        ("submissions", "4"),
        ("log", "3"),
        ("sessions", "3"),
        ("state", "3"),
        ("backup", "3"),
        ("restore", "3"),
    ];
    for (command, last) in commands {
        let help = everstep(home.path(), &[command, "--help"]);
        let codes = codes(&help.out);
        assert_eq!(codes.last().map(|(number, _)| *number), Some(last), "{}", help.out);
        let section = section(&format!("## `everstep {command} "));
        for (number, meaning) in codes {
            assert!(section.contains(&format!("| {number} | {meaning} |")), "{number}: {meaning}");
        }
    }
}

#[test]
fn ops_02_every_flag_of_an_operator_is_in_the_documents() {
    let home = desk();
    let acts = [
        ("submissions", &["list", "show", "abort", "resolve", "approve", "deny"][..]),
        ("log", &["show", "artifact", "verify", "rebuild", "export", "import"]),
        ("sessions", &["list", "show", "create", "update", "delete"]),
        ("state", &["list", "show", "set", "remove"]),
    ];
    for (command, acts) in acts {
        let section = section(&format!("## `everstep {command} "));
        for act in acts {
            let help = everstep(home.path(), &[command, act, "--help"]).out;
            let words = help.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
            for flag in words.filter(|word| word.starts_with("--") && *word != "--help") {
                assert!(section.contains(flag), "{command} {act}: {flag}");
            }
        }
    }
}
