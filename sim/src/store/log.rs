//! One Conversation Log, as a store keeps it.

use std::sync::Arc;

use everstep_machine::conversation::{Change, Command, Committed, Slice, Tail};
use everstep_machine::identity::{BatchId, ConversationId, Sequence};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::record::StoredBatch;
use everstep_machine::store::LogPage;

use crate::fingerprint;

/// Batches in order, and where they end.
#[derive(Clone, Debug, Default)]
pub struct Log {
    tail: Option<Tail>,
    batches: Vec<Arc<StoredBatch>>,
    print: u128,
}

impl Log {
    /// A log that does not exist yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { tail: None, batches: Vec::new(), print: 0 }
    }

    /// Where the log ends; none while it does not exist.
    #[must_use]
    pub const fn tail(&self) -> Option<Tail> {
        self.tail
    }

    /// Every batch, from the first.
    #[must_use]
    pub fn batches(&self) -> &[Arc<StoredBatch>] {
        &self.batches
    }

    /// At most [`PAGE_BATCHES`] batches from the one that starts at `from`.
    #[must_use]
    pub fn page(&self, from: Sequence) -> LogPage {
        let start = self.batches.partition_point(|it| it.envelope().first_sequence < from);
        let batches = self.batches[start..].iter().take(PAGE_BATCHES).cloned().collect();
        LogPage { tail: self.tail, batches }
    }

    /// The batch with this id, as a replay has to know it.
    pub(super) fn committed(&self, id: BatchId) -> Option<Committed> {
        self.batches.iter().find(|it| it.batch().id() == id).map(|it| Committed {
            batch: id,
            epoch: it.envelope().epoch,
            content: it.batch().content(),
        })
    }

    /// What the command's footprint asks for.
    pub(super) fn slice(&self, conversation: &ConversationId, command: &Command) -> Slice {
        let footprint = command.footprint();
        let mut slice = Slice::new(conversation.clone(), self.tail);
        slice.committed = footprint.batch.and_then(|id| self.committed(id));
        slice.used = footprint.records;
        slice.used.retain(|id| self.batches.iter().any(|it| it.batch().record_ids().contains(id)));
        slice
    }

    /// Writes a change after which the log ends at `tail`.
    pub(super) fn write(&mut self, change: Change, tail: Option<Tail>) -> Option<Arc<StoredBatch>> {
        self.tail = tail;
        match change {
            Change::Raise(_) => None,
            Change::Commit(stored) => {
                let stored = Arc::<StoredBatch>::from(stored);
                let envelope = stored.envelope();
                let content = stored.batch().content();
                self.print =
                    fingerprint::of(&(self.print, content, envelope.epoch, &envelope.producer));
                self.batches.push(Arc::clone(&stored));
                Some(stored)
            }
        }
    }

    /// Covers everything but commit times and what follows from them: they change no future.
    pub(super) fn print(&self) -> (u128, Option<u64>) {
        (self.print, self.tail.map(|tail| tail.epoch.0))
    }
}
