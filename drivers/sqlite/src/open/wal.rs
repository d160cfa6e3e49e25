//! Whether the write-ahead log still holds what was committed, asked before SQLite reads it.
//!
//! SQLite believes a log up to its first frame that is not right, and takes the rest for what a
//! crash has left of a transaction that was never committed. Nearly always it is. But a damaged
//! byte looks the same to it, and then everything behind that byte is gone without a word, and
//! written over by the next commit.
//!
//! Here both are told apart. A commit is on the disk before it is acknowledged
//! (`synchronous=FULL`), and the frames of the next transaction are written only then, with
//! checksums that go on from its last frame. So where a frame goes on from the last frame of a
//! transaction, that transaction had been committed with all that was before it; if the first bad
//! frame is not behind it, something that was acknowledged is damaged.
//!
//! | what a crash can leave behind the first bad frame | why it proves nothing |
//! | --- | --- |
//! | frames of an earlier round of the log | other salts |
//! | any part of the transaction that was being written | at most its very last frame ends one, and none goes on from that |
//! | parts of transactions of this round that were rolled back | they do not go on from what was written over them |
//!
//! What is **not** noticed: damage that reaches the last transaction of a log, which no frame goes
//! on from, or more than one word of the page before that, which says where it begins; both are
//! what a crash could have left. And a log that is cut off anywhere before its end, or is missing
//! while its database is there, is a shorter log.
//!
//! All of it is about logs that a store of ours has written, or anybody else with
//! `synchronous=FULL`. Who writes to the file with less may find, after the power has failed, that
//! his log is called damaged.
//!
//! **While others write.** No lock is taken: one would keep out those that work, and SQLite's own
//! are lost when its files are opened a second time. Instead damage has to be found twice. Whoever
//! reads a log while it is being written may find a gap that is filled a moment later, or a
//! mixture of two rounds; but a frame that was complete at the first reading, since others went on
//! from behind it, and is bad at the second, in the same round, is damaged. The log itself bears no
//! locks, so that opening and closing it takes none away.
//!
//! Reading costs no more than SQLite's own recovery does, and stops where that stops unless there
//! is more behind.

mod orphan;
mod sum;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use super::header::Header;
use super::path::companion;
use crate::error::OpenError;
pub(super) use orphan::orphan;
use sum::{FRAME_HEADER, Frame, Order, Sum, Vouched, number};

/// Bytes of the header of a log.
const LOG_HEADER: usize = 32;
/// What a log begins with; its last bit tells the order of the bytes that are summed.
const MAGIC: u32 = 0x377f_0682;
/// What a disk writes whole or not at all.
const SECTOR: u64 = 512;
/// How often a log that looks different each time is read. It is being written then, so that
/// nobody is about to recover it.
const READINGS: usize = 10;

/// Says so if the log has lost what was committed.
pub(super) fn check(database: &Path) -> Result<(), OpenError> {
    let path = companion(database, "-wal");
    let Some(mut file) = opened(&path)? else { return Ok(()) };
    match twice(|| reading(&mut file, database)).map_err(|error| failed(&path, &error))? {
        None => Ok(()),
        Some(Damage { frame, offset, .. }) => Err(OpenError::LogDamaged { path, frame, offset }),
    }
}

/// None if there is no such file.
fn opened(path: &Path) -> Result<Option<File>, OpenError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

fn failed(path: &Path, error: &io::Error) -> OpenError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => OpenError::Unreadable { path: path.to_owned() },
        _ => OpenError::Io { path: path.to_owned(), detail: error.to_string() },
    }
}

/// The damage that two readings in a row agree on.
fn twice(mut reading: impl FnMut() -> io::Result<Option<Damage>>) -> io::Result<Option<Damage>> {
    let mut before = None;
    for _ in 0..READINGS {
        let found = reading()?;
        if found.is_none() || found == before {
            return Ok(found);
        }
        before = found;
    }
    Ok(None)
}

