//! The tables of agents' state: what a command loads, and what a change writes (CAP-012).

use std::fmt::Write as _;

use everstep_machine::agent_state::{
    Address, AgentState, Change, Closing, Command, Effect, Guard, Mark, Refusal, Reply, Scope,
    Shelf, Slice, Slot, Stamped, close as close_one, closings,
};
use everstep_machine::contract::Machine;
use everstep_machine::identity::{ConversationId, RunId, Timestamp, ToolCallId};
use everstep_machine::record::Batch;
use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cell::{self, Label};
use crate::error::{Flaw, Place, Trouble};
use crate::{ledger, log};

const SHELF: &str = "SELECT cell FROM state_shelf WHERE scope = ?1";

const SLOT: &str = "SELECT cell FROM state_slot WHERE scope = ?1 AND key = ?2";

const MARK: &str = "SELECT cell FROM state_mark WHERE call = ?1 AND scope = ?2 AND key = ?3";

const WRITES: &str = "SELECT count(*) FROM state_mark WHERE call = ?1";

const OF_CALL: &str = "SELECT scope, key, cell FROM state_mark WHERE call = ?1 ORDER BY scope, key";

const PUT_SHELF: &str = "INSERT INTO state_shelf (scope, cell) VALUES (?1, ?2)
    ON CONFLICT (scope) DO UPDATE SET cell = excluded.cell";

const PUT_SLOT: &str = "INSERT INTO state_slot (scope, key, cell) VALUES (?1, ?2, ?3)
    ON CONFLICT (scope, key) DO UPDATE SET cell = excluded.cell";

const PUT_MARK: &str = "INSERT INTO state_mark (call, scope, key, cell) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (call, scope, key) DO UPDATE SET cell = excluded.cell";

const DROP_SLOT: &str = "DELETE FROM state_slot WHERE scope = ?1 AND key = ?2";

const DROP_MARK: &str = "DELETE FROM state_mark WHERE call = ?1 AND scope = ?2 AND key = ?3";

const DROP_SLOTS: &str = "DELETE FROM state_slot WHERE scope = ?1";

const DROP_SHELF: &str = "DELETE FROM state_shelf WHERE scope = ?1";

const SLOTS: &str = "SELECT scope, key, cell FROM state_slot
    WHERE (scope, key) > (?1, ?2) ORDER BY scope, key LIMIT ?3";

/// How a slot is called in words, and in its seal.
fn called(scope: &str, key: &str) -> String {
    format!("{scope}\n\n{key}")
}

fn place(scope: &str) -> Place {
    Place::State(scope.replace('\n', " "))
}

/// Reads a cell, and that it is the one of this place.
fn read<T: Serialize + DeserializeOwned>(
    tag: &'static str,
    owner: &str,
    scope: &str,
    bytes: &[u8],
) -> Result<T, Trouble> {
    let label = Label { tag, owner, position: 0 };
    cell::unseal(label, bytes).map_err(|error| Trouble::Flawed(place(scope), Flaw::Cell(error)))
}

const SHELF_TAG: &str = "everstep/sqlite/state-shelf";
const SLOT_TAG: &str = "everstep/sqlite/state-slot";
const MARK_TAG: &str = "everstep/sqlite/state-mark";

fn sealed(tag: &'static str, owner: &str, value: &impl Serialize) -> Vec<u8> {
    cell::seal(Label { tag, owner, position: 0 }, value)
}

/// What a call has written here is sealed under the call, too.
fn mark_owner(call: ToolCallId, scope: &str, key: &str) -> String {
    let mut owner = call.to_string();
    let _ = write!(owner, "\n{}", called(scope, key));
    owner
}

