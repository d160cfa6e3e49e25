//! 128-bit fingerprints of worlds and of their parts.
//!
//! Two hashers with fixed, different seeds see the same bytes. Fixed seeds make a fingerprint the
//! same in every run and on every machine of one byte order; 128 bits make a collision among
//! billions of worlds a matter of luck that nobody has.

use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

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

/// A place for a fingerprint that is made when somebody first asks for it.
///
/// Two threads that ask at once both make it, and both make the same.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    left: AtomicU64,
    right: AtomicU64,
}

impl Memo {
    pub(crate) const fn new() -> Self {
        Self { left: AtomicU64::new(0), right: AtomicU64::new(0) }
    }

    /// Forgets: the value has changed.
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The fingerprint, made by `make` if it is not here.
    pub(crate) fn get_or(&self, make: impl FnOnce() -> u128) -> u128 {
        let (left, right) = (self.left.load(Relaxed), self.right.load(Relaxed));
        // A half that happens to be 0 is made again every time: correct, and rare.
        if left != 0 && right != 0 {
            return (u128::from(left) << 64) | u128::from(right);
        }
        let print = make();
        self.left.store((print >> 64) as u64, Relaxed);
        self.right.store(print as u64, Relaxed);
        print
    }
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        let copy = |half: &AtomicU64| AtomicU64::new(half.load(Relaxed));
        Self { left: copy(&self.left), right: copy(&self.right) }
    }
}

/// A value with its fingerprint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printed<T> {
    value: T,
    print: Memo,
}

impl<T> Printed<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { value, print: Memo::new() }
    }

    /// Puts another value here and hands out the old one.
    pub(crate) fn replace(&mut self, value: T) -> T {
        std::mem::replace(self, Self::new(value)).value
    }
}

impl<T> Deref for Printed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Whoever may change the value makes its fingerprint forgotten.
impl<T> DerefMut for Printed<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.print.clear();
        &mut self.value
    }
}

/// Hashes like its fingerprint: equal values have equal hashes, at the cost of one number.
impl<T: Hash> Hash for Printed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.print.get_or(|| of(&self.value)));
    }
}

#[cfg(test)]
mod tests;
