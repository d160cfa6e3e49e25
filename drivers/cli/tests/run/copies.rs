//! `backup` and `restore`, as an operator types them: whole or nothing, and nothing done twice
//! without a word.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::{CHARGE, charges, command, complains, desk, desk_with, everstep, killed, line, says};

const NOBODY: u32 = 65_534;

fn names(at: &Path) -> Vec<String> {
    let entries = fs::read_dir(at).expect("a folder");
    let name = |it: std::io::Result<fs::DirEntry>| it.expect("an entry").file_name();
    let mut names: Vec<String> =
        entries.map(|it| name(it).into_string().expect("a name")).collect();
    names.sort();
    names
}

/// A folder in which the line was killed after its tool had charged, before anybody knew.
fn in_flight() -> tempfile::TempDir {
    let home = desk();
    killed(home.path(), "tool.invoke/after");
    assert_eq!(charges(home.path()), 1);
    home
}

#[test]
fn store_013_what_was_in_flight_at_a_backup_is_unknown_in_the_database_that_is_made_of_it() {
    let home = in_flight();
    let at = home.path();
    let made = everstep(at, &["backup", "monday"]);
    says(&made, &["1 conversation, 1 submission, 1 of them not settled", "all of it verifies"]);
    // Life goes on: a person says what became of the call, and the line carries on.
    assert_eq!(line(at, &[]).code, 4);
    let listed = everstep(at, &["submissions", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("one object");
    let id = listed["submissions"][0]["submission"].as_str().expect("an id").to_owned();
    says(&everstep(at, &["submissions", "resolve", &id, "completed"]), &["noted"]);
    says(&line(at, &[]), &["went through"]);
    // The database is lost.
    fs::rename(at.join("everstep.db"), at.join("lost.db")).expect("it can be moved");
    let restored = everstep(at, &["restore", "monday"]);
    says(&restored, &["1 of them not settled", "epochs begin behind 1"]);
    assert!(restored.err.contains("is not known in this database"), "{}", restored.err);
    assert_eq!(line(at, &[]).code, 4, "a person has to say it again");
    assert_eq!(charges(at), 1);
    says(&everstep(at, &["log", "verify"]), &["good"]);
    let epochs = everstep(at, &["log", "show", "run-", "--json"]);
    let epochs: serde_json::Value = serde_json::from_str(&epochs.out).expect("one object");
    let records = epochs["records"].as_array().expect("records").iter();
    let unknown = records.filter(|it| it["kind"] == "ToolUnknown");
    let epochs: Vec<u64> = unknown.map(|it| it["epoch"].as_u64().expect("a number")).collect();
    assert!(epochs.len() == 1 && epochs[0] > 1_700_000_000_000_000, "{epochs:?}");
}

#[test]
fn store_013_what_was_not_settled_at_a_backup_can_be_ended_by_its_restore() {
    let home = desk();
    let at = home.path();
    killed(at, "model.call/during");
    says(&everstep(at, &["backup", "monday", "--json"]), &["\"unsettled\": 1"]);
    says(&everstep(at, &["backup", "--db", "monday", "copy"]), &["1 submission"]);
    let args = ["restore", "monday", "--db", "new.db", "--abort-unsettled", "--reason", "lost"];
    says(&everstep(at, &args), &["the end of 1 submission is asked for"]);
    let ran = line(at, &["--db", "new.db"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert_eq!(charges(at), 0);
    let args = ["restore", "monday", "--db", "other.db", "--json"];
    says(&everstep(at, &args), &["\"aborted\": 0", "\"epoch\": 1", "\"database\": \"other.db\""]);
    says(&line(at, &["--db", "other.db"]), &["went through"]);
}

#[test]
fn store_013_nobody_runs_anything_on_a_backup_and_nothing_is_overwritten() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    says(&everstep(at, &["backup", "monday"]), &["1 submission, "]);
    complains(&line(at, &["--db", "monday"]), 3, &["this is a backup", "everstep restore"]);
    says(&everstep(at, &["log", "verify", "--db", "monday"]), &["good"]);
    let before = names(at);
    complains(&everstep(at, &["backup", "monday"]), 2, &["monday", "there already"]);
    complains(&everstep(at, &["restore", "monday"]), 2, &["everstep.db", "there already"]);
    let plain = everstep(at, &["restore", "everstep.db", "--db", "new.db"]);
    complains(&plain, 2, &["everstep.db", "this is no backup"]);
    let nothing = everstep(at, &["backup", "new", "--db", "nothing.db"]);
    complains(&nothing, 3, &["nothing.db", "no such database"]);
    complains(&everstep(at, &["backup", "no/where"]), 3, &["no such folder"]);
    let half = fs::read(at.join("monday")).expect("it is read");
    fs::write(at.join("half"), &half[..half.len() / 2]).expect("it can be written");
    complains(&everstep(at, &["restore", "half", "--db", "new.db"]), 3, &["half", "cut off"]);
    fs::write(at.join("half"), "").expect("it can be written");
    complains(&everstep(at, &["restore", "half", "--db", "new.db"]), 3, &["half", "empty"]);
    fs::remove_file(at.join("half")).expect("it is there");
    assert_eq!(names(at), before, "nothing is left behind");
}

/// Runs a line in a shell that kills it where a file becomes longer than so many blocks of 512
/// bytes: in the middle of what it writes.
fn cut(at: &Path, blocks: u64, trap: &str, args: &str) -> std::process::ExitStatus {
    let script = format!("{trap} ulimit -c 0; ulimit -f {blocks}; exec \"$1\" {args}");
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", &script, "sh", env!("CARGO_BIN_EXE_everstep")]).current_dir(at);
    shell.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a shell")
}

#[test]
fn store_013_a_copy_that_is_killed_half_way_is_none_and_one_for_which_there_is_no_room_too() {
    let home = desk();
    let at = home.path();
    for key in 0..6 {
        let input = "x".repeat(20_000);
        let key = key.to_string();
        says(&everstep(at, &["run", "charge.toml", &input, "--key", &key]), &["went through"]);
    }
    says(&everstep(at, &["backup", "whole"]), &["6 submissions"]);
    let blocks = fs::metadata(at.join("whole")).expect("it is there").len() / 512;
    let (mut kills, mut refusals) = (0, 0);
    for part in [1, blocks / 4, blocks / 2, blocks - 8] {
        for args in ["backup made", "restore whole --db made"] {
            let ended = cut(at, part, "", args);
            kills += u64::from(ended.signal().is_some());
            let code = cut(at, part, "trap '' XFSZ;", args).code();
            refusals += u64::from(code == Some(3));
            assert!(!at.join("made").exists(), "{args}, {part} of {blocks} blocks");
        }
    }
    assert_eq!((kills, refusals), (8, 8), "each of them was in the middle");
    // What was left by those that were killed is in nobody's way.
    says(&everstep(at, &["backup", "made"]), &["6 submissions"]);
    fs::remove_file(at.join("made")).expect("it is there");
    says(&everstep(at, &["restore", "whole", "--db", "made"]), &["6 submissions"]);
    says(&everstep(at, &["log", "verify", "--db", "made"]), &["good"]);
}

#[test]
fn store_013_a_backup_is_one_moment_while_others_work() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    let keys = 0..6;
    std::thread::scope(|scope| {
        let work = scope.spawn(move || {
            for key in keys {
                let key = key.to_string();
                let ran = command(at, &["--key", &key]).output().expect("it can be run");
                assert!(ran.status.success(), "{key}");
            }
        });
        let mut made = 0;
        while !work.is_finished() || made < 2 {
            let (from, to) = (format!("{made}.backup"), format!("{made}.db"));
            says(&everstep(at, &["backup", &from]), &["all of it verifies"]);
            says(&everstep(at, &["restore", &from, "--db", &to]), &["all of it verifies"]);
            made += 1;
        }
        work.join().expect("everybody is served");
        for n in 0..made {
            let db = format!("{n}.db");
            says(&everstep(at, &["log", "verify", "--db", &db]), &["good"]);
        }
    });
}

#[test]
fn store_013_a_folder_that_may_not_be_written_is_said_so() {
    let home = desk_with(CHARGE);
    let at = home.path();
    let tools = tempfile::tempdir().expect("a folder");
    let tool = tools.path().join("everstep");
    fs::copy(env!("CARGO_BIN_EXE_everstep"), &tool).expect("it can be copied");
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    mode(tools.path(), 0o755);
    says(&line(at, &[]), &["went through"]);
    mode(&at.join("everstep.db"), 0o644);
    mode(at, 0o555);
    let out = tempfile::tempdir().expect("a folder");
    mode(out.path(), 0o777);
    let is_superuser = Command::new("id").arg("-u").output().expect("a user").stdout == b"0\n";
    let run = |args: &[&str]| {
        let mut command = Command::new(&tool);
        command.args(args).current_dir(at);
        if is_superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        crate::common::ended(command.output().expect("it can be run"))
    };
    complains(&run(&["backup", "here"]), 3, &["here", "could not be made"]);
    let there = out.path().join("there");
    let there = there.to_str().expect("text");
    says(&run(&["backup", there]), &["1 submission"]);
    complains(&run(&["restore", there, "--db", "new.db"]), 3, &["new.db", "could not be made"]);
    mode(at, 0o755);
    assert!(!at.join("here").exists() && !at.join("new.db").exists());
}
