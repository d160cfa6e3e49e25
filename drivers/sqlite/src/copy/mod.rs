//! Backup and restore (STORE-013).
//!
//! ```text
//! a database in use --VACUUM INTO--> X.partial --verify, sync--> X          a backup
//! a backup, verified --VACUUM INTO--> Y.partial --inherit, verify, sync--> Y    a database
//! ```
//!
//! A copy is made under a name of its own beside the place it is for, checked whole, brought to the
//! disk, and only then given its name, if nothing has that name: so a process that is killed leaves
//! a finished copy or none. What it leaves under the name of its own is removed by hand.
//!
//! A backup is a file of its own kind, which no writer opens. Two files on which somebody works, of
//! which one is a copy of the other, would do everything twice.

mod backup;
mod partial;
mod restore;

use std::path::Path;
use std::time::Duration;

use everstep_machine::ledger::Phase;

pub use backup::backup;
pub use restore::{Restored, restore};

use crate::error::CopyError;
use crate::reader::{MAX_LISTED, SqliteReader};

/// What is in a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Conversations.
    pub conversations: u64,
    /// Submissions.
    pub rows: u64,
    /// Those that are not settled in it.
    pub unsettled: u64,
    /// Batches of all logs.
    pub batches: u64,
    /// Records in them.
    pub records: u64,
}

/// Reads all of a file, and trusts nothing in it (STORE-006).
fn verified(path: &Path, busy: Duration) -> Result<Copied, CopyError> {
    let reader = SqliteReader::open(path, busy).map_err(CopyError::Open)?;
    reader.verify_file().map_err(CopyError::Store)?;
    let mut copied = Copied::default();
    let mut after = None;
    loop {
        let page = reader.conversations(after.as_ref(), MAX_LISTED).map_err(CopyError::Store)?;
        if let Some(first) = page.corrupt.into_iter().next() {
            return Err(CopyError::Store(first.into_error(path)));
        }
        for conversation in &page.entries {
            let verified = reader.verify(conversation).map_err(CopyError::Store)?;
            copied.conversations += 1;
            copied.rows += verified.rows;
            copied.batches += verified.batches;
            copied.records += verified.records;
        }
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    copied.unsettled = unsettled(&reader)?;
    Ok(copied)
}

fn unsettled(reader: &SqliteReader) -> Result<u64, CopyError> {
    let (mut count, mut after) = (0, None);
    loop {
        let behind = after.as_ref().map(|(lane, place)| (lane, *place));
        let page = reader.waiting(behind, MAX_LISTED).map_err(CopyError::Store)?;
        let is_settled =
            |row: &everstep_machine::ledger::Row| matches!(row.phase, Phase::Settled(_));
        count += page.entries.iter().filter(|(_, row)| !is_settled(row)).count() as u64;
        after = page.after;
        if after.is_none() {
            return Ok(count);
        }
    }
}
