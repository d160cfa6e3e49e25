//! The logs' tables: what a footprint loads, and what a change writes.

use std::sync::Arc;

use everstep_machine::conversation::{Change, Command, Committed, Slice, Tail};
use everstep_machine::identity::{BatchId, ConversationId, RecordId, Sequence};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::record::StoredBatch;
use everstep_machine::store::LogPage;
use rusqlite::Connection;

use crate::artifact;
use crate::cell::{self, Label};
use crate::error::{Flaw, Place, Trouble};
use crate::ledger::{expect_one, saturating};

const TAIL: &str = "SELECT cell FROM log_tail WHERE conversation = ?1";

const ANY_BATCH: &str = "SELECT EXISTS (SELECT 1 FROM log_batch WHERE conversation = ?1)";

const BY_ID: &str = "SELECT first_sequence, batch, bytes FROM log_batch
    WHERE conversation = ?1 AND batch = ?2";

const IS_USED: &str = "SELECT EXISTS
    (SELECT 1 FROM log_record WHERE conversation = ?1 AND record = ?2)";

const PAGE: &str = "SELECT first_sequence, batch, bytes FROM log_batch
    WHERE conversation = ?1 AND first_sequence >= ?2 ORDER BY first_sequence";

const AT: &str = "SELECT first_sequence, batch, bytes FROM log_batch
    WHERE conversation = ?1 AND first_sequence = ?2";

const PUT_TAIL: &str = "INSERT INTO log_tail (conversation, cell) VALUES (?1, ?2)
    ON CONFLICT (conversation) DO UPDATE SET cell = excluded.cell";

const ADD_BATCH: &str = "INSERT INTO log_batch (conversation, first_sequence, batch, bytes)
    VALUES (?1, ?2, ?3, ?4)";

const ADD_RECORD: &str = "INSERT INTO log_record (conversation, record, sequence)
    VALUES (?1, ?2, ?3)";

/// Bytes of batches after which a page ends, whatever its count: what a reader holds at once
/// stays bounded when batches are large. The batch that crosses the line is still in it.
pub(crate) const PAGE_BYTES: usize = 16 << 20;

fn tail_label(conversation: &ConversationId) -> Label<'_> {
    Label { tag: "everstep/sqlite/tail", owner: conversation.as_str(), position: 0 }
}

/// Where a log ends; none while it does not exist.
pub(crate) fn tail(
    connection: &Connection,
    conversation: &ConversationId,
) -> Result<Option<Tail>, Trouble> {
    let flawed = |flaw| Trouble::Flawed(Place::Tail(conversation.clone()), flaw);
    let mut statement = connection.prepare_cached(TAIL)?;
    let mut found = statement.query([conversation.as_str()])?;
    let Some(row) = found.next()? else {
        let mut any = connection.prepare_cached(ANY_BATCH)?;
        let orphans: bool = any.query_row([conversation.as_str()], |row| row.get(0))?;
        return if orphans { Err(flawed(Flaw::Missing)) } else { Ok(None) };
    };
    let bytes = row.get_ref(0)?.as_blob().map_err(|_| flawed(Flaw::Column("cell")))?;
    let tail = cell::unseal(tail_label(conversation), bytes);
    tail.map(Some).map_err(|error| flawed(Flaw::Cell(error)))
}

/// Loads what a command has to see of its log.
pub(crate) fn slice(
    connection: &Connection,
    conversation: &ConversationId,
    command: &Command,
) -> Result<Slice, Trouble> {
    let footprint = command.footprint();
    let mut slice = Slice::new(conversation.clone(), tail(connection, conversation)?);
    if let Some(id) = footprint.batch {
        slice.committed = committed(connection, conversation, id)?;
    }
    for record in footprint.records {
        if is_used(connection, conversation, record)? {
            slice.used.push(record);
        }
    }
    Ok(slice)
}

fn committed(
    connection: &Connection,
    conversation: &ConversationId,
    id: BatchId,
) -> Result<Option<Committed>, Trouble> {
    let mut statement = connection.prepare_cached(BY_ID)?;
    let mut found = statement.query((conversation.as_str(), id.0))?;
    let Some(row) = found.next()? else { return Ok(None) };
    let (stored, _) = decode(conversation, row)?;
    Ok(Some(Committed {
        batch: id,
        epoch: stored.envelope().epoch,
        content: stored.batch().content(),
    }))
}

/// Whether a log holds a record.
pub(crate) fn is_used(
    connection: &Connection,
    conversation: &ConversationId,
    record: RecordId,
) -> Result<bool, Trouble> {
    let mut statement = connection.prepare_cached(IS_USED)?;
    Ok(statement.query_row((conversation.as_str(), record.0), |row| row.get(0))?)
}

/// Batches of one page, each with the size of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    batches: Vec<(Arc<StoredBatch>, usize)>,
    bytes: usize,
}

impl Sheet {
    pub(crate) fn is_full(&self) -> bool {
        self.batches.len() >= PAGE_BATCHES || self.bytes >= PAGE_BYTES
    }

    pub(crate) fn push(&mut self, batch: Arc<StoredBatch>, size: usize) {
        self.batches.push((batch, size));
        self.bytes += size;
    }

