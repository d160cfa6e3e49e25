//! Numbers from a seed: the same seed, the same script.

/// A sequence of numbers that a seed begins (splitmix64).
#[derive(Clone, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u8) -> u8 {
        u8::try_from(self.next() % u64::from(bound)).unwrap_or_default()
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.abs_diff(low).saturating_add(1);
        low.saturating_add_unsigned(self.next() % width)
    }

    /// True so many times of a hundred.
    pub(super) fn percent(&mut self, share: u8) -> bool {
        self.below(100) < share
    }

    /// One of these, each as often as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(u8, T)]) -> T {
        let total: u64 = choices.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut left = self.next() % total.max(1);
        for (weight, choice) in choices {
            if left < u64::from(*weight) {
                return *choice;
            }
            left -= u64::from(*weight);
        }
        choices[0].1
    }

    /// So many, between these bounds, each drawn like this.
    pub(super) fn several<T>(
        &mut self,
        low: i64,
        high: i64,
        mut one: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let count = self.between(low, high);
        (0..count).map(|_| one(self)).collect()
    }
}
