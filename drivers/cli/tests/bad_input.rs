//! What the command line says to what is wrong, and with which code it ends.

mod common;

use std::fs;
use std::path::Path;

use common::{Ran, corpus, everstep, folder};

/// A complaint with this code, that says all of this, to standard error only.
fn complains(ran: &Ran, code: i32, says: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "");
    for words in says {
        assert!(ran.err.contains(words), "`{words}` is not in\n{}", ran.err);
    }
    assert!(!ran.err.contains('\u{1b}'), "colours are for terminals: {:?}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

/// Runs the matrix of a file with this content.
fn matrix_of(bytes: &[u8]) -> Ran {
    let folder = folder();
    fs::write(folder.path().join("bad.toml"), bytes).expect("the file can be written");
    everstep(folder.path(), &["matrix", "bad.toml"])
}

#[test]
fn ops_02_unknown_commands_flags_and_values_are_usage_errors() {
    let here = folder();
    let run = |args: &[&str]| everstep(here.path(), args);
    complains(&run(&["matirx"]), 2, &["unrecognized subcommand", "matrix"]);
    complains(&run(&["matrix", "--dept", "2"]), 2, &["--dept", "--depth"]);
    complains(&run(&["matrix", "--depth", "two"]), 2, &["two", "--depth"]);
    complains(&run(&["matrix", "--depth", "9"]), 2, &["9", "0..=8"]);
    complains(&run(&["matrix", "--profile", "stong"]), 2, &["stong", "strong"]);
    complains(&run(&["matrix", "--jobs", "0"]), 2, &["--jobs"]);
    complains(&run(&["matrix", "--defect", "no-epoch"]), 2, &["no-epoch-check"]);
    complains(&run(&["check", "--profile", "both"]), 2, &["weak, strong"]);
    complains(&run(&["check", "--max-states", "0"]), 2, &["--max-states"]);
    complains(&run(&["replay"]), 2, &["<TRACE>"]);
    complains(&run(&[]), 2, &["matrix", "replay", "check"]);
}

#[test]
fn auth_17_a_scenario_that_is_not_there_is_the_environments_fault() {
    let here = folder();
    fs::write(here.path().join("refund.toml"), corpus("answer")).expect("it can be written");
    let ran = everstep(here.path(), &["matrix", "refnd.toml"]);
    complains(&ran, 3, &["refnd.toml", "refund.toml"]);
    complains(&everstep(here.path(), &["matrix", "."]), 3, &["folder"]);
    complains(&everstep(here.path(), &["check", "nothing"]), 3, &["nothing"]);
    complains(&everstep(here.path(), &["replay", "nothing.trace"]), 3, &["nothing.trace"]);
    complains(&everstep(here.path(), &["replay", "."]), 3, &["cannot be read"]);
}

#[test]
fn auth_17_a_scenario_that_is_wrong_is_told_with_line_and_column() {
    complains(&matrix_of(b""), 2, &["empty"]);
    complains(&matrix_of(&vec![b'#'; 64 << 20]), 2, &["bytes"]);
    complains(&matrix_of(b"schema = 1\nabout = \"\xff\""), 2, &["bad.toml:2:10", "UTF-8"]);
    complains(&matrix_of(b"schema = 1\nabout 2"), 2, &["bad.toml:2:", "TOML"]);
    let unknown = corpus("answer").replace("about =", "abuot =");
    complains(&matrix_of(unknown.as_bytes()), 2, &["bad.toml:", "abuot", "about"]);
    let missing = corpus("ordinary-completed").replace("tool = \"", "tool = \"no-");
    complains(&matrix_of(missing.as_bytes()), 2, &["bad.toml:", "no-", "did you mean"]);
}

#[test]
fn auth_17_everything_wrong_with_several_files_is_told_at_once() {
    let here = folder();
    fs::write(here.path().join("one.toml"), "one").expect("it can be written");
    let ran = everstep(here.path(), &["matrix", "one.toml", "two.toml"]);
    complains(&ran, 2, &["one.toml", "two.toml"]);
}

#[test]
fn auth_17_a_trace_that_is_wrong_is_told_with_line_and_column() {
    let here = folder();
    let write = |text: &[u8]| {
        fs::write(here.path().join("t.trace"), text).expect("the file can be written");
        everstep(here.path(), &["replay", "t.trace"])
    };
    complains(&write(b""), 2, &["t.trace", "missing field"]);
    complains(&write(b"schema = 1\nproperty = 2"), 2, &["t.trace:2:12"]);
    complains(&write(b"schema = 1\n\xff"), 2, &["t.trace:2:1", "UTF-8"]);
    let good = a_trace(here.path());
    let wrong = |old: &str, new: &str| {
        assert!(good.contains(old), "{good}");
        write(good.replacen(old, new, 1).as_bytes())
    };
    complains(&wrong("schema = 1", "schema = 7"), 2, &["t.trace:1:10", "schema 7"]);
    complains(&wrong("=pause", "=puase"), 2, &["puase", "crash, crash-done, pause"]);
    complains(&wrong("tool.invoke/", "tool.invok/"), 2, &["tool.invok", "no effect"]);
    let never = wrong("before@1=pause", "before@9=pause");
    complains(&never, 2, &["tool.invoke/before@9=pause", "never reached"]);
    complains(&wrong("=pause", "=crash-done"), 2, &["not possible"]);
}

/// The text of a trace with one choice, a pause.
fn a_trace(here: &Path) -> String {
    let defect = "never-started-without-tombstone";
    let args = ["matrix", "ordinary-never-started", "--profile", "weak", "--defect", defect];
    assert_eq!(everstep(here, &args).code, 1);
    let name = format!("ordinary-never-started-weak-{defect}.trace");
    fs::read_to_string(here.join("everstep-traces").join(name)).expect("the trace was saved")
}

#[test]
fn ops_02_traces_that_cannot_be_saved_are_the_environments_fault() {
    let here = folder();
    fs::write(here.path().join("file"), "").expect("the file can be written");
    let args = ["matrix", "answer", "--defect", "no-epoch-check", "--traces", "file/below"];
    complains(&everstep(here.path(), &args), 3, &["cannot be written"]);
}
