//! Failpoints by number, so that a search can count and collect them in arrays and bits.

use std::sync::LazyLock;

use everstep_machine::effect::{EffectKind, ExternalKind, Failpoint, LedgerKind};
use everstep_machine::record::BatchKind;

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

/// Numbers by slot: a search asks at every moment.
static NUMBERS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut numbers = vec![usize::MAX; SLOTS];
    for (number, failpoint) in SORTED.iter().enumerate() {
        numbers[slot(*failpoint)] = number;
    }
    numbers
});

const LEDGER: usize = LedgerKind::ALL.len();
const APPEND: usize = LEDGER + BatchKind::ALL.len();
const EXTERNAL: usize = APPEND + ExternalKind::ALL.len();
const SLOTS: usize = (EXTERNAL + 4) * 3;

/// A place of its own for every failpoint, and for phases that an effect does not have.
const fn slot(failpoint: Failpoint) -> usize {
    let effect = match failpoint.effect {
        EffectKind::Ledger(kind) => kind as usize,
        EffectKind::Append(kind) => LEDGER + kind as usize,
        EffectKind::External(kind) => APPEND + kind as usize,
        EffectKind::Materialize => EXTERNAL,
        EffectKind::Fence => EXTERNAL + 1,
        EffectKind::ReadLane => EXTERNAL + 2,
        EffectKind::ReadLog => EXTERNAL + 3,
    };
    effect * 3 + failpoint.phase as usize
}

/// The number of a failpoint.
///
/// # Panics
/// When the failpoint's effect has no such phase.
#[must_use]
pub fn number(failpoint: Failpoint) -> usize {
    let number = NUMBERS[slot(failpoint)];
    assert!(number < SORTED.len(), "DUR-019: every failpoint is computed from its kind");
    number
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

#[cfg(test)]
mod tests {
    use super::{FailpointSet, failpoints, number};

    #[test]
    fn dur_019_every_failpoint_has_a_number_of_its_own() {
        let numbers: Vec<_> = failpoints().iter().map(|point| number(*point)).collect();
        assert!(numbers.iter().copied().eq(0..failpoints().len()), "{numbers:?}");
    }

    #[test]
    fn a_set_knows_what_is_in_it_and_what_is_not() {
        let mut set = FailpointSet::EMPTY;
        assert!(set.is_empty());
        set.insert(failpoints()[3]);
        set.insert(failpoints()[5]);
        assert!(set.iter().eq([failpoints()[3], failpoints()[5]]));
        assert_eq!((set.len(), set.missing().count()), (2, failpoints().len() - 2));
        assert!(set.union(FailpointSet::EMPTY).contains(failpoints()[5]));
    }
}
