//! Reading everything of a conversation, trusting nothing (STORE-006).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::identity::{AdmissionSequence, ConversationId, Sequence};
use everstep_machine::ledger::{Agreement, Row, agreement};
use everstep_machine::projection::{Projection, Reader};
use everstep_machine::record::{Corruption, StoredBatch};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{Flaw, Place, Trouble};
use crate::reader::MAX_LISTED;
use crate::transaction::snapshot;
use crate::{agent_state, artifact, incarnation, ledger, log, session};

const RECORD: &str = "SELECT sequence FROM log_record WHERE conversation = ?1 AND record = ?2";

const ANY_RECORD: &str = "SELECT EXISTS (SELECT 1 FROM log_record WHERE conversation = ?1)";

const RECORDS: &str = "SELECT count(*) FROM log_record WHERE conversation = ?1 AND sequence < ?2";

/// How much was looked at and found good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Rows of the lane.
    pub rows: u64,
    /// Batches of the log.
    pub batches: u64,
    /// Records in them.
    pub records: u64,
    /// Artifacts that they name.
    pub artifacts: u64,
    /// Artifacts that no record names: no harm, and nothing that a crash leaves.
    pub orphans: u64,
}

/// Checks one conversation. The rows are read before the log: what a row repeats of the log is
/// in the log by then.
pub(crate) fn verify(
    connection: &Connection,
    busy: Duration,
    conversation: &ConversationId,
) -> Result<Verified, Trouble> {
    let mut verified = Verified::default();
    let rows = lane(connection, busy, conversation)?;
    verified.rows = rows.len() as u64;
    let history = history(connection, busy, conversation, &mut verified)?;
    // No log begins before its lane, and a lane is never removed.
    let has_log = verified.batches > 0
        || snapshot(connection, busy, |it| log::tail(it, conversation))?.is_some();
    let has_lane = || snapshot(connection, busy, |it| ledger::stored_lane(it, conversation));
    if has_log && has_lane()?.is_none() {
        return Err(Trouble::Flawed(Place::Lane(conversation.clone()), Flaw::Missing));
    }
    let ahead = rows.iter().find(|row| agreement(row, &history) == Agreement::Ahead);
    match ahead {
        Some(row) => {
            Err(Trouble::Flawed(Place::Row(conversation.clone(), row.sequence), Flaw::Ahead))
        }
        None => Ok(verified),
    }
}

/// Every row, without a gap, each found again by its submission.
fn lane(
    connection: &Connection,
    busy: Duration,
    conversation: &ConversationId,
) -> Result<Vec<Arc<Row>>, Trouble> {
    let next = snapshot(connection, busy, |it| ledger::lane(it, conversation))?.next;
    let mut rows: Vec<Arc<Row>> = Vec::new();
    while (rows.len() as u64) < next.0 {
        let from = AdmissionSequence(rows.len() as u64);
        let page = snapshot(connection, busy, |it| {
            let page = ledger::rows(it, conversation, from, MAX_LISTED)?;
            for row in &page {
                let found = ledger::named(it, conversation, row.admission.submission)?;
                let place = || Place::Row(conversation.clone(), row.sequence);
                if found.as_ref() != Some(row) {
                    return Err(Trouble::Flawed(place(), Flaw::Column("submission")));
                }
                let again = ledger::named_again(it, conversation, row.admission.submission)?;
                if again != Some(row.sequence) {
                    return Err(Trouble::Flawed(place(), Flaw::Index));
                }
            }
            Ok(page)
        })?;
        for place in from.0..next.0.min(from.0.saturating_add(MAX_LISTED as u64)) {
            let place = AdmissionSequence(place);
            let row = page.get((place.0 - from.0) as usize);
            let row = row.filter(|row| row.sequence == place);
            let missing =
                || Trouble::Flawed(Place::Row(conversation.clone(), place), Flaw::Missing);
            rows.push(Arc::clone(row.ok_or_else(missing)?));
        }
    }
    Ok(rows)
}

