//! The store's port on a file: transactions, and nothing inside them but commands.
//!
//! **Where a process can be killed.** A host may listen to [`SqliteStore::on_failpoint`]; it is
//! called with the names that the simulator uses, at the moments that the simulator means.
//!
//! | mode | `before` of a command | `after` of a command |
//! | --- | --- | --- |
//! | per-command | nothing of it has happened, all before it is on disk | it is on disk |
//! | fused | inside the transaction: nothing of the pipeline is on disk | of the last one: the whole pipeline is on disk; of the others: still inside |
//!
//! A command that is refused has no `after`: the ones before it are on disk, and the refusal is
//! the answer.

mod alter;
mod beside;
mod group;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use everstep_machine::agent_state;
use everstep_machine::effect::{CrashPhase, Failpoint};
use everstep_machine::identity::{ConversationId, Sequence, Timestamp};
use everstep_machine::projection::Reader;
use everstep_machine::store::{
    LogPage, Pipeline, Refusal, Replies, Shared, Store, StoreCommand, StoreFault,
};
use rusqlite::Connection;

use crate::clock::Clock;
use crate::command::{execute, writes};
use crate::error::{OpenError, StoreError, Trouble};
use crate::memory::Memory;
use crate::open::{self, Opened};
use crate::options::{CommitMode, Options};
use crate::reader::SqliteReader;
use crate::transaction::{begin, snapshot};
use crate::upkeep::{Home, WriteAheadLog};
use crate::{checkpoint, log};

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transactions that were begun.
    pub transactions: u64,
    /// Transactions that wrote something and were committed. Each is one fsync of the write-ahead
    /// log; moving the log's contents into the file adds two or three for every 1 000 pages.
    pub commits: u64,
    /// How often another process was in the way for a while.
    pub waits: u64,
    /// Batches of pages that were not read again, because they were remembered.
    pub recalled: u64,
}

/// Listens to failpoints: it may end the process, or panic, or do nothing.
type FailpointHook = Box<dyn FnMut(Failpoint) + Send>;
/// Listens to commits.
type CommitHook = Box<dyn FnMut(&ConversationId) + Send>;

/// The durable port on one SQLite file. It blocks; an asynchronous host gives it a thread.
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    mode: CommitMode,
    home: Home,
    wal: WriteAheadLog,
    busy: Duration,
    memory: Memory,
    clock: Box<dyn Clock>,
    on_failpoint: Option<FailpointHook>,
    on_commit: Option<CommitHook>,
    counters: Counters,
    /// What SQLite calls the contents that this connection has last seen. Commits of its own do
    /// not change it.
    seen: Option<i64>,
}

