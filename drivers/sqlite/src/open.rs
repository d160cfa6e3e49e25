//! From a path to a connection, or to a clear reason why not.
//!
//! ```text
//! look at the file --> is its log whole --> whose is it, and which format --> open --> create or check
//! ```
//!
//! Until the file is known to be ours, in this build's format, or to be empty, nothing writes to
//! it: not even the checkpoint that SQLite makes when the last connection closes. Its header says
//! whose it is, unless a write-ahead log may say something newer; then a connection is asked that
//! cannot write. The one exception is SQLite's own: a transaction that a killed process left
//! half-written in a rollback journal is rolled back by whoever opens the file next.

mod explain;
mod header;
mod held;
mod opener;
mod path;
mod wal;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::OpenError;
use crate::format::Identity;
use header::Header;
use opener::Opener;
pub(crate) use path::absolute;
use path::{Look, beside, is_alone, look};
pub(crate) use path::{companion, folder};

/// Opens a database for writing.
pub(crate) fn writer(path: &Path, create: bool, busy: Duration) -> Result<Opened, OpenError> {
    let path = absolute(path)?;
    let known = match found(&path)? {
        // What is unfinished a writer finishes, and asks again.
        Look::Database => recognise(&path, busy)?.unwrap_or(Identity::Ours),
        Look::Nothing if !create => return Err(OpenError::Absent { path }),
        Look::Empty | Look::Nothing => Identity::Blank,
    };
    if known == Identity::Blank && !create {
        return Err(OpenError::Empty { path });
    }
    if known == Identity::Backup {
        return Err(OpenError::Backup { path });
    }
    let opener = Opener { path: &path, busy };
    let connection = opener.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | created(create))?;
    opener.prepare(&connection)?;
    // Nobody builds upon what this process has just recovered before it is sure to last.
    wal::settle(&path)
        .map_err(|error| OpenError::Io { path: path.clone(), detail: error.to_string() })?;
    Ok(Opened { connection, path })
}

/// Opens a database for reading.
pub(crate) fn reader(path: &Path, busy: Duration) -> Result<Opened, OpenError> {
    let path = absolute(path)?;
    let known = match found(&path)? {
        Look::Database => recognise(&path, busy)?,
        Look::Empty => Some(Identity::Blank),
        Look::Nothing => return Err(OpenError::Absent { path }),
    };
    match known {
        None => return Err(OpenError::Unfinished { path }),
        Some(Identity::Blank) => return Err(OpenError::Empty { path }),
        Some(Identity::Ours | Identity::Backup | Identity::Other(_) | Identity::Foreign(_)) => {}
    }
    let opener = Opener { path: &path, busy };
    let connect = |apart: bool| {
        let connection = if apart {
            opener.connect_apart()?
        } else {
            opener.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?
        };
        opener.patiently(|| Ok(opener.harden(&connection)?))?;
        opener.check(&connection)?;
        Ok(connection)
    };
    let connection = match connect(false) {
        Err(OpenError::ReadOnlyFolder { .. }) if is_alone(&path) => connect(true)?,
        connection => connection?,
    };
    Ok(Opened { connection, path })
}

/// A connection that makes a file which nobody else knows of into one of ours: a copy of a database.
pub(crate) fn copy(path: &Path) -> Result<Connection, OpenError> {
    let opener = Opener { path, busy: Duration::ZERO };
    let connection = opener.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    opener.patiently(|| Ok(opener.harden(&connection)?))?;
    opener.patiently(|| Ok(connection.pragma_update(None, "synchronous", "FULL")?))?;
    Ok(connection)
}

/// Whose file it is, of those that can be read.
pub(crate) fn is_backup(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(opener::identify(connection)? == Identity::Backup)
}

/// A connection to a file of ours.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

const fn created(create: bool) -> OpenFlags {
    if create { OpenFlags::SQLITE_OPEN_CREATE } else { OpenFlags::empty() }
}

/// What a path holds; nothing is there only if no log says that something was.
fn found(path: &Path) -> Result<Look, OpenError> {
    let before = look(path)?;
    if before == Look::Database {
        return Ok(before);
    }
    let Some(transactions) = wal::orphan(path)? else { return Ok(before) };
    // Unless another process has made both meanwhile.
    let is_there = match look(path)? {
        Look::Database => return Ok(Look::Database),
        Look::Empty => true,
        Look::Nothing => false,
    };
    let (path, log) = (path.to_owned(), companion(path, "-wal"));
    Err(OpenError::Orphaned { path, is_there, log, transactions })
}

/// Tells whose file it is, without writing to it; none if a killed process left it unfinished.
fn recognise(path: &Path, busy: Duration) -> Result<Option<Identity>, OpenError> {
    wal::check(path)?;
    let opener = Opener { path, busy };
    if beside(path, "-wal") || beside(path, "-journal") {
        return opener.ask();
    }
    let header = Header::read(path)
        .map_err(|error| OpenError::Io { path: path.to_owned(), detail: error.to_string() })?;
    let known = header.identity();
    if matches!(known, Identity::Ours | Identity::Backup) {
        opener.whole(&header)?;
    }
    opener.admit(known).map(Some)
}