/// Has what the log holds on the disk. A process that was killed between writing a transaction and
/// syncing it leaves one that counts as committed from now on.
pub(super) fn settle(database: &Path) -> io::Result<()> {
    match File::options().write(true).open(companion(database, "-wal")) {
        Ok(log) => log.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Where a log is damaged.
#[derive(Debug, PartialEq, Eq)]
struct Damage {
    /// The first frame that is not right, counted from 1; 0 is the header of the log.
    frame: u64,
    offset: u64,
    /// In which round of the log.
    header: [u8; LOG_HEADER],
}

/// Reads the log once.
fn reading(file: &mut File, database: &Path) -> io::Result<Option<Damage>> {
    file.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::with_capacity(1 << 16, &*file);
    let mut header = [0; LOG_HEADER];
    if !filled(&mut input, &mut header)? {
        return Ok(None);
    }
    let found = match Round::of(&header) {
        Some(round) => round.damage(input)?,
        None => headless(file, &header, database)?,
    };
    let Some((frame, offset)) = found else { return Ok(None) };
    // Not if the log has been begun anew meanwhile.
    let mut again = [0; LOG_HEADER];
    file.seek(SeekFrom::Start(0))?;
    let is_the_same = filled(file, &mut again)? && again == header;
    Ok(is_the_same.then_some(Damage { frame, offset, header }))
}

/// A log whose header is not right is ignored whole. The header is on the disk before any frame
/// is, and no disk writes half of it, so it is damaged; and if there is as much as one transaction
/// behind it, that is lost.
fn headless(
    file: &mut File,
    header: &[u8; LOG_HEADER],
    database: &Path,
) -> io::Result<Option<(u64, u64)>> {
    // SQLite will say what is wrong with the database.
    let Some(page_bytes) = Header::read(database).ok().and_then(|it| it.page_bytes()) else {
        return Ok(None);
    };
    for order in [Order::Little, Order::Big] {
        file.seek(SeekFrom::Start(LOG_HEADER as u64))?;
        let mut frames = Frames::new(BufReader::with_capacity(1 << 16, &*file), page_bytes);
        let mut before = Sum::stored(&header[24..]);
        let mut salts = None;
        while let Some(frame) = frames.next()? {
            let salts = salts.get_or_insert_with(|| frame.salts().to_vec());
            if frame.salts() == salts && frame.vouched(before, order) == Some(Vouched::Last) {
                return Ok(Some((0, 0)));
            }
            before = frame.stored();
        }
    }
    Ok(None)
}

/// What the header of a log says: a log begins anew, with other salts, when all of it is in the
/// database.
struct Round {
    order: Order,
    page_bytes: usize,
    salts: [u8; 8],
    sum: Sum,
}

impl Round {
    /// None if the header is not right.
    fn of(header: &[u8; LOG_HEADER]) -> Option<Self> {
        let order = match number(header, 0) ^ MAGIC {
            0 => Order::Little,
            1 => Order::Big,
            _ => return None,
        };
        let page_bytes = usize::try_from(number(header, 8)).ok()?;
        let is_size = page_bytes.is_power_of_two() && (512..=1 << 16).contains(&page_bytes);
        let sum = Sum::default().over(&header[..24], order);
        let is_right = is_size && sum == Sum::stored(&header[24..]);
        let salts = header[16..24].try_into().ok()?;
        is_right.then_some(Self { order, page_bytes, salts, sum })
    }

    /// The first frame that is not right, and where it is, if something behind it was committed.
    fn damage(&self, input: impl Read) -> io::Result<Option<(u64, u64)>> {
        let mut frames = Frames::new(input, self.page_bytes);
        let mut sum = self.sum;
        // The part that SQLite believes.
        loop {
            let Some(frame) = frames.next()? else { return Ok(None) };
            let Some(next) = self.believed(frame, sum) else { break };
            sum = next;
        }
        let (first, offset) = (frames.count, frames.offset());
        // The frame that may end a transaction, and the checksum that went before it.
        let (mut last, mut last_offset) = (Frame::of_pages(self.page_bytes), offset);
        let mut before = sum;
        frames.swap(&mut last);
        while let Some(frame) = frames.next()? {
            if self.is_of(frame)
                && frame.vouched(last.stored(), self.order).is_some()
                && self.ends(&last, before, last_offset)
            {
                return Ok(Some((first, offset)));
            }
            last_offset = frames.offset();
            before = last.stored();
            frames.swap(&mut last);
        }
        Ok(None)
    }

    /// The checksum behind a frame, if SQLite believes it.
    fn believed(&self, frame: &Frame, before: Sum) -> Option<Sum> {
        let sum = frame.computed(before, self.order);
        (self.is_of(frame) && frame.page() != 0 && sum == frame.stored()).then_some(sum)
    }

    fn is_of(&self, frame: &Frame) -> bool {
        frame.salts() == self.salts
    }

    /// Whether a frame that others go on from is the last one of a transaction.
    fn ends(&self, frame: &Frame, before: Sum, offset: u64) -> bool {
        // The checksum is what others went on from; the size is beside it, in the same sector.
        let beside = offset % SECTOR <= SECTOR - FRAME_HEADER as u64;
        match frame.vouched(before, self.order) {
            Some(vouched) => vouched == Vouched::Last,
            None => beside && frame.size() != 0,
        }
    }
}

/// The frames of a log, one after the other, whether right or not.
struct Frames<R> {
    input: R,
    page_bytes: usize,
    frame: Frame,
    /// How many were read.
    count: u64,
}

impl<R: Read> Frames<R> {
    fn new(input: R, page_bytes: usize) -> Self {
        Self { input, page_bytes, frame: Frame::of_pages(page_bytes), count: 0 }
    }

    /// None where no whole frame is left.
    fn next(&mut self) -> io::Result<Option<&Frame>> {
        if !filled(&mut self.input, &mut self.frame.0)? {
            return Ok(None);
        }
        self.count += 1;
        Ok(Some(&self.frame))
    }

    /// Gives the frame that was read last for the room of another one.
    fn swap(&mut self, other: &mut Frame) {
        std::mem::swap(&mut self.frame, other);
    }

    /// Where the frame that was read last begins.
    fn offset(&self) -> u64 {
        LOG_HEADER as u64 + (self.count - 1) * (FRAME_HEADER + self.page_bytes) as u64
    }
}

/// Fills the buffer, or tells that the file ends before it is full.
fn filled(mut input: impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
