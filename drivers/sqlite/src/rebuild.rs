//! The ledger of a conversation, made anew of its log where it is damaged (DUR-015).

use std::collections::BTreeSet;
use std::sync::Arc;

use everstep_machine::identity::{AdmissionSequence, ConversationId, Epoch, Timestamp};
use everstep_machine::ledger::{Agreement, Change, Lane, Reconstruction, Row, agreement};
use rusqlite::Connection;

use crate::error::{Flaw, Place, Trouble};
use crate::import::raise;
use crate::{ledger, log};

/// What came of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Whether anything was wrong.
    pub was_needed: bool,
    /// Submissions that the ledger has now.
    pub rows: u64,
    /// Of them, those that were made of the log alone: a client finds them by their ids only.
    pub of_log: u64,
    /// Rows that could not be read and of which the log knows nothing: what they said is lost.
    pub lost: u64,
}

/// What can be read of a ledger.
struct Found {
    lane: Option<Lane>,
    rows: Vec<Arc<Row>>,
    unreadable: u64,
}

/// Makes the ledger of a conversation anew unless it is whole, inside the caller's transaction. What
/// can be read of it is kept, except where the log says otherwise.
pub(crate) fn rebuild(
    connection: &Connection,
    conversation: &ConversationId,
    now: Timestamp,
) -> Result<Rebuilt, Trouble> {
    let log = history(connection, conversation)?;
    // What is found by an index has to be found at all.
    connection.execute_batch("REINDEX ledger_row")?;
    let found = found(connection, conversation)?;
    if is_whole(&found, &log) {
        return Ok(Rebuilt { rows: found.rows.len() as u64, ..Rebuilt::default() });
    }
    let made = log.rows(&found.rows);
    for table in ["ledger_row", "ledger_lane"] {
        let delete = format!("DELETE FROM {table} WHERE conversation = ?1");
        connection.execute(&delete, [conversation.as_str()])?;
    }
    let next = AdmissionSequence(made.len() as u64);
    let tenant = made.first().map(|row| row.admission.tenant.clone());
    let lane = found.lane.unwrap_or_else(|| Lane::new(conversation.clone()));
    let lane = Lane { next, tenant: tenant.or(lane.tenant.clone()), ..lane };
    ledger::write(connection, conversation, &Change::Lane(lane.clone()))?;
    for row in &made {
        ledger::write(connection, conversation, &Change::Row(Arc::clone(row)))?;
    }
    let of_log = (made.len() - found.rows.len()) as u64;
    let epoch = log::tail(connection, conversation)?.map_or(Epoch(0), |tail| tail.epoch);
    raise(connection, &lane, epoch, now)?;
    let (rows, lost) = (made.len() as u64, found.unreadable.saturating_sub(of_log));
    Ok(Rebuilt { was_needed: true, rows, of_log, lost })
}

/// The whole log, which has to verify: nothing is made of one that does not.
fn history(
    connection: &Connection,
    conversation: &ConversationId,
) -> Result<Reconstruction, Trouble> {
    let mut log = Reconstruction::default();
    loop {
        let page = log::page(connection, conversation, log.log().next_sequence())?;
        for batch in &page.batches {
            let at = batch.envelope().first_sequence;
            log.feed(batch).map_err(|why| {
                Trouble::Flawed(Place::Batch(conversation.clone(), at), Flaw::Batch(why))
            })?;
        }
        let Some(tail) = page.tail else { return Ok(log) };
        if log.log().next_sequence() >= tail.next_sequence || page.batches.is_empty() {
            let ends = (tail.next_sequence, tail.chain);
            return if (log.log().next_sequence(), log.log().chain()) == ends {
                Ok(log)
            } else {
                Err(Trouble::Flawed(Place::Tail(conversation.clone()), Flaw::Missing))
            };
        }
    }
}

fn found(connection: &Connection, conversation: &ConversationId) -> Result<Found, Trouble> {
    let lane = match ledger::stored_lane(connection, conversation) {
        Ok(lane) => lane,
        Err(Trouble::Flawed(..)) => None,
        Err(failed @ Trouble::Sql(_)) => return Err(failed),
    };
    let (mut rows, mut unreadable, mut seen) = (Vec::new(), 0, BTreeSet::new());
    let all = usize::MAX;
    ledger::each_row(connection, conversation, AdmissionSequence(0), all, |_, row| {
        match row {
            Ok(row) if seen.insert(row.admission.submission) => rows.push(row),
            Ok(_) | Err(Trouble::Flawed(..)) => unreadable += 1,
            Err(failed @ Trouble::Sql(_)) => return Err(failed),
        }
        Ok(())
    })?;
    Ok(Found { lane, rows, unreadable })
}

/// Whether there is nothing to make anew. A row that lags behind the log is brought up to date by
/// whoever works on it next.
fn is_whole(found: &Found, log: &Reconstruction) -> bool {
    let Some(lane) = &found.lane else {
        return found.rows.is_empty() && log.log().projection().created().is_none();
    };
    let in_place = |(place, row): (u64, &Arc<Row>)| row.sequence.0 == place;
    let says_more = |row: &Arc<Row>| agreement(row, log.log().projection()) == Agreement::Ahead;
    found.unreadable == 0
        && lane.next.0 == found.rows.len() as u64
        && (0_u64..).zip(&found.rows).all(in_place)
        && !found.rows.iter().any(says_more)
}
