//! A write-ahead log whose database is not there, or is empty.
//!
//! SQLite makes a log only for a database that has a page on the disk already, so no crash leaves
//! one without: the database was deleted, moved or replaced. SQLite would make a new one and
//! destroy the log, and what had been done would be done again.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use super::{Frames, LOG_HEADER, MAGIC, Round, failed, filled, opened};
use crate::error::OpenError;
use crate::open::path::companion;
use crate::open::wal::sum::number;

/// How many whole transactions the log beside a missing database holds; none if it is no log, or
/// nothing was ever written to it.
pub(in crate::open) fn orphan(database: &Path) -> Result<Option<u64>, OpenError> {
    let path = companion(database, "-wal");
    let Some(file) = opened(&path)? else { return Ok(None) };
    transactions(&file).map_err(|error| failed(&path, &error))
}

fn transactions(file: &File) -> io::Result<Option<u64>> {
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut header = [0; LOG_HEADER];
    let is_log = filled(&mut input, &mut header)? && number(&header, 0) & !1 == MAGIC;
    if !is_log || file.metadata()?.len() == LOG_HEADER as u64 {
        return Ok(None);
    }
    let mut count = 0;
    // A header that is damaged hides how many there are, not that it had a database.
    let Some(round) = Round::of(&header) else { return Ok(Some(count)) };
    let mut frames = Frames::new(input, round.page_bytes);
    let mut sum = round.sum;
    while let Some(frame) = frames.next()? {
        let Some(next) = round.believed(frame, sum) else { break };
        sum = next;
        count += u64::from(frame.size() != 0);
    }
    Ok(Some(count))
}
