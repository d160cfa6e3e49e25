//! Files that are not as they should be: what is said, and that nothing is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;

use everstep_machine::effect::CrashPhase;
use everstep_machine::identity::{ConversationId, SubmissionId};
use everstep_machine::ledger;
use everstep_machine::store::{Pipeline, StoreCommand};
use everstep_sqlite::{Options, SqliteStore};

use super::{CHARGE, charges, complains, desk, everstep, line, says, submissions};
use crate::common::{ended, folder};

/// The user that owns nothing.
const NOBODY: u32 = 65_534;
/// Where SQLite keeps the number that says in which format a file is.
const USER_VERSION: std::ops::Range<usize> = 60..64;

/// A folder in which the line has run, and the bytes of its database.
fn used() -> (tempfile::TempDir, Vec<u8>) {
    let home = desk();
    says(&line(home.path(), &[]), &["went through"]);
    let bytes = fs::read(home.path().join("everstep.db")).expect("it is read");
    (home, bytes)
}

/// Puts something else where the database was; the line must complain, and leave it as it is. Once
/// the database is back the line says again what it said.
fn replaced(home: &Path, good: &[u8], other: &[u8], says_of_it: &[&str]) {
    let file = home.join("everstep.db");
    fs::write(&file, other).expect("it can be written");
    complains(&line(home, &[]), 3, says_of_it);
    assert!(fs::read(&file).expect("it is still there") == other, "it was changed");
    fs::write(&file, good).expect("it can be written");
    says(&line(home, &[]), &["went through"]);
    assert_eq!((charges(home), submissions(home)), (1, 1));
}

#[test]
fn store_005_a_database_of_another_version_is_left_as_it_is() {
    let (home, good) = used();
    for (version, advice) in [(9_000_000_i32, "newer build"), (1, "the build that wrote it")] {
        let mut other = good.clone();
        other[USER_VERSION].copy_from_slice(&version.to_be_bytes());
        replaced(home.path(), &good, &other, &["everstep.db", "its format is", advice]);
    }
}

#[test]
fn store_006_a_database_that_is_cut_off_is_left_as_it_is() {
    let (home, good) = used();
    let half = good.len() / 2;
    replaced(home.path(), &good, &good[..half], &["everstep.db", "cut off", "restore a backup"]);
    replaced(home.path(), &good, &good[..50], &["everstep.db", "cut off"]);
}

#[test]
fn store_005_what_is_no_database_is_left_as_it_is() {
    let (home, good) = used();
    replaced(home.path(), &good, b"a letter to a friend", &["everstep.db", "not a database"]);
}

#[test]
fn store_005_an_empty_file_is_a_new_database() {
    let home = desk();
    fs::write(home.path().join("everstep.db"), "").expect("it can be written");
    says(&line(home.path(), &[]), &["went through"]);
    assert_eq!((charges(home.path()), submissions(home.path())), (1, 1));
}

#[test]
fn case_sq_05_a_database_that_is_locked_is_waited_for_and_then_said_so() {
    let (home, _) = used();
    let at = home.path();
    let mut store = SqliteStore::open(Options::new(at.join("everstep.db"))).expect("it opens");
    // Inside its transaction, which holds the lock, the store waits for the test.
    let ((locked, is_locked), (go_on, may_go_on)) = (channel(), channel::<()>());
    store.on_failpoint(move |point| {
        if point.phase == CrashPhase::Before {
            locked.send(()).expect("the test waits for it");
            // It ends when the test lets go.
            let _ = may_go_on.recv();
        }
    });
    let lane = ConversationId::new("another").expect("a name");
    let command = ledger::Command::Ready { submission: SubmissionId([7; 16]) };
    let holder = Pipeline { lane, commands: vec![StoreCommand::Ledger(command)] };
    std::thread::scope(|scope| {
        scope.spawn(|| store.perform(&holder).expect_err("there is no such submission"));
        is_locked.recv().expect("it holds the lock");
        let ran = line(at, &["--key", "second"]);
        complains(&ran, 3, &["another process held the write lock", "run the same line again"]);
        assert_eq!(charges(at), 1);
        drop(go_on);
    });
    says(&line(at, &["--key", "second"]), &["went through"]);
    assert_eq!((charges(at), submissions(at)), (2, 2));
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

/// A superuser may write everything, so the line is run as nobody where the tests run as one.
#[test]
fn arc_14_a_folder_that_may_not_be_written_is_said_so() {
    let (home, tools) = (folder(), folder());
    let (at, tool) = (home.path(), tools.path().join("everstep"));
    fs::copy(env!("CARGO_BIN_EXE_everstep"), &tool).expect("it can be copied");
    fs::write(at.join("charge.toml"), CHARGE).expect("it can be written");
    mode(tools.path(), 0o755);
    mode(&at.join("charge.toml"), 0o644);
    let is_superuser = fs::metadata(&tool).expect("it is there").uid() == 0;
    let run = || {
        let mut command = Command::new(&tool);
        command.args(super::LINE).current_dir(at);
        if is_superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        ended(command.output().expect("it can be run"))
    };
    mode(at, 0o555);
    complains(&run(), 3, &["nothing can be created in this folder", "make the folder writable"]);
    mode(at, 0o777);
    says(&run(), &["went through"]);
    mode(at, 0o555);
    complains(&run(), 3, &["nothing can be created in this folder"]);
    mode(at, 0o777);
    mode(&at.join("everstep.db"), 0o444);
    complains(&run(), 3, &["everstep.db", "no permission to write it"]);
    mode(&at.join("everstep.db"), 0o644);
    says(&run(), &["went through"]);
    assert_eq!(charges(at), 1);
    assert_eq!(everstep(at, &["log", "verify"]).code, 0);
}
