//! From the parser's places, which count characters, to bytes of the file.

use std::ops::Range;

/// Where each character of a text begins.
pub(super) struct Places {
    /// Bytes of a byte order mark, which the parser is not shown.
    start: usize,
    end: usize,
    /// None where every character is one byte.
    offsets: Option<Vec<usize>>,
}

impl Places {
    pub(super) fn of(text: &str) -> Self {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let rest = &text[start..];
        let offsets = (!rest.is_ascii())
            .then(|| rest.char_indices().map(|(offset, _)| start + offset).collect());
        Self { start, end: text.len(), offsets }
    }

    /// Where the text begins, behind its byte order mark.
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    /// The bytes from one character up to another.
    pub(super) fn bytes(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.byte(from);
        start..self.byte(to).max(start)
    }

    fn byte(&self, index: usize) -> usize {
        let byte = match &self.offsets {
            None => self.start + index,
            Some(offsets) => offsets.get(index).copied().unwrap_or(self.end),
        };
        byte.min(self.end)
    }
}
