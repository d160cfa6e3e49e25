//! Lists out of the tables, bounded; what is corrupt in them is set aside.

use std::sync::Arc;

use everstep_machine::agent_state::{Address, Slot};
use everstep_machine::identity::{AdmissionSequence, ConversationId, SessionId};
use everstep_machine::ledger::{Lane, Row};
use everstep_machine::session::Session;
use rusqlite::{Connection, Params};

use super::{LanePlace, LaneRow, Listed};
use crate::error::{Corrupt, Trouble};
use crate::ledger::decode;
use crate::name::{self, Key};

const LANES: &str = "SELECT conversation FROM ledger_lane
    WHERE conversation > ?1 ORDER BY conversation";

/// A row that either index leads to.
pub(super) const FIND: &str =
    "SELECT sequence, submission, standing, cell, conversation FROM ledger_row
    INDEXED BY ledger_row_submission WHERE submission = ?1
    UNION SELECT sequence, submission, standing, cell, conversation FROM ledger_row
    INDEXED BY ledger_row_again WHERE submission = ?1";

pub(super) const WAITING: &str =
    "SELECT r.sequence, r.submission, r.standing, r.cell, r.conversation
    FROM ledger_row AS r
    WHERE r.standing <> 2 AND (r.conversation, r.sequence) > (?1, ?2)
    ORDER BY r.conversation, r.sequence";

/// The name in a column; what is none is set aside.
fn name_of(
    row: &rusqlite::Row<'_>,
    column: usize,
    corrupt: &mut Vec<Corrupt>,
) -> Result<Option<ConversationId>, Trouble> {
    let key = Key::of(row, column)?;
    aside(key.map_or_else(|| Err(name::no_name()), |key| key.name()), corrupt)
}

/// Rows of one lane; where the next ones begin, unless these are the last.
pub(super) fn rows(
    connection: &Connection,
    conversation: &ConversationId,
    from: AdmissionSequence,
    limit: usize,
) -> Result<Listed<Arc<Row>, AdmissionSequence>, Trouble> {
    let mut listed = Listed { entries: Vec::new(), corrupt: Vec::new(), after: None };
    let (mut count, mut next) = (0, from);
    crate::ledger::each_row(connection, conversation, from, limit, |place, row| {
        count += 1;
        // A place that cannot be read is at least one further than the last.
        next = place.map_or(next, |place| next.max(place)).next();
        listed.entries.extend(aside(row, &mut listed.corrupt)?);
        Ok(())
    })?;
    listed.after = Some(next).filter(|_| limit > 0 && count == limit);
    Ok(listed)
}

pub(super) fn lanes(
    connection: &Connection,
    after: Option<&ConversationId>,
    limit: usize,
) -> Result<Listed<Lane, ConversationId>, Trouble> {
    let mut statement = connection.prepare_cached(LANES)?;
    // Without a limit of its own: what is no name does not count, and must not end the list.
    let wanted = [after.map_or("", ConversationId::as_str)];
    let mut found = statement.query(wanted)?;
    let mut listed = Listed { entries: Vec::new(), corrupt: Vec::new(), after: None };
    let mut good = 0;
    while good < limit
        && let Some(row) = found.next()?
    {
        let Some(conversation) = name_of(row, 0, &mut listed.corrupt)? else { continue };
        let lane = crate::ledger::lane(connection, &conversation);
        listed.entries.extend(aside(lane, &mut listed.corrupt)?);
        listed.after = Some(conversation);
        good += 1;
    }
    if good < limit {
        listed.after = None;
    }
    Ok(listed)
}

pub(super) fn conversations(
    connection: &Connection,
    after: Option<&ConversationId>,
    limit: usize,
) -> Result<Listed<ConversationId, ConversationId>, Trouble> {
    let mut listed = Listed { entries: Vec::new(), corrupt: Vec::new(), after: after.cloned() };
    for _ in 0..limit {
        let found = name::next_anywhere(connection, listed.after.as_ref(), &mut listed.corrupt);
        let Some(found) = aside(found, &mut listed.corrupt)?.flatten() else {
            listed.after = None;
            return Ok(listed);
        };
        listed.after = Some(found.clone());
        listed.entries.push(found);
    }
    Ok(listed)
}

/// State by address. What is corrupt counts, so that a list always ends; the list goes on behind the
/// last one that is good.
pub(super) fn states(
    connection: &Connection,
    after: Option<&Address>,
    limit: usize,
) -> Result<Listed<(Address, Slot), Address>, Trouble> {
    let mut listed = Listed { entries: Vec::new(), corrupt: Vec::new(), after: None };
    crate::agent_state::each_slot(connection, after, limit, |found| {
        listed.entries.extend(aside(found, &mut listed.corrupt)?);
        Ok(())
    })?;
    let is_full = limit > 0 && listed.entries.len() + listed.corrupt.len() >= limit;
    listed.after = listed.entries.last().map(|(address, _)| address.clone()).filter(|_| is_full);
    Ok(listed)
}

/// Sessions by name, in the same way.
pub(super) fn sessions(
    connection: &Connection,
    after: Option<&SessionId>,
    limit: usize,
) -> Result<Listed<Session, SessionId>, Trouble> {
    let mut listed = Listed { entries: Vec::new(), corrupt: Vec::new(), after: None };
    crate::session::each(connection, after, limit, |found| {
        listed.entries.extend(aside(found, &mut listed.corrupt)?);
        Ok(())
    })?;
    let is_full = limit > 0 && listed.entries.len() + listed.corrupt.len() >= limit;
    listed.after = listed.entries.last().map(|session| session.id.clone()).filter(|_| is_full);
    Ok(listed)
}

/// Sets aside what is corrupt, so that the rest can be listed.
pub(crate) fn aside<T>(
    found: Result<T, Trouble>,
    corrupt: &mut Vec<Corrupt>,
) -> Result<Option<T>, Trouble> {
    match found {
        Ok(value) => Ok(Some(value)),
        Err(Trouble::Flawed(place, flaw)) => {
            name::keep(corrupt, place, flaw);
            Ok(None)
        }
        Err(failed @ Trouble::Sql(_)) => Err(failed),
    }
}

pub(super) fn rows_of_any(
    connection: &Connection,
    sql: &str,
    wanted: impl Params,
    limit: usize,
) -> Result<Listed<LaneRow, LanePlace>, Trouble> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(wanted)?;
    let mut listed = Listed { entries: Vec::new(), corrupt: Vec::new(), after: None };
    let mut good = 0;
    while good < limit
        && let Some(row) = found.next()?
    {
        let Some(conversation) = name_of(row, 4, &mut listed.corrupt)? else { continue };
        if let Some(value) = aside(decode(&conversation, row), &mut listed.corrupt)? {
            listed.entries.push((conversation.clone(), value));
        }
        // One whose place cannot be read was set aside; the list goes on behind the next.
        let Ok(place) = row.get(0) else { continue };
        listed.after = Some((conversation, AdmissionSequence(place)));
        good += 1;
    }
    if good < limit {
        listed.after = None;
    }
    Ok(listed)
}
