//! A connection, from its first question to the database that it may use.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::header::Header;
use super::path::beside;
use crate::error::{OpenError, Trouble};
use crate::format::{self, Format, Identity};
use crate::transaction::{patiently, set_patience};
use crate::upkeep::WAL_BYTES;

/// Statements that stay prepared: more than there are.
const STATEMENTS: usize = 64;
/// Pages after which SQLite moves the log's contents into the file.
const CHECKPOINT_PAGES: i64 = 1_000;

/// Opens one file.
pub(super) struct Opener<'a> {
    pub(super) path: &'a Path,
    pub(super) busy: Duration,
}

impl Opener<'_> {
    pub(super) fn connect(&self, flags: OpenFlags) -> Result<Connection, OpenError> {
        self.connect_to(self.path, flags)
    }

    /// A connection for a folder in which nothing can be made, to a file that nobody else has open
    /// and that has no log. It asks for no lock and needs no other file; what anybody writes
    /// meanwhile it does not see.
    pub(super) fn connect_apart(&self) -> Result<Connection, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.connect_to(&immutable(self.path), flags)
    }

    fn connect_to(&self, name: &Path, flags: OpenFlags) -> Result<Connection, OpenError> {
        Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| self.explain(error))
    }

    pub(super) fn patiently<T>(
        &self,
        act: impl FnMut() -> Result<T, Trouble>,
    ) -> Result<T, OpenError> {
        patiently(self.busy, &mut 0, act).map_err(|trouble| match trouble {
            Trouble::Sql(error) => self.explain(error),
            Trouble::Flawed(place, flaw) => {
                OpenError::Corrupt { path: self.path.into(), detail: format!("{place}: {flaw}") }
            }
        })
    }

    /// Asks a connection that cannot write. None if a process that was killed has left a rollback
    /// journal, which only a writer can play back.
    pub(super) fn ask(&self) -> Result<Option<Identity>, OpenError> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let known = self.patiently(|| {
            set_patience(&connection, self.busy)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            match identify(&connection) {
                Err(error) if beside(self.path, "-journal") && is_refused(&error) => Ok(None),
                known => Ok(Some(known?)),
            }
        })?;
        known.map(|known| self.admit(known)).transpose()
    }

    /// Sets up a connection that writes: makes a blank file ours, or checks that it is.
    pub(super) fn prepare(&self, connection: &Connection) -> Result<(), OpenError> {
        let is_readonly = || self.patiently(|| Ok(connection.is_readonly("main")?));
        if is_readonly()? {
            return Err(OpenError::ReadOnly { path: self.path.into() });
        }
        // Who is refused leaves the log as it is.
        let keep_log = |keep| {
            let config = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            self.patiently(|| Ok(connection.set_db_config(config, keep)?))
        };
        keep_log(true)?;
        self.patiently(|| Ok(set_patience(connection, self.busy)?))?;
        let known = self.patiently(|| Ok(identify(connection)?))?;
        let known = self.admit(known)?;
        if known == Identity::Backup {
            return Err(OpenError::Backup { path: self.path.into() });
        }
        // By its header, the log's if there is one, SQLite does not know how to write it.
        if is_readonly()? {
            let detail = "byte 18 of its header is no version of the file format".to_owned();
            return Err(OpenError::Corrupt { path: self.path.into(), detail });
        }
        self.patiently(|| Ok(self.harden(connection)?))?;
        self.write_ahead(connection)?;
        self.patiently(|| Ok(durable(connection)?))?;
        if known == Identity::Blank {
            self.create(connection)?;
        }
        self.check(connection)?;
        self.settle_first_page(connection)?;
        keep_log(false).map(drop)
    }

    /// Has the file itself say whose it is, not only its log: before anything is acknowledged that
    /// a log which is lost or cut off would otherwise take away with all that tells of it.
    fn settle_first_page(&self, connection: &Connection) -> Result<(), OpenError> {
        let is_settled = || Header::read(self.path).is_ok_and(|it| it.identity() == Identity::Ours);
        if is_settled() {
            return Ok(());
        }
        self.patiently(|| {
            let is_busy = |row: &rusqlite::Row<'_>| row.get::<_, bool>(0);
            let is_busy = connection.query_row("PRAGMA wal_checkpoint(FULL)", (), is_busy)?;
            if is_busy && !is_settled() {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None).into());
            }
            Ok(())
        })
    }

    /// Lets in what is blank or ours.
    pub(super) fn admit(&self, known: Identity) -> Result<Identity, OpenError> {
        let (path, supported) = (self.path.to_owned(), Format::CURRENT);
        match known {
            Identity::Ours | Identity::Backup => Ok(known),
            Identity::Blank | Identity::Foreign(_) if self.is_left_behind() => {
                Err(OpenError::LogLost { path })
            }
            Identity::Blank => Ok(known),
            Identity::Foreign(application_id) => Err(OpenError::Foreign { path, application_id }),
            Identity::Other(found) if found < supported => {
                Err(OpenError::Older { path, found, supported })
            }
            Identity::Other(found) => Err(OpenError::Newer { path, found, supported }),
        }
    }

    /// Believes nothing that the file says about itself beyond its tables.
    pub(super) fn harden(&self, connection: &Connection) -> rusqlite::Result<()> {
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

    pub(super) fn check(&self, connection: &Connection) -> Result<(), OpenError> {
        let known = self.patiently(|| Ok(identify(connection)?))?;
        if self.admit(known)? == Identity::Blank {
            return Err(OpenError::Absent { path: self.path.into() });
        }
        match self.patiently(|| Ok(format::difference(connection)?))? {
            None => Ok(()),
            Some(name) => Err(OpenError::SchemaDiffers { path: self.path.into(), name }),
        }
    }
}

/// A name that tells SQLite that nobody changes the file.
fn immutable(path: &Path) -> PathBuf {
    let mut name = "file:".to_owned();
    let separators = if cfg!(windows) { "/\\" } else { "/" };
    if cfg!(windows) {
        name.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match char::from(*byte) {
            it if separators.contains(it) => name.push('/'),
            it if it.is_ascii_alphanumeric() || "-._~:".contains(it) => name.push(it),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name.push_str("?immutable=1");
    name.into()
}

/// Tells whose file it is at one moment.
pub(super) fn identify(connection: &Connection) -> rusqlite::Result<Identity> {
    let moment = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let known = format::identify(&moment)?;
    moment.finish().map(|()| known)
}

/// Whether a connection that cannot write is refused.
fn is_refused(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
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
