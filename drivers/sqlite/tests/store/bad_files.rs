//! Files that are no database of ours, or not one that this build may write: each a clear error,
//! and not one byte changed.

use std::fs;
use std::path::Path;

use everstep_machine::ledger::Command;
use everstep_machine::store::{Pipeline, Store, StoreCommand, StoreFault};
use everstep_sqlite::{Format, OpenError, Options, SqliteReader, SqliteStore, StoreError};

use crate::support::{BRIEF, Folder, Worker, admit, call, conversation};

fn open(path: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(Options::new(path).busy(BRIEF))
}

/// Asserts that neither a writer nor a reader opens the file, that both say the same, that nothing
/// changed, and that what is said names the file and what to do.
#[track_caller]
fn refused(folder: &Folder, kind: impl Fn(&OpenError) -> bool) {
    let before = folder.bytes();
    let errors = [
        open(&folder.file()).expect_err("it is not opened"),
        SqliteReader::open(&folder.file(), BRIEF).expect_err("it is not opened"),
    ];
    for error in errors {
        assert!(kind(&error), "{error:?}");
        let said = error.to_string();
        assert!(said.contains("agent.db") && said.contains(';'), "{said}");
    }
    assert_eq!(folder.bytes(), before, "something was written");
}

/// A database of ours with some history, closed.
fn ours() -> Folder {
    let folder = Folder::new();
    let mut store = folder.open();
    admit(&mut store, call(&conversation("desk"), "1", "hello"));
    Worker::new(vec!["pay"]).work(&mut store, &conversation("desk"));
    folder
}

#[test]
fn open_error_absent_is_said_of_a_name_that_must_exist() {
    let folder = Folder::new();
    let open = SqliteStore::open(Options::new(folder.file()).create(false));
    assert!(matches!(open, Err(OpenError::Absent { .. })), "{open:?}");
    let read = SqliteReader::open(&folder.file(), BRIEF);
    assert!(matches!(read, Err(OpenError::Absent { .. })), "{read:?}");
    fs::write(folder.file(), []).unwrap();
    let open = SqliteStore::open(Options::new(folder.file()).create(false));
    assert!(matches!(open, Err(OpenError::Empty { .. })), "{open:?}");
    assert_eq!(fs::read(folder.file()).unwrap(), []);
}

#[test]
fn an_empty_file_is_a_new_database() {
    let folder = Folder::new();
    fs::write(folder.file(), []).unwrap();
    admit(&mut folder.open(), call(&conversation("desk"), "1", "hello"));
    assert_eq!(folder.reader().verify(&conversation("desk")).unwrap().rows, 1);
}

#[test]
fn an_sqlite_file_that_holds_nothing_is_a_new_database() {
    let folder = Folder::new();
    folder.sql().execute_batch("CREATE TABLE t (x); DROP TABLE t; VACUUM").unwrap();
    assert!(fs::metadata(folder.file()).unwrap().len() > 0);
    admit(&mut folder.open(), call(&conversation("desk"), "1", "hello"));
    assert_eq!(folder.reader().verify(&conversation("desk")).unwrap().rows, 1);
}

#[test]
fn a_name_is_never_an_uri_nor_memory() {
    let folder = Folder::new();
    for name in [":memory:", "file::memory:", "file:x?mode=memory", "a?b#c"] {
        let path = folder.path().join(name);
        drop(open(&path).unwrap());
        assert!(fs::metadata(&path).unwrap().len() > 0, "{name}");
    }
}

#[test]
fn open_error_no_folder() {
    let folder = Folder::new();
    let missing = folder.path().join("no").join("such").join("agent.db");
    match open(&missing) {
        Err(OpenError::NoFolder { folder: named }) => {
            assert_eq!(named, missing.parent().unwrap());
        }
        other => panic!("{other:?}"),
    }
    assert!(!folder.path().join("no").exists());
}

#[test]
fn open_error_not_a_file() {
    let folder = Folder::new();
    fs::create_dir(folder.file()).unwrap();
    assert!(matches!(open(&folder.file()), Err(OpenError::NotAFile { .. })));
    let nameless = open(Path::new(""));
    assert!(matches!(nameless, Err(OpenError::Io { .. })), "{nameless:?}");
}

#[test]
fn open_error_not_a_database() {
    let contents: [&[u8]; 4] =
        [b"[agent]\nname = \"clerk\"\n", b"SQLite format 4\0 and more", &[0; 4096], b"x"];
    for content in contents {
        let folder = Folder::new();
        fs::write(folder.file(), content).unwrap();
        refused(&folder, |error| matches!(error, OpenError::NotADatabase { .. }));
    }
}

