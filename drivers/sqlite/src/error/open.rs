//! Why a file was not opened.

use std::path::PathBuf;
use std::time::Duration;

use crate::format::Format;

/// Why a file was not opened. Nothing was written to it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No file has this name, and none may be created.
    #[error("{}: there is no such database; check the name, or create it by running something", path.display())]
    Absent {
        /// What was asked for.
        path: PathBuf,
    },
    /// The file is there, nothing is in it, and nothing may be made in it.
    #[error(
        "{}: this file is empty, there is no database in it; check the name, or make one in it by \
         running something", path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The database is not there or is empty, but its write-ahead log is there. SQLite would make
    /// a new database and destroy the log.
    #[error(
        "{}: the database is {}, but `{}` beside it holds {transactions} whole transactions of \
         it; put the database back beside it, or move that file away if what was done is not \
         wanted any more", path.display(), if *is_there { "empty" } else { "not there" },
        log.display()
    )]
    Orphaned {
        /// Where the database was.
        path: PathBuf,
        /// Whether an empty file is in its place.
        is_there: bool,
        /// Its log.
        log: PathBuf,
        /// How many transactions of the log can be read.
        transactions: u64,
    },
    /// The file has no first page, or not the one that belongs to the others: that was in the
    /// write-ahead log only, or was read from it where nothing was any more.
    #[error(
        "{}: its first page is missing, so its write-ahead log (`-wal`) is missing or was cut off; \
         put that back beside it, or restore a backup; do not run the same line again without",
        path.display()
    )]
    LogLost {
        /// The database.
        path: PathBuf,
    },
    /// A process was killed while it made or changed the file, and a reader cannot undo that.
    #[error(
        "{}: a process was killed while it made or changed this database, and whoever opens it for \
         writing undoes that; run something on it, then look again", path.display()
    )]
    Unfinished {
        /// The database.
        path: PathBuf,
    },
    /// The folder that would hold the file is not there.
    #[error("{}: there is no such folder; create it first", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The name belongs to something that is no file.
    #[error("{}: this is not a regular file; name a file", path.display())]
    NotAFile {
        /// What was asked for.
        path: PathBuf,
    },
    /// The file may not be read.
    #[error("{}: no permission to read it; ask its owner, or run as them", path.display())]
    Unreadable {
        /// The database.
        path: PathBuf,
    },
    /// The file may be read but not written.
    #[error("{}: no permission to write it; make it writable, or name another file", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// Nothing can be created in the folder, and SQLite keeps two files beside the database. For
    /// looking it can do without, unless there is a write-ahead log.
    #[error(
        "{}: nothing can be created in this folder, and the database needs two files beside \
         itself; make the folder writable, or move the database elsewhere, together with its `-wal` \
         if there is one", folder.display()
    )]
    ReadOnlyFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The file is something else.
    #[error("{}: this is not a database; name another file", path.display())]
    NotADatabase {
        /// What was asked for.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error(
        "{}: this is the database of another program (application id {application_id:#010x}); \
         name another file", path.display()
    )]
    Foreign {
        /// What was asked for.
        path: PathBuf,
        /// Whose it is: the number that SQLite keeps for that; often 0.
        application_id: i32,
    },
    /// The file was written by an older build (STORE-005).
    #[error(
        "{}: its format is {found}, this build's is {supported}; finish its work with the build \
         that wrote it, or name another file", path.display()
    )]
    Older {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: Format,
        /// This build's format.
        supported: Format,
    },
    /// The file was written by a newer build (STORE-005).
    #[error("{}: its format is {found}, this build's is {supported}; use a newer build", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: Format,
        /// This build's format.
        supported: Format,
    },
    /// The file is a backup, and somebody wants to work on it. Two copies on which somebody works
    /// do everything twice (STORE-013).
    #[error(
        "{}: this is a backup, nobody works on it; `everstep restore` makes a database of it",
        path.display()
    )]
    Backup {
        /// The file.
        path: PathBuf,
    },
    /// The file ends too early.
    #[error(
        "{}: the file is cut off: {found} of at least {expected} bytes are there; restore a backup",
        path.display()
    )]
    Truncated {
        /// The database.
        path: PathBuf,
        /// How many bytes its header promises, or a header has.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The file is ours and broken.
    #[error("{}: the database is corrupt ({detail}); keep a copy and restore a backup", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The write-ahead log is broken in front of what was committed, which SQLite would leave out.
    #[error(
        "{}: the write-ahead log is damaged at byte {offset} (frame {frame}), and what was \
         committed behind that would be lost; nothing was changed: keep a copy of it and of the \
         database beside it, and restore a backup", path.display()
    )]
    LogDamaged {
        /// The log, which is the file beside the database.
        path: PathBuf,
        /// The first frame that is not right, counted from 1; 0 is the log's own header.
        frame: u64,
        /// Where it begins.
        offset: u64,
    },
    /// Somebody changed the tables.
    #[error(
        "{}: the table or index `{name}` is not as this format has it; restore a backup",
        path.display()
    )]
    SchemaDiffers {
        /// The database.
        path: PathBuf,
        /// The first table or index that differs.
        name: String,
    },
    /// Another process keeps everybody out.
    #[error(
        "{}: another process kept it locked for {} ms; close the program that has it open \
         exclusively, then try again", path.display(), waited.as_millis()
    )]
    Locked {
        /// The database.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// There is no space left.
    #[error("{}: no space is left on its disk; free some, then try again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The operating system failed.
    #[error("{}: it could not be opened: {detail}", path.display())]
    Io {
        /// The database.
        path: PathBuf,
        /// What it says.
        detail: String,
    },
}
