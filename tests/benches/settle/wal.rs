//! What SQLite says of its write-ahead log in the log itself: a header, and a frame for each page.
//!
//! A log that is begun anew keeps its old frames until they are written over. They bear the salt
//! of the header that was there before.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of the header: magic, version, page size, count of new beginnings, salt, checksum.
const HEADER: usize = 32;
/// Bytes of a frame: page number, size, salt and checksum, and then the page.
const FRAME: usize = 24 + 4_096;

/// The log of a database.
pub(crate) fn beside(database: &Path) -> PathBuf {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// The number that is raised whenever the log is begun anew; 0 while there is no log.
pub(crate) fn restarts(log: &Path) -> u64 {
    let mut header = [0; HEADER];
    let read = File::open(log).and_then(|mut file| file.read_exact(&mut header));
    read.map_or(0, |()| u32::from_be_bytes([header[12], header[13], header[14], header[15]]).into())
}

/// Pages written since then.
pub(crate) fn pages(log: &Path) -> u64 {
    let Ok(file) = File::open(log) else { return 0 };
    let (mut file, mut header, mut frame) = (BufReader::new(file), [0; HEADER], [0; FRAME]);
    let mut pages = 0;
    if file.read_exact(&mut header).is_ok() {
        while file.read_exact(&mut frame).is_ok() && frame[8..16] == header[16..24] {
            pages += 1;
        }
    }
    pages
}
