//! The ledger's tables: what a footprint loads, and what a change writes.

use std::sync::Arc;

use everstep_machine::identity::{AdmissionSequence, ConversationId, SubmissionId};
use everstep_machine::ledger::{Change, Footprint, Lane, Row, Slice, Standing};
use everstep_machine::limits::JOINED_A_RUN;
use rusqlite::{Connection, OptionalExtension, Params};

use crate::cell::{self, Label};
use crate::error::{Corrupt, Flaw, Place, Trouble};
use crate::incarnation;
use crate::name::{self, Key};

const LANE: &str = "SELECT cell FROM ledger_lane WHERE conversation = ?1";

const ANY_ROW: &str = "SELECT EXISTS (SELECT 1 FROM ledger_row WHERE conversation = ?1)";

const NAMED: &str = "SELECT sequence, submission, standing, cell FROM ledger_row
    INDEXED BY ledger_row_submission WHERE submission = ?2 AND conversation = ?1";

/// The same question to the other index.
const NAMED_AGAIN: &str = "SELECT sequence FROM ledger_row
    INDEXED BY ledger_row_again WHERE submission = ?2 AND conversation = ?1";

/// The planner takes a partial index only for a query that repeats its condition.
const LOWEST: &str = "SELECT sequence, submission, standing, cell FROM ledger_row
    INDEXED BY ledger_row_waiting
    WHERE conversation = ?1 AND standing = ?2 AND standing <> 2 AND sequence >= ?3
    ORDER BY sequence LIMIT ?4";

const ROWS: &str = "SELECT sequence, submission, standing, cell FROM ledger_row
    WHERE conversation = ?1 AND sequence >= ?2 ORDER BY sequence LIMIT ?3";

const PUT_LANE: &str = "INSERT INTO ledger_lane (conversation, cell) VALUES (?1, ?2)
    ON CONFLICT (conversation) DO UPDATE SET cell = excluded.cell";

const PUT_ROW: &str = "INSERT INTO ledger_row (conversation, sequence, submission, standing, cell)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (conversation, sequence)
    DO UPDATE SET standing = excluded.standing, cell = excluded.cell
    WHERE submission = excluded.submission";

/// How a standing is spelled in its column.
pub(crate) const fn standing_code(standing: Standing) -> i64 {
    match standing {
        Standing::Queued => 0,
        Standing::Errand => 1,
        Standing::Resting => 2,
        Standing::Doubtful => 3,
        Standing::GivenUp => 4,
        Standing::Steering => 5,
        Standing::Attached => 6,
    }
}

fn lane_label(conversation: &ConversationId) -> Label<'_> {
    Label { tag: "everstep/sqlite/lane", owner: conversation.as_str(), position: 0 }
}

fn row_label(conversation: &ConversationId, at: AdmissionSequence) -> Label<'_> {
    Label { tag: "everstep/sqlite/row", owner: conversation.as_str(), position: at.0 }
}

/// The lane; one that nothing was ever written of begins where the file does.
pub(crate) fn lane(
    connection: &Connection,
    conversation: &ConversationId,
) -> Result<Lane, Trouble> {
    match stored_lane(connection, conversation)? {
        Some(lane) => Ok(lane),
        None => Ok(incarnation::current(connection)?.lane(conversation.clone())),
    }
}

/// The lane, if something was ever written of it.
pub(crate) fn stored_lane(
    connection: &Connection,
    conversation: &ConversationId,
) -> Result<Option<Lane>, Trouble> {
    let flawed = |flaw| Trouble::Flawed(Place::Lane(conversation.clone()), flaw);
    let mut statement = connection.prepare_cached(LANE)?;
    let mut found = statement.query([conversation.as_str()])?;
    let Some(row) = found.next()? else {
        let mut any = connection.prepare_cached(ANY_ROW)?;
        let orphans: bool = any.query_row([conversation.as_str()], |row| row.get(0))?;
        return if orphans { Err(flawed(Flaw::Missing)) } else { Ok(None) };
    };
    let bytes = row.get_ref(0)?.as_blob().map_err(|_| flawed(Flaw::Column("cell")))?;
    let lane: Lane =
        cell::unseal(lane_label(conversation), bytes).map_err(|error| flawed(Flaw::Cell(error)))?;
    if lane.conversation == *conversation {
        Ok(Some(lane))
    } else {
        Err(flawed(Flaw::Column("conversation")))
    }
}

