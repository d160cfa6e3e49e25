//! The events of one run, within bounds, read by offset.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::{Enveloped, EventSequence, Refusal, RunEvent, Sequencer, Source};
use crate::identity::Timestamp;
use crate::limits::{RUN_EVENT_BYTES, RUN_EVENTS};

/// What happened to a run, in order, as far as there is room for it.
///
/// It knows no readers. Whoever reads keeps an offset, and may read the same page twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventLog {
    sequencer: Sequencer,
    kept: BTreeMap<EventSequence, Enveloped>,
    /// Which of them only bring words, the oldest first: they make room for others.
    words: VecDeque<EventSequence>,
    word_bytes: usize,
    places: usize,
    most_bytes: usize,
    dropped: u64,
}

/// What a reader gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    /// Events, in order.
    pub events: Vec<Enveloped>,
    /// The offset to read on from.
    pub next: EventSequence,
    /// Whether nothing will ever follow: the terminal event is on this page or before it.
    pub ended: bool,
    /// How many events between the offset that was asked for and `next` are not here, because
    /// they made room for others. All of them only brought words.
    pub missed: u64,
}

impl EventLog {
    /// A log of [`RUN_EVENTS`] places and [`RUN_EVENT_BYTES`] of words.
    #[must_use]
    pub const fn new(source: Source) -> Self {
        Self::bounded(source, RUN_EVENTS, RUN_EVENT_BYTES)
    }

    /// A smaller log: so many places, at least the one of the terminal event and at most
    /// [`RUN_EVENTS`]; so many bytes of words, at most [`RUN_EVENT_BYTES`].
    #[must_use]
    pub const fn bounded(source: Source, places: usize, bytes: usize) -> Self {
        let places = if places > RUN_EVENTS { RUN_EVENTS } else { places };
        Self {
            sequencer: Sequencer::new(source),
            kept: BTreeMap::new(),
            words: VecDeque::new(),
            word_bytes: 0,
            places: if places == 0 { 1 } else { places },
            most_bytes: if bytes > RUN_EVENT_BYTES { RUN_EVENT_BYTES } else { bytes },
            dropped: 0,
        }
    }

    /// One more event; its number. The terminal event always finds a place, and tells how many
    /// events were dropped.
    ///
    /// # Errors
    /// The event is dropped, and counted: it comes after the terminal one, finds no place, or
    /// brings too many words.
    pub fn push(&mut self, at: Timestamp, mut event: RunEvent) -> Result<EventSequence, Refusal> {
        event.tell_dropped(self.dropped);
        if !self.sequencer.has_ended()
            && let Err(why) = self.make_room(&event)
        {
            self.dropped = self.dropped.saturating_add(1);
            return Err(why);
        }
        let bytes = event.words().map(|words| words.len());
        let enveloped = self.sequencer.number(at, event)?;
        let sequence = enveloped.sequence;
        if let Some(bytes) = bytes {
            self.words.push_back(sequence);
            self.word_bytes += bytes;
        }
        self.kept.insert(sequence, enveloped);
        Ok(sequence)
    }

    /// At most `limit` events from this offset on. An offset that no event has yet gets an empty
    /// page, whose `next` is the offset itself.
    #[must_use]
    pub fn read(&self, from: EventSequence, limit: usize) -> Page {
        let events: Vec<_> =
            self.kept.range(from..).take(limit).map(|(_, event)| event.clone()).collect();
        let next = events.last().map_or(from, |last| last.sequence.next());
        let missed = (next.0 - from.0).saturating_sub(events.len() as u64);
        let ended = self.has_ended() && self.next() <= next;
        Page { events, next, ended, missed }
    }

    /// The number of the next event: where a reader begins that wants nothing of the past.
    #[must_use]
    pub const fn next(&self) -> EventSequence {
        self.sequencer.next()
    }

    /// Whether the terminal event is here.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.sequencer.has_ended()
    }

    /// Where the events come from.
    #[must_use]
    pub const fn source(&self) -> &Source {
        self.sequencer.source()
    }

    /// Events that found no place before the terminal one.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Events that came after the terminal one (AB-07).
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.sequencer.late()
    }

    /// Lets the oldest words go until the event fits.
    fn make_room(&mut self, event: &RunEvent) -> Result<(), Refusal> {
        if event.is_terminal() {
            return Ok(());
        }
        let bytes = event.words().map_or(0, |words| words.len());
        if bytes > event.most_words() || bytes > self.most_bytes {
            return Err(Refusal::TooLong);
        }
        while self.word_bytes + bytes > self.most_bytes || self.kept.len() + 1 >= self.places {
            self.forget_oldest_words()?;
        }
        Ok(())
    }

    fn forget_oldest_words(&mut self) -> Result<(), Refusal> {
        let oldest = self.words.pop_front().ok_or(Refusal::Full)?;
        let words = self.kept.remove(&oldest);
        let bytes = words.as_ref().and_then(|it| it.event.words()).map_or(0, |it| it.len());
        self.word_bytes -= bytes;
        Ok(())
    }
}
