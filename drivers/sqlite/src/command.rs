//! One command inside a transaction: footprint, load, step, write.

use everstep_machine::contract::Machine;
use everstep_machine::conversation::{self, Conversation};
use everstep_machine::identity::{ConversationId, Sequence, Timestamp};
use everstep_machine::ledger::{self, Ledger};
use everstep_machine::store::{LaneView, LogPage, Refusal, Reply, StoreCommand, Target};
use rusqlite::Connection;

use crate::error::Trouble;

/// What a command came to.
pub(crate) type Answer = Result<Reply, Refusal>;

/// Whether a command may write.
pub(crate) const fn writes(command: &StoreCommand) -> bool {
    match command {
        StoreCommand::Ledger(_) | StoreCommand::Conversation(_) => true,
        StoreCommand::ReadLane(_) | StoreCommand::ReadLog { .. } => false,
    }
}

/// Executes a command at the store's time. `page` reads a page of the lane's log.
pub(crate) fn execute(
    connection: &Connection,
    lane: &ConversationId,
    command: &StoreCommand,
    now: Timestamp,
    page: &mut dyn FnMut(Sequence) -> Result<LogPage, Trouble>,
) -> Result<Answer, Trouble> {
    match command {
        StoreCommand::Ledger(command) => of_ledger(connection, lane, command, now),
        StoreCommand::Conversation(command) => of_conversation(connection, lane, command, now),
        StoreCommand::ReadLane(target) => {
            Ok(Ok(Reply::Lane(read_lane(connection, lane, *target, now)?)))
        }
        StoreCommand::ReadLog { from } => Ok(Ok(Reply::Log(page(*from)?))),
    }
}

fn of_ledger(
    connection: &Connection,
    lane: &ConversationId,
    command: &ledger::Command,
    now: Timestamp,
) -> Result<Answer, Trouble> {
    let slice = crate::ledger::slice(connection, lane, command.footprint())?;
    let step = Ledger::step(slice, ledger::Stamped { command: command.clone(), now });
    for effect in step.effects {
        match effect {
            ledger::Effect::Change(change) => crate::ledger::write(connection, lane, &change)?,
            ledger::Effect::Reply(reply) => return Ok(Ok(Reply::Ledger(reply))),
            ledger::Effect::Refuse(why) => return Ok(Err(Refusal::Ledger(why))),
        }
    }
    panic!("STORE-002: the ledger answers every command, last of all")
}

fn of_conversation(
    connection: &Connection,
    lane: &ConversationId,
    command: &conversation::Command,
    now: Timestamp,
) -> Result<Answer, Trouble> {
    let slice = crate::log::slice(connection, lane, command)?;
    let step = Conversation::step(slice, conversation::Stamped { command: command.clone(), now });
    let tail = step.state.tail;
    for effect in step.effects {
        match effect {
            conversation::Effect::Change(change) => {
                let tail = tail.expect("STORE-004: a log that was changed has an end");
                crate::log::write(connection, lane, &change, &tail)?;
                if let conversation::Change::Commit(stored) = &change {
                    crate::agent_state::close(connection, lane, stored.batch())?;
                }
            }
            conversation::Effect::Reply(reply) => return Ok(Ok(Reply::Conversation(reply))),
            conversation::Effect::Refuse(why) => return Ok(Err(Refusal::Conversation(why))),
        }
    }
    panic!("STORE-002: a conversation answers every command, last of all")
}

fn read_lane(
    connection: &Connection,
    lane: &ConversationId,
    target: Target,
    now: Timestamp,
) -> Result<LaneView, Trouble> {
    LaneView::read(target, now, |footprint| crate::ledger::slice(connection, lane, footprint))
}
