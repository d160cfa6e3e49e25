//! The messages of a conversation: a list that is shared as it grows.
//!
//! A request holds every message there is, and a fold gets one more with every record. So the
//! list is a chain of short pieces: a copy shares all of them, and one more message touches only
//! the last. Neither costs more the longer the conversation is.
//!
//! A list also remembers how many tokens a provider has counted in it, so that the size of the
//! next request is known without looking at what was said long ago.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::request::Message;
use crate::identity::Sequence;

/// Messages of one piece.
const PIECE: usize = 64;

/// Messages in order, each with the record that it is seen from.
#[derive(Clone, Default)]
pub struct Messages {
    last: Option<Arc<Piece>>,
    len: usize,
    bytes: u64,
    count: Option<Count>,
}

/// What a provider has counted, and how many bytes it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Count {
    tokens: u64,
    bytes: u64,
}

/// How much of a list a provider has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Tokens of everything up to the last response that said so, instructions and tools included.
    pub tokens: u64,
    /// Bytes of everything after it.
    pub bytes_since: u64,
}

#[derive(Clone)]
struct Piece {
    earlier: Option<Arc<Piece>>,
    entries: Vec<(Sequence, Message)>,
}

impl Messages {
    /// One more message. `at` is where its turn begins in the log: the sequence of the input or
    /// of the response. The results of a response share its sequence, so nothing that is cut off
    /// by a sequence ever splits them from it.
    pub fn push(&mut self, at: Sequence, message: Message) {
        self.len += 1;
        self.bytes = self.bytes.saturating_add(message.bytes() as u64);
        match &mut self.last {
            Some(piece) if piece.entries.len() < PIECE => {
                Arc::make_mut(piece).entries.push((at, message));
            }
            last => {
                let earlier = last.take();
                *last = Some(Arc::new(Piece { earlier, entries: alloc::vec![(at, message)] }));
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of everything that they say. Kept as they are pushed, never counted again.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Everything up to here took so many tokens: a provider has counted them.
    pub const fn count(&mut self, tokens: u64) {
        self.count = Some(Count { tokens, bytes: self.bytes });
    }

    /// What a provider has counted is not what this list says any more.
    pub const fn uncount(&mut self) {
        self.count = None;
    }

    /// What a provider has counted, if one has.
    #[must_use]
    pub fn counted(&self) -> Option<Counted> {
        let Count { tokens, bytes } = self.count?;
        Some(Counted { tokens, bytes_since: self.bytes.saturating_sub(bytes) })
    }

    /// From the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.entries().map(|(_, message)| message)
    }

    /// From the first to the last, with the sequences they were pushed at.
    pub fn entries(&self) -> impl Iterator<Item = &(Sequence, Message)> {
        let mut pieces = Vec::with_capacity(self.len.div_ceil(PIECE));
        let mut next = self.last.as_deref();
        while let Some(piece) = next {
            pieces.push(piece);
            next = piece.earlier.as_deref();
        }
        pieces.into_iter().rev().flat_map(|piece| &piece.entries)
    }

    /// From the last to the first.
    pub fn backwards(&self) -> impl Iterator<Item = &(Sequence, Message)> {
        let pieces = core::iter::successors(self.last.as_deref(), |it| it.earlier.as_deref());
        pieces.flat_map(|piece| piece.entries.iter().rev())
    }
}

impl Extend<(Sequence, Message)> for Messages {
    fn extend<I: IntoIterator<Item = (Sequence, Message)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(at, message)| self.push(at, message));
    }
}

impl FromIterator<(Sequence, Message)> for Messages {
    fn from_iter<I: IntoIterator<Item = (Sequence, Message)>>(entries: I) -> Self {
        let mut messages = Self::default();
        messages.extend(entries);
        messages
    }
}

/// What a list is kept as: its bytes are counted again.
#[derive(Serialize)]
struct Written<'a> {
    entries: Vec<&'a (Sequence, Message)>,
    count: Option<Count>,
}

/// The same, read.
#[derive(Deserialize)]
struct Read {
    entries: Vec<(Sequence, Message)>,
    count: Option<Count>,
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { entries: self.entries().collect(), count: self.count }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { entries, count } = Read::deserialize(deserializer)?;
        Ok(Self { count, ..entries.into_iter().collect() })
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.last, &other.last) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => return false,
        };
        let says_the_same =
            same || (self.len == other.len && self.backwards().eq(other.backwards()));
        says_the_same && self.count == other.count
    }
}

impl Eq for Messages {}

impl Hash for Messages {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
        self.count.hash(state);
        self.backwards().for_each(|entry| entry.hash(state));
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// One piece after the other: a chain that drops itself would need a stack as long as the
/// conversation.
impl Drop for Piece {
    fn drop(&mut self) {
        let mut next = self.earlier.take();
        while let Some(piece) = next {
            next = Arc::into_inner(piece).and_then(|mut piece| piece.earlier.take());
        }
    }
}

#[cfg(test)]
mod tests;