/// Loads what a command has to see: the same rows that [`Footprint::select`] picks from all of
/// the lane's, found by seeks.
pub(crate) fn slice(
    connection: &Connection,
    conversation: &ConversationId,
    footprint: Footprint,
) -> Result<Slice, Trouble> {
    let lane = lane(connection, conversation)?;
    let named = |submission| named(connection, conversation, submission);
    let lowest = |standing, from, limit| lowest(connection, conversation, standing, from, limit);
    let start = AdmissionSequence(0);
    let mut rows = Vec::with_capacity(3);
    match footprint {
        Footprint::Submission(submission) => rows.extend(named(submission)?),
        Footprint::Pair(submission, other) => {
            rows.extend(named(submission)?);
            rows.extend(named(other)?);
        }
        Footprint::Candidates(submission) => {
            if let Some(submission) = submission {
                rows.extend(named(submission)?);
            }
            for standing in Standing::CLAIMABLE {
                rows.extend(lowest(standing, start, 1)?);
            }
        }
        Footprint::Joining(host, joining) => {
            rows.extend(named(joining)?);
            if let Some(host) = named(host)? {
                for standing in Standing::WAITING {
                    rows.extend(lowest(standing, host.sequence.next(), 1)?);
                }
                rows.push(host);
            }
        }
        Footprint::Attached(host) | Footprint::Offered(host) => {
            if let Some(first) = named(host)? {
                let attached = lowest(Standing::Attached, start, usize::MAX)?;
                rows.extend(attached.into_iter().filter(|row| row.host() == Some(host)));
                if matches!(footprint, Footprint::Offered(_)) {
                    for standing in Standing::WAITING {
                        rows.extend(lowest(standing, first.sequence.next(), JOINED_A_RUN)?);
                    }
                }
                rows.push(first);
            }
        }
    }
    rows.sort_unstable_by_key(|row| row.sequence);
    rows.dedup_by_key(|row| row.sequence);
    Ok(Slice { lane, rows })
}

/// The row of a submission. That it is not there has to be said twice: a submission that is
/// missed because of a damaged index would be admitted again, or never be found by its worker.
pub(crate) fn named(
    connection: &Connection,
    conversation: &ConversationId,
    submission: SubmissionId,
) -> Result<Option<Arc<Row>>, Trouble> {
    let found = one(connection, conversation, NAMED, (conversation.as_str(), submission.0))?;
    match &found {
        Some(row) if row.admission.submission != submission => {
            let place = Place::Row(conversation.clone(), row.sequence);
            Err(Trouble::Flawed(place, Flaw::Column("submission")))
        }
        Some(_) => Ok(found),
        None => match named_again(connection, conversation, submission)? {
            None => Ok(None),
            Some(at) => Err(Trouble::Flawed(Place::Row(conversation.clone(), at), Flaw::Index)),
        },
    }
}

/// Where the other index has a submission.
pub(crate) fn named_again(
    connection: &Connection,
    conversation: &ConversationId,
    submission: SubmissionId,
) -> Result<Option<AdmissionSequence>, Trouble> {
    let mut statement = connection.prepare_cached(NAMED_AGAIN)?;
    let wanted = (conversation.as_str(), submission.0);
    Ok(statement.query_row(wanted, |row| row.get(0)).optional()?.map(AdmissionSequence))
}

/// The lowest rows of a standing from a place on, at most `limit`.
fn lowest(
    connection: &Connection,
    conversation: &ConversationId,
    standing: Standing,
    from: AdmissionSequence,
    limit: usize,
) -> Result<Vec<Arc<Row>>, Trouble> {
    let mut statement = connection.prepare_cached(LOWEST)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let wanted = (conversation.as_str(), standing_code(standing), saturating(from.0), limit);
    let mut found = statement.query(wanted)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        rows.push(decode(conversation, row)?);
    }
    Ok(rows)
}

/// At most `limit` rows of a lane, in admission order.
pub(crate) fn rows(
    connection: &Connection,
    conversation: &ConversationId,
    from: AdmissionSequence,
    limit: usize,
) -> Result<Vec<Arc<Row>>, Trouble> {
    let mut rows = Vec::new();
    each_row(connection, conversation, from, limit, |_, row| {
        rows.push(row?);
        Ok(())
    })?;
    Ok(rows)
}

