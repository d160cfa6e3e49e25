//! What is committed and still in the write-ahead log is not lost to a damaged byte without a
//! word; and what a crash leaves of a log is no damage.

mod torn;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use everstep_sqlite::{OpenError, Options, SqliteReader, SqliteStore};
use proptest::prelude::*;

use crate::support::{BRIEF, Folder, admit, call, conversation};

/// Bytes of the header of a log, and of a frame with its header.
const LOG_HEADER: usize = 32;
const FRAME: usize = 24 + 4_096;

/// A database and its log as they are on the disk.
#[derive(Clone)]
struct Files {
    database: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn of(folder: &Folder) -> Self {
        Self {
            database: fs::read(folder.file()).unwrap(),
            log: fs::read(log(folder)).unwrap_or_default(),
        }
    }

    /// A folder in which a crash would have left them.
    fn left(&self) -> Folder {
        let folder = Folder::new();
        self.leave(&folder);
        folder
    }

    fn leave(&self, folder: &Folder) {
        for entry in fs::read_dir(folder.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(folder.file(), &self.database).unwrap();
        fs::write(log(folder), &self.log).unwrap();
    }
}

fn log(folder: &Folder) -> std::path::PathBuf {
    folder.path().join("agent.db-wal")
}

/// How many submissions a reader of a file finds.
fn submissions(path: &Path) -> Result<u64, OpenError> {
    let reader = SqliteReader::open(path, BRIEF)?;
    let lanes = reader.lanes(None, 100).unwrap().entries;
    for lane in &lanes {
        let verified = reader.verify(&lane.conversation).unwrap();
        assert_eq!(verified.rows, lane.next.0);
    }
    Ok(lanes.iter().map(|lane| lane.next.0).sum())
}

/// A store in use, and what it has promised.
struct Busy {
    folder: Folder,
    store: SqliteStore,
    acknowledged: u64,
}

impl Busy {
    fn new(folder: Folder) -> Self {
        let store = folder.open();
        let acknowledged = submissions(&folder.file()).unwrap();
        Self { folder, store, acknowledged }
    }

    /// One transaction, of as many pages as the text needs.
    fn submit(&mut self, bytes: usize) {
        let lane = conversation(["desk", "shop", "hall"][self.acknowledged as usize % 3]);
        let key = self.acknowledged.to_string();
        admit(&mut self.store, call(&lane, &key, &"x".repeat(bytes)));
        self.acknowledged += 1;
    }

    fn submit_all(&mut self, sizes: &[usize]) {
        sizes.iter().for_each(|bytes| self.submit(*bytes));
    }

    /// Has the next transaction begin the log anew, over the one that is there.
    fn round(&self) {
        let sql = self.folder.sql();
        sql.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(())).unwrap();
    }

    /// Frames that somebody wrote who did not commit.
    fn roll_back(&self, rows: u32) {
        let sql = self.folder.sql();
        sql.pragma_update(None, "cache_size", 1).unwrap();
        let many = format!(
            "BEGIN; CREATE TABLE t (x); INSERT INTO t
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows})
            SELECT hex(randomblob(200)) FROM n; ROLLBACK"
        );
        sql.execute_batch(&many).unwrap();
    }

    /// How many frames count.
    fn frames(&self) -> usize {
        let count = |row: &rusqlite::Row<'_>| row.get::<_, u32>(1);
        let sql = self.folder.sql();
        sql.query_row("PRAGMA wal_checkpoint(NOOP)", (), count).unwrap() as usize
    }
}

/// A log of some transactions, over the remains of an earlier round.
struct Written {
    files: Files,
    acknowledged: u64,
    /// How many frames count, before the last transaction and after it.
    frames: [usize; 2],
}

fn written(earlier: &[usize], sizes: &[usize]) -> Written {
    let mut busy = Busy::new(Folder::new());
    busy.submit_all(earlier);
    busy.round();
    let (last, others) = sizes.split_last().unwrap();
    busy.submit_all(others);
    // A new round counts from its first transaction on.
    let before = if others.is_empty() { 0 } else { busy.frames() };
    busy.submit(*last);
    let (files, frames) = (Files::of(&busy.folder), [before, busy.frames()]);
    Written { files, acknowledged: busy.acknowledged, frames }
}

impl Written {
    /// Where the last transaction is in the log.
    fn last(&self) -> std::ops::Range<usize> {
        let [from, to] = self.frames.map(|frames| LOG_HEADER + frames * FRAME);
        from..to
    }

