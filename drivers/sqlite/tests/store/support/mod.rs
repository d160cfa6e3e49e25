//! Files that clean themselves up, a clock that a test sets, and short ways to name things.

mod agent;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, Sequence, Timestamp};
use everstep_machine::record::StoredBatch;
use everstep_sqlite::{CommitMode, Options, SqliteReader, SqliteStore};
use tempfile::TempDir;

pub(crate) use agent::{Worker, admit, call};

/// Long enough for whoever is in the way, short where nobody will ever get out of it.
pub(crate) const BRIEF: Duration = Duration::from_millis(30);

/// A folder with a place for a database.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.path().join("agent.db")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(Options::new(self.file())).unwrap()
    }

    pub(crate) fn open_as(&self, mode: CommitMode, clock: &TestClock) -> SqliteStore {
        SqliteStore::open(Options::new(self.file()).mode(mode).clock(clock.reader())).unwrap()
    }

    pub(crate) fn reader(&self) -> SqliteReader {
        SqliteReader::open(&self.file(), BRIEF).unwrap()
    }

    /// A connection of somebody else.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    /// Digests of the database and of what SQLite keeps beside it, shared memory and empty files
    /// aside: the former holds no data, and the latter are left by who only looked.
    pub(crate) fn bytes(&self) -> Vec<(PathBuf, Digest)> {
        let mut files: Vec<_> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.to_string_lossy().ends_with("-shm"))
            .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(path, bytes)| (path, Digest::of("test/file", &bytes)))
            .collect();
        files.sort();
        files
    }
}

/// A clock that a test sets, for any number of stores.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<AtomicU64>);

impl TestClock {
    pub(crate) fn at(now: u64) -> Self {
        Self(Arc::new(AtomicU64::new(now)))
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::Relaxed);
    }

    pub(crate) fn jump(&self, by: i64) {
        self.set(Timestamp(self.now().0.saturating_add_signed(by)));
    }

    pub(crate) fn reader(&self) -> impl FnMut() -> Timestamp + Send + 'static {
        let clock = self.clone();
        move || clock.now()
    }
}

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

/// A whole log, page by page.
pub(crate) fn log(reader: &SqliteReader, conversation: &ConversationId) -> Vec<Arc<StoredBatch>> {
    let mut batches: Vec<Arc<StoredBatch>> = Vec::new();
    loop {
        let from = batches.last().map_or(Sequence(0), |batch| batch.next_sequence());
        let page = reader.log_page(conversation, from).unwrap();
        if page.batches.is_empty() {
            return batches;
        }
        batches.extend(page.batches);
    }
}

/// Another process with the store in it.
pub(crate) fn worker(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everstep-sqlite-worker"));
    command.args(arguments);
    command
}
