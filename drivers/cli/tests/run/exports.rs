//! `log export` and `log import`: what is taken in is what was written, whole or not at all, and
//! nobody who was accepted is lost on the way.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{charges, complains, desk, everstep, killed, line, says};

/// Exports into a file of this name.
fn exported(at: &Path, name: &str, more: &[&str]) -> String {
    let ran = everstep(at, &[&["log", "export"], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    fs::write(at.join(name), &ran.out).expect("it can be written");
    ran.out
}

fn import(at: &Path, name: &str, db: &str) -> super::Ran {
    everstep(at, &["log", "import", name, "--db", db])
}

/// What `log show` says of the one conversation.
fn shown(at: &Path, db: &str) -> Vec<String> {
    let ran = everstep(at, &["log", "show", "run-", "--db", db, "--json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).expect("one object");
    let records = value["records"].as_array().expect("records");
    records.iter().map(ToString::to_string).collect()
}

#[test]
fn dur_015_store_008_a_settled_conversation_is_the_same_in_another_database() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let text = exported(at, "all.jsonl", &[]);
    let kinds: Vec<String> = text
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            value.as_object().expect("an object").keys().next().expect("a key").clone()
        })
        .collect();
    assert_eq!(kinds[..3], ["header", "lane", "row"]);
    assert_eq!(kinds[kinds.len() - 2..], ["end", "trailer"]);
    assert!(kinds[3..kinds.len() - 2].iter().all(|kind| kind == "batch"), "{kinds:?}");

    says(&import(at, "all.jsonl", "new.db"), &["1 conversation imported, 0"]);
    assert_eq!(shown(at, "new.db"), shown(at, "everstep.db"));
    says(&everstep(at, &["log", "verify", "--db", "new.db"]), &["good"]);
    // The same line finds its settlement there, and does nothing.
    says(&line(at, &["--db", "new.db"]), &["went through"]);
    assert_eq!(charges(at), 1);
    let again = import(at, "all.jsonl", "new.db");
    says(&again, &["0 conversations imported, 1 conversation there already"]);
    // What is taken in can be given on; only its lane has risen.
    let second = exported(at, "second.jsonl", &["--db", "new.db"]);
    let of_log = |text: &str| {
        let batches = text.lines().filter(|line| line.starts_with("{\"batch\""));
        batches.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of_log(&second), of_log(&text));
}

#[test]
fn dur_015_dur_009_what_was_in_flight_is_unknown_after_an_import_and_not_done_again() {
    let home = desk();
    let at = home.path();
    killed(at, "tool.invoke/after");
    exported(at, "all.jsonl", &[]);
    says(&import(at, "all.jsonl", "new.db"), &["1 conversation imported"]);
    assert_eq!(line(at, &["--db", "new.db"]).code, 4, "a person has to say it");
    assert_eq!(charges(at), 1);
    says(&everstep(at, &["log", "verify", "--db", "new.db"]), &["good"]);
    // And what was said there goes along.
    let id = {
        let listed = everstep(at, &["submissions", "list", "--json", "--db", "new.db"]);
        let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("one object");
        listed["submissions"][0]["submission"].as_str().expect("an id").to_owned()
    };
    let said = ["submissions", "resolve", &id, "completed", "--db", "new.db"];
    says(&everstep(at, &said), &["noted"]);
    exported(at, "more.jsonl", &["--db", "new.db"]);
    says(&import(at, "more.jsonl", "third.db"), &["1 conversation imported"]);
    says(&line(at, &["--db", "third.db"]), &["went through"]);
    assert_eq!(charges(at), 1);
}

#[test]
fn dur_001_what_was_accepted_and_not_begun_is_not_lost_on_the_way() {
    let home = desk();
    let at = home.path();
    killed(at, "ledger.claim/before");
    exported(at, "all.jsonl", &[]);
    says(&import(at, "all.jsonl", "new.db"), &["1 conversation imported"]);
    says(&everstep(at, &["submissions", "list", "--db", "new.db"]), &["ready"]);
    says(&line(at, &["--db", "new.db"]), &["went through"]);
    assert_eq!(charges(at), 1);
}

#[test]
fn store_006_a_file_that_is_not_what_was_exported_is_refused_with_the_line() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let text = exported(at, "all.jsonl", &[]);
    let refused = |text: &[u8], says: &[&str]| {
        fs::write(at.join("bad.jsonl"), text).expect("it can be written");
        complains(&import(at, "bad.jsonl", "new.db"), 1, says);
        assert!(!at.join("new.db").exists(), "nothing is made for it");
    };
    refused(b"", &["bad.jsonl:1", "not whole"]);
    refused(b"a letter to a friend\n", &["bad.jsonl:1", "no export of a log"]);
    for end in (1..text.len()).step_by(701).chain([text.len() - 1]) {
        refused(&text.as_bytes()[..end], &["bad.jsonl:"]);
    }
    for at in (0..text.len()).step_by(977) {
        let mut flipped = text.clone().into_bytes();
        flipped[at] ^= 1;
        fs::write(home.path().join("bad.jsonl"), &flipped).expect("it can be written");
        let ran = import(home.path(), "bad.jsonl", "new.db");
        assert!(matches!(ran.code, 1 | 2), "byte {at}: {}{}", ran.out, ran.err);
        assert!(!home.path().join("new.db").exists(), "byte {at}");
    }
    let lines: Vec<&str> = text.lines().collect();
    let without = |gone: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != gone);
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    for gone in 0..lines.len() {
        refused(without(gone).as_bytes(), &["bad.jsonl:"]);
    }
    refused(format!("{text}{}\n", lines[0]).as_bytes(), &["nothing comes behind"]);
    let newer = text.replacen("\"records\":1", "\"records\":9", 1);
    fs::write(at.join("bad.jsonl"), newer).expect("it can be written");
    complains(&import(at, "bad.jsonl", "new.db"), 2, &["its format is", "this build's is"]);
    complains(&import(at, "nothing.jsonl", "new.db"), 3, &["nothing.jsonl"]);
    complains(&everstep(at, &["log", "export", "nobody"]), 2, &["no such conversation"]);
}

