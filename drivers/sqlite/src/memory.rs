//! Batches that this store has read before, so that a long log is not read as a whole again.
//!
//! Whoever takes over a lane reads its log from the beginning. What is committed to a log never
//! changes, neither by this process nor by another one, so a batch that was read once need not be
//! read and decoded again.
//!
//! **Nothing is believed unseen.** Of the batches that a page takes from memory, the last one is
//! read from the file and must be the one that is remembered. A batch's chain digest covers the
//! whole history before it, so then all of them are that history. If it is not, because the file
//! was restored to another state for instance, everything about the conversation is forgotten and
//! the page is read from the file. Where the log ends is always read from the file.
//!
//! **What it hides.** Damage to a batch that is remembered is noticed only by somebody who reads
//! it from the file: another process, this one after it has started anew, or
//! [`crate::SqliteReader::verify`]. Until then this process acts on what was written, not on what
//! the damage made of it.
//!
//! **Who uses it.** Transactions that only read. One that writes sees what may yet be rolled back,
//! and must not remember it.

use std::collections::BTreeMap;
use std::sync::Arc;

use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, Sequence};
use everstep_machine::record::StoredBatch;
use everstep_machine::store::LogPage;
use rusqlite::Connection;

use crate::error::Trouble;
use crate::log::{self, Sheet};

/// What a decoded batch takes beside its bytes, roughly: ids, digests, and pieces of memory.
const BATCH_OVERHEAD: usize = 1_024;

/// The beginnings of logs, as long as they fit.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    logs: BTreeMap<ConversationId, Known>,
    /// The conversations by when they were asked for last.
    order: BTreeMap<u64, ConversationId>,
    asked: u64,
    held: usize,
    limit: usize,
}

/// The beginning of one log, without a gap.
#[derive(Debug, Default)]
struct Known {
    /// Each with the size of its bytes.
    batches: Vec<(Arc<StoredBatch>, usize)>,
    held: usize,
    asked: u64,
}

impl Known {
    /// Where the next batch begins, and what it links to.
    fn end(&self) -> (Sequence, Digest) {
        let end = |(it, _): &(Arc<StoredBatch>, usize)| (it.next_sequence(), it.chain());
        self.batches.last().map_or((Sequence(0), Digest::ZERO), end)
    }

    /// What a page that begins at `from` takes from here.
    fn recall(&self, from: Sequence) -> Sheet {
        let mut sheet = Sheet::default();
        let first = |(it, _): &(Arc<StoredBatch>, usize)| it.envelope().first_sequence;
        let at = self.batches.partition_point(|it| first(it) < from);
        for (batch, size) in &self.batches[at..] {
            if sheet.is_full() {
                break;
            }
            sheet.push(Arc::clone(batch), *size);
        }
        sheet
    }
}

impl Memory {
    /// A memory of about so many bytes; of none, it remembers nothing.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The same page that [`log::page`] reads, and how many batches of it were remembered.
    pub(crate) fn page(
        &mut self,
        connection: &Connection,
        conversation: &ConversationId,
        from: Sequence,
    ) -> Result<(LogPage, u64), Trouble> {
        let tail = log::tail(connection, conversation)?;
        let mut sheet = self.recall(conversation, from);
        if let Some(last) = sheet.last() {
            let found = log::batch(connection, conversation, last.envelope().first_sequence)?;
            if found.is_none_or(|found| found != **last) {
                self.forget(conversation);
                sheet = Sheet::default();
            }
        }
        let recalled = sheet.len();
        let from = sheet.last().map_or(from, |last| last.next_sequence());
        log::fill(connection, conversation, from, &mut sheet)?;
        self.remember(conversation, sheet.batches().skip(recalled));
        Ok((LogPage { tail, batches: sheet.into_batches() }, recalled as u64))
    }

    fn recall(&mut self, conversation: &ConversationId, from: Sequence) -> Sheet {
        let Some(known) = self.logs.get_mut(conversation) else { return Sheet::default() };
        self.asked += 1;
        self.order.remove(&known.asked);
        known.asked = self.asked;
        self.order.insert(self.asked, conversation.clone());
        known.recall(from)
    }

    fn forget(&mut self, conversation: &ConversationId) {
        if let Some(known) = self.logs.remove(conversation) {
            self.order.remove(&known.asked);
            self.held -= known.held;
        }
    }

    /// Remembers batches that link to the ones before, as far as there is room.
    fn remember<'a>(
        &mut self,
        conversation: &ConversationId,
        fresh: impl Iterator<Item = &'a (Arc<StoredBatch>, usize)> + Clone,
    ) {
        let known = self.logs.remove(conversation);
        let mut known = known.unwrap_or_else(|| {
            self.asked += 1;
            Known { asked: self.asked, ..Known::default() }
        });
        self.order.remove(&known.asked);
        // One that is longer than everything that fits takes what is free, and nobody's place.
        let more: usize = fresh.clone().map(|(_, size)| size + BATCH_OVERHEAD).sum();
        let may_evict = known.held + more <= self.limit;
        for (batch, size) in fresh {
            let envelope = batch.envelope();
            let cost = size + BATCH_OVERHEAD;
            let fits = known.end() == (envelope.first_sequence, envelope.previous);
            let has_room = self.held + cost <= self.limit;
            if !fits || !(has_room || may_evict && self.make_room(cost)) {
                break;
            }
            known.batches.push((Arc::clone(batch), *size));
            known.held += cost;
            self.held += cost;
        }
        if !known.batches.is_empty() {
            self.order.insert(known.asked, conversation.clone());
            self.logs.insert(conversation.clone(), known);
        }
    }

    /// Forgets whom nobody has asked for the longest until there is room for `cost` more bytes.
    fn make_room(&mut self, cost: usize) -> bool {
        while self.held + cost > self.limit {
            let Some((_, oldest)) = self.order.pop_first() else { return false };
            let known = self.logs.remove(&oldest);
            self.held -= known.map_or(0, |known| known.held);
        }
        true
    }
}

#[cfg(test)]
mod tests;
