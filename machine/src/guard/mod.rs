//! The guard of command lines: blocked, put to a person, or read-only (AUTH-09).
//!
//! A command is text, and text can be spelled in many ways. So the text itself is judged and every
//! copy of it that it may be taken for; the worst verdict wins:
//!
//! ```text
//! text -+- as it is -------------------------------+
//!       +- letters as they look -------------------+-> simple commands, and those within them -> worst
//!       +- with blanks where a shell finds some ---+
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | only one plain command of a list that only reads is let through | `programs::plain`, `weigh` |
//! | whatever is added to a command that is blocked, it stays blocked, be it wrapped or nested | `weigh::command`, `weigh::told` |
//! | an explicit environment is put to a person | [`judge`] |
//! | what runs is not in the text: an approval holds once (GR-05) | [`Judged::is_resolved`] |
//! | a verdict for any text, in time that grows with its bytes | [`COMMAND_BYTES`], [`COMMAND_NESTING`], [`COMMAND_READING_BYTES`]; `hazard::Arguments`, `copies::spread` |
//!
//! What is blocked ends before anybody is asked. That list is short on purpose: it is no sandbox, and
//! what it lacks is put to a person.
//!
//! Deliberately absent: rules that people write, and approvals of more than one exact command (GR-03).
//!
//! [`COMMAND_BYTES`]: crate::limits::COMMAND_BYTES
//! [`COMMAND_NESTING`]: crate::limits::COMMAND_NESTING
//! [`COMMAND_READING_BYTES`]: crate::limits::COMMAND_READING_BYTES

mod copies;
mod hazard;
mod judged;
mod programs;
mod shell;
mod weigh;

pub use judged::{Judged, Reason, Verdict};

use crate::limits::COMMAND_BYTES;

/// Whether a call names variables for its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Environment {
    /// The host's own.
    Inherited,
    /// With variables that the call names.
    Explicit,
}

/// Judges a command line.
///
/// ```
/// use everstep_machine::guard::{Environment, Verdict, judge};
///
/// let verdict = |text| judge(text, Environment::Inherited).verdict;
/// assert_eq!(verdict("ls -l src"), Verdict::Allow);
/// assert_eq!(verdict("ls -l src && cargo test"), Verdict::Prompt);
/// assert_eq!(verdict("ls; sudo sh -c 'rm -rf /'"), Verdict::Block);
/// ```
#[must_use]
pub fn judge(text: &str, environment: Environment) -> Judged {
    if text.len() > COMMAND_BYTES {
        return Judged::of(Reason::TooLong);
    }
    if copies::is_hidden(text) {
        return Judged::of(Reason::Hidden);
    }
    let marks = [
        (!text.is_ascii()).then_some(Reason::LookAlike),
        (environment == Environment::Explicit).then_some(Reason::Environment),
    ];
    let own = weigh::text(text);
    let marked = marks.into_iter().flatten().map(Judged::of).fold(own, Judged::worse);
    copies::of(text).iter().skip(1).map(|copy| weigh::text(copy)).fold(marked, Judged::worse)
}

#[cfg(test)]
mod tests;
