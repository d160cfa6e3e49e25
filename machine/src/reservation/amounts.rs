//! What is counted, and how much of it.

use core::ops::{Index, IndexMut};

use crate::digest::{Digest, Hasher};
use crate::identity::ReservationId;

/// What a child can use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// Children that were ever reserved for. The machine counts them itself.
    Children,
    /// Responses of models.
    Turns,
    /// Calls that they declare.
    ToolCalls,
    /// Milliseconds of wall-clock time.
    DurationMs,
    /// Tokens of requests.
    InputTokens,
    /// Tokens of responses.
    OutputTokens,
    /// Those of the requests that were read from a cache or written to one.
    CacheTokens,
    /// Money, in millionths of the currency.
    CostMicros,
    /// Bytes of results.
    ResultBytes,
    /// Bytes of events.
    EventBytes,
    /// Artifacts.
    Artifacts,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Children,
        Self::Turns,
        Self::ToolCalls,
        Self::DurationMs,
        Self::InputTokens,
        Self::OutputTokens,
        Self::CacheTokens,
        Self::CostMicros,
        Self::ResultBytes,
        Self::EventBytes,
        Self::Artifacts,
    ];
}

/// How much of each dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amounts([u64; Dimension::ALL.len()]);

impl Amounts {
    /// The same of each.
    #[must_use]
    pub const fn all(amount: u64) -> Self {
        Self([amount; Dimension::ALL.len()])
    }

    /// These, but so much of one dimension.
    #[must_use]
    pub fn with(mut self, dimension: Dimension, amount: u64) -> Self {
        self[dimension] = amount;
        self
    }

    /// These, but nowhere more than that.
    #[must_use]
    pub fn at_most(self, most: u64) -> Self {
        Self(self.0.map(|amount| amount.min(most)))
    }

    /// The digest of a reservation: its id, and what is allocated in each dimension.
    #[must_use]
    pub fn digest(&self, reservation: ReservationId) -> Digest {
        let hasher = Hasher::new("everstep/reservation").bytes(&reservation.0);
        self.0.iter().fold(hasher, |hasher, amount| hasher.number(*amount)).digest()
    }
}

impl Index<Dimension> for Amounts {
    type Output = u64;

    fn index(&self, dimension: Dimension) -> &u64 {
        &self.0[dimension as usize]
    }
}

impl IndexMut<Dimension> for Amounts {
    fn index_mut(&mut self, dimension: Dimension) -> &mut u64 {
        &mut self.0[dimension as usize]
    }
}

/// What somebody has used up by now, since its beginning and without its children, as far as it is
/// reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Used([Option<u64>; Dimension::ALL.len()]);

impl Used {
    /// What is reported of a dimension.
    #[must_use]
    pub const fn get(&self, dimension: Dimension) -> Option<u64> {
        self.0[dimension as usize]
    }

    /// These, and so much of one dimension.
    #[must_use]
    pub const fn with(mut self, dimension: Dimension, amount: u64) -> Self {
        self.0[dimension as usize] = Some(amount);
        self
    }

    /// All of these, but for what the machine counts itself.
    #[must_use]
    pub fn of(amounts: Amounts) -> Self {
        let mut used = Self(amounts.0.map(Some));
        used.0[Dimension::Children as usize] = None;
        used
    }
}
