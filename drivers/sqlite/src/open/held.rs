//! Reading the beginning of a database file without SQLite, and without letting go of its locks.
//!
//! On Unix a process loses every lock that it has on a file as soon as it closes any descriptor of
//! that file. A look that opened and closed the file would take away the locks of the connections
//! that this process has to it: another process could then believe that nobody else is there, and
//! remove a write-ahead log that is in use. So a file that was opened here stays open, and is
//! opened once only, however often it is looked at. That also protects connections that the rest
//! of the program has opened by itself.
//!
//! It costs one descriptor for each database file that the process has ever looked at. A file
//! that was removed is let go of at the next look at any file: nobody can find it any more.

use std::io;
use std::path::Path;

/// Reads the first bytes of a file, as many as there are and fit, and tells how many.
///
/// # Errors
/// The file cannot be opened or read.
#[cfg(unix)]
pub(super) fn beginning(path: &Path, bytes: &mut [u8]) -> io::Result<usize> {
    use std::fs::{self, File, Metadata};
    use std::os::unix::fs::MetadataExt as _;
    use std::sync::{Mutex, PoisonError};

    static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

    // Nothing below leaves the list half-changed.
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|file| file.metadata().map_or(true, |it| it.nlink() > 0));
    let id = |it: &Metadata| (it.dev(), it.ino());
    let wanted = id(&fs::metadata(path)?);
    let known = held.iter().position(|file| file.metadata().is_ok_and(|it| id(&it) == wanted));
    let at = known.map_or_else(
        || {
            held.push(File::open(path)?);
            Ok::<_, io::Error>(held.len() - 1)
        },
        Ok,
    )?;
    fill(&held[at], bytes)
}

/// Elsewhere closing a file has no effect on the locks of others.
#[cfg(not(unix))]
pub(super) fn beginning(path: &Path, bytes: &mut [u8]) -> io::Result<usize> {
    fill(&std::fs::File::open(path)?, bytes)
}

fn fill(mut file: &std::fs::File, bytes: &mut [u8]) -> io::Result<usize> {
    use std::io::{Read as _, Seek as _, SeekFrom};

    file.seek(SeekFrom::Start(0))?;
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
