//! A process that still works on the database from which a conversation was imported elsewhere.

use std::fs;
use std::path::Path;
use std::process::Child;

use super::signals::{signal, started, takes};
use super::{CHARGE, Ran, charges, desk_with, everstep, line, says};
use crate::common::ended;

/// A line that stands still in the middle of its call, and what it had recorded is in `new.db`.
fn handed_over() -> (tempfile::TempDir, Child) {
    let home = desk_with(&takes(CHARGE, 700));
    let at = home.path();
    let zombie = started(at, &["--lease-ms", "3600000"], "tool.invoke/during");
    signal(&zombie, "STOP");
    let exported = everstep(at, &["log", "export"]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    fs::write(at.join("all.jsonl"), &exported.out).expect("it can be written");
    says(&everstep(at, &["log", "import", "all.jsonl", "--db", "new.db"]), &["1 conversation imp"]);
    assert_eq!(charges(at), 0, "it stands still before its call has happened");
    (home, zombie)
}

fn wakes(zombie: Child) -> Ran {
    signal(&zombie, "CONT");
    ended(zombie.wait_with_output().expect("it ends"))
}

/// The records of the one conversation, with their epochs.
fn records(at: &Path, db: &str) -> Vec<serde_json::Value> {
    let ran = everstep(at, &["log", "show", "run-", "--db", db, "--json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).expect("one object");
    value["records"].as_array().expect("records").clone()
}

#[test]
fn store_013_dur_006_who_still_works_on_the_source_changes_nothing_where_it_was_imported() {
    let (home, zombie) = handed_over();
    let at = home.path();
    // Nobody waits for the hour that the zombie has leased the lane for in the other database.
    let ran = line(at, &["--db", "new.db"]);
    assert_eq!(ran.code, 4, "nobody knows what became of the call: {}{}", ran.out, ran.err);
    let before = records(at, "new.db");
    let unknown = before.iter().find(|it| it["kind"] == "ToolUnknown").expect("a doubt");
    assert!(unknown["epoch"].as_u64() > Some(1_700_000_000_000_000), "{unknown}");

    let woken = wakes(zombie);
    assert_eq!(woken.code, 0, "it knows nothing of it: {}", woken.err);
    assert_eq!(charges(at), 1, "what it had begun happens");
    assert_eq!(records(at, "new.db"), before);
    says(&everstep(at, &["log", "verify", "--db", "new.db"]), &["good"]);

    // Its history is another one now, and is not taken for what is here.
    let exported = everstep(at, &["log", "export"]).out;
    fs::write(at.join("later.jsonl"), exported).expect("it can be written");
    let ran = everstep(at, &["log", "import", "later.jsonl", "--db", "new.db"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert_eq!(records(at, "new.db"), before);

    // A person finds the charge, and it is not made again.
    let listed = everstep(at, &["submissions", "list", "--json", "--db", "new.db"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("one object");
    let id = listed["submissions"][0]["submission"].as_str().expect("an id");
    let said = ["submissions", "resolve", id, "completed", "--db", "new.db"];
    says(&everstep(at, &said), &["noted"]);
    says(&line(at, &["--db", "new.db"]), &["went through"]);
    assert_eq!(charges(at), 1);
}

#[test]
fn store_013_dur_006_who_still_works_on_a_database_that_was_replaced_records_nothing_any_more() {
    let (home, zombie) = handed_over();
    let at = home.path();
    for name in ["everstep.db", "everstep.db-wal", "everstep.db-shm"] {
        fs::rename(at.join(name), at.join(format!("old-{name}"))).expect("it is there");
    }
    fs::rename(at.join("new.db"), at.join("everstep.db")).expect("it is closed, and one file");
    let before = records(at, "everstep.db");
    let woken = wakes(zombie);
    assert_eq!(woken.code, 3, "{}{}", woken.out, woken.err);
    assert_eq!(records(at, "everstep.db"), before);
    let ran = line(at, &[]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(charges(at) <= 1, "and nobody makes the call again");
    says(&everstep(at, &["log", "verify"]), &["good"]);
}
