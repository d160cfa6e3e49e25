//! Files and folders that may not be written. A superuser may write everything, so the store runs
//! as nobody where the tests run as one.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, admit, call, conversation};

/// The user that owns nothing.
const NOBODY: u32 = 65_534;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A folder with a database, and beside it a copy of the worker that nobody may run.
struct Place {
    folder: Folder,
    tool: PathBuf,
    tools: Folder,
}

impl Place {
    fn new() -> Self {
        let (folder, tools) = (Folder::new(), Folder::new());
        let tool = tools.path().join("worker");
        fs::copy(env!("CARGO_BIN_EXE_everstep-sqlite-worker"), &tool).unwrap();
        mode(tools.path(), 0o755);
        mode(folder.path(), 0o777);
        Self { folder, tool, tools }
    }

    fn with_database() -> Self {
        let place = Self::new();
        admit(&mut place.folder.open(), call(&conversation("desk"), "1", "hello"));
        mode(&place.folder.file(), 0o666);
        place
    }

    /// What a process without rights says when it opens the database.
    fn said(&self, verb: &str) -> String {
        self.said_of(verb, &self.folder.file())
    }

    fn said_of(&self, verb: &str, database: &Path) -> String {
        let mut command = Command::new(&self.tool);
        command.args([verb, database.to_str().unwrap()]);
        command.args(["desk"].iter().filter(|_| verb == "verify"));
        if fs::metadata(self.tools.path()).unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn the_worker_opens_what_it_may_open() {
    let place = Place::with_database();
    assert_eq!(place.said("open"), "open\n");
    assert_eq!(place.said("read"), "open\n");
}

#[test]
fn open_error_read_only_a_file_that_may_not_be_written() {
    let place = Place::with_database();
    mode(&place.folder.file(), 0o444);
    let before = place.folder.bytes();
    let said = place.said("open");
    assert!(said.starts_with("ReadOnly {") && said.contains("make it writable"), "{said}");
    assert_eq!(place.folder.bytes(), before);
    assert_eq!(place.said("read"), "open\n", "looking needs no such right");
}

#[test]
fn open_error_read_only_folder_with_and_without_a_database() {
    for place in [Place::with_database(), Place::new()] {
        let before = place.folder.bytes();
        mode(place.folder.path(), 0o555);
        let said = place.said("open");
        mode(place.folder.path(), 0o777);
        assert!(said.starts_with("ReadOnlyFolder {"), "{said}");
        assert!(said.contains("make the folder writable"), "{said}");
        assert_eq!(place.folder.bytes(), before);
    }
}

#[test]
fn open_error_read_only_folder_looking_needs_it_only_for_a_log() {
    let place = Place::with_database();
    // One whose name SQLite could take for something else.
    let odd = place.folder.path().join("50% #1?.db");
    fs::copy(place.folder.file(), &odd).unwrap();
    mode(place.folder.path(), 0o555);
    assert_eq!(place.said_of("read", &odd), "open\n");
    assert_eq!(place.said_of("verify", &odd), "1 rows\n");
    mode(place.folder.path(), 0o777);

    let mut store = place.folder.open();
    admit(&mut store, call(&conversation("desk"), "2", "hello"));
    let log = place.folder.path().join("agent.db-wal");
    let (database, log_bytes) = (fs::read(place.folder.file()).unwrap(), fs::read(&log).unwrap());
    drop(store);
    fs::write(place.folder.file(), database).unwrap();
    fs::write(&log, log_bytes).unwrap();
    mode(&log, 0o666);
    let before = place.folder.bytes();
    mode(place.folder.path(), 0o555);
    let said = place.said("read");
    mode(place.folder.path(), 0o777);
    assert!(said.starts_with("ReadOnlyFolder {") && said.contains("with its `-wal`"), "{said}");
    assert_eq!(place.folder.bytes(), before);
    assert_eq!(place.said_of("verify", &place.folder.file()), "2 rows\n");
}

#[test]
fn open_error_unreadable_a_file_that_may_not_even_be_read() {
    let place = Place::with_database();
    mode(&place.folder.file(), 0o000);
    for verb in ["open", "read"] {
        let said = place.said(verb);
        assert!(said.starts_with("Unreadable {") && said.contains("ask its owner"), "{said}");
    }
}
