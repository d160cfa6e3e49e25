//! Numbers for the events of one run.

use super::{Enveloped, EventSequence, RunEvent, Source};
use crate::identity::Timestamp;

/// Why an event is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The terminal event was told already (RUN-002).
    #[error("the run has ended: its terminal event was told")]
    Ended,
    /// Only the place of the terminal event is left, and no words can make room (RUN-031).
    #[error("the log of events is full")]
    Full,
    /// The event brings more words than one event may, or than the log may hold.
    #[error("the event brings too many words")]
    TooLong,
}

/// Gives each event of a run its coordinates, up to the terminal one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sequencer {
    source: Source,
    next: EventSequence,
    ended: bool,
    late: u64,
}

impl Sequencer {
    /// Begins with 0.
    #[must_use]
    pub const fn new(source: Source) -> Self {
        Self { source, next: EventSequence(0), ended: false, late: 0 }
    }

    /// The event with the next number.
    ///
    /// # Errors
    /// [`Refusal::Ended`] behind the terminal event; such events are counted (AB-07).
    pub fn number(&mut self, at: Timestamp, event: RunEvent) -> Result<Enveloped, Refusal> {
        if self.ended {
            self.late = self.late.saturating_add(1);
            return Err(Refusal::Ended);
        }
        self.ended = event.is_terminal();
        let sequence = self.next;
        self.next = sequence.next();
        Ok(self.source.envelope(sequence, at, event))
    }

    /// Where the events come from.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// The number of the next event.
    #[must_use]
    pub const fn next(&self) -> EventSequence {
        self.next
    }

    /// Whether the terminal event was told.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Events that came after the terminal one (AB-07).
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.late
    }
}