    pub(crate) fn len(&self) -> usize {
        self.batches.len()
    }

    pub(crate) fn last(&self) -> Option<&Arc<StoredBatch>> {
        self.batches.last().map(|(batch, _)| batch)
    }

    pub(crate) fn batches(&self) -> impl Iterator<Item = &(Arc<StoredBatch>, usize)> + Clone {
        self.batches.iter()
    }

    pub(crate) fn into_batches(self) -> Vec<Arc<StoredBatch>> {
        self.batches.into_iter().map(|(batch, _)| batch).collect()
    }
}

/// One page of a log, and where the log ends at the same moment.
pub(crate) fn page(
    connection: &Connection,
    conversation: &ConversationId,
    from: Sequence,
) -> Result<LogPage, Trouble> {
    let tail = tail(connection, conversation)?;
    let mut sheet = Sheet::default();
    fill(connection, conversation, from, &mut sheet)?;
    Ok(LogPage { tail, batches: sheet.into_batches() })
}

/// Reads batches from `from` on until the page is full or the log ends.
pub(crate) fn fill(
    connection: &Connection,
    conversation: &ConversationId,
    from: Sequence,
    sheet: &mut Sheet,
) -> Result<(), Trouble> {
    let mut statement = connection.prepare_cached(PAGE)?;
    let mut found = statement.query((conversation.as_str(), saturating(from.0)))?;
    while !sheet.is_full()
        && let Some(row) = found.next()?
    {
        let (stored, size) = decode(conversation, row)?;
        sheet.push(Arc::new(stored), size);
    }
    Ok(())
}

/// The batch that begins there.
pub(crate) fn batch(
    connection: &Connection,
    conversation: &ConversationId,
    first: Sequence,
) -> Result<Option<StoredBatch>, Trouble> {
    let mut statement = connection.prepare_cached(AT)?;
    let mut found = statement.query((conversation.as_str(), saturating(first.0)))?;
    let row = found.next()?;
    row.map(|row| decode(conversation, row).map(|(stored, _)| stored)).transpose()
}

/// Reads a batch and its size, and compares it with the columns by which it was found.
fn decode(
    conversation: &ConversationId,
    row: &rusqlite::Row<'_>,
) -> Result<(StoredBatch, usize), Trouble> {
    let somewhere =
        |_| Trouble::Flawed(Place::Log(conversation.clone()), Flaw::Column("first_sequence"));
    let first: u64 = row.get(0).map_err(somewhere)?;
    let first = Sequence(first);
    let flawed = |flaw| Trouble::Flawed(Place::Batch(conversation.clone(), first), flaw);
    let id: [u8; 16] = row.get(1).map_err(|_| flawed(Flaw::Column("batch")))?;
    let bytes = row.get_ref(2)?.as_blob().map_err(|_| flawed(Flaw::Column("bytes")))?;
    let stored = StoredBatch::decode(bytes).map_err(|why| flawed(Flaw::Batch(why)))?;
    let columns = [
        ("conversation", stored.envelope().conversation == *conversation),
        ("first_sequence", stored.envelope().first_sequence == first),
        ("batch", stored.batch().id().0 == id),
    ];
    match columns.into_iter().find(|(_, agrees)| !agrees) {
        Some((name, _)) => Err(flawed(Flaw::Column(name))),
        None => Ok((stored, bytes.len())),
    }
}

/// Writes a change, exactly as it is, after which the log ends at `tail`.
pub(crate) fn write(
    connection: &Connection,
    conversation: &ConversationId,
    change: &Change,
    tail: &Tail,
) -> Result<(), Trouble> {
    match change {
        Change::Commit(stored) => add(connection, conversation, stored)?,
        Change::Raise(_) => {}
    }
    let cell = cell::seal(tail_label(conversation), tail);
    let written = connection.prepare_cached(PUT_TAIL)?.execute((conversation.as_str(), cell))?;
    expect_one(written, || Place::Tail(conversation.clone()))
}

/// Adds a batch and the ids of its records. The constraints of the tables would refuse a second
/// batch with this id, or a second record with one of these, even if nobody had looked before
/// (CR-03).
fn add(
    connection: &Connection,
    conversation: &ConversationId,
    stored: &StoredBatch,
) -> Result<(), Trouble> {
    let first = stored.envelope().first_sequence;
    let place = || Place::Batch(conversation.clone(), first);
    let out_of_range = |_| Trouble::Flawed(place(), Flaw::Counter);
    let at = i64::try_from(first.0).map_err(out_of_range)?;
    i64::try_from(stored.next_sequence().0).map_err(out_of_range)?;
    let name = conversation.as_str();
    connection
        .prepare_cached(ADD_BATCH)?
        .execute((name, at, stored.batch().id().0, stored.encode()))
        .map_err(Trouble::writing(place))?;
    let mut statement = connection.prepare_cached(ADD_RECORD)?;
    for (sequence, record) in (at..).zip(stored.batch().record_ids()) {
        statement.execute((name, record.0, sequence)).map_err(Trouble::writing(place))?;
    }
    artifact::add(connection, conversation, stored.batch())
}

#[cfg(test)]
mod tests;
