//! What a file of ours looks like, and how to tell.
//!
//! SQLite keeps two numbers in a file for its owner: an application id, which says whose it is,
//! and a user version, which here is the [`Format`]. Both are read before anything is written, by
//! a connection that cannot write.

use std::fmt;

use everstep_machine::record::SCHEMA_VERSION;
use everstep_machine::store::Incarnation;
use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::cell::LAYOUT_VERSION;
use crate::incarnation;

/// "EVST".
pub(crate) const APPLICATION_ID: i32 = 0x4556_5354;

/// "EVSB": a backup, on which nobody may work (STORE-013).
pub(crate) const BACKUP_ID: i32 = 0x4556_5342;

/// What a file's contents are written in. Files of another format are refused (STORE-005).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format {
    /// The tables and indexes.
    pub tables: u16,
    /// The layout of lanes, rows and tails.
    pub cells: u16,
    /// The layout of records.
    pub records: u16,
}

/// The step from one part of a format to the next in the number that SQLite keeps.
const PART: u32 = 1_000;

impl Format {
    /// What this build reads and writes.
    pub const CURRENT: Self = Self { tables: 6, cells: LAYOUT_VERSION, records: SCHEMA_VERSION };

    /// The number that SQLite keeps.
    pub(crate) fn user_version(self) -> i32 {
        let [tables, cells, records] = [self.tables, self.cells, self.records].map(u32::from);
        i32::try_from((tables * PART + cells) * PART + records).unwrap_or(i32::MAX)
    }

    /// What a number says; one that no format has reads as the newest there could be.
    fn of_user_version(number: i32) -> Self {
        let Ok(number) = u32::try_from(number) else {
            return Self { tables: u16::MAX, cells: u16::MAX, records: u16::MAX };
        };
        let part = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        let (tables, rest) = (number / (PART * PART), number % (PART * PART));
        Self { tables: part(tables), cells: part(rest / PART), records: part(rest % PART) }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tables, cells, records } = self;
        write!(f, "{tables}.{cells}.{records}")
    }
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Nobody's yet.
    Blank,
    /// Ours, of this format.
    Ours,
    /// A backup of one of ours, of this format.
    Backup,
    /// Ours, of another format.
    Other(Format),
    /// Somebody else's.
    Foreign(i32),
}

impl Identity {
    /// Tells by the two numbers; a file without them is blank if there is nothing in it.
    pub(crate) fn of<E>(
        id: i32,
        version: i32,
        is_empty: impl FnOnce() -> Result<bool, E>,
    ) -> Result<Self, E> {
        if id == APPLICATION_ID || id == BACKUP_ID {
            let found = Format::of_user_version(version);
            let known = if id == BACKUP_ID { Self::Backup } else { Self::Ours };
            return Ok(if found == Format::CURRENT { known } else { Self::Other(found) });
        }
        let blank = (id, version) == (0, 0) && is_empty()?;
        Ok(if blank { Self::Blank } else { Self::Foreign(id) })
    }
}

/// Tells whose file it is. Reads only.
///
/// In one transaction, because another process may be making the database at this moment: its
/// tables without its numbers would look like somebody else's file.
pub(crate) fn identify(connection: &Transaction<'_>) -> rusqlite::Result<Identity> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (id, version) = (number("application_id")?, number("user_version")?);
    let is_empty = || {
        let any = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
        connection.query_row(any, (), |row| row.get(0))
    };
    Identity::of(id, version, is_empty)
}

