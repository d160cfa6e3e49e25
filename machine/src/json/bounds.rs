//! The bounds, counted over raw bytes before anything is parsed.
//!
//! One flat walk with a counter for each open collection. It does not judge the grammar. On every
//! prefix that the parser accepts it sees the same collections as the parser, so the parser may
//! recurse: it cannot get deeper than what was counted here.

use super::JsonError;
use crate::limits::{JSON_DEPTH, JSON_ENTRIES, JSON_NODES};

/// Refuses what is nested too deep, too wide or has too many values.
pub(super) fn check(text: &[u8]) -> Result<(), JsonError> {
    let mut count = Count { entries: [0; JSON_DEPTH], depth: 0, nodes: 1, opened: false };
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b']' | b'}' => count.close(),
            b'[' | b'{' => {
                count.first_entry()?;
                count.open()?;
            }
            b',' => count.entry()?,
            b'"' => {
                count.first_entry()?;
                at = end_of_string(text, at);
            }
            _ => count.first_entry()?,
        }
        at += 1;
    }
    Ok(())
}

/// Offset of the quote that closes the string opened at `at`, or the end of the text.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    loop {
        at += 1;
        match text.get(at) {
            None | Some(b'"') => return at,
            Some(b'\\') => at += 1,
            Some(_) => {}
        }
    }
}

struct Count {
    /// Entries so far of each open collection.
    entries: [usize; JSON_DEPTH],
    /// Open collections.
    depth: usize,
    /// Values so far, the document itself included.
    nodes: usize,
    /// Whether the innermost collection has shown nothing yet.
    opened: bool,
}

impl Count {
    fn open(&mut self) -> Result<(), JsonError> {
        *self.entries.get_mut(self.depth).ok_or(JsonError::Depth)? = 0;
        self.depth += 1;
        self.opened = true;
        Ok(())
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.opened = false;
    }

    /// Whatever follows the opening bracket starts the first entry.
    fn first_entry(&mut self) -> Result<(), JsonError> {
        if core::mem::take(&mut self.opened) { self.entry() } else { Ok(()) }
    }

    fn entry(&mut self) -> Result<(), JsonError> {
        self.opened = false;
        let Some(innermost) = self.depth.checked_sub(1) else { return Ok(()) };
        self.entries[innermost] += 1;
        self.nodes += 1;
        if self.entries[innermost] > JSON_ENTRIES {
            return Err(JsonError::Entries);
        }
        if self.nodes > JSON_NODES {
            return Err(JsonError::Nodes);
        }
        Ok(())
    }
}
