//! The machines on plain memory: what every store has to be equal to.
//!
//! No index, no cache and no transaction, and the whole of a lane is looked at for every command.
//! So there is nothing in it that could be wrong in the way in which a store is.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use everstep_machine::contract::Machine;
use everstep_machine::conversation::{self, Committed, Conversation, Tail};
use everstep_machine::identity::{ConversationId, Timestamp};
use everstep_machine::ledger::{self, Footprint, Lane, Ledger, Row};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::record::StoredBatch;
use everstep_machine::store::{
    LaneView, LogPage, Pipeline, Refusal, Replies, Reply, Store, StoreCommand, StoreFault, Target,
};

/// What a store has to hold: every lane and its log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    now: Timestamp,
    shelves: BTreeMap<ConversationId, Shelf>,
}

/// One lane and its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    lane: Lane,
    rows: Vec<Arc<Row>>,
    tail: Option<Tail>,
    log: Vec<Arc<StoredBatch>>,
}

impl Reference {
    /// An empty store at a time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self { now, ..Self::default() }
    }

    /// The time by which everything is stamped.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Sets the time, in either direction.
    pub const fn set_clock(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// What is stored of every conversation that was ever named, by name.
    pub fn shelves(&self) -> impl Iterator<Item = (&ConversationId, &Shelf)> {
        self.shelves.iter()
    }

    /// What is stored of a conversation.
    pub(super) fn shelf(&mut self, conversation: &ConversationId) -> &Shelf {
        self.shelf_mut(conversation)
    }

    fn shelf_mut(&mut self, conversation: &ConversationId) -> &mut Shelf {
        let new = || Shelf::new(conversation.clone());
        self.shelves.entry(conversation.clone()).or_insert_with(new)
    }

    /// Executes one command.
    ///
    /// # Errors
    /// What the machine says.
    pub fn one(&mut self, lane: &ConversationId, command: &StoreCommand) -> Result<Reply, Refusal> {
        let now = self.now;
        self.shelf_mut(lane).one(command, now)
    }
}

impl Store for Reference {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let commands = pipeline.commands.iter().enumerate();
        let replies = commands.map(|(at, command)| {
            self.one(&pipeline.lane, command).map_err(|why| StoreFault::Refused { at, why })
        });
        replies.collect()
    }
}

impl Shelf {
    const fn new(conversation: ConversationId) -> Self {
        let lane = Lane::new(conversation);
        Self { lane, rows: Vec::new(), tail: None, log: Vec::new() }
    }

    /// The lane.
    #[must_use]
    pub const fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Its rows, in admission order.
    #[must_use]
    pub fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    /// Where the log ends; none while it does not exist.
    #[must_use]
    pub const fn tail(&self) -> Option<Tail> {
        self.tail
    }

    /// The log, batch by batch.
    #[must_use]
    pub fn log(&self) -> &[Arc<StoredBatch>] {
        &self.log
    }

    /// The lane with the rows of a footprint.
    #[must_use]
    pub fn slice(&self, footprint: Footprint) -> ledger::Slice {
        ledger::Slice { lane: self.lane.clone(), rows: footprint.select(self.rows.iter()) }
    }

    fn one(&mut self, command: &StoreCommand, now: Timestamp) -> Result<Reply, Refusal> {
        match command {
            StoreCommand::Ledger(command) => {
                self.ledger(command, now).map(Reply::Ledger).map_err(Refusal::Ledger)
            }
            StoreCommand::Conversation(command) => {
                let reply = self.conversation(command, now);
                reply.map(Reply::Conversation).map_err(Refusal::Conversation)
            }
            StoreCommand::ReadLane(target) => Ok(Reply::Lane(self.read_lane(*target, now))),
            StoreCommand::ReadLog { from } => {
                let wanted = |it: &&Arc<StoredBatch>| it.envelope().first_sequence >= *from;
                let batches = self.log.iter().filter(wanted).take(PAGE_BATCHES).cloned().collect();
                Ok(Reply::Log(LogPage { tail: self.tail, batches }))
            }
        }
    }

    fn read_lane(&self, target: Target, now: Timestamp) -> LaneView {
        let load = |footprint| Ok::<_, Infallible>(self.slice(footprint));
        match LaneView::read(target, now, load) {
            Ok(view) => view,
            Err(never) => match never {},
        }
    }

    fn ledger(
        &mut self,
        command: &ledger::Command,
        now: Timestamp,
    ) -> Result<ledger::Reply, ledger::Refusal> {
        let slice = self.slice(command.footprint());
        let step = Ledger::step(slice, ledger::Stamped { command: command.clone(), now });
        for effect in step.effects {
            match effect {
                ledger::Effect::Change(ledger::Change::Lane(lane)) => self.lane = lane,
                ledger::Effect::Change(ledger::Change::Row(row)) => self.put(row),
                ledger::Effect::Reply(reply) => return Ok(reply),
                ledger::Effect::Refuse(refusal) => return Err(refusal),
            }
        }
        unreachable!("ARC-01: a ledger answers every command")
    }

    fn put(&mut self, row: Arc<Row>) {
        match self.rows.iter_mut().find(|held| held.sequence == row.sequence) {
            Some(held) => *held = row,
            None => self.rows.push(row),
        }
    }

    fn conversation(
        &mut self,
        command: &conversation::Command,
        now: Timestamp,
    ) -> Result<conversation::Reply, conversation::Refusal> {
        let footprint = command.footprint();
        let known = |batch: &&Arc<StoredBatch>| Some(batch.batch().id()) == footprint.batch;
        let committed = self.log.iter().find(known).map(|stored| Committed {
            batch: stored.batch().id(),
            epoch: stored.envelope().epoch,
            content: stored.batch().content(),
        });
        let ids = self.log.iter().flat_map(|stored| stored.batch().record_ids());
        let used = ids.filter(|id| footprint.records.contains(id)).copied().collect();
        let mut slice = conversation::Slice::new(self.lane.conversation.clone(), self.tail);
        (slice.committed, slice.used) = (committed, used);
        let stamped = conversation::Stamped { command: command.clone(), now };
        let step = Conversation::step(slice, stamped);
        self.tail = step.state.tail;
        for effect in step.effects {
            match effect {
                conversation::Effect::Change(conversation::Change::Commit(batch)) => {
                    self.log.push(Arc::from(batch));
                }
                conversation::Effect::Change(conversation::Change::Raise(_)) => {}
                conversation::Effect::Reply(reply) => return Ok(reply),
                conversation::Effect::Refuse(refusal) => return Err(refusal),
            }
        }
        unreachable!("ARC-01: a log answers every command")
    }
}
