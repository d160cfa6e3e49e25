//! Any commands of any actors, any crashes, any clock: the file is equal to the machines.
//!
//! The kit for every store plays its scripts on both commit modes. A crash unwinds out of a
//! failpoint, which leaves the open transaction to be rolled back as a killed process would. What
//! only this store can be asked is compared as well: its reader's rows, logs, lists and scans.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::identity::{AdmissionSequence, ConversationId, Sequence, Timestamp};
use everstep_machine::ledger::{self, Footprint, Standing};
use everstep_machine::record::StoredBatch;
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};
use everstep_sim::conformance::{
    Finding, Point, Reference, Report, Shelf, Subject, check, fail, race,
};
use everstep_sqlite::{CommitMode, Options, Scan, SqliteReader, SqliteStore};
use tempfile::TempDir;

/// A connection that counts the commits which waiting together has saved.
pub(super) struct Connection {
    pub(super) store: SqliteStore,
    /// What looks at the file beside it, once it has looked.
    pub(super) reader: Option<SqliteReader>,
    commits: Arc<AtomicU64>,
    saved: Arc<AtomicU64>,
}

impl Store for Connection {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        self.store.execute(pipeline)
    }

    fn execute_all(
        &mut self,
        pipelines: &[Pipeline],
        answer: &mut dyn FnMut(Result<Replies, StoreFault>),
    ) {
        let (told, made) = (self.commits.load(Ordering::Relaxed), self.store.counters().commits);
        self.store.execute_all(pipelines, answer);
        let told = self.commits.load(Ordering::Relaxed) - told;
        let made = self.store.counters().commits - made;
        self.saved.fetch_add(told - made, Ordering::Relaxed);
    }
}

/// Files in one mode.
pub(super) struct Files {
    mode: CommitMode,
    clock: Arc<AtomicU64>,
    folder: TempDir,
    saved: Arc<AtomicU64>,
}

impl Files {
    pub(super) fn of(mode: CommitMode) -> Self {
        let folder = TempDir::new().unwrap();
        Self { mode, clock: Arc::default(), folder, saved: Arc::default() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }
}

impl Subject for Files {
    type Store = Connection;

    fn fresh(&mut self) -> Connection {
        self.folder = TempDir::new().unwrap();
        self.reopen()
    }

    fn reopen(&mut self) -> Connection {
        let clock = Arc::clone(&self.clock);
        let clock = move || Timestamp(clock.load(Ordering::Relaxed));
        let options = Options::new(self.file()).mode(self.mode).clock(clock);
        let mut store = SqliteStore::open(options).unwrap();
        let commits = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&commits);
        store.on_commit(move |_| {
            told.fetch_add(1, Ordering::Relaxed);
        });
        Connection { store, reader: None, commits, saved: Arc::clone(&self.saved) }
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.clock.store(now.0, Ordering::Relaxed);
    }

    fn crash(
        &mut self,
        connection: Connection,
        pipeline: &Pipeline,
        point: Point,
    ) -> RangeInclusive<usize> {
        let mut store = connection.store;
        let at = 2 * point.command + usize::from(point.done);
        let countdown = AtomicUsize::new(at);
        store.on_failpoint(move |_| match countdown.load(Ordering::Relaxed) {
            0 => resume_unwind(Box::new("the process dies")),
            left => countdown.store(left - 1, Ordering::Relaxed),
        });
        let died = catch_unwind(AssertUnwindSafe(|| store.execute(pipeline)));
        assert!(died.is_err(), "{pipeline:?} passes {point:?}");
        drop(store);
        let last = 2 * pipeline.commands.len() - 1;
        let done = match self.mode {
            CommitMode::Fused if at == last => pipeline.commands.len(),
            CommitMode::Fused => 0,
            CommitMode::PerCommand => at.div_ceil(2),
        };
        done..=done
    }

    fn inspect(&mut self, kept: &Reference) -> Result<(), String> {
        let reader = SqliteReader::open(&self.file(), Duration::from_millis(30)).unwrap();
        for (name, shelf) in kept.shelves() {
            same_lane(&reader, name, shelf)?;
        }
        same("scan", &reader.scan(kept.now(), None, 8).unwrap(), &expected_scan(kept))
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    let differs = || format!("{what}: {found:?} instead of {expected:?}");
    if found == expected { Ok(()) } else { Err(differs()) }
}

fn same_lane(reader: &SqliteReader, name: &ConversationId, shelf: &Shelf) -> Result<(), String> {
    let lane = reader.lane(name).unwrap().unwrap_or_else(|| ledger::Lane::new(name.clone()));
    same("lane", &lane, shelf.lane())?;
    let rows = reader.rows(name, AdmissionSequence(0), 64).unwrap().entries;
    same("rows", &&*rows, &shelf.rows())?;
    same("log", &&*log(reader, name), &shelf.log())?;
    same("tail", &reader.log_page(name, Sequence(0)).unwrap().tail, &shelf.tail())?;
    let waiting = shelf.rows().iter().filter(|row| row.standing() != Standing::Resting).cloned();
    let listed = reader.waiting(None, 64).unwrap().entries;
    let listed = listed.into_iter().filter(|(at, _)| at == name).map(|(_, row)| row);
    same("waiting", &listed.collect::<Vec<_>>(), &waiting.collect())
}

/// A whole log, page by page.
fn log(reader: &SqliteReader, conversation: &ConversationId) -> Vec<Arc<StoredBatch>> {
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

fn expected_scan(kept: &Reference) -> Scan {
    let mut scan = Scan::default();
    for (name, shelf) in kept.shelves() {
        let slice = shelf.slice(Footprint::Candidates(None));
        match ledger::candidate(&slice, kept.now()) {
            Some(row) => scan.claimable.push((name.clone(), row)),
            None => {
                let wakes_at = ledger::wakes_at(&slice);
                scan.wakes_at = scan.wakes_at.into_iter().chain(wakes_at).min();
            }
        }
    }
    scan
}

fn sound(tried: Result<Report, Finding>) -> Report {
    tried.unwrap_or_else(|finding| panic!("{finding}"))
}

#[test]
fn store_010_a_file_that_commits_pipelines_is_equal_to_the_machines() {
    let mut files = Files::of(CommitMode::Fused);
    let report = sound(check(&mut files, 1, 40));
    assert!(report.refusals > 100, "{report:?}");
    assert!(report.crashes > 30, "{report:?}");
    assert!(report.settled > 10, "{report:?}");
    assert!(report.batches > 1_100, "{report:?}");
    let saved = files.saved.load(Ordering::Relaxed);
    assert!(saved > 10, "{saved} commits saved");
}

#[test]
fn store_010_a_file_that_commits_command_by_command_is_equal_to_the_machines() {
    let report = sound(check(&mut Files::of(CommitMode::PerCommand), 2, 24));
    assert!(report.crashes > 20, "{report:?}");
}

#[test]
fn case_cr_03_two_connections_never_commit_one_position() {
    for mode in CommitMode::ALL {
        let report = sound(race(&mut Files::of(*mode), 1, 40));
        assert!(report.contests > 10, "{report:?}");
    }
}

#[test]
fn store_010_a_file_whose_answers_are_lost_is_equal_to_the_machines() {
    for mode in CommitMode::ALL {
        let report = sound(fail(&mut Files::of(*mode), 3, 4));
        assert!(report.lost > 150, "{report:?}");
    }
}