/// Every batch, from the first to the tail.
fn history(
    connection: &Connection,
    busy: Duration,
    conversation: &ConversationId,
    verified: &mut Verified,
) -> Result<Projection, Trouble> {
    let (mut reader, mut seen) = (Reader::default(), BTreeSet::new());
    loop {
        let from = reader.next_sequence();
        let page = snapshot(connection, busy, |it| {
            let page = log::page(it, conversation, from)?;
            for batch in &page.batches {
                records(it, conversation, batch)?;
                artifact::verify(it, conversation, batch.batch(), &mut seen)?;
            }
            if page.tail.is_none() && any_record(it, conversation)? {
                return Err(Trouble::Flawed(Place::Tail(conversation.clone()), Flaw::Missing));
            }
            Ok(page)
        })?;
        for batch in &page.batches {
            let at = batch.envelope().first_sequence;
            reader.feed(batch).map_err(|why| {
                Trouble::Flawed(Place::Batch(conversation.clone(), at), Flaw::Batch(why))
            })?;
            verified.batches += 1;
            verified.records += batch.batch().record_ids().len() as u64;
        }
        let Some(tail) = page.tail else { return Ok(reader.into_projection()) };
        let (expected, found) = (tail.next_sequence, reader.next_sequence());
        let flawed = |why| Trouble::Flawed(Place::Tail(conversation.clone()), Flaw::Batch(why));
        if found > expected || (found < expected && page.batches.is_empty()) {
            return Err(flawed(Corruption::Gap { expected, found }));
        }
        if found < expected {
            continue;
        }
        if reader.chain() != tail.chain {
            let (expected, found) = (reader.chain(), tail.chain);
            return Err(flawed(Corruption::Chain { at: tail.next_sequence, expected, found }));
        }
        let held = snapshot(connection, busy, |it| {
            count(it, conversation, tail.next_sequence)?;
            artifact::count(it, conversation)
        })?;
        verified.artifacts = seen.len() as u64;
        verified.orphans = held.saturating_sub(verified.artifacts);
        return Ok(reader.into_projection());
    }
}

/// Every record of a batch is found by its id, at its sequence.
fn records(
    connection: &Connection,
    conversation: &ConversationId,
    stored: &StoredBatch,
) -> Result<(), Trouble> {
    let mut statement = connection.prepare_cached(RECORD)?;
    let first = stored.envelope().first_sequence.0;
    for (sequence, record) in (first..).zip(stored.batch().record_ids()) {
        let found = statement.query_row((conversation.as_str(), record.0), |row| row.get(0));
        if found.optional()? != Some(sequence) {
            let place = Place::Records(conversation.clone());
            return Err(Trouble::Flawed(place, Flaw::Missing));
        }
    }
    Ok(())
}

fn any_record(connection: &Connection, conversation: &ConversationId) -> Result<bool, Trouble> {
    let mut statement = connection.prepare_cached(ANY_RECORD)?;
    Ok(statement.query_row([conversation.as_str()], |row| row.get(0))?)
}

/// There are no ids of records that are not there.
fn count(
    connection: &Connection,
    conversation: &ConversationId,
    before: Sequence,
) -> Result<(), Trouble> {
    let wanted = (conversation.as_str(), ledger::saturating(before.0));
    let found: u64 = connection.prepare_cached(RECORDS)?.query_row(wanted, |row| row.get(0))?;
    if found == before.0 {
        Ok(())
    } else {
        Err(Trouble::Flawed(Place::Records(conversation.clone()), Flaw::Taken))
    }
}

/// What SQLite itself has to say about the file.
pub(crate) fn verify_file(connection: &Connection) -> Result<(), Trouble> {
    let verdict = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let verdict = connection.pragma_query_value(None, "integrity_check", verdict)?;
    if verdict != "ok" {
        return Err(Trouble::Flawed(Place::File, Flaw::Sqlite(verdict)));
    }
    agent_state::verify(connection)?;
    session::verify(connection)?;
    incarnation::current(connection).map(drop)
}
