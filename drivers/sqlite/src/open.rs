//! From a path to a connection, or to a clear reason why not.
//!
//! ```text
//! look at the file --> whose is it, and which format --> open --> create or check
//! ```
//!
//! Until the file is known to be ours, in this build's format, or to be empty, nothing writes to
//! it: not even the checkpoint that SQLite makes when the last connection closes. Its header says
//! whose it is, unless a write-ahead log may say something newer; then a connection is asked that
//! cannot write. The one exception is SQLite's own: a transaction that a killed process left
//! half-written in a rollback journal is rolled back by whoever opens the file next.

mod header;
mod held;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{OpenError, Trouble, is_busy, is_full};
use crate::format::{self, Format, Identity};
use crate::transaction::{patiently, set_patience};
use crate::upkeep::WAL_BYTES;
use header::{HEADER_BYTES, Header, MAGIC};

/// Statements that stay prepared: more than there are.
const STATEMENTS: usize = 64;
/// Pages after which SQLite moves the log's contents into the file.
const CHECKPOINT_PAGES: i64 = 1_000;

/// What a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// No file.
    Nothing,
    /// An empty file: a new database, as SQLite itself has it.
    Empty,
    /// It begins like an SQLite file.
    Database,
}

/// Opens a database for writing.
pub(crate) fn writer(path: &Path, create: bool, busy: Duration) -> Result<Opened, OpenError> {
    let path = absolute(path)?;
    let known = match look(&path)? {
        Look::Database => recognise(&path, busy)?,
        Look::Empty | Look::Nothing if create => Identity::Blank,
        Look::Empty | Look::Nothing => return Err(OpenError::Absent { path }),
    };
    if known == Identity::Blank && !create {
        return Err(OpenError::Absent { path });
    }
    let opener = Opener { path: &path, busy };
    let connection = opener.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | created(create))?;
    opener.prepare(&connection)?;
    Ok(Opened { connection, path })
}

/// Opens a database for reading.
pub(crate) fn reader(path: &Path, busy: Duration) -> Result<Opened, OpenError> {
    let path = absolute(path)?;
    let known = match look(&path)? {
        Look::Database => recognise(&path, busy)?,
        Look::Empty | Look::Nothing => Identity::Blank,
    };
    if known == Identity::Blank {
        return Err(OpenError::Absent { path });
    }
    let opener = Opener { path: &path, busy };
    let connection = opener.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    opener.patiently(|| Ok(opener.harden(&connection)?))?;
    opener.check(&connection)?;
    Ok(Opened { connection, path })
}

/// A connection to a file of ours.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

const fn created(create: bool) -> OpenFlags {
    if create { OpenFlags::SQLITE_OPEN_CREATE } else { OpenFlags::empty() }
}

/// An absolute path is never taken for an URI, nor for one of SQLite's special names, and stays
/// the same when the process changes its folder.
///
/// A link is followed first: SQLite follows it too, and keeps its other files beside the file that
/// it leads to.
fn absolute(path: &Path) -> Result<PathBuf, OpenError> {
    std::path::absolute(followed(path))
        .map_err(|error| OpenError::Io { path: path.to_owned(), detail: error.to_string() })
}

fn followed(path: &Path) -> PathBuf {
    let leads = |link: &Path| {
        let to = fs::read_link(link).ok()?;
        Some(link.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)))
    };
    // A link to nothing leads to where the file will be made.
    match leads(path) {
        Some(to) => fs::canonicalize(path).unwrap_or(to),
        None => path.to_owned(),
    }
}

fn look(path: &Path) -> Result<Look, OpenError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => OpenError::Unreadable { path: path.to_owned() },
        _ => OpenError::Io { path: path.to_owned(), detail: error.to_string() },
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return absent(path),
        Err(error) => return Err(failed(error)),
    };
    if !metadata.is_file() {
        return Err(OpenError::NotAFile { path: path.to_owned() });
    }
    let mut head = [0; MAGIC.len()];
    let found = held::beginning(path, &mut head).map_err(failed)?;
    match &head[..found] {
        [] => Ok(Look::Empty),
        head if !MAGIC.starts_with(head) => Err(OpenError::NotADatabase { path: path.to_owned() }),
        _ if metadata.len() < HEADER_BYTES => Err(OpenError::Truncated {
            path: path.to_owned(),
            expected: HEADER_BYTES,
            found: metadata.len(),
        }),
        _ => Ok(Look::Database),
    }
}

