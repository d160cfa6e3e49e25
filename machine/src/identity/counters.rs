//! Counters and points in time.

use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! counter {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub $inner);

        impl $name {
            /// The one after this one. Saturates, so a corrupt counter cannot wrap to zero.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )*};
}

counter! {
    /// Producer epoch of a conversation. 0 belongs to admission; every claim takes a higher one.
    Epoch(u64);
    /// Position of a record in its Conversation Log. The first record has sequence 0.
    Sequence(u64);
    /// Position of a submission in its lane: the order of execution (DUR-004).
    AdmissionSequence(u64);
    /// A turn of a run. The first is 0.
    Turn(u32);
    /// Names one write of mutable data among all of its kind. Never given twice; the first is 1.
    Revision(u64);
    /// Milliseconds since the Unix epoch, as the store's clock reads.
    Timestamp(u64);
    /// A span of milliseconds.
    DurationMs(u64);
}

impl Timestamp {
    /// This point in time, `span` later.
    #[must_use]
    pub const fn after(self, span: DurationMs) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}
