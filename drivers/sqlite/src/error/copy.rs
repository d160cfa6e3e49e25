//! Why no backup was made, or no database of one.

use std::path::{Path, PathBuf};
use std::{io, time::Duration};

use super::{OpenError, StoreError, Trouble};

/// Why a file was not copied. Nothing has the name that the copy was for, and the source is as it
/// was.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source, or the copy, cannot be opened.
    #[error(transparent)]
    Open(OpenError),
    /// The source, or the copy, cannot be read, or does not verify.
    #[error(transparent)]
    Store(StoreError),
    /// Something has the name already: nothing is ever overwritten.
    #[error("{}: this is there already, and nothing is overwritten; name another file", path.display())]
    Taken {
        /// What is there.
        path: PathBuf,
    },
    /// The source is no backup. A database on which somebody may work is never copied into another.
    #[error(
        "{}: this is no backup; `everstep backup` makes one of a database", path.display()
    )]
    NoBackup {
        /// The file.
        path: PathBuf,
    },
    /// No epoch is left above those of the file.
    #[error("the highest epoch is used up: nothing could be fenced any more")]
    NoEpoch,
    /// There is no space left for the copy.
    #[error("{}: no space is left for it; free some, then try again", path.display())]
    Full {
        /// The copy.
        path: PathBuf,
    },
    /// The operating system failed.
    #[error("{}: it could not be made: {detail}", path.display())]
    Io {
        /// The copy.
        path: PathBuf,
        /// What it says.
        detail: String,
    },
}

impl CopyError {
    pub(crate) fn of(why: rusqlite::Error, path: &Path, busy: Duration) -> Self {
        Self::Store(Trouble::Sql(why).at(path, busy))
    }

    pub(crate) fn io(why: &io::Error, path: &Path) -> Self {
        let path = path.to_owned();
        match why.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { path, detail: why.to_string() },
        }
    }
}
