//! The embedded store: the ledger's lanes and the Conversation Logs of one SQLite file.
//!
//! A driver decides nothing. For every command it asks the command for its footprint, loads that,
//! steps the pure machine of `everstep-machine`, writes exactly the changes the machine answered
//! with, and commits. Whatever a test proves of the machines holds for this file.
//!
//! ```text
//! StoreCommand --footprint--> SELECT --slice--> Machine::step --changes--> INSERT/UPDATE --COMMIT-->
//! ```
//!
//! | what | how |
//! | --- | --- |
//! | durable | WAL, `synchronous=FULL`: one fsync a commit, [`Counters::commits`] counts them |
//! | atomic | [`CommitMode::Fused`]: a pipeline is one transaction; [`CommitMode::PerCommand`]: a command is one. A refusal commits the commands before it in both. Pipelines that wait at the same time share one ([`SqliteStore::perform_all`]) |
//! | shared | any number of processes; writers begin with `BEGIN IMMEDIATE` and wait for one another, at most [`Options::busy`] |
//! | distinct | the tables `ledger_*` and `log_*` share no rows and no keys (STORE-001) |
//! | checked | every value is read back under its digest and its canonical spelling; [`Flaw`] names what is wrong and [`Place`] where (STORE-006) |
//! | whole | a write-ahead log that is damaged in front of what was committed is refused ([`OpenError::LogDamaged`]); SQLite would leave that out |
//! | read once | batches that were read are remembered, at most [`Options::memory`] bytes; of a page's, the last is read again, and its chain vouches for the others (STORE-011) |
//! | versioned | a file of another [`Format`] is refused before anything is written (STORE-005) |
//! | large results | digest-addressed artifacts beside their log, in the transaction of the record that names them; read under their digest (STORE-009) |
//! | restarts | folds are kept beside their logs, sealed and bound to a chain digest; what is not right about one makes it none (STORE-007) |
//! | beside the logs | agents' state (CAP-012) and sessions: tables of their own, on which no submission depends. What a call has written is applied, or taken back, in the transaction of the batch that records its end |
//! | copied | [`backup`] of a file in use, which nobody works on, and [`restore`], a new incarnation in which no earlier claim counts (STORE-013) |
//! | on time | [`Clock`] stamps every command; a lane never lets its time fall (CL-01) |
//!
//! Three doors: [`SqliteStore`] executes pipelines, [`SqliteReader`] looks without ever holding a
//! read transaction open between two calls (SQ-01), and [`SqliteReader::verify`] looks at all of
//! it.
//!
//! **Waiting without polling.** Inside a process [`SqliteStore::on_commit`] tells which lane
//! changed, after its commit. Between processes SQLite has no signal, but a glance at shared
//! memory tells whether another connection has committed, of this process or another:
//! [`SqliteReader::data_version`] for somebody who only looks, and for a host, whose own commits
//! are no news, `changed_elsewhere` of [`everstep_machine::store::Shared`] on its store. What is
//! due by itself is known in advance: [`Scan::wakes_at`].
//!
//! Deliberately absent: rules of any protocol, threads, async, and an API that hands out a cursor.

mod agent_state;
mod artifact;
mod cell;
mod checkpoint;
mod clock;
mod command;
mod copy;
mod error;
mod format;
mod import;
mod incarnation;
mod ledger;
mod log;
mod memory;
mod name;
mod open;
mod options;
mod reader;
mod rebuild;
mod scan;
mod session;
mod store;
mod transaction;
mod upkeep;
mod verify;

pub use cell::CellError;
pub use clock::{Clock, WallClock};
pub use copy::{Copied, Restored, backup, restore};
pub use error::{CopyError, Corrupt, Flaw, OpenError, Place, StoreError};
pub use format::Format;
pub use import::{Exported, Imported};
pub use options::{CommitMode, CommitModeError, Options};
pub use reader::{LanePlace, LaneRow, Listed, MAX_LISTED, SqliteReader};
pub use rebuild::Rebuilt;
pub use scan::Scan;
pub use store::{Counters, SqliteStore};
pub use verify::Verified;

#[cfg(test)]
mod testkit;
