//! Large results, kept whole beside the log (STORE-009).

use std::fs;
use std::path::Path;

use super::{CHARGE, charges, command, complains, desk_with, everstep, line, says};

/// Stands in the middle of the result: in no preview.
const MIDDLE: &str = "exactly-in-the-middle";

/// A tool whose result is longer than is shown, with a secret in it.
fn agent() -> String {
    let filler = "x".repeat(200);
    let result = format!(
        "redact = [\"/card\"]\nresult_bytes = 64\n\
         result = {{ card = \"canary-4111\", receipt = \"{filler}{MIDDLE}{filler}\" }}"
    );
    CHARGE.replace("result = { receipt = \"R-1\" }", &result)
}

/// The name of the one artifact, as `log show` has it.
fn name(at: &Path, db: &str) -> String {
    let shown = everstep(at, &["log", "show", "run-", "--db", db]);
    says(&shown, &["whole in artifact "]);
    assert!(!shown.out.contains(MIDDLE), "the record has only its ends: {}", shown.out);
    let (_, behind) = shown.out.split_once("whole in artifact ").expect("it is named");
    behind.chars().take_while(char::is_ascii_hexdigit).collect()
}

fn whole(at: &Path, db: &str, artifact: &str) -> String {
    let ran = everstep(at, &["log", "artifact", "run-", artifact, "--db", db]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

#[test]
fn store_009_run_019_a_long_result_is_shown_by_its_ends_and_kept_whole_without_its_secret() {
    let home = desk_with(&agent());
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let artifact = name(at, "everstep.db");
    assert_eq!(artifact.len(), 64);
    let text = whole(at, "everstep.db", &artifact);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(value["receipt"].as_str().is_some_and(|it| it.contains(MIDDLE)));
    assert_eq!(value["card"], "[redacted]");
    let file = fs::read(at.join("everstep.db")).expect("it is there");
    assert!(!file.windows(11).any(|it| it == b"canary-4111"), "ARC-12");
    assert_eq!(whole(at, "everstep.db", &artifact[..8]), text, "as many digits as tell it apart");
    complains(&everstep(at, &["log", "artifact", "run-", "zz"]), 2, &["no record of run-"]);
    says(&everstep(at, &["log", "verify"]), &["1 artifact"]);
    let shown = everstep(at, &["log", "artifact", "run-", &artifact, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).expect("one object");
    assert_eq!((&shown["media"], &shown["text"]), (&"application/json".into(), &text.into()));
}

#[test]
fn store_009_an_artifact_is_there_exactly_when_its_record_is_whoever_is_killed() {
    for phase in ["before", "after"] {
        let home = desk_with(&agent());
        let at = home.path();
        // Each command by itself, so that there is a moment behind the append and before the rest.
        let armed = format!("conversation.append:ToolSettled/{phase}=kill");
        let mut process = command(at, &["--lease-ms", "100", "--commit", "per-command"]);
        let ran = process.env("EVERSTEP_FAILPOINT", armed).output();
        assert_eq!(ran.expect("the binary can be run").status.code(), None, "{phase}");
        let shown = everstep(at, &["log", "show", "run-"]).out;
        let is_named = shown.contains("whole in artifact");
        assert_eq!(is_named, phase == "after", "{shown}");
        let verified = everstep(at, &["log", "verify"]);
        says(&verified, &["good"]);
        assert_eq!(verified.out.contains("1 artifact"), is_named, "{}", verified.out);
        assert!(!verified.out.contains("no record names"), "{}", verified.out);
        if is_named {
            says(&line(at, &[]), &["went through"]);
            let artifact = name(at, "everstep.db");
            assert!(whole(at, "everstep.db", &artifact).contains(MIDDLE));
        }
        assert_eq!(charges(at), 1);
    }
}

#[test]
fn store_009_exports_imports_backups_and_restores_carry_artifacts() {
    let home = desk_with(&agent());
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let artifact = name(at, "everstep.db");
    let text = whole(at, "everstep.db", &artifact);
    let exported = everstep(at, &["log", "export"]).out;
    fs::write(at.join("all.jsonl"), &exported).expect("it can be written");
    let import = |name: &str, db: &str| everstep(at, &["log", "import", name, "--db", db]);
    says(&import("all.jsonl", "new.db"), &["1 conversation imported"]);
    assert_eq!(whole(at, "new.db", &artifact), text);
    says(&everstep(at, &["log", "verify", "--db", "new.db"]), &["good", "1 artifact"]);
    // An export without it, or with another one in its place, is taken in not at all.
    let lines: Vec<&str> = exported.lines().collect();
    let place = lines.iter().position(|it| it.starts_with("{\"artifact\"")).expect("it is there");
    let bent = exported.replace(MIDDLE, "exactly-in-the-MIDDLE");
    fs::write(at.join("bent.jsonl"), bent).expect("it can be written");
    let refused = import("bent.jsonl", "bent.db");
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    let without = [&lines[..place], &lines[place + 1..]].concat().join("\n") + "\n";
    fs::write(at.join("without.jsonl"), without).expect("it can be written");
    assert_eq!(import("without.jsonl", "without.db").code, 1);

    assert_eq!(everstep(at, &["backup", "monday.backup"]).code, 0);
    assert_eq!(everstep(at, &["restore", "monday.backup", "--db", "old.db"]).code, 0);
    assert_eq!(whole(at, "old.db", &artifact), text);
}

#[test]
fn store_009_a_flipped_byte_names_its_artifact_and_loses_nothing_else() {
    let home = desk_with(&agent());
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let artifact = name(at, "everstep.db");
    let mut file = fs::read(at.join("everstep.db")).expect("it is there");
    let found = file.windows(MIDDLE.len()).position(|it| it == MIDDLE.as_bytes());
    file[found.expect("it is in the file")] ^= 1;
    fs::write(at.join("everstep.db"), &file).expect("it can be written");
    let read = everstep(at, &["log", "artifact", "run-", &artifact]);
    complains(&read, 1, &["the artifact", &artifact, "not those that it is named by"]);
    let verified = everstep(at, &["log", "verify"]);
    assert_eq!(verified.code, 1);
    assert!(verified.out.contains(&artifact), "{}", verified.out);
    says(&everstep(at, &["log", "show", "run-"]), &["completed: The charge went through."]);
    says(&line(at, &[]), &["went through"]);
    assert_eq!(charges(at), 1);
}
