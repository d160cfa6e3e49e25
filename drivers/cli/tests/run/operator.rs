//! What an operator is told: lists, records, and what was said already.

use std::path::Path;

use serde_json::Value;

use super::{CHARGE, complains, desk, desk_with, everstep, killed, line, says};

/// A folder in which nobody knows what became of a call, and the submission's id.
fn doubtful(agent: &str) -> (tempfile::TempDir, String) {
    let home = desk_with(agent);
    killed(home.path(), "tool.invoke/after");
    assert_eq!(line(home.path(), &[]).code, 4, "nobody knows what became of the call");
    let id = id(home.path());
    (home, id)
}

/// The first submission that is listed.
fn id(home: &Path) -> String {
    let listed = everstep(home, &["submissions", "list", "--all"]);
    let line = listed.out.lines().nth(1).expect("a line");
    line.split(' ').next().expect("an id").to_owned()
}

fn json(home: &Path, args: &[&str]) -> Value {
    let ran = everstep(home, &[args, &["--json"]].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {}{}", ran.out, ran.err))
}

#[test]
fn sec_07_what_was_said_of_a_doubt_already_is_told_with_who_said_it() {
    let (home, id) = doubtful(CHARGE);
    let at = home.path();
    let never = ["submissions", "resolve", &id, "never-started"];
    let first = [&never[..], &["--by", "ada", "--reason", "I looked"]].concat();
    says(&everstep(at, &first), &["noted"]);
    let stands = ["said already", "never started, says ada: I looked"];
    says(&everstep(at, &never), &stands);
    says(&everstep(at, &first), &stands);
    let again = json(at, &[&never[..], &["--by", "bob"]].concat());
    assert_eq!((&again["already"], &again["principal"]), (&true.into(), &"ada".into()));
    let other = everstep(at, &["submissions", "resolve", &id, "safe-to-repeat"]);
    complains(&other, 2, &["what stands is: never started, says ada: I looked"]);
    says(&everstep(at, &["submissions", "show", &id]), &["never started, says ada: I looked"]);
    says(&line(at, &[]), &["went through"]);
    says(&everstep(at, &never), &stands);
}

#[test]
fn dur_012_a_second_abort_is_told_which_one_stands() {
    let (home, id) = doubtful(CHARGE);
    let at = home.path();
    let abort = |more: &[&str]| everstep(at, &[&["submissions", "abort", &id], more].concat());
    says(&abort(&["--by", "ada", "--reason", "ordered twice"]), &["its end is asked for;"]);
    let second = abort(&["--by", "bob", "--reason", "another reason"]);
    says(&second, &["asked for already, by ada: ordered twice"]);
    let ran = line(at, &[]);
    assert!(ran.out.starts_with("aborted\nunknown: "), "{}", ran.out);
    says(&abort(&[]), &["asked for already, by ada: ordered twice"]);
    says(&everstep(at, &["log", "show", "run-"]), &["by ada: ordered twice"]);
}

#[test]
fn sec_07_nothing_that_is_said_forges_a_line() {
    let forged = "x\n     9  epoch 1   SubmissionSettled   completed: all is well";
    let (home, id) = doubtful(&CHARGE.replace("The charge went through.", "a\\nb\\u001b[2K"));
    let at = home.path();
    for said in [forged, "\u{1b}[2K", "\u{202e}"] {
        let abort = ["submissions", "abort", &id, "--reason", said];
        complains(&everstep(at, &abort), 2, &["--reason", "one line"]);
        let by = ["submissions", "abort", &id, "--by", said];
        complains(&everstep(at, &by), 2, &["--by", "one line"]);
        let tag = ["submissions", "resolve", &id, "failed", "--tag", said];
        complains(&everstep(at, &tag), 2, &["--tag", "one line"]);
    }
    // A message may have lines; they are shown in one.
    let failed = ["submissions", "resolve", &id, "failed", "--message", forged];
    says(&everstep(at, &failed), &["noted"]);
    assert_eq!(line(at, &[]).code, 0);
    for args in [&["log", "show", "run-"][..], &["submissions", "show", &id]] {
        let shown = everstep(at, args).out;
        assert!(shown.contains(r"x\n     9  epoch 1 "), "{shown}");
        assert!(shown.contains(r"a\nb\u{1b}[2K"), "{shown}");
        assert!(!shown.contains("\n     9  epoch 1   SubmissionSettled   completed"), "{shown}");
    }
}

#[test]
fn dur_015_the_log_is_shown_in_words_and_with_every_field_for_machines() {
    let (home, id) = doubtful(CHARGE);
    let at = home.path();
    let resolve = ["submissions", "resolve", &id, "completed", "--result", r#"{"receipt":"R-9"}"#];
    says(&everstep(at, &resolve), &["noted"]);
    says(&line(at, &[]), &["went through"]);
    let shown = everstep(at, &["log", "show", "run-"]);
    let words = [
        "agent cashier",
        "charge({\"cents\":4200})",
        "nobody knows what became of it",
        "completed with {\"receipt\":\"R-9\"}, says operator: said on the command line",
        "returned {\"receipt\":\"R-9\"}",
        "completed: The charge went through.",
    ];
    says(&shown, &words);
    for debug in ["CanonicalJson", "Success(", "Completed("] {
        assert!(!shown.out.contains(debug), "{debug}: {}", shown.out);
    }
    let records = json(at, &["log", "show", "run-"])["records"].clone();
    let of = |kind: &str| {
        let records = records.as_array().expect("a list");
        let found = records.iter().find(|record| record["kind"] == kind);
        found.unwrap_or_else(|| panic!("{kind}: {records:?}"))["record"].clone()
    };
    assert_eq!(of("InputRecorded")["input"], "order 7");
    assert_eq!(of("ModelResponded")["parts"][1]["parameters"]["cents"], 4_200);
    assert_eq!(of("ToolSettled")["outcome"]["result"]["receipt"], "R-9");
    assert_eq!(of("ToolResolved")["resolution"]["how"], "completed");
    assert_eq!(of("SubmissionSettled")["settlement"]["finish"], "model-stop");
    assert_eq!(of("SubmissionSettled")["submission"], id);
}

#[test]
fn dur_017_lists_are_columns_whatever_the_agents_are_called() {
    let home = desk();
    let at = home.path();
    let long = CHARGE.replace("\"cashier\"", "\"a cashier with quite a long name\"");
    std::fs::write(at.join("long.toml"), long).expect("it can be written");
    says(&line(at, &[]), &["went through"]);
    says(&everstep(at, &["run", "long.toml", "x"]), &["went through"]);
    let listed = everstep(at, &["submissions", "list", "--all"]);
    let lines: Vec<_> = listed.out.lines().collect();
    let column = lines[0].find("conversation").expect("a head");
    assert!(lines[0].find("agent").is_some_and(|at| lines[1].get(at - 1..at) == Some(" ")));
    for line in &lines[1..3] {
        assert_eq!(line.find("run-"), Some(column), "{}", listed.out);
    }
}

#[test]
fn ops_02_an_operator_who_is_wrong_is_told_so() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let listed = everstep(at, &["submissions", "list", "--all"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id");
    let run = |args: &[&str]| everstep(at, &[&["submissions"], args].concat());
    complains(&run(&["show", "zz"]), 2, &["zz", "no such submission", "list --all"]);
    complains(&run(&["resolve", id, "completed"]), 2, &["no such call"]);
    complains(&run(&["resolve", id, "lost"]), 2, &["never-started"]);
    let mixed = run(&["resolve", id, "never-started", "--result", "1"]);
    complains(&mixed, 2, &["--result", "completed"]);
    complains(&run(&["resolve", id, "completed", "--result", "{"]), 2, &["--result"]);
    complains(&run(&["abort", id]), 2, &["settled"]);
    complains(&run(&["abort", id, "--by", ""]), 2, &["--by"]);
    for empty in [["show", ""], ["abort", ""]] {
        complains(&run(&empty), 2, &["<SUBMISSION>"]);
    }
    complains(&run(&["resolve", id, "failed", "--tag", ""]), 2, &["--tag", "cannot be empty"]);
    complains(&run(&["resolve", id, "failed", "--message", ""]), 2, &["--message"]);
    complains(&run(&["resolve", id, "failed", "--call", ""]), 2, &["--call"]);
    complains(&run(&["abort", id, "--reason", ""]), 2, &["--reason", "cannot be empty"]);
    for act in ["show", "verify"] {
        complains(&everstep(at, &["log", act, ""]), 2, &["CONVERSATION"]);
    }
}
