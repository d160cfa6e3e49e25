//! Each broken store is found, by its rule and with a script that shows it.

use super::broken::{Shelter, Wrong};
use crate::conformance::{Check, Finding, check, fail, race};

fn found(wrong: Wrong) -> Finding {
    check(&mut Shelter::of(wrong), 1, 20).expect_err("the store is broken")
}

#[test]
fn store_010_a_store_that_drops_a_change_is_found() {
    let finding = found(Wrong::DropsAChange);
    assert!(matches!(finding.check, Check::Handles | Check::Lanes), "{finding}");
    assert!(finding.script.len() <= 3, "{finding}");
    assert!(finding.script.concat().contains("Renew"), "{finding}");
}

#[test]
fn store_010_a_store_that_answers_the_fenced_is_found() {
    let finding = found(Wrong::AnswersTheFenced);
    assert!(matches!(finding.check, Check::Refusals | Check::Repeats), "{finding}");
    assert!(finding.expected.contains("Fenced"), "{finding}");
    assert!(finding.found.contains("Appended"), "{finding}");
}

#[test]
fn store_010_a_store_that_forgets_when_it_is_opened_again_is_found() {
    let finding = found(Wrong::Forgets);
    assert_eq!(finding.check, Check::Reopening, "{finding}");
    assert!(finding.script.len() <= 2, "{finding}");
}

#[test]
fn store_002_a_store_that_goes_on_behind_a_refusal_is_found() {
    let finding = found(Wrong::GoesOn);
    assert_eq!(finding.check, Check::Handles, "{finding}");
    assert_eq!(finding.script.len(), 1, "{finding}");
}

#[test]
fn case_cr_03_a_store_that_takes_two_appends_over_one_tail_is_found() {
    let finding = found(Wrong::TakesBoth);
    assert!(finding.expected.contains("TailConflict"), "{finding}");
    assert!(finding.found.contains("Appended"), "{finding}");
}

#[test]
fn case_cr_03_two_handles_that_commit_one_position_are_found() {
    let mut shelter = Shelter::of(Wrong::ReadsBeforeItLocks);
    let finding = race(&mut shelter, 1, 500).expect_err("the store is broken");
    assert_eq!(finding.check, Check::Races, "{finding}");
    assert!(finding.script.concat().contains("at once"), "{finding}");
}

#[test]
fn store_010_a_finding_says_what_was_done_expected_and_found() {
    let text = found(Wrong::Forgets).to_string();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].ends_with("what was acknowledged is there after opening again"), "{text}");
    assert_eq!(lines[1], "seed 1");
    assert!(lines[2].starts_with("   1. Send"), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("expected: ")), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("found:    ")), "{text}");
}

#[test]
fn store_010_a_store_that_answers_what_was_cut_off_as_if_it_were_done_is_found() {
    let mut shelter = Shelter::of(Wrong::AnswersFromMemory);
    let finding = fail(&mut shelter, 1, 20).expect_err("the store is broken");
    assert_eq!(finding.check, Check::Failures, "{finding}");
    assert!(finding.script.len() <= 3, "{finding}");
}
