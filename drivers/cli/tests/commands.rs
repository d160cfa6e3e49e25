//! What the commands print, and with which code they end.

mod common;

use std::process::{Command, Stdio};

use common::{everstep, folder};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it prints JSON and nothing else")
}

#[test]
fn ops_02_every_command_explains_itself_with_an_example() {
    let here = folder();
    for command in ["matrix", "replay", "check", "run", "submissions", "log"] {
        let help = everstep(here.path(), &[command, "--help"]);
        assert_eq!((help.code, help.err.as_str()), (0, ""));
        assert!(help.out.contains("Examples:\n"), "{}", help.out);
        assert!(help.out.contains(&format!("\n  everstep {command} ")), "{}", help.out);
        assert!(!help.out.contains("defect"), "planting defects is for testing the tester");
    }
    for (command, act) in [
        ("submissions", "list"),
        ("submissions", "show"),
        ("submissions", "abort"),
        ("submissions", "resolve"),
        ("log", "show"),
        ("log", "verify"),
    ] {
        let help = everstep(here.path(), &[command, act, "--help"]);
        assert!(help.out.contains("Examples"), "{}", help.out);
        assert!(help.out.contains(&format!("\n  everstep {command} {act}")), "{}", help.out);
    }
    let help = everstep(here.path(), &["--help"]);
    assert!(help.out.contains("Exit codes:") && help.out.contains("vacuous"), "{}", help.out);
    assert!(everstep(here.path(), &["--version"]).out.starts_with("everstep "));
}

#[test]
fn dur_019_a_matrix_that_holds_ends_with_0_and_fits_its_columns() {
    let here = folder();
    let ran = everstep(here.path(), &["matrix", "answer"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let rows = ran.out.lines().filter(|line| line.contains("✓ holds"));
    assert!(rows.count() >= 10, "{}", ran.out);
    assert!(ran.out.ends_with("everything holds\n"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    assert!(!here.path().join("everstep-traces").exists(), "nothing failed");
}

#[test]
fn dur_019_a_broken_rule_is_reported_saved_and_replayed_by_the_line_that_is_printed() {
    let here = folder();
    let defect = "never-started-without-tombstone";
    let ran = everstep(here.path(), &["matrix", "ordinary-never-started", "--defect", defect]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("✗ broken"), "{}", ran.out);
    assert!(ran.out.contains("\n  tool.invoke/before@1=pause\n"), "{}", ran.out);
    let last = ran.out.lines().last().expect("it prints something");
    let args: Vec<_> = last.strip_prefix("everstep ").expect("a command").split(' ').collect();
    let again = everstep(here.path(), &args);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
    assert!(again.out.contains("pause at tool.invoke/before"), "{}", again.out);
    assert!(again.out.contains("broken: an ordinary call runs once"), "{}", again.out);
    assert!(again.out.contains("as the trace expects"), "{}", again.out);
    assert_eq!(everstep(here.path(), &[&args[..], &["--expect"]].concat()).code, 0);

    // Without the defect the same schedule holds, which is not what the trace expects.
    let path = here.path().join(args[1]);
    let trace = std::fs::read_to_string(&path).expect("it was saved");
    let line = trace.lines().find(|line| line.starts_with("defect")).expect("it names its defect");
    std::fs::write(&path, trace.replace(&format!("{line}\n"), "")).expect("it can be written");
    let sound = everstep(here.path(), &args);
    assert_eq!(sound.code, 0, "{}", sound.out);
    assert!(sound.out.contains("everything holds, the trace expects: an ordinary call"));
    assert_eq!(everstep(here.path(), &[&args[..], &["--expect"]].concat()).code, 1);
    let json = json(&everstep(here.path(), &[&args[..], &["--json"]].concat()).out);
    assert_eq!((&json["verdict"], &json["as_expected"]), (&"holds".into(), &false.into()));
    assert!(json["story"].as_array().is_some_and(|story| story.len() > 20));
}

#[test]
fn dur_019_json_says_what_the_table_says() {
    let here = folder();
    let ran = everstep(here.path(), &["matrix", "answer", "--json", "--profile", "strong"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let found = json(&ran.out);
    assert_eq!(found["exit"], 0);
    assert_eq!(found["profiles"], serde_json::json!(["strong"]));
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(31));
    assert_eq!(found["rows"][0]["id"], "D-01");
    let points = found["failpoints"]["points"].as_array().expect("it lists failpoints");
    assert_eq!(found["failpoints"]["all"], points.len());
    let cases = found["cases"].as_array().expect("it lists cases");
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0]["schedules"], found["schedules"]);
}

#[test]
fn arc_15_results_do_not_depend_on_the_number_of_threads() {
    let here = folder();
    let run = |jobs| {
        let scenarios = ["matrix", "answer", "two-lanes", "abort", "--json", "--jobs", jobs];
        let mut found = json(&everstep(here.path(), &scenarios).out);
        let object = found.as_object_mut().expect("it is an object");
        object.remove("seconds");
        object.remove("schedules_per_second");
        found
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn dur_019_the_whole_corpus_without_faults_is_vacuous() {
    let here = folder();
    let ran = everstep(here.path(), &["matrix", "--depth", "0"]);
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("never happened: an acknowledgement was lost"), "{}", ran.out);
}

#[test]
fn arc_05_bounds_end_a_command_with_4() {
    let here = folder();
    let ran = everstep(here.path(), &["matrix", "answer", "--max-worlds", "100"]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    let ran = everstep(here.path(), &["check", "answer", "--max-states", "1000"]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the bound on states is met"), "{}", ran.out);
}

#[test]
fn dur_006_a_check_finds_a_planted_defect_in_some_order_of_events() {
    let here = folder();
    let args = ["check", "answer", "--faults", "1", "--defect", "no-epoch-check", "--json"];
    let ran = everstep(here.path(), &args);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let found = json(&ran.out);
    assert_eq!(found["counterexample"]["property"], "a superseded owner writes nothing");
    let moves = found["counterexample"]["moves"].as_array().expect("it lists moves");
    assert!(moves.iter().any(|told| told == "worker-1: ledger.claim/before"), "{moves:?}");
}

#[test]
fn dur_019_two_files_of_one_name_get_two_traces() {
    let here = folder();
    for name in ["a", "b"] {
        let below = here.path().join(name);
        std::fs::create_dir(&below).expect("the folder can be made");
        std::fs::write(below.join("x.toml"), common::corpus("answer")).expect("it can be written");
    }
    let args = ["matrix", "a/x.toml", "b/x.toml", "--profile", "weak", "--defect"];
    let ran = everstep(here.path(), &[&args[..], &["no-epoch-check"]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let traces = std::fs::read_dir(here.path().join("everstep-traces")).expect("it is there");
    assert_eq!(traces.count(), 2);
}

#[cfg(unix)]
#[test]
fn ops_02_a_reader_that_goes_away_is_no_reason_to_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_everstep"))
        .args(["matrix", "answer", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be run");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
