//! A store that says what its thread did with its time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use everstep_machine::effect::EffectClass;
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreCommand, StoreFault};
use everstep_sqlite::SqliteStore;

use crate::wal;

/// Pipelines of one kind.
#[derive(Clone, Copy, Default)]
pub(crate) struct Part {
    pub(crate) count: u64,
    pub(crate) time: Duration,
}

impl Part {
    fn since(self, before: Self) -> Self {
        Self { count: self.count - before.count, time: self.time - before.time }
    }
}

/// What was done so far, or between two moments.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    /// Pipelines that write.
    pub(crate) writing: Part,
    /// Pipelines that read a page of a log.
    pub(crate) logs: Part,
    /// Pipelines that read a row alone.
    pub(crate) rows: Part,
    /// Transactions that wrote.
    pub(crate) commits: u64,
    /// How often the write-ahead log was begun anew.
    pub(crate) restarts: u64,
}

impl Spent {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            writing: self.writing.since(before.writing),
            logs: self.logs.since(before.logs),
            rows: self.rows.since(before.rows),
            commits: self.commits - before.commits,
            restarts: self.restarts - before.restarts,
        }
    }
}

/// Where to look what was spent.
#[derive(Clone)]
pub(crate) struct Dial {
    spent: Arc<Mutex<Spent>>,
    log: PathBuf,
}

impl Dial {
    pub(crate) fn read(&self) -> Spent {
        let spent = *self.spent.lock().expect("nobody panics with it");
        Spent { restarts: wal::restarts(&self.log), ..spent }
    }

    /// Pages that were written to the write-ahead log since it was begun anew.
    pub(crate) fn pages(&self) -> u64 {
        wal::pages(&self.log)
    }
}

/// The store, measured.
pub(crate) struct Meter {
    store: SqliteStore,
    spent: Arc<Mutex<Spent>>,
}

impl Meter {
    pub(crate) fn new(store: SqliteStore) -> (Self, Dial) {
        let spent = Arc::new(Mutex::new(Spent::default()));
        let dial = Dial { spent: Arc::clone(&spent), log: wal::beside(store.path()) };
        (Self { store, spent }, dial)
    }
}

impl Store for Meter {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let began = Instant::now();
        let answer = self.store.execute(pipeline);
        let took = began.elapsed();
        let mut spent = self.spent.lock().expect("nobody panics with it");
        let any = |is: fn(&StoreCommand) -> bool| pipeline.commands.iter().any(is);
        let kind = if any(|it| it.kind().class() == EffectClass::Durable) {
            &mut spent.writing
        } else if any(|it| matches!(it, StoreCommand::ReadLog { .. })) {
            &mut spent.logs
        } else {
            &mut spent.rows
        };
        kind.count += 1;
        kind.time += took;
        spent.commits = self.store.counters().commits;
        answer
    }
}

impl Shared for Meter {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}