#[test]
fn store_004_another_conversation_of_the_same_name_is_refused_by_name_and_stays() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    exported(at, "all.jsonl", &[]);
    // The same line on another file makes a conversation of the same name, at another time.
    says(&line(at, &["--db", "other.db"]), &["went through"]);
    let before = shown(at, "other.db");
    let ran = import(at, "all.jsonl", "other.db");
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("run-") && ran.err.contains("stays as it is"), "{}", ran.err);
    assert_eq!(shown(at, "other.db"), before);
    // One that has gone on since is the same one.
    let begun = desk();
    killed(begun.path(), "model.call/during");
    exported(begun.path(), "begun.jsonl", &[]);
    says(&line(begun.path(), &[]), &["went through"]);
    says(&import(begun.path(), "begun.jsonl", "everstep.db"), &["1 conversation there already"]);
}

#[test]
fn store_002_an_import_that_is_killed_is_finished_by_the_same_line() {
    let home = desk();
    let at = home.path();
    for key in 0..6 {
        let (input, key) = ("x".repeat(20_000), key.to_string());
        says(&everstep(at, &["run", "charge.toml", &input, "--key", &key]), &["went through"]);
    }
    exported(at, "all.jsonl", &[]);
    let mut kills = 0;
    for blocks in [40, 120, 200, 280, 360] {
        // Killed where the write-ahead log becomes longer than this.
        let script = format!(
            "ulimit -c 0; ulimit -f {blocks}; exec \"$1\" log import all.jsonl --db new.db"
        );
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", &script, "sh", env!("CARGO_BIN_EXE_everstep")]).current_dir(at);
        let ended = shell.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a shell");
        kills += usize::from(ended.signal().is_some());
    }
    assert!(kills >= 3, "{kills}");
    let ran = import(at, "all.jsonl", "new.db");
    says(&ran, &["imported"]);
    says(&import(at, "all.jsonl", "new.db"), &["6 conversations there already"]);
    says(&everstep(at, &["log", "verify", "--db", "new.db"]), &["good"]);
    let rows = everstep(at, &["submissions", "list", "--all", "--json", "--db", "new.db"]);
    let rows: serde_json::Value = serde_json::from_str(&rows.out).expect("one object");
    assert_eq!(rows["submissions"].as_array().expect("a list").len(), 6);
}

#[test]
fn sec_07_a_disk_that_is_full_does_not_pass_for_an_export() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let script = "trap '' XFSZ; ulimit -f 1; \"$1\" log export > short.jsonl";
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", script, "sh", env!("CARGO_BIN_EXE_everstep")]).current_dir(at);
    let ended = shell.stderr(Stdio::null()).status().expect("a shell");
    assert_eq!(ended.code(), Some(3));
    complains(&import(at, "short.jsonl", "new.db"), 1, &["short.jsonl:"]);
}

#[test]
fn dur_015_a_ledger_that_is_damaged_is_made_anew_and_the_same_line_finds_its_settlement() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    says(&everstep(at, &["log", "rebuild"]), &["nothing is wrong with its ledger"]);
    let file = at.join("everstep.db");
    let good = fs::read(&file).expect("it is read");
    let wanted = b"order 7";
    let places = good.windows(wanted.len()).enumerate().filter(|(_, it)| it == wanted);
    let mut rebuilt = 0;
    for (place, _) in places {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        fs::write(&file, bytes).expect("it can be written");
        // The input stands in the row and in the log; nothing is made of a log that is damaged.
        let verified = everstep(at, &["log", "verify"]);
        if !verified.out.contains("row 0 of conversation") {
            complains(&everstep(at, &["log", "rebuild"]), 1, &["corrupt"]);
            continue;
        }
        let ran = everstep(at, &["log", "rebuild", "run-"]);
        says(&ran, &["made anew, 1 submission, 1 of the log alone"]);
        says(&everstep(at, &["log", "verify"]), &["good"]);
        says(&line(at, &[]), &["went through"]);
        rebuilt += 1;
    }
    assert!(rebuilt > 0);
    assert_eq!(charges(at), 1);
}
