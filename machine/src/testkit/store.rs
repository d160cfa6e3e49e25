//! One lane and its log in memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;

use crate::contract::Machine;
use crate::conversation::{self, Committed, Conversation, Tail};
use crate::identity::{ConversationId, SubmissionId, Timestamp};
use crate::ledger::{self, Footprint, Lane, Ledger, Row};
use crate::record::StoredBatch;
use crate::store::{
    LaneView, LogPage, Pipeline, Refusal, Replies, Reply, Store, StoreCommand, StoreFault, Target,
};

#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) now: Timestamp,
    pub(crate) lane: Lane,
    pub(crate) rows: Vec<Arc<Row>>,
    pub(crate) tail: Option<Tail>,
    pub(crate) log: Vec<Arc<StoredBatch>>,
}

impl Memory {
    pub(crate) fn new(conversation: ConversationId) -> Self {
        let lane = Lane::new(conversation);
        Self { now: Timestamp(1_000), lane, rows: Vec::new(), tail: None, log: Vec::new() }
    }

    pub(crate) fn row(&self, submission: SubmissionId) -> Option<&Row> {
        self.rows.iter().map(Arc::as_ref).find(|row| row.admission.submission == submission)
    }

    pub(crate) fn ledger(
        &mut self,
        command: ledger::Command,
    ) -> Result<ledger::Reply, ledger::Refusal> {
        let slice = self.slice(command.footprint());
        let step = Ledger::step(slice, ledger::Stamped { command, now: self.now });
        for effect in step.effects {
            match effect {
                ledger::Effect::Change(ledger::Change::Lane(lane)) => self.lane = lane,
                ledger::Effect::Change(ledger::Change::Row(row)) => self.put(row),
                ledger::Effect::Reply(reply) => return Ok(reply),
                ledger::Effect::Refuse(refusal) => return Err(refusal),
            }
        }
        unreachable!("a ledger answers every command")
    }

    fn slice(&self, footprint: Footprint) -> ledger::Slice {
        ledger::Slice { lane: self.lane.clone(), rows: footprint.select(self.rows.iter()) }
    }

    fn put(&mut self, row: Arc<Row>) {
        match self.rows.iter_mut().find(|held| held.sequence == row.sequence) {
            Some(held) => *held = row,
            None => self.rows.push(row),
        }
    }

    pub(crate) fn conversation(
        &mut self,
        command: conversation::Command,
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
        let step = Conversation::step(slice, conversation::Stamped { command, now: self.now });
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
        unreachable!("a log answers every command")
    }

    fn read_lane(&self, target: Target) -> LaneView {
        let load = |footprint| Ok::<_, Infallible>(self.slice(footprint));
        match LaneView::read(target, self.now, load) {
            Ok(view) => view,
            Err(never) => match never {},
        }
    }

    pub(crate) fn one(&mut self, command: &StoreCommand) -> Result<Reply, Refusal> {
        match command {
            StoreCommand::Ledger(command) => {
                self.ledger(command.clone()).map(Reply::Ledger).map_err(Refusal::Ledger)
            }
            StoreCommand::Conversation(command) => {
                let reply = self.conversation(command.clone());
                reply.map(Reply::Conversation).map_err(Refusal::Conversation)
            }
            StoreCommand::ReadLane(target) => Ok(Reply::Lane(self.read_lane(*target))),
            StoreCommand::ReadLog { from } => {
                let wanted = |it: &&Arc<StoredBatch>| it.envelope().first_sequence >= *from;
                // Two batches a page, so that every longer log is read in pages.
                let batches = self.log.iter().filter(wanted).take(2).cloned().collect();
                Ok(Reply::Log(LogPage { tail: self.tail, batches }))
            }
        }
    }
}

impl Store for Memory {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let commands = pipeline.commands.iter().enumerate();
        let replies = commands
            .map(|(at, command)| self.one(command).map_err(|why| StoreFault::Refused { at, why }));
        replies.collect()
    }
}