#[test]
fn open_error_foreign_whatever_journal_it_has() {
    for mode in ["delete", "wal"] {
        let folder = Folder::new();
        let theirs = folder.sql();
        theirs.pragma_update(None, "journal_mode", mode).unwrap();
        theirs.pragma_update(None, "application_id", 0x4750_4b47).unwrap();
        theirs.execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('x')").unwrap();
        // Theirs stays open, so that its log is not moved into the file before we look.
        let foreign = |error: &OpenError| match error {
            OpenError::Foreign { application_id, .. } => *application_id == 0x4750_4b47,
            _ => false,
        };
        refused(&folder, foreign);
        drop(theirs);
        refused(&folder, foreign);
    }
}

#[test]
fn open_error_foreign_a_program_that_left_no_number() {
    let folder = Folder::new();
    folder.sql().execute_batch("CREATE TABLE notes (text)").unwrap();
    refused(&folder, |error| matches!(error, OpenError::Foreign { application_id: 0, .. }));
}

fn other_format(version: i32) -> Folder {
    let folder = ours();
    folder.sql().pragma_update(None, "user_version", version).unwrap();
    folder
}

#[test]
fn store_005_open_error_older() {
    for version in [0, 1, 1_001_001, 2_001_001, 3_001_001, 4_000_999] {
        refused(&other_format(version), |error| match error {
            OpenError::Older { found, supported, .. } => {
                found < supported && *supported == Format::CURRENT
            }
            _ => false,
        });
    }
}

#[test]
fn store_005_open_error_newer() {
    for version in [6_999_001, 7_001_001, 6_001_999, i32::MAX, -1] {
        refused(&other_format(version), |error| match error {
            OpenError::Newer { found, supported, .. } => found > supported,
            _ => false,
        });
    }
}

#[test]
fn open_error_truncated_whatever_is_left() {
    let whole = fs::read(ours().file()).unwrap();
    assert!(whole.len() > 4 * 4096);
    for keep in [1, 15, 16, 40, 99, 100, 500, 4_096, 4_097, whole.len() - 4_096, whole.len() - 1] {
        let folder = Folder::new();
        fs::write(folder.file(), &whole[..keep]).unwrap();
        refused(&folder, |error| match error {
            OpenError::Truncated { expected, found, .. } => {
                *found == keep as u64 && expected > found
            }
            _ => false,
        });
    }
}

#[test]
fn open_error_corrupt_a_schema_that_does_not_parse() {
    let folder = ours();
    let mut bytes = fs::read(folder.file()).unwrap();
    // The first page holds the tables' definitions, from its end backwards.
    bytes[100..4096].fill(0xa5);
    fs::write(folder.file(), &bytes).unwrap();
    refused(&folder, |error| matches!(error, OpenError::Corrupt { .. }));
}

#[test]
fn open_error_corrupt_a_header_that_is_none_is_not_blamed_on_the_disk() {
    let whole = fs::read(ours().file()).unwrap();
    let flaws = [
        (16, 0x30, "bytes 16 and 17"),
        (18, 3, "bytes 18 and 19"),
        (19, 255, "bytes 18 and 19"),
        (22, 0, "bytes 21 to 23"),
    ];
    for (at, byte, said) in flaws {
        let folder = Folder::new();
        let mut bytes = whole.clone();
        bytes[at] = byte;
        fs::write(folder.file(), bytes).unwrap();
        refused(&folder, |error| match error {
            OpenError::Corrupt { detail, .. } => detail.contains(said),
            _ => false,
        });
    }
}

#[test]
fn open_error_corrupt_a_header_that_is_none_beside_a_log() {
    // The log has later pages, but the first one is in the file only.
    let source = ours();
    let mut store = source.open();
    admit(&mut store, call(&conversation("desk"), "2", "hello"));
    let log = source.path().join("agent.db-wal");
    let (database, log) = (fs::read(source.file()).unwrap(), fs::read(log).unwrap());
    assert!(!log.is_empty());
    for (at, is_readable) in [(18, true), (19, false)] {
        let folder = Folder::new();
        let mut bytes = database.clone();
        bytes[at] = 7;
        fs::write(folder.file(), bytes).unwrap();
        fs::write(folder.path().join("agent.db-wal"), &log).unwrap();
        let before = folder.bytes();
        match open(&folder.file()).expect_err("it is not opened") {
            OpenError::Corrupt { detail, .. } => assert!(detail.contains("18"), "{detail}"),
            other => panic!("{other:?}"),
        }
        // SQLite says of such a file that it may still be read.
        let read = SqliteReader::open(&folder.file(), BRIEF);
        assert_eq!(read.is_ok(), is_readable, "{read:?}");
        drop(read);
        assert_eq!(folder.bytes(), before, "something was written");
    }
}

