//! Durable tools of agent files: killed between any two steps, and run again.

use std::fs;
use std::path::Path;

use super::{desk_with, everstep, killed, line, says};

const BOOK: &str = include_str!("../../../../corpus/agents/book.toml");

/// The names of the steps that have appended, in order.
fn booked(home: &Path) -> Vec<String> {
    let text = fs::read_to_string(home.join("bookings.txt")).unwrap_or_default();
    let name = |line: &str| line.split(' ').nth(1).expect("a name").to_owned();
    text.lines().map(name).collect()
}

/// The steps that are recorded, with what they gave.
fn recorded(home: &Path) -> Vec<(String, serde_json::Value)> {
    let shown = everstep(home, &["log", "show", "run-", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).expect("one object");
    let records = shown["records"].as_array().expect("a list").iter();
    let steps = records.filter(|it| it["kind"] == "StepRecorded").map(|it| &it["record"]);
    steps
        .map(|it| (it["step"].as_str().expect("a name").to_owned(), it["output"].clone()))
        .collect()
}

#[test]
fn dur_010_a_booking_is_made_step_by_step_and_the_log_shows_each() {
    let home = desk_with(BOOK);
    let at = home.path();
    says(&line(at, &[]), &["The trip to Graz is booked."]);
    assert_eq!(booked(at), ["reserve", "charge", "issue"]);
    let shown = everstep(at, &["log", "show", "run-"]);
    says(&shown, &["StepRecorded", "step 2, `charge` version 1, gave {\"receipt\":\"R-1\"}"]);
    let names: Vec<_> = recorded(at).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["reserve", "charge", "issue"]);
}

#[test]
fn dur_010_a_step_that_is_recorded_does_not_run_again() {
    let home = desk_with(BOOK);
    let at = home.path();
    killed(at, "tool.next_step/before");
    assert_eq!(booked(at), ["reserve"]);
    assert_eq!(recorded(at).len(), 1);
    // Whoever takes the line away sees that nobody writes it again.
    fs::remove_file(at.join("bookings.txt")).expect("it is there");
    says(&line(at, &[]), &["The trip to Graz is booked."]);
    assert_eq!(booked(at), ["charge", "issue"]);
    assert_eq!(recorded(at).len(), 3);
}

#[test]
fn dur_010_the_step_that_was_not_recorded_runs_again_under_its_key() {
    let home = desk_with(BOOK);
    let at = home.path();
    killed(at, "conversation.append:StepRecorded/before@2");
    assert_eq!(booked(at), ["reserve", "charge"]);
    assert_eq!(recorded(at).len(), 1);
    let before = fs::read_to_string(at.join("bookings.txt")).expect("it is there");
    let lines: Vec<_> = before.lines().collect();
    fs::write(at.join("bookings.txt"), format!("{}\n", lines[0])).expect("it can be written");
    says(&line(at, &[]), &["The trip to Graz is booked."]);
    let after = fs::read_to_string(at.join("bookings.txt")).expect("it is there");
    assert!(after.starts_with(&before), "the same key and the same words:\n{before}\n{after}");
    assert_eq!(booked(at), ["reserve", "charge", "issue"]);
}

#[test]
fn dur_010_a_step_whose_line_is_there_already_does_not_append_another() {
    let home = desk_with(BOOK);
    let at = home.path();
    killed(at, "tool.next_step/after");
    assert_eq!(booked(at), ["reserve", "charge"], "done, and not recorded");
    says(&line(at, &[]), &["The trip to Graz is booked."]);
    assert_eq!(booked(at), ["reserve", "charge", "issue"]);
}

#[test]
fn dur_010_a_step_that_cannot_be_done_is_the_failure_of_the_call_and_leaves_nothing_recorded() {
    let home = desk_with(&BOOK.replace(
        "{ name = \"charge\", append = \"bookings.txt\"",
        "{ name = \"charge\", append = \"no/where\"",
    ));
    let at = home.path();
    let ran = line(at, &[]);
    assert!(ran.err.contains("step charge appends nothing to no/where"), "{}", ran.err);
    says(&ran, &["booked"]);
    assert_eq!(booked(at), ["reserve"]);
    assert_eq!(recorded(at).len(), 1);
}
