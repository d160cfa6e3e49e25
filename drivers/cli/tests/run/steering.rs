//! What is said to a run from another process.

use std::path::Path;

use super::{CHARGE, act, charges, complains, desk_with, json, line, says};

fn asking() -> tempfile::TempDir {
    desk_with(&CHARGE.replace("append =", "approval = \"ask\"\nappend ="))
}

/// The id of the one submission that waits for a decision.
fn suspended(at: &Path) -> String {
    let all = json(at, &["list"]);
    let rows = all["submissions"].as_array().expect("a list");
    let mut rows = rows.iter().filter(|row| row["state"] == "suspended");
    rows.next().and_then(|row| row["submission"].as_str()).expect("one waits").to_owned()
}

#[test]
fn run_012_what_is_said_to_a_suspended_run_is_answered_together_with_it() {
    let home = asking();
    let at = home.path();
    assert_eq!(line(at, &[]).code, 4);
    let id = suspended(at);
    let told = act(at, &["steer", &id, "make it two"]);
    says(&told, &["said, as", "once it is decided what it waits for"]);
    says(&act(at, &["steer", &id, "make it two"]), &["it was said already"]);
    let all = json(at, &["list"]);
    let rows = all["submissions"].as_array().expect("a list").iter();
    let steers: Vec<_> = rows.filter_map(|row| row["steers"].as_str()).collect();
    assert_eq!(steers, [id.as_str()], "what is said names the run that it is for");
    // A text may come from a file, as that of `everstep run` may.
    std::fs::write(at.join("more.txt"), "make it two").unwrap();
    let file = format!("@{}", at.join("more.txt").display());
    says(&act(at, &["steer", &id, &file]), &["it was said already"]);
    complains(&act(at, &["steer", &id, "@none.txt"]), 3, &["none.txt"]);
    says(&act(at, &["approve", &id]), &["approved"]);
    let ran = line(at, &[]);
    says(&ran, &["The charge went through."]);
    assert!(!ran.out.contains("later"), "{}", ran.out);
    assert_eq!(charges(at), 1);
    complains(&act(at, &["steer", &id, "too late"]), 2, &["is settled"]);
}

#[test]
fn case_st_05_what_was_said_too_late_is_worked_on_by_the_same_line_to_its_end() {
    let home = asking();
    let at = home.path();
    assert_eq!(line(at, &[]).code, 4);
    let id = suspended(at);
    says(&act(at, &["steer", &id, "make it two"]), &["said, as"]);
    says(&act(at, &["abort", &id]), &["its end is asked for"]);
    let ran = line(at, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("make it two waits for people"), "{}", ran.out);
    // What is said to that run, and is too late as well, belongs to the line too.
    let second = suspended(at);
    says(&act(at, &["steer", &second, "or three"]), &["said, as"]);
    says(&act(at, &["abort", &second]), &["its end is asked for"]);
    let ran = line(at, &[]);
    assert!(ran.out.contains("or three waits for people"), "{}", ran.out);
    says(&act(at, &["approve", &suspended(at)]), &["approved"]);
    let ran = line(at, &[]);
    assert!(ran.out.contains("later, to or three: The charge went through."), "{}", ran.out);
    assert_eq!(charges(at), 1);
    assert_eq!(json(at, &["list"])["submissions"].as_array().map(Vec::len), Some(0));
}
