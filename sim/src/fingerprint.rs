//! 128-bit fingerprints of worlds and of their parts.
//!
//! Two hashers with fixed, different seeds see the same bytes. Fixed seeds make a fingerprint the
//! same in every run and on every machine of one byte order; 128 bits make a collision among
//! billions of worlds a matter of luck that nobody has.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;

const LEFT: u64 = 0x6576_6572_7374_6570;
const RIGHT: u64 = 0x776f_726c_6400_0001;

/// Hashes into 128 bits at once.
pub(crate) struct Fingerprinter {
    left: <FixedState as BuildHasher>::Hasher,
    right: <FixedState as BuildHasher>::Hasher,
}

impl Fingerprinter {
    pub(crate) fn new() -> Self {
        let left = FixedState::with_seed(LEFT).build_hasher();
        let right = FixedState::with_seed(RIGHT).build_hasher();
        Self { left, right }
    }

    /// The fingerprint of everything that was written.
    pub(crate) fn value(&self) -> u128 {
        (u128::from(self.left.finish()) << 64) | u128::from(self.right.finish())
    }
}

impl Hasher for Fingerprinter {
    fn finish(&self) -> u64 {
        self.left.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.left.write(bytes);
        self.right.write(bytes);
    }

    fn write_u8(&mut self, number: u8) {
        self.left.write_u8(number);
        self.right.write_u8(number);
    }

    fn write_u32(&mut self, number: u32) {
        self.left.write_u32(number);
        self.right.write_u32(number);
    }

    fn write_u64(&mut self, number: u64) {
        self.left.write_u64(number);
        self.right.write_u64(number);
    }

    fn write_u128(&mut self, number: u128) {
        self.left.write_u128(number);
        self.right.write_u128(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.left.write_usize(number);
        self.right.write_usize(number);
    }
}

/// The fingerprint of one value.
pub(crate) fn of(value: &(impl Hash + ?Sized)) -> u128 {
    let mut hasher = Fingerprinter::new();
    value.hash(&mut hasher);
    hasher.value()
}