fn absent(path: &Path) -> Result<Look, OpenError> {
    let folder = folder(path);
    if folder.is_dir() {
        Ok(Look::Nothing)
    } else {
        Err(OpenError::NoFolder { folder: folder.to_owned() })
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Tells whose file it is, without writing to it.
fn recognise(path: &Path, busy: Duration) -> Result<Identity, OpenError> {
    let opener = Opener { path, busy };
    if beside(path, "-wal") || beside(path, "-journal") {
        return opener.ask();
    }
    let header = Header::read(path)
        .map_err(|error| OpenError::Io { path: path.to_owned(), detail: error.to_string() })?;
    let known = header.identity();
    if known == Identity::Ours {
        opener.whole(&header)?;
    }
    opener.admit(known)
}

/// Whether SQLite keeps something in a file beside this one.
fn beside(path: &Path, ending: &str) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    fs::metadata(name).is_ok_and(|it| it.len() > 0)
}

struct Opener<'a> {
    path: &'a Path,
    busy: Duration,
}

impl Opener<'_> {
    fn connect(&self, flags: OpenFlags) -> Result<Connection, OpenError> {
        Connection::open_with_flags(self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| self.explain(error))
    }

    fn patiently<T>(&self, act: impl FnMut() -> Result<T, Trouble>) -> Result<T, OpenError> {
        patiently(self.busy, &mut 0, act).map_err(|trouble| match trouble {
            Trouble::Sql(error) => self.explain(error),
            Trouble::Flawed(place, flaw) => {
                OpenError::Corrupt { path: self.path.into(), detail: format!("{place}: {flaw}") }
            }
        })
    }

    /// Asks a connection that cannot write.
    fn ask(&self) -> Result<Identity, OpenError> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let known = self.patiently(|| {
            set_patience(&connection, self.busy)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            match identify(&connection) {
                // A killed process left a rollback journal, which only a writer can play back.
                Err(error) if beside(self.path, "-journal") && is_refused(&error) => Ok(None),
                known => Ok(Some(known?)),
            }
        })?;
        // A writer will do so, and ask again.
        known.map_or(Ok(Identity::Ours), |known| self.admit(known))
    }

    /// Sets up a connection that writes: makes a blank file ours, or checks that it is.
    fn prepare(&self, connection: &Connection) -> Result<(), OpenError> {
        if self.patiently(|| Ok(connection.is_readonly("main")?))? {
            return Err(OpenError::ReadOnly { path: self.path.into() });
        }
        self.patiently(|| Ok(set_patience(connection, self.busy)?))?;
        let known = self.patiently(|| Ok(identify(connection)?))?;
        let known = self.admit(known)?;
        self.patiently(|| Ok(self.harden(connection)?))?;
        self.write_ahead(connection)?;
        self.patiently(|| Ok(durable(connection)?))?;
        if known == Identity::Blank {
            self.create(connection)?;
        }
        self.check(connection)
    }

    /// Lets in what is blank or ours.
    fn admit(&self, known: Identity) -> Result<Identity, OpenError> {
        let (path, supported) = (self.path.to_owned(), Format::CURRENT);
        match known {
            Identity::Blank | Identity::Ours => Ok(known),
            Identity::Foreign(application_id) => Err(OpenError::Foreign { path, application_id }),
            Identity::Other(found) if found < supported => {
                Err(OpenError::Older { path, found, supported })
            }
            Identity::Other(found) => Err(OpenError::Newer { path, found, supported }),
        }
    }

    /// Believes nothing that the file says about itself beyond its tables.
    fn harden(&self, connection: &Connection) -> rusqlite::Result<()> {
        set_patience(connection, self.busy)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        // A statement that is kept is planned once, and not again for every value it is given.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(())
    }

    fn write_ahead(&self, connection: &Connection) -> Result<(), OpenError> {
        let wal = || {
            let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            Ok(connection.pragma_update_and_check(None, "journal_mode", "wal", mode)?)
        };
        let offered = self.patiently(wal)?;
        if offered == "wal" {
            return Ok(());
        }
        // Most network file systems cannot share memory among processes.
        let detail = format!(
            "write-ahead logging is not possible there (SQLite offers `{offered}`); use a file on \
             a local disk"
        );
        Err(OpenError::Io { path: self.path.into(), detail })
    }

    /// Makes the file ours, unless another process was faster.
    fn create(&self, connection: &Connection) -> Result<(), OpenError> {
        let known = self.patiently(|| {
            let transaction =
                Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            let known = format::identify(&transaction)?;
            if known == Identity::Blank {
                format::create(&transaction)?;
            }
            transaction.commit()?;
            Ok(known)
        })?;
        self.admit(known).map(drop)
    }

    fn check(&self, connection: &Connection) -> Result<(), OpenError> {
        let known = self.patiently(|| Ok(identify(connection)?))?;
        if self.admit(known)? == Identity::Blank {
            return Err(OpenError::Absent { path: self.path.into() });
        }
        match self.patiently(|| Ok(format::difference(connection)?))? {
            None => Ok(()),
            Some(name) => Err(OpenError::SchemaDiffers { path: self.path.into(), name }),
        }
    }

    fn explain(&self, error: rusqlite::Error) -> OpenError {
        let path = self.path.to_owned();
        let detail = error.to_string();
        if is_full(&error) {
            return OpenError::Full { path };
        }
        if is_busy(&error) {
            return OpenError::Locked { path, waited: self.busy };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => OpenError::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => self.broken(detail),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                self.rights(detail)
            }
            Some(ErrorCode::SystemIoFailure) => OpenError::Io { path, detail },
            _ => OpenError::Corrupt { path, detail },
        }
    }

    /// A file that is shorter than it says was cut off; any other broken one is just broken.
    fn broken(&self, detail: String) -> OpenError {
        let header = Header::read(self.path);
        match header.map(|header| self.whole(&header)) {
            Ok(Err(cut_off)) => cut_off,
            Ok(Ok(())) | Err(_) => OpenError::Corrupt { path: self.path.into(), detail },
        }
    }

    fn whole(&self, header: &Header) -> Result<(), OpenError> {
        let expected = header.promised_bytes();
        let found = fs::metadata(self.path).map_or(u64::MAX, |it| it.len());
        if found < expected {
            Err(OpenError::Truncated { path: self.path.into(), expected, found })
        } else {
            Ok(())
        }
    }

    /// SQLite says that it cannot open or write; the file system says why.
    fn rights(&self, detail: String) -> OpenError {
        let (path, folder) = (self.path.to_owned(), folder(self.path).to_owned());
        if !can_create_in(&folder) {
            return OpenError::ReadOnlyFolder { folder };
        }
        // Asked of SQLite, which falls back to reading: closing a descriptor of our own would let
        // go of the locks of every connection to this file.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let trial = Connection::open_with_flags(&path, flags);
        match trial.and_then(|it| it.is_readonly("main")) {
            Ok(true) => OpenError::ReadOnly { path },
            Ok(false) | Err(_) => OpenError::Io { path, detail },
        }
    }
}

/// Tells whose file it is at one moment.
fn identify(connection: &Connection) -> rusqlite::Result<Identity> {
    let moment = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let known = format::identify(&moment)?;
    moment.finish().map(|()| known)
}

/// Whether a connection that cannot write is refused.
fn is_refused(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Tries it, since only the kernel knows: rights, owners, mounts and attributes all count.
fn can_create_in(folder: &Path) -> bool {
    let name = format!(".everstep-{}-{:?}", std::process::id(), std::thread::current().id());
    let trial = folder.join(name);
    let created = File::options().write(true).create_new(true).open(&trial);
    let denied = created.as_ref().is_err_and(is_denied);
    if created.is_ok() {
        // Left behind it would only be a stray empty file.
        let _ = fs::remove_file(&trial);
    }
    !denied
}

/// A commit is on the disk when it is acknowledged, on systems where `fsync` alone does not
/// promise that too; and the write-ahead log stays short.
fn durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    let ignore = |_: &rusqlite::Row<'_>| Ok(());
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, ignore)?;
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES as i64, ignore)
}
