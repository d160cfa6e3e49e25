//! The running checksum of a write-ahead log, and what it still vouches for when a word is wrong.
//!
//! Each frame carries the checksum of everything before it and of itself, so a frame that agrees
//! with what the frame before it carries was written by somebody who knew that frame as it was.
//!
//! The checksum is linear: a word that is wrong by `d` changes the result by `d` times a pair of
//! numbers that depends on the word's place only. So it shows whether one wrong word explains all
//! of a difference, as a flipped bit or byte does, and the other words are vouched for all the same.

/// Bytes of the header of a frame.
pub(super) const FRAME_HEADER: usize = 24;

/// The order of the bytes of a number that the checksum is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    fn word(self, bytes: &[u8], at: usize) -> u32 {
        match self {
            Self::Little => number(bytes, at).swap_bytes(),
            Self::Big => number(bytes, at),
        }
    }
}

/// The two halves of a checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(u32, u32);

impl Sum {
    /// As it is stored.
    pub(super) fn stored(bytes: &[u8]) -> Self {
        Self(number(bytes, 0), number(bytes, 4))
    }

    /// Goes on over a whole number of pairs of words.
    pub(super) fn over(self, bytes: &[u8], order: Order) -> Self {
        bytes.chunks_exact(8).fold(self, |Self(a, b), pair| {
            let a = a.wrapping_add(order.word(pair, 0)).wrapping_add(b);
            Self(a, b.wrapping_add(order.word(pair, 4)).wrapping_add(a))
        })
    }

    fn minus(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0), self.1.wrapping_sub(other.1))
    }

    /// What a difference has become after one more pair of words.
    const fn carried(self) -> Self {
        let a = self.0.wrapping_add(self.1);
        Self(a, self.1.wrapping_add(a))
    }

    /// Whether it is some number of times another, of which at least one half is odd.
    const fn is_multiple_of(self, unit: Self) -> bool {
        self.0.wrapping_mul(unit.1) == self.1.wrapping_mul(unit.0)
    }

    const fn times(self, count: u32) -> Self {
        Self(self.0.wrapping_mul(count), self.1.wrapping_mul(count))
    }
}

/// The number at a place of a header, which is kept with its highest byte first.
pub(super) fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A frame: its header, and a page.
#[derive(Debug)]
pub(super) struct Frame(pub(super) Vec<u8>);

/// What a checksum says of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vouched {
    /// It is the last one of a transaction.
    Last,
    /// It is in the midst of a transaction.
    Amid,
}

impl Frame {
    pub(super) fn of_pages(bytes: usize) -> Self {
        Self(vec![0; FRAME_HEADER + bytes])
    }

    pub(super) fn page(&self) -> u32 {
        number(&self.0, 0)
    }

    /// How many pages the database has after the transaction whose last frame this is; otherwise 0.
    pub(super) fn size(&self) -> u32 {
        number(&self.0, 4)
    }

    /// What tells the frames of one round of the log from those of another.
    pub(super) fn salts(&self) -> &[u8] {
        &self.0[8..16]
    }

    pub(super) fn stored(&self) -> Sum {
        Sum::stored(&self.0[16..FRAME_HEADER])
    }

    /// The checksum that it should carry behind `before`.
    pub(super) fn computed(&self, before: Sum, order: Order) -> Sum {
        before.over(&self.0[..8], order).over(&self.0[FRAME_HEADER..], order)
    }

    /// What is beyond doubt about the frame if it stands behind one that carries `before`: nothing
    /// unless all its words agree with its checksum, or would if any single one were another.
    ///
    /// What only a few high bits explain may be any of several words, the size among them. Then
    /// the frame is damaged for certain, and is called the last one if it may be.
    pub(super) fn vouched(&self, before: Sum, order: Order) -> Option<Vouched> {
        let off = self.stored().minus(self.computed(before, order));
        let size = order.word(&self.0, 4);
        let pairs = 1 + (self.0.len() - FRAME_HEADER) / 8;
        // A word of the checksum itself, or none at all.
        let mut is_other = off.0 == 0 || off.1 == 0;
        // By how much the checksum changes with the first and the second word of a pair.
        let (mut first, mut second) = (Sum(1, 1), Sum(0, 1));
        for _ in 1..pairs {
            is_other |= off.is_multiple_of(first) || off.is_multiple_of(second);
            (first, second) = (first.carried(), second.carried());
        }
        // The pair of the page number and the size, and the checksum that went before.
        let before = [first.carried().minus(second.carried()), second.carried()];
        is_other |=
            off.is_multiple_of(first) || before.into_iter().any(|it| off.is_multiple_of(it));
        let is_size = off.is_multiple_of(second);
        let would_be_a_size = is_size && off != second.times(size.wrapping_neg());
        if would_be_a_size || is_other && size != 0 {
            Some(Vouched::Last)
        } else {
            (is_size || is_other).then_some(Vouched::Amid)
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
