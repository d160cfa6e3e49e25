//! What can be wrong with a trace, and where.

use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;

use super::HOLDS;
use super::file::{CHOICES, TRACE_BYTES};
use crate::defect::Defect;
use crate::oracle::Property;
use crate::profile::Profile;
use crate::scenario::ScenarioError;
use crate::schedule::ChoiceError;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The file is not there, or cannot be read.
    #[error("the trace cannot be read: {0}")]
    Unreadable(ErrorKind),
    /// The file has more than [`TRACE_BYTES`].
    #[error("the trace has more than {TRACE_BYTES} bytes")]
    TooLarge,
    /// A byte is not UTF-8.
    #[error("this byte is not UTF-8")]
    NotUtf8,
    /// The text is not TOML, or does not have the keys of a trace.
    #[error("this is no trace: {message}")]
    NotATrace {
        /// What the reader of TOML says.
        message: String,
    },
    /// The version of the format is not one that this crate reads.
    #[error("schema {found} is not known; this version reads schema 1")]
    UnknownSchema {
        /// What the trace says.
        found: i64,
    },
    /// A word is none of those that are possible.
    #[error("`{found}` is no {what}; possible are: {}", possible.join(", "))]
    UnknownWord {
        /// What kind of word is wanted.
        what: &'static str,
        /// What the trace says.
        found: String,
        /// What it could say.
        possible: Vec<&'static str>,
    },
    /// There are more than [`CHOICES`].
    #[error("a schedule has at most {CHOICES} choices")]
    TooManyChoices,
    /// A choice is none.
    #[error("{0}")]
    Choice(ChoiceError),
    /// The scenario in the trace is wrong.
    #[error("the scenario in the trace is wrong\n{0}")]
    Scenario(ScenarioError),
}

impl Fault {
    pub(super) fn unknown_profile(found: &impl AsRef<String>) -> Self {
        let possible = Profile::ALL.iter().map(|profile| profile.name()).collect();
        Self::UnknownWord { what: "store profile", found: found.as_ref().clone(), possible }
    }

    pub(super) fn unknown_defect(found: &impl AsRef<String>) -> Self {
        let possible = Defect::ALL.iter().map(|defect| defect.name()).collect();
        Self::UnknownWord { what: "planted defect", found: found.as_ref().clone(), possible }
    }

    pub(super) fn unknown_property(found: &impl AsRef<String>) -> Self {
        let names = Property::ALL.iter().map(|property| property.name());
        let possible = std::iter::once(HOLDS).chain(names).collect();
        Self::UnknownWord { what: "verdict", found: found.as_ref().clone(), possible }
    }
}

/// Why a file is no trace: what, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    path: String,
    place: Option<Place>,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
    source: String,
}

/// The most characters of a line that are shown.
const SHOWN: usize = 100;

impl TraceError {
    pub(super) fn of_file(path: &str, fault: Fault) -> Self {
        Self(Box::new(Inner { path: path.to_owned(), place: None, fault }))
    }

    pub(super) fn in_text(path: &str, text: &str, span: Range<usize>, fault: Fault) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let (before, rest) = text.split_at(start);
        let from = before.rfind('\n').map_or(0, |at| at + 1);
        let end = rest.find('\n').map_or(text.len(), |at| start + at);
        let place = Place {
            line: before.matches('\n').count() + 1,
            column: before[from..].chars().count() + 1,
            source: text[from..end].trim_end().chars().take(SHOWN).collect(),
        };
        Self(Box::new(Inner { path: path.to_owned(), place: Some(place), fault }))
    }

    /// What is wrong.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// Line and column, both from 1; none for a fault of the file as a whole.
    #[must_use]
    pub fn line_column(&self) -> Option<(usize, usize)> {
        self.0.place.as_ref().map(|place| (place.line, place.column))
    }
}

impl std::error::Error for TraceError {}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { path, place, fault } = &*self.0;
        write!(f, "error: {fault}\n --> {path}")?;
        let Some(Place { line, column, source }) = place else { return Ok(()) };
        let gutter = " ".repeat(line.to_string().len());
        write!(f, ":{line}:{column}\n{gutter} |\n{line} | {source}\n{gutter} | ")?;
        write!(f, "{}^", " ".repeat(column.saturating_sub(1).min(SHOWN)))
    }
}
