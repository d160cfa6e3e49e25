//! Several processes on one file.

use std::process::Stdio;

use everstep_machine::identity::AdmissionSequence;
use everstep_sqlite::{Options, SqliteReader, SqliteStore};

use crate::support::{Folder, admit, call, conversation, worker};

const EACH: u64 = 1_000;

#[test]
fn case_sq_05_three_processes_write_a_thousand_times_each_and_all_succeed() {
    let folder = Folder::new();
    let file = folder.file();
    let file = file.to_str().unwrap();
    // None of them is the first: whoever comes first makes the database.
    let count = EACH.to_string();
    let children = ["desk", "desk", "shop"].map(|lane| {
        let mut command = worker(&["submit", file, lane, &count]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), count);
    }
    // Two of them submitted the very same calls: one receipt each.
    let reader = folder.reader();
    for lane in ["desk", "shop"].map(conversation) {
        assert_eq!(reader.lane(&lane).unwrap().unwrap().next, AdmissionSequence(EACH));
        assert_eq!(reader.verify(&lane).unwrap().rows, EACH);
    }
    reader.verify_file().unwrap();
}

#[test]
fn store_003_a_second_process_works_on_the_same_file() {
    let folder = Folder::new();
    let mut store = folder.open();
    let (file, desk) = (folder.file(), conversation("desk"));
    admit(&mut store, call(&desk, "mine", "hello"));
    let reader = store.reader().unwrap();
    let before = reader.data_version().unwrap();
    let output = worker(&["submit", file.to_str().unwrap(), "desk", "3"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_ne!(reader.data_version().unwrap(), before);
    let position = admit(&mut store, call(&desk, "mine too", "hello")).position;
    assert_eq!(position, AdmissionSequence(4));
}

#[cfg(unix)]
#[test]
fn bug_open_a_link_is_the_file_that_it_leads_to() {
    let folder = Folder::new();
    let (file, link) = (folder.file(), folder.file().with_file_name("link.db"));
    std::os::unix::fs::symlink("agent.db", &link).unwrap();
    let options = || Options::new(&link).busy(std::time::Duration::from_secs(5));
    let mut store = SqliteStore::open(options()).expect("a link to nothing makes the file");
    let desk = conversation("desk");
    admit(&mut store, call(&desk, "mine", "hello"));
    assert!(file.exists());
    // What is committed is still in the log beside the file, and both names show it.
    for path in [&file, &link] {
        let reader = SqliteReader::open(path, std::time::Duration::from_secs(5)).unwrap();
        assert_eq!(reader.lane(&desk).unwrap().unwrap().next, AdmissionSequence(1));
    }
    assert!(SqliteStore::open(options()).is_ok());
}