/// Every table and index with the statement that makes it, exactly as SQLite keeps it.
///
/// The ledger, the logs, agents' state (CAP-012) and sessions are stores of their own in one file:
/// nothing refers from one to the other (STORE-001). `standing` is why a row may be claimed: 0 queued, 1 errand, 2 resting,
/// 3 doubtful, 4 given up; the partial index holds only what waits for a worker or for a person, so looking for
/// work never meets what is done.
///
/// A submission is in two indexes, since an index alone cannot be asked whether it is complete: one
/// flipped byte, and what was admitted looks as if it never had been. No single damage takes it out
/// of both, and SQLite lets no row in that either of them has already.
pub(crate) const SCHEMA: [(&str, &str); 16] = [
    (
        "ledger_incarnation",
        "CREATE TABLE ledger_incarnation (
            only INTEGER NOT NULL PRIMARY KEY CHECK (only = 0),
            cell BLOB NOT NULL
        ) STRICT",
    ),
    (
        "ledger_lane",
        "CREATE TABLE ledger_lane (
            conversation TEXT NOT NULL PRIMARY KEY,
            cell BLOB NOT NULL
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "ledger_row",
        "CREATE TABLE ledger_row (
            conversation TEXT NOT NULL,
            sequence INTEGER NOT NULL CHECK (sequence >= 0),
            submission BLOB NOT NULL CHECK (length(submission) = 16),
            standing INTEGER NOT NULL CHECK (standing BETWEEN 0 AND 6),
            cell BLOB NOT NULL,
            PRIMARY KEY (conversation, sequence)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "ledger_row_submission",
        "CREATE UNIQUE INDEX ledger_row_submission ON ledger_row (submission, conversation)",
    ),
    (
        "ledger_row_again",
        "CREATE UNIQUE INDEX ledger_row_again ON ledger_row (submission, conversation)",
    ),
    (
        "ledger_row_waiting",
        "CREATE INDEX ledger_row_waiting ON ledger_row (conversation, standing, sequence)
            WHERE standing <> 2",
    ),
    (
        "log_tail",
        "CREATE TABLE log_tail (
            conversation TEXT NOT NULL PRIMARY KEY,
            cell BLOB NOT NULL
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "log_batch",
        "CREATE TABLE log_batch (
            conversation TEXT NOT NULL,
            first_sequence INTEGER NOT NULL CHECK (first_sequence >= 0),
            batch BLOB NOT NULL CHECK (length(batch) = 16),
            bytes BLOB NOT NULL,
            PRIMARY KEY (conversation, first_sequence),
            UNIQUE (conversation, batch)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "log_record",
        "CREATE TABLE log_record (
            conversation TEXT NOT NULL,
            record BLOB NOT NULL CHECK (length(record) = 16),
            sequence INTEGER NOT NULL CHECK (sequence >= 0),
            PRIMARY KEY (conversation, record)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "log_checkpoint",
        "CREATE TABLE log_checkpoint (
            conversation TEXT NOT NULL PRIMARY KEY,
            bytes BLOB NOT NULL
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "log_artifact",
        "CREATE TABLE log_artifact (
            conversation TEXT NOT NULL,
            digest BLOB NOT NULL CHECK (length(digest) = 32),
            bytes BLOB NOT NULL,
            PRIMARY KEY (conversation, digest)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "state_shelf",
        "CREATE TABLE state_shelf (
            scope TEXT NOT NULL PRIMARY KEY,
            cell BLOB NOT NULL
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "state_slot",
        "CREATE TABLE state_slot (
            scope TEXT NOT NULL,
            key TEXT NOT NULL,
            cell BLOB NOT NULL,
            PRIMARY KEY (scope, key)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "state_mark",
        "CREATE TABLE state_mark (
            call BLOB NOT NULL CHECK (length(call) = 16),
            scope TEXT NOT NULL,
            key TEXT NOT NULL,
            cell BLOB NOT NULL,
            PRIMARY KEY (call, scope, key)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "session_shelf",
        "CREATE TABLE session_shelf (
            only INTEGER NOT NULL PRIMARY KEY CHECK (only = 0),
            cell BLOB NOT NULL
        ) STRICT",
    ),
    (
        "session_entry",
        "CREATE TABLE session_entry (
            session TEXT NOT NULL PRIMARY KEY,
            cell BLOB NOT NULL
        ) STRICT, WITHOUT ROWID",
    ),
];

/// Makes a blank file ours, inside the caller's transaction.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    for (_, statement) in SCHEMA {
        connection.execute_batch(statement)?;
    }
    incarnation::begin(connection, &Incarnation::FIRST)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", Format::CURRENT.user_version())
}

/// The first table or index that is not as [`SCHEMA`] has it, or is none of ours.
pub(crate) fn difference(connection: &Connection) -> rusqlite::Result<Option<String>> {
    for (name, statement) in SCHEMA {
        let found = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let found: Option<Option<String>> =
            connection.query_row(found, [name], |row| row.get(0)).optional()?;
        if found.flatten().as_deref() != Some(statement) {
            return Ok(Some(name.to_owned()));
        }
    }
    // A trigger or a view would do or show what no machine has decided.
    let strange = "SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index') LIMIT 1";
    connection.query_row(strange, (), |row| row.get(0)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_005_a_format_is_one_number_and_back() {
        assert_eq!(Format::CURRENT.to_string(), format!("6.{LAYOUT_VERSION}.{SCHEMA_VERSION}"));
        let parts = [0, 1, 7, 999];
        for (tables, cells, records) in
            parts.into_iter().flat_map(|a| parts.map(|b| (a, b, 999 - a)))
        {
            let format = Format { tables, cells, records };
            assert_eq!(Format::of_user_version(format.user_version()), format);
        }
    }

    #[test]
    fn store_005_a_number_that_is_no_format_is_newer_than_all() {
        for number in [-1, i32::MIN, -1_001_001] {
            assert!(Format::of_user_version(number) > Format::CURRENT, "{number}");
        }
        assert!(Format::of_user_version(0) < Format::CURRENT);
        assert!(Format::of_user_version(i32::MAX) > Format::CURRENT);
    }

    #[test]
    fn store_001_log_and_ledger_share_no_table() {
        for (name, statement) in SCHEMA {
            let stores = ["ledger_", "log_", "state_", "session_"];
            let own = stores.iter().find(|own| name.starts_with(**own));
            let own = own.unwrap_or_else(|| panic!("{name} belongs to no store"));
            let mut others = stores.iter().filter(|it| it != &own);
            assert!(statement.contains(own), "{name}");
            assert!(others.all(|other| !statement.contains(other)), "{name}");
            assert!(!statement.contains("REFERENCES"), "{name}");
        }
    }
}
