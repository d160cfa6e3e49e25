//! A log without its database, and a database whose log was cut off: nothing is made anew in the
//! place of what was acknowledged.

use std::fs::{self, File};
use std::path::PathBuf;

use everstep_sqlite::{OpenError, Options, SqliteReader, SqliteStore};

use crate::support::{BRIEF, Folder, admit, call, conversation};

/// Bytes of the header of a log, and of a frame with its header.
const LOG_HEADER: usize = 32;
const FRAME: usize = 24 + 4_096;

fn log(folder: &Folder) -> PathBuf {
    folder.path().join("agent.db-wal")
}

/// The log of a database in use, with two transactions.
fn log_of_two() -> Vec<u8> {
    let folder = Folder::new();
    let mut store = folder.open();
    for key in ["1", "2"] {
        admit(&mut store, call(&conversation("desk"), key, "hello"));
    }
    fs::read(log(&folder)).unwrap()
}

/// A folder with a log, and with an empty database or none.
fn left(bytes: &[u8], is_there: bool) -> Folder {
    let folder = Folder::new();
    if is_there {
        fs::write(folder.file(), []).unwrap();
    }
    fs::write(log(&folder), bytes).unwrap();
    folder
}

/// What a writer that may create says, one that may not, and a reader.
fn errors(folder: &Folder) -> [Option<OpenError>; 3] {
    let open = |create| SqliteStore::open(Options::new(folder.file()).busy(BRIEF).create(create));
    let read = SqliteReader::open(&folder.file(), BRIEF).err();
    [read, open(false).err(), open(true).err()]
}

#[test]
fn store_003_open_error_orphaned_a_log_whose_database_is_gone_is_kept() {
    let whole = log_of_two();
    let mut headless = whole.clone();
    headless[20] ^= 1;
    let cases = [
        (whole.as_slice(), 2),
        (&whole[..whole.len() - 1], 2),
        // Not even one transaction: what is in the database nobody knows all the same.
        (&whole[..LOG_HEADER + FRAME / 2], 0),
        (&headless, 0),
    ];
    for (bytes, count) in cases {
        for empty in [false, true] {
            let folder = left(bytes, empty);
            let before = folder.bytes();
            for error in errors(&folder) {
                let Some(OpenError::Orphaned { is_there, transactions, .. }) = &error else {
                    panic!("{error:?}");
                };
                assert_eq!(*is_there, empty);
                assert!(*transactions <= count && (*transactions > 0) == (count > 0), "{error:?}");
                let said = error.unwrap().to_string();
                let state = if empty { "is empty" } else { "is not there" };
                let parts = [state, "agent.db-wal", "put the database back", "move that file away"];
                assert!(parts.iter().all(|part| said.contains(part)), "{said}");
            }
            assert_eq!(folder.bytes(), before, "something was written");
            assert_eq!(folder.file().exists(), empty);
        }
    }
}

#[test]
fn store_003_what_is_beside_a_new_database_and_holds_nothing_is_no_obstacle() {
    let header = &log_of_two()[..LOG_HEADER];
    let contents: [(&str, &[u8]); 5] = [
        ("agent.db-wal", b""),
        ("agent.db-wal", header),
        ("agent.db-wal", &header[..20]),
        ("agent.db-wal", &[0; 9_000]),
        ("agent.db-journal", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and so on"),
    ];
    for (name, bytes) in contents {
        for empty in [false, true] {
            let folder = Folder::new();
            if empty {
                fs::write(folder.file(), []).unwrap();
            }
            fs::write(folder.path().join(name), bytes).unwrap();
            admit(&mut folder.open(), call(&conversation("desk"), "1", "hello"));
            let verified = folder.reader().verify(&conversation("desk"));
            assert_eq!(verified.unwrap().rows, 1, "{name} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn open_error_empty_is_not_said_to_be_no_file() {
    let folder = Folder::new();
    fs::write(folder.file(), []).unwrap();
    let [read, open, create] = errors(&folder);
    for error in [read, open] {
        let Some(error @ OpenError::Empty { .. }) = error else { panic!("{error:?}") };
        assert!(error.to_string().contains("agent.db: this file is empty"), "{error}");
    }
    assert!(create.is_none(), "{create:?}");
}

#[test]
fn store_003_a_new_database_says_whose_it_is_without_its_log() {
    let folder = Folder::new();
    let mut store = folder.open();
    admit(&mut store, call(&conversation("desk"), "1", "hello"));
    let alone = Folder::new();
    fs::copy(folder.file(), alone.file()).unwrap();
    let reader = SqliteReader::open(&alone.file(), BRIEF).expect("it is ours");
    assert!(reader.lanes(None, 8).unwrap().entries.is_empty(), "the log had all of it");
}

#[test]
fn open_error_log_lost_a_log_cut_off_under_a_process_makes_no_database_of_somebody_else() {
    let mut lost = 0;
    let places = [0, 1, 24, 40, 60, 68, 72, 96, 100, 104, 107, 500, 4_096, FRAME];
    for cut in places.into_iter().flat_map(|at| [at, LOG_HEADER + 24 + at]) {
        let folder = Folder::new();
        let mut store = folder.open();
        let sql = folder.sql();
        let version = "PRAGMA user_version";
        let ours: i32 = sql.query_row(version, (), |row| row.get(0)).unwrap();
        // The first page is in the log first of all.
        sql.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(())).unwrap();
        sql.pragma_update(None, "user_version", ours).unwrap();
        admit(&mut store, call(&conversation("desk"), "1", "hello"));
        File::options().write(true).open(log(&folder)).unwrap().set_len(cut as u64).unwrap();
        // It goes on behind the end, out of what it remembers.
        admit(&mut store, call(&conversation("desk"), "2", "hello"));
        drop((sql, store));
        let _ = folder.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = fs::remove_file(log(&folder));
        for error in errors(&folder).into_iter().flatten() {
            match error {
                OpenError::LogLost { .. } => lost += 1,
                OpenError::Foreign { .. } | OpenError::NotADatabase { .. } => {
                    panic!("cut at {cut}: {error}")
                }
                _ => {}
            }
        }
    }
    assert!(lost > 0);
}