impl SqliteStore {
    /// Opens a file, or makes a new one.
    ///
    /// # Errors
    /// Everything that [`OpenError`] lists; nothing was written then.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let Options { path, create, mode, busy, memory, clock } = options;
        let Opened { connection, path } = open::writer(&path, create, busy)?;
        let (home, wal) = (Home::of(&path), WriteAheadLog::of(&path));
        let memory = Memory::new(memory);
        let (on_failpoint, on_commit, counters) = (None, None, Counters::default());
        let seen = version(&connection);
        Ok(Self {
            connection,
            path,
            mode,
            home,
            wal,
            busy,
            memory,
            clock,
            on_failpoint,
            on_commit,
            counters,
            seen,
        })
    }

    /// A second connection that only looks.
    ///
    /// # Errors
    /// Everything that [`OpenError`] lists.
    pub fn reader(&self) -> Result<SqliteReader, OpenError> {
        SqliteReader::open(&self.path, self.busy)
    }

    /// Where the file is, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What one transaction covers.
    #[must_use]
    pub const fn mode(&self) -> CommitMode {
        self.mode
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Calls `hook` at every failpoint that is passed.
    pub fn on_failpoint(&mut self, hook: impl FnMut(Failpoint) + Send + 'static) {
        self.on_failpoint = Some(Box::new(hook));
    }

    /// Calls `hook` with the lane after every commit that changed something, before the pipeline
    /// is answered. It runs on the thread that commits, so it only passes the news on.
    pub fn on_commit(&mut self, hook: impl FnMut(&ConversationId) + Send + 'static) {
        self.on_commit = Some(Box::new(hook));
    }

    /// Executes a pipeline and tells exactly why it did not go through; [`StoreError::fault`] is
    /// what a machine needs of it.
    ///
    /// # Errors
    /// Everything that [`StoreError`] lists.
    pub fn perform(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreError> {
        let mut replies = Replies::with_capacity(pipeline.commands.len());
        let at_once = match self.mode {
            CommitMode::Fused => pipeline.commands.len().max(1),
            CommitMode::PerCommand => 1,
        };
        for commands in pipeline.commands.chunks(at_once) {
            self.transact(&pipeline.lane, commands, &mut replies)?;
        }
        Ok(replies)
    }

    /// One transaction. A refusal commits what came before it.
    fn transact(
        &mut self,
        lane: &ConversationId,
        commands: &[StoreCommand],
        replies: &mut Replies,
    ) -> Result<(), StoreError> {
        let Self { connection, path, home, busy, memory, clock, on_failpoint, counters, .. } = self;
        let trouble = |trouble: Trouble| trouble.at(path, *busy);
        let mut pass = |command: &StoreCommand, phase| {
            if let Some(hook) = on_failpoint {
                hook(Failpoint::new(command.kind(), phase));
            }
        };
        let written_before = connection.total_changes();
        let writes = commands.iter().any(writes);
        if writes && home.is_left(path) {
            return Err(StoreError::Moved { path: path.clone() });
        }
        let transaction = begin(connection, writes, *busy, &mut counters.waits).map_err(trouble)?;
        counters.transactions += 1;
        let mut page = |from| {
            if writes {
                // What this transaction wrote may yet be rolled back: not to be remembered.
                return log::page(&transaction, lane, from);
            }
            let (page, recalled) = memory.page(&transaction, lane, from)?;
            counters.recalled += recalled;
            Ok(page)
        };
        let now = clock.now();
        let ran = run(&transaction, lane, commands, now, &mut page, &mut pass, replies);
        let ran = ran.map_err(trouble)?;
        // What cannot be committed is rolled back by the guard that `commit` consumes.
        transaction.commit().map_err(|error| trouble(error.into()))?;
        let wrote = connection.total_changes() != written_before;
        if let (Ran::Through, Some(last)) = (&ran, commands.last()) {
            pass(last, CrashPhase::After);
        }
        if wrote {
            self.committed(&[lane]);
        }
        match ran {
            Ran::Through => Ok(()),
            Ran::Refused(why) => Err(StoreError::Refused { at: replies.len(), why }),
        }
    }

    /// After a commit that changed something of these lanes.
    fn committed(&mut self, lanes: &[&ConversationId]) {
        self.counters.commits += 1;
        self.wal.keep_short(&self.connection, self.busy);
        if let Some(hook) = &mut self.on_commit {
            lanes.iter().for_each(|lane| hook(lane));
        }
    }
}

/// How far commands got inside a transaction.
enum Ran {
    Through,
    /// The one behind the last that was answered.
    Refused(Refusal),
}

/// Executes commands of one lane inside a transaction. The `after` of the last one is the caller's
/// to pass, once it is committed.
fn run(
    connection: &Connection,
    lane: &ConversationId,
    commands: &[StoreCommand],
    now: Timestamp,
    page: &mut dyn FnMut(Sequence) -> Result<LogPage, Trouble>,
    pass: &mut dyn FnMut(&StoreCommand, CrashPhase),
    replies: &mut Replies,
) -> Result<Ran, Trouble> {
    for (at, command) in commands.iter().enumerate() {
        pass(command, CrashPhase::Before);
        match execute(connection, lane, command, now, page)? {
            Ok(reply) => replies.push(reply),
            Err(why) => return Ok(Ran::Refused(why)),
        }
        if at + 1 < commands.len() {
            pass(command, CrashPhase::After);
        }
    }
    Ok(Ran::Through)
}

impl Store for SqliteStore {
    /// # Errors
    /// The three shapes of a fault. A host that wants to say why a store does not answer calls
    /// [`SqliteStore::perform`] instead.
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        self.perform(pipeline).map_err(|error| error.fault())
    }

    fn execute_all(
        &mut self,
        pipelines: &[Pipeline],
        answer: &mut dyn FnMut(Result<Replies, StoreFault>),
    ) {
        self.perform_all(pipelines, |it| answer(it.map_err(|error| error.fault())));
    }
}

impl Shared for SqliteStore {
    /// A look at shared memory, through the connection that writes. Another process that begins
    /// the write-ahead log anew is told as well.
    fn changed_elsewhere(&mut self) -> bool {
        match version(&self.connection) {
            Some(version) => self.seen.replace(version) != Some(version),
            None => false,
        }
    }

    fn checkpoint(&mut self, lane: &ConversationId) -> Option<Reader> {
        let read = |it: &Connection| Ok(checkpoint::read(it, lane));
        snapshot(&self.connection, self.busy, read).ok().flatten()
    }

    fn agent_state(
        &mut self,
        command: &agent_state::Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault> {
        self.state(command).map_err(|error| error.fault())
    }

    /// In a transaction of its own, for which nobody is waited for.
    fn keep_checkpoint(&mut self, lane: &ConversationId, bytes: &[u8]) {
        if self.home.is_left(&self.path) {
            return;
        }
        let kept = begin(&self.connection, true, Duration::ZERO, &mut 0).and_then(|transaction| {
            checkpoint::write(&transaction, lane, bytes)?;
            Ok(transaction.commit()?)
        });
        if kept.is_ok() {
            self.wal.keep_short(&self.connection, self.busy);
        }
    }
}

/// What SQLite calls the contents as this connection sees them, if it sees them.
fn version(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .field("mode", &self.mode)
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