    /// Asserts that a wrong byte is noticed, or takes nothing away, or nothing that could not have
    /// been the last transaction cut off.
    fn damaged(&self, folder: &Folder, at: usize, by: &[u8]) -> Result<(), TestCaseError> {
        let mut files = self.files.clone();
        files.log[at..].iter_mut().zip(by).for_each(|(byte, by)| *byte ^= by);
        files.leave(folder);
        let before = folder.bytes();
        let found = submissions(&folder.file());
        match found {
            Ok(found) => {
                let missing = self.acknowledged - found;
                let may_miss = u64::from(self.last().contains(&at));
                prop_assert!(missing <= may_miss, "byte {}: {} missing", at, missing);
            }
            Err(OpenError::LogDamaged { frame, offset, .. }) => {
                prop_assert!(at < self.last().end, "byte {} counts for nothing", at);
                let position =
                    frame.checked_sub(1).map_or(0, |it| LOG_HEADER + it as usize * FRAME);
                prop_assert_eq!(offset as usize, position);
                prop_assert_eq!(frame, (at + FRAME - LOG_HEADER) as u64 / FRAME as u64);
                prop_assert!(SqliteStore::open(Options::new(folder.file())).is_err());
                prop_assert_eq!(folder.bytes(), before, "something was written");
            }
            Err(other) => prop_assert!(false, "byte {}: {}", at, other),
        }
        Ok(())
    }
}

fn sizes(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1_usize..200, 1_usize..30_000], count)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn store_006_a_wrong_byte_anywhere_in_the_log_takes_at_most_the_last_transaction(
        earlier in sizes(0..6), sizes in sizes(1..8),
        places in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 60),
    ) {
        let written = written(&earlier, &sizes);
        let folder = Folder::new();
        for (at, by) in places {
            written.damaged(&folder, at.index(written.files.log.len()), &[by])?;
        }
    }

    /// A part of a page at a time, as a disk loses it.
    #[test]
    fn store_006_a_lost_part_of_a_page_takes_at_most_the_last_transaction(
        sizes in sizes(1..8),
        losses in prop::collection::vec((any::<prop::sample::Index>(), 24_usize..FRAME, 1_usize..4_096), 40),
    ) {
        let written = written(&[], &sizes);
        let folder = Folder::new();
        for (frame, from, bytes) in losses {
            let frame = LOG_HEADER + frame.index(written.frames[1]) * FRAME;
            // There the size and the checksum beside it may be of different times.
            let is_parted = frame % 512 > 512 - 24;
            let lost = bytes.min(FRAME - from);
            let by: Vec<u8> = (0..lost).map(|n| if is_parted && n > 0 { 0 } else { n as u8 | 1 }).collect();
            written.damaged(&folder, frame + from, &by)?;
        }
    }
}

#[test]
fn store_006_every_byte_of_every_header_in_the_log_is_looked_at() {
    let written = written(&[9, 9, 9, 9, 9], &[5_000, 9, 9, 9]);
    let folder = Folder::new();
    let mut refused = 0;
    for header in 0..=written.frames[1] {
        let (from, bytes) = match header.checked_sub(1) {
            None => (0, LOG_HEADER),
            Some(before) => (LOG_HEADER + before * FRAME, 24),
        };
        for at in from..from + bytes {
            // A high bit, a low one, and whatever makes it nothing.
            let nothing = written.files.log[at];
            for by in [0x80, 1, nothing].into_iter().filter(|by| *by != 0) {
                written.damaged(&folder, at, &[by]).unwrap();
                refused += usize::from(submissions(&folder.file()).is_err());
            }
        }
    }
    assert!(refused > 500, "{refused} refused");
}

#[test]
fn open_error_log_damaged_names_the_place_and_what_to_do() {
    let written = written(&[], &[9, 9, 9]);
    let mut files = written.files.clone();
    files.log[LOG_HEADER + FRAME + 1_000] ^= 4;
    let folder = files.left();
    for error in [
        SqliteStore::open(Options::new(folder.file())).expect_err("it is not opened"),
        SqliteReader::open(&folder.file(), BRIEF).expect_err("it is not opened"),
    ] {
        assert!(
            matches!(error, OpenError::LogDamaged { frame: 2, offset: 4_152, .. }),
            "{error:?}"
        );
        let said = error.to_string();
        let parts = ["agent.db-wal", "byte 4152", "frame 2", "nothing was changed", "a backup"];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    // What SQLite itself would do, and what this is about.
    let count = |row: &rusqlite::Row<'_>| row.get::<_, u64>(0);
    let left = folder.sql().query_row("SELECT count(*) FROM ledger_row", (), count).unwrap();
    assert_eq!(left, 0, "nothing of it counts any more");
}

#[test]
fn store_006_a_log_that_is_being_written_is_not_taken_for_a_damaged_one() {
    let folder = Folder::new();
    let mut busy = Busy::new(folder);
    let file = busy.folder.file();
    let stop = AtomicBool::new(false);
    let looks = thread::scope(|scope| {
        let looker = scope.spawn(|| {
            let mut looks = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                SqliteReader::open(&file, std::time::Duration::from_secs(5)).expect("it opens");
                looks += 1;
            }
            looks
        });
        for n in 0..200 {
            busy.submit(n * 37 % 20_000);
            if n % 5 == 0 {
                busy.round();
            }
        }
        stop.store(true, Ordering::Relaxed);
        looker.join().expect("every look was let in")
    });
    assert!(looks > 20, "{looks}");
    assert_eq!(submissions(&file).unwrap(), 200);
}
