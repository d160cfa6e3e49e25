//! Why a pipeline, or a reading, did not go through.

use std::path::{Path, PathBuf};
use std::time::Duration;

use everstep_machine::store::{Refusal, StoreFault};
use rusqlite::ErrorCode;

use super::stored::{Flaw, Place};

/// Why a pipeline, or a reading, did not go through.
///
/// [`StoreError::fault`] is what the machines need to know of it. Of what is not a refusal and
/// not corruption they need to know nothing: any prefix may have been committed, and sending the
/// identical pipeline again is right once the cause is gone. Whoever sends it again waits a little
/// first, since a full disk is full for a while.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The command at this position did nothing; those before it stand.
    #[error("command {at} was refused: {why}")]
    Refused {
        /// Position in the pipeline.
        at: usize,
        /// Why.
        why: Refusal,
    },
    /// Others held the lock for as long as we may wait. Nothing of this transaction happened.
    #[error(
        "{}: another process held the write lock for {} ms; send the same again, or find the \
         process that keeps a transaction open", path.display(), waited.as_millis()
    )]
    Busy {
        /// The database.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The disk, the quota or the page limit is exhausted. What was committed before stands.
    #[error("{}: no space is left; free some, then send the same again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The file is not where it was opened: what is written to it now, nobody would find.
    #[error(
        "{}: the database was moved, replaced or deleted while it was open; put it back with the \
         files beside it: without it nobody knows what was done already", path.display()
    )]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// The operating system failed below SQLite.
    #[error(
        "{}: input or output failed ({detail}); check disk and file system, then send the same \
         again", path.display()
    )]
    Io {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// What is stored is not what was written. Stop, and quarantine the place.
    #[error(
        "{}: {place} is corrupt: {flaw}; stop working on it, keep a copy of the file, and \
         restore a backup", path.display()
    )]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// Where.
        place: Place,
        /// What is wrong.
        flaw: Box<Flaw>,
    },
}

impl StoreError {
    /// What the machines are told.
    #[must_use]
    pub fn fault(&self) -> StoreFault {
        match self {
            Self::Refused { at, why } => StoreFault::Refused { at: *at, why: *why },
            Self::Corrupt { flaw, .. } => StoreFault::Corrupt(flaw.corruption()),
            Self::Busy { .. } | Self::Full { .. } | Self::Moved { .. } | Self::Io { .. } => {
                StoreFault::Indeterminate
            }
        }
    }
}

/// What went wrong inside a transaction, before anybody said in which file.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// SQLite failed.
    Sql(rusqlite::Error),
    /// What is stored is wrong.
    Flawed(Place, Flaw),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Trouble {
    /// The failure of a write to a place: a constraint that holds against it says that the place
    /// is taken.
    pub(crate) fn writing(place: impl FnOnce() -> Place) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Self::Flawed(place(), Flaw::Taken),
            _ => Self::Sql(error),
        }
    }

    /// Whether another connection is in the way, and trying again may help.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            Self::Sql(error) => is_busy(error),
            Self::Flawed(..) => false,
        }
    }

    /// Names the file.
    pub(crate) fn at(self, path: &Path, waited: Duration) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Flawed(place, flaw) => StoreError::Corrupt { path, place, flaw: Box::new(flaw) },
            Self::Sql(error) => of_sqlite(error, path, waited),
        }
    }
}

pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// SQLite could not grow the file that its processes share: the disk is full.
const IOERR_SHMSIZE: i32 = 10 | (19 << 8);

/// Whether there is no space left.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || extended == Some(IOERR_SHMSIZE)
}

fn of_sqlite(error: rusqlite::Error, path: PathBuf, waited: Duration) -> StoreError {
    if is_busy(&error) {
        return StoreError::Busy { path, waited };
    }
    if is_full(&error) {
        return StoreError::Full { path };
    }
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted
            | ErrorCode::NoLargeFileSupport,
        ) => StoreError::Io { path, detail },
        // A page that SQLite cannot make sense of, a schema or a value that is not ours any more.
        _ => StoreError::Corrupt { path, place: Place::File, flaw: Box::new(Flaw::Sqlite(detail)) },
    }
}
