//! The machines on plain memory, with what is kept beside them: what a store has to be equal to.

use std::collections::BTreeMap;
use std::sync::Arc;

use everstep_machine::agent::{Kept, ToolOutcome};
use everstep_machine::agent_state::{self, Address, Guard, Shelves, Slot, closings};
use everstep_machine::contract::Machine;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, RecordId, SessionId, Timestamp};
use everstep_machine::ledger::Row;
use everstep_machine::record::{Batch, Record};
use everstep_machine::session::{self, Change, Effect, Session, Sessions, Slice, Stamped};
use everstep_machine::store::{Pipeline, Refusal, Replies, Reply, Store, StoreCommand, StoreFault};

use super::Beside;
use crate::conformance::reference::{Reference, Shelf};

/// Lanes, logs, and everything beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Everything {
    lanes: Reference,
    state: Shelves,
    shelf: session::Shelf,
    sessions: BTreeMap<SessionId, Session>,
    artifacts: BTreeMap<(ConversationId, Digest), Vec<u8>>,
}

impl Everything {
    /// An empty store at a time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self { lanes: Reference::at(now), ..Self::default() }
    }

    /// Lanes and logs.
    #[must_use]
    pub const fn lanes(&self) -> &Reference {
        &self.lanes
    }

    /// Sets the time, in either direction.
    pub const fn set_clock(&mut self, now: Timestamp) {
        self.lanes.set_clock(now);
    }

    /// What is stored of a conversation.
    pub(super) fn shelf(&mut self, lane: &ConversationId) -> &Shelf {
        self.lanes.shelf(lane)
    }

    /// Agents' state as it was before.
    #[cfg(test)]
    pub(in crate::conformance) fn put_back_state(&mut self, before: &Self) {
        self.state = before.state.clone();
    }

    /// Every artifact that there is.
    pub(super) fn artifacts(&self) -> impl Iterator<Item = &(ConversationId, Digest)> {
        self.artifacts.keys()
    }

    /// Executes one command.
    ///
    /// # Errors
    /// What the machine says.
    pub(super) fn one(
        &mut self,
        lane: &ConversationId,
        command: &StoreCommand,
    ) -> Result<Reply, Refusal> {
        let before = self.lanes.shelf(lane).log().len();
        let reply = self.lanes.one(lane, command)?;
        let appended: Vec<_> = self.lanes.shelf(lane).log()[before..].to_vec();
        for stored in appended {
            self.appended(lane, stored.batch());
        }
        Ok(reply)
    }

    fn appended(&mut self, lane: &ConversationId, batch: &Batch) {
        for record in batch.records() {
            if let Record::ToolSettled(settled) = record
                && let ToolOutcome::Kept(Kept { digest, whole, .. }) = &*settled.outcome
                && let Some(bytes) = whole.bytes()
            {
                self.artifacts.insert((lane.clone(), *digest), bytes.to_vec());
            }
        }
        let shelf = self.lanes.shelf(lane);
        let Ok(closings) = closings(batch, |id| Ok::<_, Never>(is_used(shelf, id)));
        closings.into_iter().for_each(|closing| self.state.close(closing));
    }
}

/// That a reading in memory does not fail.
enum Never {}

fn is_used(shelf: &Shelf, id: RecordId) -> bool {
    shelf.log().iter().any(|stored| stored.batch().record_ids().contains(&id))
}

impl Store for Everything {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let commands = pipeline.commands.iter().enumerate();
        let replies = commands.map(|(at, command)| {
            self.one(&pipeline.lane, command).map_err(|why| StoreFault::Refused { at, why })
        });
        replies.collect()
    }
}

impl Beside for Everything {
    fn ask_state(
        &mut self,
        command: &agent_state::Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault> {
        let guard = match command.caller() {
            None => Guard::default(),
            Some(caller) => {
                let shelf = self.lanes.shelf(&caller.lane);
                let owner = shelf.lane().owner.as_ref().map(|owner| owner.submission);
                let is_its = |it: &&Arc<Row>| Some(it.admission.submission) == owner;
                let row = shelf.rows().iter().find(is_its);
                let admission = row.map(|row| &*row.admission);
                let log = shelf.tail().map(|tail| tail.epoch);
                let used = |id| Ok::<_, Never>(is_used(shelf, id));
                let Ok(guard) = Guard::read(caller, shelf.lane(), log, admission, used);
                guard
            }
        };
        let now = self.lanes.now();
        Ok(self.state.ask(&guard, command, now))
    }

    fn slot(&mut self, address: &Address) -> Result<Slot, StoreFault> {
        Ok(self.state.slots.get(address).cloned().unwrap_or_default())
    }

    fn ask_session(
        &mut self,
        command: &session::Command,
    ) -> Result<Result<Session, session::Refusal>, StoreFault> {
        let session = self.sessions.get(command.id()).cloned();
        let (slice, now) = (Slice { shelf: self.shelf, session }, self.lanes.now());
        let step = Sessions::step(slice, Stamped { command: command.clone(), now });
        let mut answer = Err(session::Refusal::Absent);
        for effect in step.effects {
            match effect {
                Effect::Change(Change::Shelf(shelf)) => self.shelf = shelf,
                Effect::Change(Change::Put(session)) => {
                    self.sessions.insert(session.id.clone(), session);
                }
                Effect::Change(Change::Delete(id)) => drop(self.sessions.remove(&id)),
                Effect::Reply(session) => answer = Ok(session),
                Effect::Refuse(why) => answer = Err(why),
            }
        }
        Ok(answer)
    }

    fn session(&mut self, id: &SessionId) -> Result<Option<Session>, StoreFault> {
        Ok(self.sessions.get(id).cloned())
    }

    fn artifact(
        &mut self,
        conversation: &ConversationId,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, StoreFault> {
        Ok(self.artifacts.get(&(conversation.clone(), digest)).cloned())
    }
}
