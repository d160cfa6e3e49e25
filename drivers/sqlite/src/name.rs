//! Names of conversations as the file has them, and walking past those that are none.

use std::cmp::Ordering;

use everstep_machine::identity::ConversationId;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql};

use crate::error::{Corrupt, Flaw, Place, Trouble};

/// The first name behind another one in any table: a seek in each, however much is in it.
const NEXT: &str = "SELECT min(name) FROM (
    SELECT (SELECT conversation FROM ledger_lane WHERE conversation > ?1
        ORDER BY conversation LIMIT 1) AS name
    UNION ALL SELECT (SELECT conversation FROM ledger_row WHERE conversation > ?1
        ORDER BY conversation LIMIT 1)
    UNION ALL SELECT (SELECT conversation FROM log_tail WHERE conversation > ?1
        ORDER BY conversation LIMIT 1)
    UNION ALL SELECT (SELECT conversation FROM log_batch WHERE conversation > ?1
        ORDER BY conversation LIMIT 1)
    UNION ALL SELECT (SELECT conversation FROM log_record WHERE conversation > ?1
        ORDER BY conversation LIMIT 1))";

/// What stands in a column of names, whatever it is. A list can go on behind it even if no
/// conversation can have that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Damage can make a text a blob; SQLite has all blobs behind all texts.
    is_blob: bool,
    bytes: Vec<u8>,
}

impl Key {
    /// Behind a name; none is before every name, since no conversation has the empty one.
    pub(crate) fn behind(after: Option<&ConversationId>) -> Self {
        let bytes = after.map_or("", ConversationId::as_str).as_bytes().to_vec();
        Self { is_blob: false, bytes }
    }

    /// What a column has; none if there is nothing.
    pub(crate) fn of(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Self>> {
        Ok(match row.get_ref(column)? {
            ValueRef::Text(bytes) => Some(Self { is_blob: false, bytes: bytes.to_vec() }),
            ValueRef::Blob(bytes) => Some(Self { is_blob: true, bytes: bytes.to_vec() }),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
        })
    }

    /// The conversation.
    pub(crate) fn name(&self) -> Result<ConversationId, Trouble> {
        let text = std::str::from_utf8(&self.bytes).ok().filter(|_| !self.is_blob);
        let name = text.and_then(|it| ConversationId::new(it).ok());
        name.ok_or_else(no_name)
    }

    /// In the order that SQLite has them in.
    fn order(&self, other: &Self) -> Ordering {
        (self.is_blob, &self.bytes).cmp(&(other.is_blob, &other.bytes))
    }
}

impl ToSql for Key {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value =
            if self.is_blob { ValueRef::Blob(&self.bytes) } else { ValueRef::Text(&self.bytes) };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// A column has something that is no conversation's name.
pub(crate) fn no_name() -> Trouble {
    Trouble::Flawed(Place::File, Flaw::Column("conversation"))
}

/// Keeps what is corrupt, but no more of it than of anything else that is listed.
pub(crate) fn keep(corrupt: &mut Vec<Corrupt>, place: Place, flaw: Flaw) {
    if corrupt.len() < crate::reader::MAX_LISTED {
        corrupt.push(Corrupt { place, flaw });
    }
}

/// Walks to the next name that `next` finds and that a conversation can have, and past all others.
pub(crate) fn next_good(
    mut after: Key,
    corrupt: &mut Vec<Corrupt>,
    mut next: impl FnMut(&Key) -> rusqlite::Result<Option<Key>>,
) -> Result<Option<ConversationId>, Trouble> {
    while let Some(key) = next(&after)? {
        // In an index that is out of order a walk could go round in circles.
        let found = if key.order(&after).is_gt() { key.name() } else { return Err(no_name()) };
        match found {
            Ok(name) => return Ok(Some(name)),
            Err(Trouble::Flawed(place, flaw)) => keep(corrupt, place, flaw),
            Err(failed @ Trouble::Sql(_)) => return Err(failed),
        }
        after = key;
    }
    Ok(None)
}

/// The first conversation behind another one of which any table has something.
pub(crate) fn next_anywhere(
    connection: &Connection,
    after: Option<&ConversationId>,
    corrupt: &mut Vec<Corrupt>,
) -> Result<Option<ConversationId>, Trouble> {
    let mut statement = connection.prepare_cached(NEXT)?;
    next_good(Key::behind(after), corrupt, |key| statement.query_row([key], |row| Key::of(row, 0)))
}
