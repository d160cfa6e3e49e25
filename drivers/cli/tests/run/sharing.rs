//! Several processes on one file, and what they leave beside it.

use std::fs;
use std::path::Path;

use super::{CHARGE, charges, command, desk, desk_with, everstep, killed, line, says, submissions};
use crate::common::{Ran, ended};

/// The names of everything in the folder that belongs to the database.
fn files(home: &Path) -> Vec<String> {
    let all = fs::read_dir(home).expect("it is read").map(|file| file.expect("a file").file_name());
    let mut names: Vec<_> = all.map(|name| name.into_string().expect("text")).collect();
    names.retain(|name| name.starts_with("everstep.db"));
    names.sort();
    names
}

#[test]
fn ops_03_a_run_that_has_ended_leaves_one_file() {
    let home = desk();
    says(&line(home.path(), &[]), &["went through"]);
    assert_eq!(files(home.path()), ["everstep.db"]);
    says(&line(home.path(), &[]), &["went through"]);
    assert_eq!(files(home.path()), ["everstep.db"], "also when it was settled already");
    let broken = desk_with(&CHARGE.replace("charges.txt", "no/such/folder"));
    says(&line(broken.path(), &[]), &["went through"]);
    assert_eq!(files(broken.path()), ["everstep.db"], "also when a tool has failed");
}

#[test]
fn ops_03_a_run_that_waits_for_a_person_leaves_one_file() {
    let home = desk();
    killed(home.path(), "tool.invoke/after");
    assert!(files(home.path()).len() > 1, "a killed process tidies up nothing");
    assert_eq!(line(home.path(), &[]).code, 4);
    assert_eq!(files(home.path()), ["everstep.db"]);
}

/// Runs several lines at the same time.
fn together(home: &Path, lines: &[&[&str]]) -> Vec<Ran> {
    let children: Vec<_> = lines
        .iter()
        .map(|more| command(home, more).spawn().expect("the binary can be run"))
        .collect();
    children.into_iter().map(|it| ended(it.wait_with_output().expect("it ends"))).collect()
}

/// An agent whose tool takes so long that everybody is there before it has returned.
fn slow() -> String {
    CHARGE.replace("append =", "latency_ms = 500\nappend =")
}

#[test]
fn dur_005_the_same_line_several_times_at_once_is_one_submission() {
    let home = desk_with(&slow());
    for ran in together(home.path(), &[&[], &[], &[]]) {
        says(&ran, &["The charge went through."]);
    }
    assert_eq!((charges(home.path()), submissions(home.path())), (1, 1));
    says(&everstep(home.path(), &["log", "verify"]), &["good", "1 row"]);
}

#[test]
fn dur_005_other_lines_at_the_same_time_are_submissions_of_their_own() {
    let home = desk_with(&slow());
    let lines: [&[&str]; 4] = [&[], &["--key", "b"], &["--key", "c"], &["--commit", "per-command"]];
    for ran in together(home.path(), &lines) {
        says(&ran, &["The charge went through."]);
    }
    assert_eq!((charges(home.path()), submissions(home.path())), (3, 3), "two lines were one");
    says(&everstep(home.path(), &["log", "verify"]), &["good", "the file"]);
}
