//! The first bytes of an SQLite file, which say whose it is without a connection to it.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::held;
use crate::format::Identity;

/// What every SQLite file begins with.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of the header of an SQLite file.
pub(super) const HEADER_BYTES: u64 = 100;

/// The header of an SQLite file, and the head of its first page, which lists the tables.
pub(super) struct Header([u8; HEADER_BYTES as usize + 8]);

impl Header {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = [0; HEADER_BYTES as usize + 8];
        let found = held::beginning(path, &mut bytes)?;
        if found < HEADER_BYTES as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // A file that ends here has no page at all; SQLite will say so.
        Ok(Self(bytes))
    }

    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut number = [0; N];
        number.copy_from_slice(&self.0[at..at + N]);
        number
    }

    pub(super) fn identity(&self) -> Identity {
        const EMPTY_LEAF: [u8; 5] = [13, 0, 0, 0, 0];
        let [version, id] = [60, 68].map(|at| i32::from_be_bytes(self.number(at)));
        let blank = self.number(HEADER_BYTES as usize) == EMPTY_LEAF;
        Identity::of(id, version, || Ok::<_, Infallible>(blank)).unwrap_or_else(|it| match it {})
    }

    /// Whether this is no first page of any program, or that of a new file though more pages are
    /// behind it: the one that counts was in a write-ahead log that is missing or was cut off.
    pub(super) fn is_left_behind(&self, file_bytes: u64) -> bool {
        const TABLES: [u8; 2] = [5, 13];
        match self.identity() {
            Identity::Blank => (1..file_bytes).contains(&self.promised_bytes()),
            Identity::Foreign(_) => !TABLES.contains(&self.0[HEADER_BYTES as usize]),
            Identity::Ours | Identity::Backup | Identity::Other(_) => false,
        }
    }

    /// What no SQLite file has there, in words.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        let is_version = |version: u8| version <= 2;
        let fractions: [u8; 3] = self.number(21);
        if self.page_bytes().is_none() {
            Some("bytes 16 and 17 of its header are the size of no page")
        } else if !self.number::<2>(18).into_iter().all(is_version) {
            Some("bytes 18 and 19 of its header are no version of the file format")
        } else if fractions != [64, 32, 32] {
            Some("bytes 21 to 23 of its header are not what they always are")
        } else {
            None
        }
    }

    /// The size of a page; none if it is no size.
    pub(super) fn page_bytes(&self) -> Option<usize> {
        match u16::from_be_bytes(self.number(16)) {
            1 => Some(1 << 16),
            size if size >= 512 && size.is_power_of_two() => Some(size.into()),
            _ => None,
        }
    }

    /// The size of a page, times how many there are; 0 if an old library wrote last, which did not
    /// count them.
    pub(super) fn promised_bytes(&self) -> u64 {
        let size = self.page_bytes().unwrap_or(0) as u64;
        let counted = self.number::<4>(24) == self.number::<4>(92);
        if counted { size * u64::from(u32::from_be_bytes(self.number(28))) } else { 0 }
    }
}
