//! The tables of sessions.

use everstep_machine::contract::Machine;
use everstep_machine::identity::{SessionId, Timestamp};
use everstep_machine::session::{
    Change, Command, Effect, Refusal, Session, Sessions, Shelf, Slice, Stamped,
};
use rusqlite::{Connection, OptionalExtension};

use crate::cell::{self, Label};
use crate::error::{Flaw, Place, Trouble};

const SHELF: &str = "SELECT cell FROM session_shelf WHERE only = 0";

const ONE: &str = "SELECT cell FROM session_entry WHERE session = ?1";

const PUT_SHELF: &str = "INSERT INTO session_shelf (only, cell) VALUES (0, ?1)
    ON CONFLICT (only) DO UPDATE SET cell = excluded.cell";

const PUT: &str = "INSERT INTO session_entry (session, cell) VALUES (?1, ?2)
    ON CONFLICT (session) DO UPDATE SET cell = excluded.cell";

const DELETE: &str = "DELETE FROM session_entry WHERE session = ?1";

const LIST: &str = "SELECT session, cell FROM session_entry
    WHERE session > ?1 ORDER BY session LIMIT ?2";

const SHELF_LABEL: Label<'_> =
    Label { tag: "everstep/sqlite/session-shelf", owner: "", position: 0 };

const fn label(name: &str) -> Label<'_> {
    Label { tag: "everstep/sqlite/session", owner: name, position: 0 }
}

/// Does what a command says, inside the caller's transaction.
pub(crate) fn ask(
    connection: &Connection,
    command: &Command,
    now: Timestamp,
) -> Result<Result<Session, Refusal>, Trouble> {
    let slice = Slice { shelf: shelf(connection)?, session: one(connection, command.id())? };
    let step = Sessions::step(slice, Stamped { command: command.clone(), now });
    for effect in step.effects {
        match effect {
            Effect::Change(change) => write(connection, &change)?,
            Effect::Reply(session) => return Ok(Ok(session)),
            Effect::Refuse(refusal) => return Ok(Err(refusal)),
        }
    }
    panic!("CAP-012: every command is answered, last of all")
}

fn shelf(connection: &Connection) -> Result<Shelf, Trouble> {
    let found: Option<Vec<u8>> =
        connection.prepare_cached(SHELF)?.query_row((), |row| row.get(0)).optional()?;
    let Some(bytes) = found else { return Ok(Shelf::default()) };
    let flawed = |error| Trouble::Flawed(Place::Session("counter".to_owned()), Flaw::Cell(error));
    cell::unseal(SHELF_LABEL, &bytes).map_err(flawed)
}

/// A session, if it is there.
pub(crate) fn one(connection: &Connection, id: &SessionId) -> Result<Option<Session>, Trouble> {
    let mut statement = connection.prepare_cached(ONE)?;
    let found: Option<Vec<u8>> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    found.map(|bytes| read(id.as_str(), &bytes)).transpose()
}

fn read(name: &str, bytes: &[u8]) -> Result<Session, Trouble> {
    let flawed = |flaw| Trouble::Flawed(Place::Session(name.to_owned()), flaw);
    let session: Session =
        cell::unseal(label(name), bytes).map_err(|error| flawed(Flaw::Cell(error)))?;
    if session.id.as_str() == name { Ok(session) } else { Err(flawed(Flaw::Column("session"))) }
}

fn write(connection: &Connection, change: &Change) -> Result<(), Trouble> {
    match change {
        Change::Shelf(shelf) => {
            connection.prepare_cached(PUT_SHELF)?.execute([cell::seal(SHELF_LABEL, shelf)])?;
        }
        Change::Put(session) => {
            let name = session.id.as_str();
            connection.prepare_cached(PUT)?.execute((name, cell::seal(label(name), session)))?;
        }
        Change::Delete(id) => {
            connection.prepare_cached(DELETE)?.execute([id.as_str()])?;
        }
    }
    Ok(())
}

/// Sessions by name, behind one of them, good or not, each with its name.
pub(crate) fn each(
    connection: &Connection,
    after: Option<&SessionId>,
    limit: usize,
    mut each: impl FnMut(Result<Session, Trouble>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(LIST)?;
    let mut found = statement.query((after.map_or("", SessionId::as_str), limit))?;
    while let Some(row) = found.next()? {
        let nameless = |_| {
            Trouble::Flawed(Place::Session("without a name".to_owned()), Flaw::Column("session"))
        };
        let session = (|| {
            let name: String = row.get(0).map_err(nameless)?;
            let bytes: Vec<u8> = row.get(1).map_err(nameless)?;
            read(&name, &bytes)
        })();
        each(session)?;
    }
    Ok(())
}

/// Checks every cell, and that all are counted. How many there are.
pub(crate) fn verify(connection: &Connection) -> Result<u64, Trouble> {
    let mut count = 0_u32;
    each(connection, None, usize::MAX, |session| {
        session?;
        count += 1;
        Ok(())
    })?;
    if shelf(connection)?.sessions == count {
        Ok(count.into())
    } else {
        Err(Trouble::Flawed(Place::Session("counter".to_owned()), Flaw::Counter))
    }
}
