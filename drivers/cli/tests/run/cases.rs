//! Cases from the field, on the built binary and a real file.

use std::fs;
use std::path::Path;

use super::approvals::{asking, shown};
use super::{charges, desk, desk_with, everstep, killed, line, says};

/// A folder in which a call waits for people.
fn suspended() -> (tempfile::TempDir, String) {
    let home = desk_with(&asking());
    assert_eq!(line(home.path(), &[]).code, 4);
    let (id, _) = shown(home.path());
    (home, id)
}

#[test]
fn case_ap_05_a_decision_waits_for_whoever_comes_however_often_they_fail_to_start() {
    let (home, id) = suspended();
    let at = home.path();
    says(&everstep(at, &["submissions", "approve", &id]), &["approved"]);
    for point in ["ledger.claim/before", "ledger.claim/after", "conversation.fence/after"] {
        killed(at, point);
        let (_, told) = shown(at);
        assert_eq!(told["asked"][0]["state"], "approved", "{point}: {told}");
        assert_eq!(charges(at), 0, "{point}");
    }
    says(&line(at, &["--lease-ms", "100"]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
}

#[test]
fn case_ap_07_two_databases_made_of_one_backup_are_decided_apart() {
    let (home, id) = suspended();
    let at = home.path();
    says(&everstep(at, &["backup", "copy"]), &["1 conversation"]);
    let other = desk_with(&asking());
    let copy = at.join("copy").display().to_string();
    let restored = everstep(other.path(), &["restore", &copy]);
    assert_eq!(restored.code, 0, "{}{}", restored.out, restored.err);
    says(&everstep(at, &["submissions", "approve", &id]), &["approved"]);
    says(&everstep(other.path(), &["submissions", "deny", &id]), &["denied"]);
    says(&line(at, &[]), &["The charge went through."]);
    let denied = line(other.path(), &[]);
    assert_eq!((denied.code, charges(at), charges(other.path())), (1, 1, 0), "{}", denied.err);
}

/// Every place of the file in which the parameters stand that somebody is asked about.
fn places(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(wanted.len()).enumerate();
    windows.filter(|(_, it)| *it == wanted).map(|(at, _)| at).collect()
}

#[test]
fn case_ap_19_a_request_that_was_tampered_with_is_never_executed() {
    let (home, id) = suspended();
    let (_, told) = shown(home.path());
    let asked = told["asked"][0]["parameters"].as_str().expect("what is asked about");
    let file = fs::read(home.path().join("everstep.db")).expect("the database");
    let places = places(&file, asked.as_bytes());
    assert!(places.len() >= 2, "the response and the request hold `{asked}`: {places:?}");
    for place in places {
        let other = desk_with(&asking());
        let at = other.path();
        let mut tampered = file.clone();
        tampered[place + asked.len() / 2] ^= 1;
        fs::write(at.join("everstep.db"), tampered).expect("it can be written");
        everstep(at, &["submissions", "approve", &id]);
        let ran = line(at, &[]);
        assert!(ran.code == 3 || ran.code == 4, "{place}: {} {}{}", ran.code, ran.out, ran.err);
        assert_eq!(charges(at), 0, "what was not approved is not done");
        assert_ne!(everstep(at, &["log", "verify"]).code, 0, "{place}");
    }
}

#[test]
fn case_ab_09_an_abort_while_nobody_works_is_followed_before_the_first_call() {
    for point in ["ledger.ready/after", "model.call/after", "tool.invoke/before"] {
        let home = desk();
        let at: &Path = home.path();
        killed(at, point);
        let (id, _) = shown(at);
        says(&everstep(at, &["submissions", "abort", &id]), &["asked for"]);
        let ran = line(at, &["--lease-ms", "100"]);
        assert_eq!((ran.code, charges(at)), (1, 0), "{point}: {}{}", ran.out, ran.err);
        assert!(ran.out.starts_with("aborted"), "{point}: {}", ran.out);
    }
}
