//! Which life of a file this is: what it was copied from does not reach into it (STORE-013).

use everstep_machine::contract::Machine;
use everstep_machine::conversation::{self, Conversation};
use everstep_machine::identity::{ConversationId, Timestamp};
use everstep_machine::ledger::Change;
use everstep_machine::store::Incarnation;
use rusqlite::{Connection, OptionalExtension};

use crate::cell::{self, Label};
use crate::error::{Flaw, Place, Trouble};
use crate::{ledger, log};

const CURRENT: &str = "SELECT cell FROM ledger_incarnation WHERE only = 0";

const PUT: &str = "INSERT INTO ledger_incarnation (only, cell) VALUES (0, ?1)
    ON CONFLICT (only) DO UPDATE SET cell = excluded.cell";

const LABEL: Label<'_> = Label { tag: "everstep/sqlite/incarnation", owner: "", position: 0 };

/// Begins an incarnation.
pub(crate) fn begin(connection: &Connection, incarnation: &Incarnation) -> rusqlite::Result<()> {
    connection.execute(PUT, [cell::seal(LABEL, incarnation)]).map(drop)
}

/// The incarnation of the file.
pub(crate) fn current(connection: &Connection) -> Result<Incarnation, Trouble> {
    let flawed = |flaw| Trouble::Flawed(Place::File, flaw);
    let mut statement = connection.prepare_cached(CURRENT)?;
    let found: Option<Vec<u8>> = statement.query_row((), |row| row.get(0)).optional()?;
    let bytes = found.ok_or_else(|| flawed(Flaw::Missing))?;
    cell::unseal(LABEL, &bytes).map_err(|error| flawed(Flaw::Cell(error)))
}

/// Takes a conversation over from an earlier incarnation: its lane, and its log if there is one.
pub(crate) fn inherit(
    connection: &Connection,
    conversation: &ConversationId,
    incarnation: &Incarnation,
    now: Timestamp,
) -> Result<(), Trouble> {
    let lane = ledger::lane(connection, conversation)?;
    let inherited = Change::Lane(incarnation.inherit(&lane));
    ledger::write(connection, conversation, &inherited)?;
    let Some(tail) = log::tail(connection, conversation)? else { return Ok(()) };
    let slice = conversation::Slice::new(conversation.clone(), Some(tail));
    let command = incarnation.fence(&tail);
    let step = Conversation::step(slice, conversation::Stamped { command, now });
    let tail = step.state.tail.expect("STORE-004: a log that is fenced has an end");
    for effect in step.effects {
        if let conversation::Effect::Change(change) = effect {
            log::write(connection, conversation, &change, &tail)?;
        }
    }
    Ok(())
}
