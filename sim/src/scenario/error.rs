//! A fault and where it is, rendered the way compilers do.

use std::fmt;
use std::ops::Range;
use std::panic::Location;

use super::fault::{Fault, printable};

/// Why a scenario is none: one [`Fault`] and its [`Place`].
///
/// [`Display`](fmt::Display) gives the whole rendering, several lines without colours and without
/// a line break at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(Box<(Fault, Place)>);

/// Where a fault is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File {
        /// As it was named.
        path: String,
    },
    /// A part of a line.
    Text {
        /// As it was named.
        path: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The line, without its end.
        source: String,
        /// How many characters of the line are meant; at least 1.
        width: usize,
    },
    /// A call of the builder.
    Rust(&'static Location<'static>),
}

impl ScenarioError {
    pub(super) fn new(fault: Fault, place: Place) -> Self {
        Self(Box::new((fault, place)))
    }

    /// What is wrong.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.0
    }

    /// Where.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.1
    }

    /// Line and column, both from 1; none for a fault of the file as a whole.
    #[must_use]
    pub fn line_column(&self) -> Option<(usize, usize)> {
        match self.place() {
            Place::File { .. } => None,
            Place::Text { line, column, .. } => Some((*line, *column)),
            Place::Rust(at) => Some((at.line() as usize, at.column() as usize)),
        }
    }
}

impl std::error::Error for ScenarioError {}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.fault())?;
        match self.place() {
            Place::File { path } => write!(f, "\n --> {}", printed(path))?,
            Place::Rust(at) => write!(f, "\n --> {at}")?,
            Place::Text { path, line, column, source, width } => {
                let number = line.to_string();
                let gutter = " ".repeat(number.len());
                let window = Window::of(source, *column, *width);
                write!(f, "\n{gutter}--> {}:{line}:{column}", printed(path))?;
                write!(f, "\n{gutter} |\n{number} | {}", window.text)?;
                write!(f, "\n{gutter} | {}", window.carets)?;
            }
        }
        self.fault().help().map_or(Ok(()), |help| write!(f, "\nhelp: {help}"))
    }
}

fn printed(path: &str) -> String {
    path.chars().map(printable).collect()
}

/// Characters of a line that are shown.
const WINDOW_CHARS: usize = 100;
/// Characters of them that stand before the fault.
const BEFORE_CHARS: usize = 60;

/// The part of a line around a fault, and carets under it.
struct Window {
    text: String,
    carets: String,
}

impl Window {
    fn of(source: &str, column: usize, width: usize) -> Self {
        let before = column - 1;
        let skipped = if source.chars().nth(WINDOW_CHARS).is_none() {
            0
        } else {
            before.saturating_sub(BEFORE_CHARS)
        };
        let mut text = String::from(if skipped == 0 { "" } else { "…" });
        let indent = text.chars().count() + before - skipped;
        text.extend(source.chars().skip(skipped).take(WINDOW_CHARS).map(printable));
        if source.chars().nth(skipped + WINDOW_CHARS).is_some() {
            text.push('…');
        }
        let room = text.chars().count().saturating_sub(indent);
        let carets = " ".repeat(indent) + &"^".repeat(width.min(room).max(1));
        Self { text, carets }
    }
}

/// A text with a name, in which places are found.
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// The place of a range of bytes; its first line where it has several.
    pub(super) fn place(&self, span: &Range<usize>) -> Place {
        let start = self.text.floor_char_boundary(span.start.min(self.text.len()));
        let before = &self.text[..start];
        let from = before.rfind('\n').map_or_else(|| mark(self.text), |at| at + 1).min(start);
        let rest = &self.text[from..];
        let source = rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r');
        let end = self.text.floor_char_boundary(span.end.clamp(start, self.text.len()));
        let end = end.min(from + source.len()).max(start);
        Place::Text {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: self.text[from..start].chars().count() + 1,
            source: source.to_owned(),
            width: self.text[start..end].chars().count().max(1),
        }
    }
}

/// Bytes of a byte order mark, which takes no column.
fn mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// The place of the first byte that is not UTF-8.
pub(super) fn place_of_byte(path: &str, bytes: &[u8], at: usize) -> Place {
    let from = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let until = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |n| at + n);
    let before = String::from_utf8_lossy(&bytes[from..at]);
    Place::Text {
        path: path.to_owned(),
        line: bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1,
        column: before.trim_start_matches('\u{feff}').chars().count() + 1,
        source: String::from_utf8_lossy(&bytes[from..until])
            .trim_start_matches('\u{feff}')
            .trim_end_matches('\r')
            .to_owned(),
        width: 1,
    }
}
