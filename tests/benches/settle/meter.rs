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
        let mut answer = None;
        self.execute_all(std::slice::from_ref(pipeline), &mut |it| answer = Some(it));
        answer.expect("it is answered")
    }

    fn execute_all(
        &mut self,
        pipelines: &[Pipeline],
        answer: &mut dyn FnMut(Result<Replies, StoreFault>),
    ) {
        let (mut began, mut kinds) = (Instant::now(), pipelines.iter().map(Kind::of));
        let spent = Arc::clone(&self.spent);
        // Those that are committed at once are answered at once: the first takes the time of all.
        self.store.execute_all(pipelines, &mut |it| {
            let mut spent = spent.lock().expect("nobody panics with it");
            let part = match kinds.next().expect("one answer for each") {
                Kind::Writing => &mut spent.writing,
                Kind::Logs => &mut spent.logs,
                Kind::Rows => &mut spent.rows,
            };
            part.count += 1;
            part.time += began.elapsed();
            began = Instant::now();
            answer(it);
        });
        self.spent.lock().expect("nobody panics with it").commits = self.store.counters().commits;
    }
}

/// What a pipeline is for.
enum Kind {
    Writing,
    Logs,
    Rows,
}

impl Kind {
    fn of(pipeline: &Pipeline) -> Self {
        let any = |is: fn(&StoreCommand) -> bool| pipeline.commands.iter().any(is);
        if any(|it| it.kind().class() == EffectClass::Durable) {
            Self::Writing
        } else if any(|it| matches!(it, StoreCommand::ReadLog { .. })) {
            Self::Logs
        } else {
            Self::Rows
        }
    }
}

impl Shared for Meter {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}
