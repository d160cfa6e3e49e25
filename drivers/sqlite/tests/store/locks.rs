//! A process keeps its locks on the file, however often it opens it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use everstep_sqlite::{Options, SqliteReader, SqliteStore};

use crate::support::{BRIEF, Folder, admit, call, conversation, worker};

/// How many locks the kernel knows that this process has on the database file.
fn locks(folder: &Folder) -> usize {
    let inode = fs::metadata(folder.file()).unwrap().ino().to_string();
    let process = std::process::id().to_string();
    let is_ours = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let on_file = words.iter().any(|word| word.rsplit(':').next() == Some(&inode));
        on_file && words.contains(&process.as_str())
    };
    fs::read_to_string("/proc/locks").unwrap().lines().filter(is_ours).count()
}

#[test]
fn store_003_opening_the_file_again_keeps_the_locks_of_the_first_connection() {
    let folder = Folder::new();
    let mut store = folder.open();
    admit(&mut store, call(&conversation("desk"), "1", "hello"));
    assert!(locks(&folder) > 0, "a connection in use has a lock");
    let reader = store.reader().unwrap();
    assert!(locks(&folder) > 0, "after a reader was opened");
    let second = folder.open();
    assert!(locks(&folder) > 0, "after a second writer was opened");
    drop((reader, second));
    assert!(locks(&folder) > 0, "after both were closed");
    // Who does not come in lets go of nothing either.
    let copy = folder.path().join("link.db");
    fs::hard_link(folder.file(), &copy).unwrap();
    drop(SqliteReader::open(&copy, BRIEF));
    drop(SqliteStore::open(Options::new(folder.path())));
    assert!(locks(&folder) > 0, "after it was opened by another name");
    drop(store);
    assert_eq!(locks(&folder), 0, "a file that is held only to look at it is not locked");
}

/// Has the process submit once more, and waits until it was accepted.
fn submit(child: &mut Child, said: &mut BufReader<ChildStdout>, key: &str) {
    writeln!(child.stdin.as_mut().unwrap(), "{key}").unwrap();
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), key);
}

#[test]
fn store_003_a_stranger_who_looks_and_leaves_takes_no_commit_along() {
    let folder = Folder::new();
    let file = folder.file();
    let file = file.to_str().unwrap();
    let mut command = worker(&["hold", file, "desk"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    submit(&mut child, &mut said, "1");
    let wal = || fs::metadata(PathBuf::from(format!("{file}-wal"))).map(|it| it.ino()).ok();
    let before = wal();
    assert!(before.is_some(), "there is a log");
    let glance = worker(&["glance", file]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&glance.stdout).trim(), "1", "{glance:?}");
    assert_eq!(wal(), before, "the log is the one that is in use");
    submit(&mut child, &mut said, "2");
    child.kill().unwrap();
    child.wait().unwrap();
    let verified = folder.reader().verify(&conversation("desk")).unwrap();
    assert_eq!(verified.rows, 2);
}
