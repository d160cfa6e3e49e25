//! Failpoints by number, so that a search can count and collect them in arrays and bits.

use std::sync::LazyLock;

use everstep_machine::effect::Failpoint;

static SORTED: LazyLock<Vec<Failpoint>> = LazyLock::new(|| {
    let mut all: Vec<_> = Failpoint::all().collect();
    all.sort_unstable();
    assert!(all.len() <= 128, "DUR-019: a set of failpoints has 128 bits");
    all
});

/// Every failpoint, in order; a failpoint's number is its position here.
#[must_use]
pub fn failpoints() -> &'static [Failpoint] {
    &SORTED
}

/// The number of a failpoint.
///
/// # Panics
/// When the failpoint's effect has no such phase.
#[must_use]
pub fn number(failpoint: Failpoint) -> usize {
    SORTED.binary_search(&failpoint).expect("DUR-019: every failpoint is computed from its kind")
}

/// A set of failpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FailpointSet(u128);

impl FailpointSet {
    /// No failpoint.
    pub const EMPTY: Self = Self(0);

    /// Adds the failpoint with this number.
    pub(crate) fn insert_number(&mut self, number: usize) {
        self.0 |= 1 << number;
    }

    /// Adds a failpoint.
    pub fn insert(&mut self, failpoint: Failpoint) {
        self.insert_number(number(failpoint));
    }

    /// Everything that is in one of the two.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a failpoint is in it.
    #[must_use]
    pub fn contains(self, failpoint: Failpoint) -> bool {
        self.0 & (1 << number(failpoint)) != 0
    }

    /// How many are in it.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether none is.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are in it, in order.
    pub fn iter(self) -> impl Iterator<Item = Failpoint> {
        failpoints().iter().copied().filter(move |failpoint| self.contains(*failpoint))
    }

    /// Those that are not.
    pub fn missing(self) -> impl Iterator<Item = Failpoint> {
        failpoints().iter().copied().filter(move |failpoint| !self.contains(*failpoint))
    }
}
