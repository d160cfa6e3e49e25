//! What is known to be sound and need not be looked at again.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_machine::digest::Digest;
use foldhash::fast::FixedState;

/// Links of chains that are known to be sound: a pure memo, shared by every clone of a world. The
/// link names everything before it, so one look at a batch is enough.
#[derive(Debug, Default)]
pub(crate) struct Verified(Mutex<HashSet<Digest, FixedState>>);

impl Verified {
    pub(crate) fn is_new(&self, link: Digest) -> bool {
        !self.links().contains(&link)
    }

    pub(crate) fn add(&self, link: Digest) {
        self.links().insert(link);
    }

    /// A panic elsewhere leaves a sound memo behind.
    fn links(&self) -> MutexGuard<'_, HashSet<Digest, FixedState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
