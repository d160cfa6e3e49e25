//! A run and another agent than it began with, on a real file (cases CR-05 and CR-09).

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{
    CHARGE, LINE, act, charges, common::Ran, complains, desk, everstep, json, killed, line, says,
};

/// The same agent, told to be something else, as `new.toml`.
fn revise(at: &Path) {
    let revised = CHARGE.replace("then say so.", "then say so in verse.");
    assert_ne!(revised, CHARGE);
    fs::write(at.join("new.toml"), revised).expect("it can be written");
}

/// A run whose process was killed while its model answered, and another agent beside its own; its id.
fn abandoned(at: &Path) -> String {
    killed(at, "model.call/during");
    revise(at);
    let listed = json(at, &["list"]);
    listed["submissions"][0]["submission"].as_str().expect("an id").to_owned()
}

fn resume(at: &Path, agent: &str, id: &str) -> Ran {
    everstep(at, &["run", agent, "--resume", id, "--lease-ms", "100"])
}

/// The kinds of the records of the one conversation.
fn records(at: &Path) -> Vec<Value> {
    let ran = everstep(at, &["log", "show", "run-", "--json"]);
    let shown: Value = serde_json::from_str(&ran.out).expect("one object");
    shown["records"].as_array().expect("a list").clone()
}

#[test]
fn case_cr_05_the_same_agent_under_another_name_takes_a_killed_run_at_once() {
    let home = desk();
    let at = home.path();
    let id = abandoned(at);
    fs::copy(at.join("charge.toml"), at.join("copy.toml")).expect("it can be copied");
    says(&resume(at, "copy.toml", &id[..8]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
    says(&line(at, &[]), &["The charge went through."]);
}

#[test]
fn case_cr_05_case_cr_09_another_agent_is_told_what_differs_and_nothing_is_done() {
    let home = desk();
    let at = home.path();
    let id = abandoned(at);
    let before = records(at);
    let ran = resume(at, "new.toml", &id);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    let advice = format!("everstep submissions rebind {id} --db everstep.db");
    for words in ["incompatible:", "record 1 binds the run to definition", "model", &advice] {
        assert!(ran.out.contains(words), "`{words}` is not in\n{}", ran.out);
    }
    assert_eq!((records(at), charges(at)), (before, 0));

    let listed = act(at, &["list"]);
    says(&listed, &["incompatible", "everstep submissions show"]);
    let shown = json(at, &["show", &id]);
    let known = &shown["incompatible"];
    assert_eq!((&shown["state"], &known["record"]), (&"incompatible".into(), &1.into()));
    assert_eq!(known["differs"], serde_json::json!(["definition", "model"]));
    assert_eq!(known["expected"]["tools"], known["found"]["tools"]);
    assert_ne!(known["expected"]["definition"], known["found"]["definition"]);
    let input = &records(at)[1];
    assert_eq!(input["record"]["bound"], known["expected"], "{input}");
    let shown = act(at, &["show", &id]);
    says(&shown, &["incompatible", "record 1 binds", "found by", "submissions rebind"]);

    let value = everstep(at, &["run", "new.toml", "--resume", &id, "--json"]);
    let value: Value = serde_json::from_str(&value.out).expect("one object");
    assert_eq!((&value["exit"], &value["incompatible"]), (&4.into(), known));

    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!(charges(at), 1, "its own agent goes on");
    assert_eq!(json(at, &["show", &id])["incompatible"], Value::Null);
}

#[test]
fn case_cr_05_a_run_that_is_rebound_goes_on_from_where_it_was_and_the_log_says_by_whom() {
    let home = desk();
    let at = home.path();
    // The charge is made and recorded.
    killed(at, "model.call/during@2");
    revise(at);
    let listed = json(at, &["list"]);
    let id = listed["submissions"][0]["submission"].as_str().expect("an id").to_owned();
    assert_eq!(resume(at, "new.toml", &id).code, 4);
    let word = ["rebind", &id, "--by", "ada", "--reason", "only the wording is new"];
    let said = json(at, &word);
    assert_eq!((&said["already"], &said["principal"]), (&false.into(), &"ada".into()));
    assert_eq!(json(at, &word)["already"], true);
    assert_eq!(json(at, &["show", &id])["rebind"]["reason"], "only the wording is new");
    says(&resume(at, "new.toml", &id), &["The charge went through."]);
    assert_eq!(charges(at), 1, "what was done stays");
    let records = records(at);
    let rebound: Vec<_> = records.iter().filter(|it| it["kind"] == "RunRebound").collect();
    let [rebound] = rebound.as_slice() else { panic!("{rebound:?}") };
    let rebound = &rebound["record"];
    assert_eq!((&rebound["principal"], &rebound["replaces"]), (&"ada".into(), &1.into()));
    assert_eq!(rebound["to"], said["to"]);
    says(
        &everstep(at, &["log", "show", "run-"]),
        &["RunRebound", "other definition, model, by ada"],
    );
    says(&everstep(at, &["log", "verify"]), &["good"]);
    let late = act(at, &["rebind", &id]);
    complains(&late, 2, &["the submission is settled"]);
}

#[test]
fn case_cr_05_what_was_bound_before_has_to_wait_once_it_is_replaced() {
    let home = desk();
    let at = home.path();
    let id = abandoned(at);
    assert_eq!(resume(at, "new.toml", &id).code, 4);
    says(&act(at, &["rebind", &id]), &["whoever comes with what was found"]);
    let args = ["run", "new.toml", "--resume", &id, "--lease-ms", "100"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_everstep"));
    command.args(args).current_dir(at);
    command.env("EVERSTEP_FAILPOINT", "model.call/before=kill");
    assert_eq!(command.output().expect("it can be run").status.code(), None);
    let ran = line(at, &["--lease-ms", "100"]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("incompatible:"), "{}", ran.out);
    says(&resume(at, "new.toml", &id), &["The charge went through."]);
}

#[test]
fn dur_012_a_run_that_nobody_can_go_on_with_is_aborted_by_whoever_comes() {
    let home = desk();
    let at = home.path();
    let id = abandoned(at);
    assert_eq!(resume(at, "new.toml", &id).code, 4);
    says(&act(at, &["abort", &id]), &["its end is asked for"]);
    let ran = resume(at, "new.toml", &id);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("aborted"), "{}", ran.out);
    complains(&act(at, &["rebind", &id]), 2, &["the submission is settled"]);
}

#[test]
fn arc_09_a_line_resumes_or_submits_and_nothing_is_bound_anew_that_nobody_has_met() {
    let home = desk();
    let at = home.path();
    complains(&everstep(at, &["run", "charge.toml"]), 2, &["<INPUT>"]);
    let both = everstep(at, &[&LINE[..], &["--resume", "3f"]].concat());
    complains(&both, 2, &["--resume"]);
    complains(&everstep(at, &["run", "charge.toml", "--resume", "3f"]), 3, &["no such database"]);
    let id = abandoned(at);
    complains(&act(at, &["rebind", &id]), 2, &["nobody has met", "--resume"]);
    complains(&resume(at, "charge.toml", "zz"), 2, &["no such submission"]);
}

/// There is no fork: to resume at the head by the id or by the line is the same (case CR-17).
#[test]
fn case_cr_17_resumed_by_its_id_or_by_its_line_a_run_is_the_same() {
    let told = |resumes: &dyn Fn(&Path, &str) -> Ran| {
        let home = desk();
        let at = home.path();
        let id = abandoned(at);
        says(&resumes(at, &id), &["The charge went through."]);
        assert_eq!(charges(at), 1);
        let listed = everstep(at, &["submissions", "list", "--all", "--json"]);
        let listed: Value = serde_json::from_str(&listed.out).expect("one object");
        assert_eq!(listed["submissions"].as_array().map(Vec::len), Some(1), "{listed}");
        let kinds = records(at).iter().map(|it| it["kind"].clone()).collect::<Vec<_>>();
        (id, kinds)
    };
    let by_id = told(&|at, id| resume(at, "charge.toml", id));
    let by_line = told(&|at, _| line(at, &[]));
    assert_eq!(by_id, by_line);
}
