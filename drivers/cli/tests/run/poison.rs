//! A line that dies whenever it is run.

use std::path::Path;

use everstep_machine::limits::FRUITLESS_CLAIMS;
use serde_json::Value;

use super::{
    CHARGE, act, charges, command, complains, desk, desk_with, everstep, json, killed, line, says,
    submissions,
};

/// Kills the line until it is given up. Its first process records the input: it does not die in
/// vain.
fn give_up(at: &Path) {
    killed(at, "model.call/during");
    die_in_vain(at);
}

fn die_in_vain(at: &Path) {
    for _ in 0..FRUITLESS_CLAIMS {
        killed(at, "model.call/during");
    }
    let ran = line(at, &["--lease-ms", "100"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("failed: Poison: 5 attempts in a row"), "{}", ran.out);
    let command = format!("everstep submissions retry {} --db everstep.db", listed(at));
    assert!(ran.out.contains(&command), "{}", ran.out);
}

/// The id of the one submission that is listed.
fn listed(at: &Path) -> String {
    let listed = json(at, &["list"]);
    let [only] = listed["submissions"].as_array().expect("a list").as_slice() else {
        panic!("{listed}")
    };
    only["submission"].as_str().expect("an id").to_owned()
}

#[test]
fn dur_018_case_rt_03_a_line_that_always_dies_is_given_up_listed_and_in_nobody_s_way() {
    let home = desk();
    let at = home.path();
    give_up(at);
    says(&everstep(at, &["submissions", "list"]), &["given up", "cashier"]);
    assert_eq!(charges(at), 0);
    says(&line(at, &["--key", "other"]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
    assert_eq!(line(at, &[]).code, 1, "it stays as it ended");
    says(&everstep(at, &["submissions", "list"]), &["given up"]);
    says(&everstep(at, &["log", "verify"]), &["good"]);
}

#[test]
fn dur_018_sec_07_what_was_given_up_is_tried_again_once_by_a_recorded_act() {
    let home = desk();
    let at = home.path();
    give_up(at);
    let dead = listed(at);
    let before = json(at, &["show", &dead]);
    assert_eq!((&before["state"], &before["retried"]), (&"given up".into(), &Value::Null));

    let first = json(at, &["retry", &dead, "--by", "carol", "--reason", "the cable is back"]);
    assert_eq!((&first["already"], &first["principal"]), (&false.into(), &"carol".into()));
    assert_eq!((&first["before"], &first["after"]), (&"given up".into(), &"retried".into()));
    assert_eq!((&first["successor_state"], &first["place"]), (&"ready".into(), &1.into()));
    let next = first["successor"].as_str().expect("an id").to_owned();
    assert_eq!(listed(at), next, "the dead letter is off the list");

    // Somebody else, in other words: the first stands, and there is one successor.
    let second = act(at, &["retry", &dead[..8], "--by", "bob", "--reason", "no idea"]);
    says(&second, &["retried already, by carol: the cable is back", &next, "is ready"]);
    let second = json(at, &["retry", &dead, "--by", "bob"]);
    assert_eq!((&second["already"], &second["principal"]), (&true.into(), &"carol".into()));
    assert_eq!(second["successor"], next.as_str());
    assert_eq!(submissions(at), 2);

    let shown = json(at, &["show", &dead]);
    assert_eq!(shown["state"], "retried");
    assert_eq!(shown["settlement"], before["settlement"], "it stays as it ended");
    let retried = &shown["retried"];
    assert_eq!(
        (&retried["principal"], &retried["successor"]),
        (&"carol".into(), &next.as_str().into())
    );
    assert_eq!(retried["reason"], "the cable is back");
    says(&act(at, &["show", &dead]), &["by carol, ", "the cable is back", &next, "Poison"]);
    let shown = json(at, &["show", &next]);
    assert_eq!((&shown["retry_of"], &shown["claims"]), (&dead.as_str().into(), &0.into()));
    says(&act(at, &["show", &next]), &["retry of", &dead, "order 7", "local"]);

    // The same line is about what tries it again now.
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
    let ran = line(at, &["--json"]);
    let ran: Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!((&ran["submission"], &ran["exit"]), (&next.as_str().into(), &0.into()));
    assert_eq!((charges(at), submissions(at)), (1, 2));
    says(&act(at, &["list"]), &["nothing"]);
    says(&act(at, &["list", "--all"]), &["retried", "completed"]);
    says(&act(at, &["retry", &dead]), &["retried already", "is completed"]);
    says(&everstep(at, &["log", "verify"]), &["good", "2 rows"]);
}

#[test]
fn dur_018_what_is_given_up_again_is_tried_again_by_its_own_id() {
    let home = desk();
    let at = home.path();
    give_up(at);
    let first = listed(at);
    says(&act(at, &["retry", &first]), &["retried", "run its line again"]);
    give_up(at);
    let second = listed(at);
    assert_ne!(first, second, "its attempts are its own");
    let told = act(at, &["retry", &first]);
    says(&told, &["retried already", &second, "is given up"]);
    says(&act(at, &["retry", &second]), &["retried"]);
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!((charges(at), submissions(at)), (1, 3));
    says(&everstep(at, &["log", "verify"]), &["good", "3 rows"]);
}

#[test]
fn dur_018_who_retries_is_told_what_is_made_again() {
    let home = desk();
    let at = home.path();
    // The call is made and recorded; whoever goes on from there dies.
    let mut first = command(at, &["--lease-ms", "100", "--commit", "per-command"]);
    first.env("EVERSTEP_FAILPOINT", "conversation.append:ToolSettled/after=kill");
    assert_eq!(first.output().expect("the binary can be run").status.code(), None);
    die_in_vain(at);
    assert_eq!(charges(at), 1);
    let told = act(at, &["retry", &listed(at)]);
    says(&told, &["makes 1 call that it had started anew"]);
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!(charges(at), 2, "a person wanted that");
}

#[test]
fn dur_018_only_what_was_given_up_is_tried_again() {
    let home = desk();
    let at = home.path();
    complains(&act(at, &["retry", "3f1c"]), 3, &["everstep.db", "no such database"]);
    killed(at, "tool.invoke/after");
    let id = listed(at);
    complains(&act(at, &["retry", "zz"]), 2, &["zz", "no such submission"]);
    complains(&act(at, &["retry", &id]), 2, &["is not settled", "run its line again"]);
    assert_eq!(line(at, &[]).code, 4);
    complains(&act(at, &["retry", &id]), 2, &["is not settled", "submissions resolve"]);
    says(&act(at, &["abort", &id]), &["its end is asked for"]);
    assert_eq!(line(at, &[]).code, 1);
    complains(&act(at, &["retry", &id]), 2, &["an unknown outcome is open", "submissions resolve"]);
    says(&act(at, &["resolve", &id, "completed"]), &["noted"]);
    assert_eq!(line(at, &[]).code, 1);
    complains(&act(at, &["retry", &id]), 2, &["was not given up", "--key"]);
    says(&line(at, &["--key", "other"]), &["went through"]);
    let all = json(at, &["list", "--all"]);
    let done = all["submissions"].as_array().expect("a list").iter();
    let done: Vec<_> = done.filter(|row| row["state"] == "completed").collect();
    let id = done[0]["submission"].as_str().expect("an id");
    complains(&act(at, &["retry", id]), 2, &["was not given up", "--key"]);
    complains(&act(at, &["retry", id, "--reason", ""]), 2, &["--reason", "cannot be empty"]);
    let long = "x".repeat(70_000);
    complains(&act(at, &["retry", id, "--reason", &long]), 2, &["--reason", "65536 bytes"]);
}

#[test]
fn dur_018_what_waits_for_a_decision_is_not_tried_again() {
    let asking = CHARGE.replace("append =", "approval = \"ask\"\nappend =");
    let home = desk_with(&asking);
    let at = home.path();
    assert_eq!(line(at, &[]).code, 4);
    complains(&act(at, &["retry", &listed(at)]), 2, &["is not settled", "submissions approve"]);
}