#[test]
fn open_error_schema_differs() {
    let changes = [
        ("ledger_row_waiting", "DROP INDEX ledger_row_waiting"),
        ("log_record", "DROP TABLE log_record"),
        ("log_tail", "ALTER TABLE log_tail ADD COLUMN note TEXT"),
        ("spy", "CREATE TRIGGER spy AFTER INSERT ON log_batch BEGIN DELETE FROM log_tail; END"),
        ("shown", "CREATE VIEW shown AS SELECT * FROM log_tail"),
    ];
    for (changed, sql) in changes {
        let folder = ours();
        folder.sql().execute_batch(sql).unwrap();
        refused(&folder, |error| match error {
            OpenError::SchemaDiffers { name, .. } => name == changed,
            _ => false,
        });
    }
}

#[test]
fn open_error_locked_by_somebody_who_lets_nobody_in() {
    let folder = ours();
    let theirs = folder.sql();
    theirs.pragma_update(None, "locking_mode", "exclusive").unwrap();
    theirs.execute_batch("BEGIN IMMEDIATE; DELETE FROM log_tail").unwrap();
    for error in [
        open(&folder.file()).expect_err("it is locked"),
        SqliteReader::open(&folder.file(), BRIEF).expect_err("it is locked"),
    ] {
        assert!(matches!(error, OpenError::Locked { waited, .. } if waited == BRIEF), "{error:?}");
    }
    theirs.execute_batch("ROLLBACK").unwrap();
    drop(theirs);
    assert_eq!(folder.reader().verify(&conversation("desk")).unwrap().rows, 1);
}

/// A command for the one submission that is there.
fn ready() -> Pipeline {
    let lane = conversation("desk");
    let submission = call(&lane, "1", "hello").submission();
    let commands = vec![StoreCommand::Ledger(Command::Ready { submission })];
    Pipeline { lane, commands }
}

#[test]
fn case_sq_03_store_error_busy_a_writer_waits_for_another_and_not_for_ever() {
    let folder = ours();
    let mut store = SqliteStore::open(Options::new(folder.file()).busy(BRIEF)).unwrap();
    let theirs = folder.sql();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    let pipeline = ready();
    let error = store.perform(&pipeline).unwrap_err();
    assert!(matches!(error, StoreError::Busy { waited, .. } if waited == BRIEF), "{error:?}");
    assert_eq!(error.fault(), StoreFault::Indeterminate);
    assert!(error.to_string().contains("agent.db") && store.counters().waits > 0);
    // Reading never waits for a writer.
    assert_eq!(store.reader().unwrap().verify(&conversation("desk")).unwrap().rows, 1);
    theirs.execute_batch("ROLLBACK").unwrap();
    assert!(store.execute(&pipeline).is_ok());
}

#[test]
fn open_error_unfinished_a_writer_killed_while_it_made_the_file_is_no_obstacle() {
    // A rollback journal that was left behind: the file is as it was before the transaction.
    let folder = Folder::new();
    let mut journal = folder.file().into_os_string();
    journal.push("-journal");
    let (half, left) = {
        let making = folder.sql();
        making.execute_batch("CREATE TABLE t (x); DROP TABLE t; VACUUM").unwrap();
        making.pragma_update(None, "cache_size", 1).unwrap();
        let many = "BEGIN; CREATE TABLE t (x); INSERT INTO t
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500)
            SELECT hex(randomblob(200)) FROM n";
        making.execute_batch(many).unwrap();
        (fs::read(folder.file()).unwrap(), fs::read(&journal).unwrap())
    };
    assert!(!half.is_empty() && !left.is_empty());
    fs::write(folder.file(), half).unwrap();
    fs::write(&journal, left).unwrap();
    let error = SqliteReader::open(&folder.file(), BRIEF).expect_err("it is not opened");
    assert!(matches!(error, OpenError::Unfinished { .. }), "{error:?}");
    assert!(error.to_string().contains("run something on it, then look again"), "{error}");
    admit(&mut folder.open(), call(&conversation("desk"), "1", "hello"));
    assert_eq!(folder.reader().verify(&conversation("desk")).unwrap().rows, 1);
}

#[test]
fn store_error_moved_a_file_that_is_not_in_its_place_is_not_written() {
    let folder = ours();
    let mut store = folder.open();
    let moved = folder.path().join("moved.db");
    fs::rename(folder.file(), &moved).unwrap();
    let ready = ready();
    let error = store.perform(&ready).unwrap_err();
    assert!(matches!(error, StoreError::Moved { .. }), "{error:?}");
    assert!(error.to_string().contains("put it back"), "{error}");
    assert_eq!(error.fault(), StoreFault::Indeterminate);
    fs::write(folder.file(), b"another one").unwrap();
    assert!(matches!(store.perform(&ready), Err(StoreError::Moved { .. })), "replaced");
    fs::rename(&moved, folder.file()).unwrap();
    assert!(store.perform(&ready).is_ok());
}
