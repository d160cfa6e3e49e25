//! What this process has folded of the lanes that it worked on last, bounded.
//!
//! An attempt that is given it reads only what its log has got since. Nothing depends on it: the
//! log confirms it by its digests, or the attempt reads from the beginning (STORE-007).

use std::collections::BTreeMap;

use everstep_machine::identity::{ConversationId, Sequence};
use everstep_machine::projection::Reader;

/// A fold, and how much of it is kept in the store.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    pub(crate) fold: Reader,
    /// Where the log ended that the store has a checkpoint of.
    pub(crate) kept: Sequence,
}

impl Remembered {
    /// What the store has kept.
    pub(crate) fn of(checkpoint: Reader) -> Self {
        Self { kept: checkpoint.next_sequence(), fold: checkpoint }
    }

    /// What it is now, to be kept if so many records have come since; 0 for never.
    pub(crate) fn due(&mut self, lane: &ConversationId, every: u64) -> Option<Vec<u8>> {
        let next = self.fold.next_sequence();
        let is_due = every > 0 && next.0.saturating_sub(self.kept.0) >= every;
        is_due.then(|| {
            self.kept = next;
            self.fold.checkpoint(lane)
        })
    }
}

/// Folds by lane; the one that was kept longest ago is forgotten first.
#[derive(Debug)]
pub(crate) struct Folds {
    folds: BTreeMap<ConversationId, Kept>,
    /// The lanes in the order in which they were kept.
    order: BTreeMap<u64, ConversationId>,
    kept: u64,
    held: usize,
    limit: usize,
}

#[derive(Debug)]
struct Kept {
    fold: Remembered,
    size: usize,
    at: u64,
}

impl Folds {
    /// About so many bytes; of none, nothing is kept.
    pub(crate) const fn new(limit: usize) -> Self {
        Self { folds: BTreeMap::new(), order: BTreeMap::new(), kept: 0, held: 0, limit }
    }

    /// What is remembered of a lane. It is gone then: an attempt changes it.
    pub(crate) fn take(&mut self, lane: &ConversationId) -> Option<Remembered> {
        let Kept { fold, size, at } = self.folds.remove(lane)?;
        self.order.remove(&at);
        self.held -= size;
        Some(fold)
    }

    /// Remembers a fold, if there is room for it at all.
    pub(crate) fn keep(&mut self, lane: ConversationId, fold: Remembered) {
        self.take(&lane);
        let size = fold.fold.projection().size().max(1);
        if size > self.limit {
            return;
        }
        while self.held + size > self.limit
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.take(&oldest);
        }
        self.kept += 1;
        self.held += size;
        self.order.insert(self.kept, lane.clone());
        self.folds.insert(lane, Kept { fold, size, at: self.kept });
    }
}

#[cfg(test)]
mod tests {
    use everstep_machine::identity::ConversationId;

    use super::{Folds, Remembered};

    fn lane(name: &str) -> ConversationId {
        ConversationId::new(name).unwrap()
    }

    #[test]
    fn arc_05_folds_are_bounded_and_the_oldest_is_forgotten() {
        // An empty fold counts one byte.
        let mut folds = Folds::new(2);
        for name in ["a", "b", "a", "c"] {
            folds.keep(lane(name), Remembered::default());
        }
        assert_eq!((folds.held, folds.order.len()), (2, 2));
        let found = ["a", "b", "c"].map(|name| folds.take(&lane(name)).is_some());
        assert_eq!(found, [true, false, true]);
        assert_eq!((folds.held, folds.order.len(), folds.folds.len()), (0, 0, 0));
        let mut none = Folds::new(0);
        none.keep(lane("a"), Remembered::default());
        assert!(none.take(&lane("a")).is_none());
    }
}
