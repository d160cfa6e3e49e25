//! What a path leads to, asked of the file system and never of SQLite.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::header::{HEADER_BYTES, MAGIC};
use super::held;
use crate::error::OpenError;

/// Bytes of a page, as SQLite makes them unless told otherwise.
const PAGE_BYTES: u64 = 4_096;

/// What a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// No file.
    Nothing,
    /// An empty file: a new database, as SQLite itself has it.
    Empty,
    /// It begins like an SQLite file.
    Database,
}

/// An absolute path is never taken for an URI, nor for one of SQLite's special names, and stays
/// the same when the process changes its folder.
///
/// A link is followed first: SQLite follows it too, and keeps its other files beside the file that
/// it leads to.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, OpenError> {
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

pub(super) fn look(path: &Path) -> Result<Look, OpenError> {
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
        head if !MAGIC.starts_with(head) && is_hollow(head, metadata.len()) => {
            Err(OpenError::LogLost { path: path.to_owned() })
        }
        head if !MAGIC.starts_with(head) => Err(OpenError::NotADatabase { path: path.to_owned() }),
        _ if metadata.len() < HEADER_BYTES => Err(OpenError::Truncated {
            path: path.to_owned(),
            expected: HEADER_BYTES,
            found: metadata.len(),
        }),
        _ => Ok(Look::Database),
    }
}

/// Pages of which the first has become nothing, from its beginning or from further on: where a log was cut off under a process that uses
/// it, SQLite reads zeros, and moves them into the file.
fn is_hollow(head: &[u8], bytes: u64) -> bool {
    let kept = head.iter().zip(MAGIC).take_while(|(found, magic)| found == magic).count();
    head[kept..].iter().all(|it| *it == 0) && bytes > PAGE_BYTES && bytes.is_multiple_of(PAGE_BYTES)
}

fn absent(path: &Path) -> Result<Look, OpenError> {
    let folder = folder(path);
    if folder.is_dir() {
        Ok(Look::Nothing)
    } else {
        Err(OpenError::NoFolder { folder: folder.to_owned() })
    }
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// The file that SQLite keeps beside a database under this ending.
pub(crate) fn companion(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether SQLite keeps something in a file beside this one.
pub(super) fn beside(path: &Path, ending: &str) -> bool {
    fs::metadata(companion(path, ending)).is_ok_and(|it| it.len() > 0)
}

/// Whether nothing is beside a database that says that somebody has it open, or that there is more
/// to it than the file.
pub(super) fn is_alone(path: &Path) -> bool {
    let is_gone = |ending| fs::symlink_metadata(companion(path, ending)).is_err();
    is_gone("-shm") && !beside(path, "-wal") && !beside(path, "-journal")
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Tries it, since only the kernel knows: rights, owners, mounts and attributes all count.
pub(super) fn can_create_in(folder: &Path) -> bool {
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