/// The same, each with its place where that can be read, good or not.
pub(crate) fn each_row(
    connection: &Connection,
    conversation: &ConversationId,
    from: AdmissionSequence,
    limit: usize,
    mut each: impl FnMut(Option<AdmissionSequence>, Result<Arc<Row>, Trouble>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let mut statement = connection.prepare_cached(ROWS)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = statement.query((conversation.as_str(), saturating(from.0), limit))?;
    while let Some(row) = found.next()? {
        each(row.get(0).ok().map(AdmissionSequence), decode(conversation, row))?;
    }
    Ok(())
}

fn one(
    connection: &Connection,
    conversation: &ConversationId,
    sql: &str,
    wanted: impl Params,
) -> Result<Option<Arc<Row>>, Trouble> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(wanted)?;
    found.next()?.map(|row| decode(conversation, row)).transpose()
}

/// Reads a row, and compares it with the columns by which it was found.
pub(crate) fn decode(
    conversation: &ConversationId,
    row: &rusqlite::Row<'_>,
) -> Result<Arc<Row>, Trouble> {
    let somewhere =
        |name| move |_| Trouble::Flawed(Place::Rows(conversation.clone()), Flaw::Column(name));
    let sequence: u64 = row.get(0).map_err(somewhere("sequence"))?;
    let sequence = AdmissionSequence(sequence);
    let flawed = |flaw| Trouble::Flawed(Place::Row(conversation.clone(), sequence), flaw);
    let submission: [u8; 16] = row.get(1).map_err(|_| flawed(Flaw::Column("submission")))?;
    let standing: i64 = row.get(2).map_err(|_| flawed(Flaw::Column("standing")))?;
    let bytes = row.get_ref(3)?.as_blob().map_err(|_| flawed(Flaw::Column("cell")))?;
    let value: Row = cell::unseal(row_label(conversation, sequence), bytes)
        .map_err(|error| flawed(Flaw::Cell(error)))?;
    let columns = [
        ("sequence", value.sequence == sequence),
        ("submission", value.admission.submission.0 == submission),
        ("standing", standing_code(value.standing()) == standing),
    ];
    match columns.into_iter().find(|(_, agrees)| !agrees) {
        Some((name, _)) => Err(flawed(Flaw::Column(name))),
        None => Ok(Arc::new(value)),
    }
}

/// Writes a change, exactly as it is.
pub(crate) fn write(
    connection: &Connection,
    conversation: &ConversationId,
    change: &Change,
) -> Result<(), Trouble> {
    match change {
        Change::Lane(lane) => {
            let cell = cell::seal(lane_label(conversation), lane);
            let mut statement = connection.prepare_cached(PUT_LANE)?;
            let written = statement.execute((conversation.as_str(), cell))?;
            expect_one(written, || Place::Lane(conversation.clone()))
        }
        Change::Row(row) => write_row(connection, conversation, row),
    }
}

fn write_row(
    connection: &Connection,
    conversation: &ConversationId,
    row: &Row,
) -> Result<(), Trouble> {
    let place = || Place::Row(conversation.clone(), row.sequence);
    let sequence =
        i64::try_from(row.sequence.0).map_err(|_| Trouble::Flawed(place(), Flaw::Counter))?;
    let cell = cell::seal(row_label(conversation, row.sequence), row);
    let (submission, standing) = (row.admission.submission.0, standing_code(row.standing()));
    let mut statement = connection.prepare_cached(PUT_ROW)?;
    let written = statement
        .execute((conversation.as_str(), sequence, submission, standing, cell))
        .map_err(Trouble::writing(place))?;
    expect_one(written, place)
}

/// A write that met nothing was no write: never answered as one (CR-15).
pub(crate) fn expect_one(written: usize, place: impl FnOnce() -> Place) -> Result<(), Trouble> {
    if written == 1 { Ok(()) } else { Err(Trouble::Flawed(place(), Flaw::Taken)) }
}

/// A lower bound for a search: beyond what a column can hold there is nothing.
pub(crate) fn saturating(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The first conversation behind `after` that has a row which waits. What stands there and is no
/// name is set aside.
pub(crate) fn next_waiting(
    connection: &Connection,
    after: Option<&ConversationId>,
    corrupt: &mut Vec<Corrupt>,
) -> Result<Option<ConversationId>, Trouble> {
    const NEXT: &str = "SELECT conversation FROM ledger_row INDEXED BY ledger_row_waiting
        WHERE standing <> 2 AND standing <> 3 AND conversation > ?1
        ORDER BY conversation LIMIT 1";
    let mut statement = connection.prepare_cached(NEXT)?;
    name::next_good(Key::behind(after), corrupt, |key| {
        statement.query_row([key], |row| Key::of(row, 0)).optional().map(Option::flatten)
    })
}

#[cfg(test)]
pub(crate) mod tests;
