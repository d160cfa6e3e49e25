//! `run`, `submissions` and `log`: what they say, and what they say to what is wrong.

#![cfg(unix)]

mod appending;
mod approvals;
mod approver_service;
mod artifacts;
mod authority;
mod beside;
mod bindings;
mod cases;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod databases;
mod disk;
mod doubts;
mod durable;
mod exits;
mod exports;
mod fitting;
mod handover;
mod operator;
mod poison;
mod scripts;
mod sharing;
mod signals;
mod steering;
mod terminal;
mod timeouts;
mod waiting;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Ran, corpus, everstep, folder};

const CHARGE: &str = include_str!("../../../../corpus/agents/charge.toml");

/// A folder with the agent `charge.toml`.
fn desk() -> tempfile::TempDir {
    desk_with(CHARGE)
}

/// A folder with this agent as `charge.toml`.
fn desk_with(agent: &str) -> tempfile::TempDir {
    let home = folder();
    fs::write(home.path().join("charge.toml"), agent).expect("it can be written");
    home
}

const LINE: [&str; 3] = ["run", "charge.toml", "order 7"];

fn line(home: &Path, more: &[&str]) -> Ran {
    everstep(home, &[&LINE, more].concat())
}

/// The same line, to be started.
fn command(home: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
    command.args(LINE).args(more).current_dir(home);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same line, killed where it passes this failpoint.
fn killed(home: &Path, point: &str) {
    let armed = format!("{point}=kill");
    let ran = command(home, &["--lease-ms", "100"]).env("EVERSTEP_FAILPOINT", armed).output();
    assert_eq!(ran.expect("the binary can be run").status.code(), None, "{point}");
}

/// How often the tool was called.
fn charges(home: &Path) -> usize {
    fs::read_to_string(home.join("charges.txt")).map_or(0, |text| text.lines().count())
}

/// Submissions of the file, those that are done included.
fn submissions(home: &Path) -> usize {
    let listed = everstep(home, &["submissions", "list", "--all", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("one object");
    listed["submissions"].as_array().expect("a list").len()
}

fn act(at: &Path, args: &[&str]) -> Ran {
    everstep(at, &[&["submissions"], args].concat())
}

fn json(at: &Path, args: &[&str]) -> serde_json::Value {
    let ran = act(at, &[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).expect("one object")
}

#[track_caller]
fn complains(ran: &Ran, code: i32, says: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "");
    for words in says {
        assert!(ran.err.contains(words), "`{words}` is not in\n{}", ran.err);
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[track_caller]
fn says(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.out.contains(word), "`{word}` is not in\n{}", ran.out);
    }
}

#[test]
fn dur_017_a_run_is_listed_shown_and_verified() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["The charge went through."]);
    says(&everstep(at, &["submissions", "list"]), &["nothing"]);
    let listed = everstep(at, &["submissions", "list", "--all"]);
    says(&listed, &["completed", "cashier"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id");
    says(&everstep(at, &["submissions", "show", id]), &["order 7", "The charge went through."]);
    says(&everstep(at, &["log", "show", "run-"]), &["ToolPrepared", "SubmissionSettled"]);
    says(&everstep(at, &["log", "verify"]), &["good", "1 row", "the file"]);
    says(&line(at, &["--key", "second"]), &["The charge went through."]);
    assert_eq!(charges(at), 2, "another key is another submission");
}

#[test]
fn arc_09_machines_are_answered_in_json() {
    let home = desk();
    let ran = line(home.path(), &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!(value["settlement"]["outcome"], "completed");
    assert_eq!(value["settlement"]["output"], "The charge went through.");
    let id = value["submission"].as_str().expect("an id");
    let shown = everstep(home.path(), &["submissions", "show", id, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).expect("one object");
    assert_eq!((&shown["input"], &shown["state"]), (&"order 7".into(), &"completed".into()));
}

#[test]
fn auth_17_an_agent_that_is_wrong_is_told_with_line_and_column() {
    let home = desk();
    let wrong = CHARGE.replace("append =", "apend =");
    fs::write(home.path().join("wrong.toml"), wrong).expect("it can be written");
    let ran = everstep(home.path(), &["run", "wrong.toml", "x"]);
    complains(&ran, 2, &["wrong.toml:12:1", "apend", "did you mean `append`"]);
    complains(&everstep(home.path(), &["run", "chrge.toml", "x"]), 3, &["charge.toml"]);
    fs::write(home.path().join("scenario.toml"), corpus("answer")).expect("it can be written");
    let scenario = everstep(home.path(), &["run", "scenario.toml", "x"]);
    complains(&scenario, 2, &["scenario.toml:", "unknown key `submissions`"]);
    assert!(!home.path().join("everstep.db").exists(), "nothing is made for a wrong file");
}

#[test]
fn sec_06_an_input_is_bounded_before_anything_is_done_with_it() {
    let home = desk();
    let at = home.path();
    let run =
        |input: &str, more: &[&str]| everstep(at, &[&["run", "charge.toml", input], more].concat());
    let huge = File::create(at.join("huge")).expect("a file");
    huge.set_len(100 << 20).expect("it grows");
    fs::write(at.join("binary"), b"ab\xff").expect("it can be written");
    complains(&run("@huge", &[]), 2, &["huge", "1048576 bytes"]);
    fs::write(at.join("full"), "x".repeat(1 << 20)).expect("it can be written");
    complains(&run("@full", &[]), 2, &["full", "1048576 bytes as JSON", "quotes"]);
    fs::write(at.join("fits"), "x".repeat((1 << 20) - 2)).expect("it can be written");
    says(&run("@fits", &["--db", "fits.db"]), &["went through"]);
    complains(&run("x", &["--key", ""]), 2, &["--key"]);
    complains(&run("x", &["--db", ""]), 2, &["--db"]);
    fs::create_dir(at.join("folder")).expect("it can be made");
    complains(&everstep(at, &["run", "folder", "x"]), 3, &["this is a folder, not a file"]);
    complains(&run("@binary", &[]), 2, &["binary", "byte 2 is not UTF-8"]);
    complains(&run("@nothing", &[]), 3, &["nothing"]);
    complains(&run("{", &["--as-json"]), 2, &["the input"]);
    complains(&run("x", &["--lease-ms", "1"]), 2, &["--lease-ms"]);
    complains(&run("x", &["--commit", "fuse"]), 2, &["fused"]);
    assert!(!at.join("everstep.db").exists());
}

#[test]
fn store_005_what_is_no_database_of_ours_is_left_as_it_is() {
    let home = desk();
    let at = home.path();
    fs::write(at.join("text"), "not a database, whatever its name").expect("it can be written");
    complains(&line(at, &["--db", "text"]), 3, &["text", "not a database"]);
    complains(&line(at, &["--db", "no/where/db"]), 3, &["no such folder"]);
    complains(&everstep(at, &["submissions", "list"]), 3, &["everstep.db", "no such database"]);
    complains(&everstep(at, &["log", "verify", "--db", "text"]), 3, &["not a database"]);
    let text = fs::read_to_string(at.join("text")).expect("it is still there");
    assert_eq!(text, "not a database, whatever its name");
}

#[test]
fn store_006_a_flipped_byte_is_found_and_said_where() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let mut bytes = fs::read(at.join("everstep.db")).expect("it is read");
    let whole = bytes.clone();
    let wanted = b"The charge went through.";
    let place = bytes.windows(wanted.len()).position(|window| window == wanted);
    bytes[place.expect("the answer is stored")] ^= 1;
    fs::write(at.join("everstep.db"), bytes).expect("it can be written");
    let ran = everstep(at, &["log", "verify"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("BAD") && ran.out.contains("corrupt"), "{}", ran.out);
    complains(&everstep(at, &["log", "show", "run-"]), 1, &["corrupt"]);
    let listed = everstep(at, &["submissions", "list", "--all"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id");
    complains(&everstep(at, &["submissions", "show", id]), 1, &["corrupt"]);
    let again = line(at, &[]);
    complains(&again, 3, &["corrupt"]);
    fs::write(at.join("everstep.db"), whole).expect("a backup can be restored");
    says(&line(at, &[]), &["went through"]);
    assert_eq!(charges(at), 1);
}
