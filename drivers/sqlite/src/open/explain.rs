//! Why SQLite did not open a file, in words that say what to do.

use std::fs;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::header::Header;
use super::opener::Opener;
use super::path::{can_create_in, folder};
use crate::error::{OpenError, is_busy, is_full};

impl Opener<'_> {
    pub(super) fn explain(&self, error: rusqlite::Error) -> OpenError {
        let path = self.path.to_owned();
        let detail = error.to_string();
        if is_full(&error) {
            return OpenError::Full { path };
        }
        if is_busy(&error) {
            return OpenError::Locked { path, waited: self.busy };
        }
        match error.sqlite_error_code() {
            // It begins like one, or it would not have come this far.
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => self.broken(detail),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                self.rights(detail)
            }
            Some(ErrorCode::SystemIoFailure) => OpenError::Io { path, detail },
            _ => OpenError::Corrupt { path, detail },
        }
    }

    /// A file may say itself what is wrong with it.
    fn broken(&self, detail: String) -> OpenError {
        if self.is_left_behind() {
            return OpenError::LogLost { path: self.path.into() };
        }
        let header = Header::read(self.path);
        match header.map(|header| self.whole(&header)) {
            Ok(Err(known)) => known,
            Ok(Ok(())) | Err(_) => OpenError::Corrupt { path: self.path.into(), detail },
        }
    }

    /// Whether the first page is not the one that counted.
    pub(super) fn is_left_behind(&self) -> bool {
        let bytes = fs::metadata(self.path).map_or(0, |it| it.len());
        Header::read(self.path).is_ok_and(|it| it.is_left_behind(bytes))
    }

    /// Whether the header is one, and the file as long as it says.
    pub(super) fn whole(&self, header: &Header) -> Result<(), OpenError> {
        if let Some(flaw) = header.flaw() {
            return Err(OpenError::Corrupt { path: self.path.into(), detail: flaw.to_owned() });
        }
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