/// Does what a command says, inside the caller's transaction.
pub(crate) fn ask(
    connection: &Connection,
    command: &Command,
    now: Timestamp,
) -> Result<Result<Reply, Refusal>, Trouble> {
    let guard = guard(connection, command)?;
    let address = match guard.address(command) {
        Ok(address) => address,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let slice = slice(connection, address, command.caller().map(|it| it.call))?;
    let step = AgentState::step(slice, Stamped { command: command.clone(), now });
    for effect in step.effects {
        match effect {
            Effect::Change(change) => write(connection, &change)?,
            Effect::Reply(reply) => return Ok(Ok(reply)),
            Effect::Refuse(refusal) => return Ok(Err(refusal)),
        }
    }
    panic!("CAP-012: every command is answered, last of all")
}

/// What lane and log say of whoever asks.
fn guard(connection: &Connection, command: &Command) -> Result<Guard, Trouble> {
    let Some(caller) = command.caller() else { return Ok(Guard::default()) };
    let lane = ledger::lane(connection, &caller.lane)?;
    let row = match &lane.owner {
        Some(owner) => ledger::named(connection, &caller.lane, owner.submission)?,
        None => None,
    };
    let log = log::tail(connection, &caller.lane)?.map(|tail| tail.epoch);
    let admission = row.as_ref().map(|row| &*row.admission);
    Guard::read(caller, &lane, log, admission, |id| log::is_used(connection, &caller.lane, id))
}

fn slice(
    connection: &Connection,
    address: Address,
    call: Option<ToolCallId>,
) -> Result<Slice, Trouble> {
    let slot = slot(connection, &address)?;
    let shelf = shelf(connection, &address.scope)?;
    let (mut mark, mut writes) = (None, 0);
    if let Some(call) = call {
        let (scope, key) = (address.scope.spelled(), address.key.as_str());
        let found: Option<Vec<u8>> = connection
            .prepare_cached(MARK)?
            .query_row((call.0, &scope, key), |row| row.get(0))
            .optional()?;
        mark = found.map(|bytes| read_mark(call, &scope, key, &bytes)).transpose()?;
        writes = connection.prepare_cached(WRITES)?.query_row([call.0], |row| row.get(0))?;
    }
    Ok(Slice { address, slot, shelf, mark, writes })
}

fn read_mark(call: ToolCallId, scope: &str, key: &str, bytes: &[u8]) -> Result<Mark, Trouble> {
    let mark: Mark = read(MARK_TAG, &mark_owner(call, scope, key), scope, bytes)?;
    let is_its = mark.call == call
        && mark.address.scope.spelled() == scope
        && mark.address.key.as_str() == key;
    if is_its { Ok(mark) } else { Err(Trouble::Flawed(place(scope), Flaw::Column("call"))) }
}

/// What is under a key.
pub(crate) fn slot(connection: &Connection, address: &Address) -> Result<Slot, Trouble> {
    let (scope, key) = (address.scope.spelled(), address.key.as_str());
    let found: Option<Vec<u8>> =
        connection.prepare_cached(SLOT)?.query_row((&scope, key), |row| row.get(0)).optional()?;
    match found {
        Some(bytes) => read_slot(&scope, key, &bytes).map(|(_, slot)| slot),
        None => Ok(Slot::default()),
    }
}

fn read_slot(scope: &str, key: &str, bytes: &[u8]) -> Result<(Address, Slot), Trouble> {
    let kept: (Address, Slot) = read(SLOT_TAG, &called(scope, key), scope, bytes)?;
    let is_its = kept.0.scope.spelled() == scope && kept.0.key.as_str() == key;
    if is_its && !kept.1.is_blank() {
        Ok(kept)
    } else {
        Err(Trouble::Flawed(place(scope), Flaw::Column("key")))
    }
}

fn shelf(connection: &Connection, scope: &Scope) -> Result<Shelf, Trouble> {
    let scope = scope.spelled();
    let found: Option<Vec<u8>> =
        connection.prepare_cached(SHELF)?.query_row([&scope], |row| row.get(0)).optional()?;
    found.map_or(Ok(Shelf::default()), |bytes| read(SHELF_TAG, &scope, &scope, &bytes))
}

/// Does what a batch decides about state, in the transaction of the batch. What is damaged here is
/// left as it is: no log waits for it.
pub(crate) fn close(
    connection: &Connection,
    lane: &ConversationId,
    batch: &Batch,
) -> Result<(), Trouble> {
    for closing in closings(batch, |id| log::is_used(connection, lane, id))? {
        match closing {
            Closing::Run(run) => discard(connection, run)?,
            Closing::Call { call, succeeded } => close_call(connection, call, succeeded)?,
        }
    }
    Ok(())
}

fn close_call(connection: &Connection, call: ToolCallId, succeeded: bool) -> Result<(), Trouble> {
    let mut statement = connection.prepare_cached(OF_CALL)?;
    let mut found = statement.query([call.0])?;
    let mut marks = Vec::new();
    while let Some(row) = found.next()? {
        marks.push(mark_of(call, row));
    }
    for mark in marks {
        let changes = mark.and_then(|mark| {
            let Slice { slot, shelf, .. } = slice(connection, mark.address.clone(), None)?;
            Ok(close_one(&mark, &slot, &shelf, succeeded))
        });
        match changes {
            Ok(changes) => changes.iter().try_for_each(|change| write(connection, change))?,
            Err(Trouble::Flawed(..)) => {}
            Err(failed @ Trouble::Sql(_)) => return Err(failed),
        }
    }
    Ok(())
}

/// A mark in a row of scope, key and cell.
fn mark_of(call: ToolCallId, row: &rusqlite::Row<'_>) -> Result<Mark, Trouble> {
    let unread = |_| Trouble::Flawed(place("an agent"), Flaw::Column("scope"));
    let (scope, key): (String, String) = (row.get(0).map_err(unread)?, row.get(1).map_err(unread)?);
    let bytes: Vec<u8> = row.get(2).map_err(unread)?;
    read_mark(call, &scope, &key, &bytes)
}

fn discard(connection: &Connection, run: RunId) -> Result<(), Trouble> {
    let scope = Scope::Run(run).spelled();
    let is_there: bool = connection.prepare_cached(SHELF)?.exists([&scope])?;
    if is_there {
        write(connection, &Change::Discard(run))?;
    }
    Ok(())
}

/// Writes a change, exactly as it is.
fn write(connection: &Connection, change: &Change) -> Result<(), Trouble> {
    match change {
        Change::Shelf(scope, shelf) => {
            let scope = scope.spelled();
            let cell = sealed(SHELF_TAG, &scope, shelf);
            connection.prepare_cached(PUT_SHELF)?.execute((&scope, cell))?;
        }
        Change::Slot(address, slot) => {
            let (scope, key) = (address.scope.spelled(), address.key.as_str());
            if slot.is_blank() {
                connection.prepare_cached(DROP_SLOT)?.execute((&scope, key))?;
            } else {
                let cell = sealed(SLOT_TAG, &called(&scope, key), &(address, slot));
                connection.prepare_cached(PUT_SLOT)?.execute((&scope, key, cell))?;
            }
        }
        Change::Mark(mark) => {
            let (scope, key) = (mark.address.scope.spelled(), mark.address.key.as_str());
            let cell = sealed(MARK_TAG, &mark_owner(mark.call, &scope, key), mark);
            connection.prepare_cached(PUT_MARK)?.execute((mark.call.0, &scope, key, cell))?;
        }
        Change::Unmark(call, address) => {
            let (scope, key) = (address.scope.spelled(), address.key.as_str());
            connection.prepare_cached(DROP_MARK)?.execute((call.0, &scope, key))?;
        }
        Change::Discard(run) => {
            let scope = Scope::Run(*run).spelled();
            connection.prepare_cached(DROP_SLOTS)?.execute([&scope])?;
            connection.prepare_cached(DROP_SHELF)?.execute([&scope])?;
        }
    }
    Ok(())
}

/// Keys of all scopes in order, behind one of them, good or not.
pub(crate) fn each_slot(
    connection: &Connection,
    after: Option<&Address>,
    limit: usize,
    mut each: impl FnMut(Result<(Address, Slot), Trouble>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let scope = after.map_or_else(String::new, |it| it.scope.spelled());
    let key = after.map_or("", |it| it.key.as_str());
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(SLOTS)?;
    let mut found = statement.query((scope, key, limit))?;
    while let Some(row) = found.next()? {
        let unread = |_| Trouble::Flawed(place("an agent"), Flaw::Column("scope"));
        let read = (|| {
            let (scope, key): (String, String) =
                (row.get(0).map_err(unread)?, row.get(1).map_err(unread)?);
            let bytes: Vec<u8> = row.get(2).map_err(unread)?;
            read_slot(&scope, &key, &bytes)
        })();
        each(read)?;
    }
    Ok(())
}

/// Checks every cell, that each shelf counts what is on it, and that whatever is held is held by a
/// call that has written it. How many keys there are.
pub(crate) fn verify(connection: &Connection) -> Result<u64, Trouble> {
    const SHELVES: &str = "SELECT s.scope, s.cell,
        (SELECT count(*) FROM state_slot AS t WHERE t.scope = s.scope) FROM state_shelf AS s";
    const HOMELESS: &str = "SELECT scope FROM state_slot
        WHERE scope NOT IN (SELECT scope FROM state_shelf) LIMIT 1";
    const MARKS: &str = "SELECT call, scope, key, cell FROM state_mark";
    let mut statement = connection.prepare(SHELVES)?;
    let mut shelves = statement.query(())?;
    while let Some(row) = shelves.next()? {
        let (scope, bytes, keys): (String, Vec<u8>, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let shelf: Shelf = read(SHELF_TAG, &scope, &scope, &bytes)?;
        if shelf.keys != keys {
            return Err(Trouble::Flawed(place(&scope), Flaw::Counter));
        }
    }
    let homeless: Option<String> =
        connection.query_row(HOMELESS, (), |row| row.get(0)).optional()?;
    if let Some(scope) = homeless {
        return Err(Trouble::Flawed(place(&scope), Flaw::Missing));
    }
    let mut count = 0;
    each_slot(connection, None, usize::MAX, |read| {
        let (address, slot) = read?;
        count += 1;
        let Some(by) = slot.hold else { return Ok(()) };
        match slice(connection, address.clone(), Some(by))?.mark {
            Some(mark) if mark.class.holds() => Ok(()),
            _ => Err(Trouble::Flawed(place(&address.scope.spelled()), Flaw::Missing)),
        }
    })?;
    let mut statement = connection.prepare(MARKS)?;
    let mut marks = statement.query(())?;
    while let Some(row) = marks.next()? {
        let (call, scope, key): ([u8; 16], String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let bytes: Vec<u8> = row.get(3)?;
        read_mark(ToolCallId(call), &scope, &key, &bytes)?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
