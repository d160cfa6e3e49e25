//! What a store looks after between its transactions: that its file is still there, and that the
//! write-ahead log stays short.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::open::companion;
use crate::transaction;

/// Bytes beyond which the write-ahead log is too long.
pub(crate) const WAL_BYTES: u64 = 16 << 20;

/// How long those that read at the moment may take to end when the log is to start anew. A
/// pipeline is answered only after that, so this is far below what any lease has left when it is
/// renewed. Whoever reads for longer is waited for again when the log has grown some more.
const READERS: Duration = Duration::from_millis(250);

/// Which file a path meant when it was opened.
pub(crate) struct Home(Option<FileId>);

#[cfg(unix)]
type FileId = (u64, u64);
#[cfg(not(unix))]
type FileId = std::convert::Infallible;

impl Home {
    pub(crate) fn of(path: &Path) -> Self {
        Self(file_id(path))
    }

    /// Whether the path means another file now, or none.
    pub(crate) fn is_left(&self, path: &Path) -> bool {
        self.0.is_some() && self.0 != file_id(path)
    }
}

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
}

/// Elsewhere an open file cannot be moved.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}

/// The log, and how long it may become before somebody waits for readers to let go of it.
///
/// SQLite moves the log's contents into the file every now and then, and starts the log anew when
/// nobody reads from it. Readers that come and go without a gap keep it from ever doing so, short
/// as each may be; so a log that has become long is started anew by waiting for those that read
/// at the moment, which the next ones then do from the file.
pub(crate) struct WriteAheadLog {
    path: PathBuf,
    limit: u64,
}

impl WriteAheadLog {
    pub(crate) fn of(database: &Path) -> Self {
        Self { path: companion(database, "-wal"), limit: WAL_BYTES }
    }

    /// Starts the log anew if it is too long. A reader who never lets go is asked again only when
    /// the log has grown by another quarter; nothing that was committed depends on it. `patience`
    /// is how long the connection waits by itself otherwise.
    pub(crate) fn keep_short(&mut self, connection: &Connection, patience: Duration) {
        let length = length(&self.path).unwrap_or(0);
        if length <= self.limit {
            return;
        }
        let is_kept = |row: &rusqlite::Row<'_>| row.get::<_, bool>(0);
        let restart = || connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), is_kept);
        let kept = connection.busy_timeout(READERS).and_then(|()| restart());
        // Setting a timeout of an open connection does not fail.
        let _ = transaction::set_patience(connection, patience);
        let started_anew = matches!(kept, Ok(false));
        self.limit = if started_anew { WAL_BYTES } else { length + WAL_BYTES / 4 };
    }
}

/// How long the log is, without asking for its times: on Linux, from 6.13 on, the first write after
/// somebody has looked at them changes them, and then every fsync has the inode to write as well.
/// SQLite holds no locks on this file, which closing it would let go of.
fn length(log: &Path) -> io::Result<u64> {
    File::open(log)?.seek(SeekFrom::End(0))
}
