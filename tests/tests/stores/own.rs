//! A store of one's own, as `docs/stores.md` shows it: on anything that keeps bytes by key.

// page: store
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use everstep_machine::contract::Machine;
use everstep_machine::conversation::{self, Committed, Conversation};
use everstep_machine::identity::{ConversationId, Timestamp};
use everstep_machine::ledger::{self, Footprint, Lane, Ledger, Row};
use everstep_machine::limits::PAGE_BATCHES;
use everstep_machine::record::StoredBatch;
use everstep_machine::store::{
    LaneView, LogPage, Pipeline, Refusal, Replies, Reply, Store, StoreCommand, StoreFault, Target,
};

/// What a database would hold of one conversation.
#[derive(Clone)]
struct Kept {
    lane: Lane,
    rows: Vec<Arc<Row>>,
    tail: Option<conversation::Tail>,
    log: Vec<Arc<StoredBatch>>,
}

/// All of it, and the clock that stamps it.
#[derive(Clone, Default)]
struct Database {
    now: Timestamp,
    kept: BTreeMap<ConversationId, Kept>,
}

/// A connection.
struct OwnStore(Arc<Mutex<Database>>);

impl Store for OwnStore {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let mut database = self.0.lock().unwrap();
        let commands = pipeline.commands.iter().enumerate();
        // One command is one transaction; the first refusal ends the pipeline.
        let replies = commands.map(|(at, command)| {
            let answer = database.execute(&pipeline.lane, command);
            answer.map_err(|why| StoreFault::Refused { at, why })
        });
        replies.collect()
    }
}

impl Database {
    fn execute(&mut self, name: &ConversationId, it: &StoreCommand) -> Result<Reply, Refusal> {
        let now = self.now;
        let kept = self.kept.entry(name.clone()).or_insert_with(|| Kept {
            lane: Lane::new(name.clone()),
            rows: Vec::new(),
            tail: None,
            log: Vec::new(),
        });
        match it {
            StoreCommand::Ledger(command) => kept.ledger(command.clone(), now),
            StoreCommand::Conversation(command) => kept.conversation(command.clone(), now),
            StoreCommand::ReadLane(target) => Ok(Reply::Lane(kept.view(*target, now))),
            StoreCommand::ReadLog { from } => {
                let wanted = |it: &&Arc<StoredBatch>| it.envelope().first_sequence >= *from;
                let batches = kept.log.iter().filter(wanted).take(PAGE_BATCHES).cloned().collect();
                Ok(Reply::Log(LogPage { tail: kept.tail, batches }))
            }
        }
    }
}

impl Kept {
    /// Load the footprint, step the machine, write the changes: no rule of its own.
    fn ledger(&mut self, command: ledger::Command, now: Timestamp) -> Result<Reply, Refusal> {
        let slice = self.slice(command.footprint());
        let step = Ledger::step(slice, ledger::Stamped { command, now });
        for effect in step.effects {
            match effect {
                ledger::Effect::Change(ledger::Change::Lane(lane)) => self.lane = lane,
                ledger::Effect::Change(ledger::Change::Row(row)) => self.put(row),
                ledger::Effect::Reply(reply) => return Ok(Reply::Ledger(reply)),
                ledger::Effect::Refuse(why) => return Err(Refusal::Ledger(why)),
            }
        }
        unreachable!("a machine answers every command")
    }

    fn conversation(
        &mut self,
        command: conversation::Command,
        now: Timestamp,
    ) -> Result<Reply, Refusal> {
        let footprint = command.footprint();
        let mut slice = conversation::Slice::new(self.lane.conversation.clone(), self.tail);
        let known = self.log.iter().find(|it| Some(it.batch().id()) == footprint.batch);
        slice.committed = known.map(|it| Committed {
            batch: it.batch().id(),
            epoch: it.envelope().epoch,
            content: it.batch().content(),
        });
        slice.used = footprint.records;
        slice.used.retain(|id| self.log.iter().any(|it| it.batch().record_ids().contains(id)));
        let step = Conversation::step(slice, conversation::Stamped { command, now });
        self.tail = step.state.tail;
        for effect in step.effects {
            match effect {
                conversation::Effect::Change(conversation::Change::Commit(batch)) => {
                    self.log.push(Arc::from(batch));
                }
                // The tail above holds the new epoch.
                conversation::Effect::Change(conversation::Change::Raise(_)) => {}
                conversation::Effect::Reply(reply) => return Ok(Reply::Conversation(reply)),
                conversation::Effect::Refuse(why) => return Err(Refusal::Conversation(why)),
            }
        }
        unreachable!("a machine answers every command")
    }

    fn view(&self, target: Target, now: Timestamp) -> LaneView {
        let load = |footprint| Ok::<_, Infallible>(self.slice(footprint));
        match LaneView::read(target, now, load) {
            Ok(view) => view,
            Err(never) => match never {},
        }
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
}
// end

// page: subject
use everstep_sim::conformance::{Subject, check, fail, race};

/// Where the kit gets its handles from.
#[derive(Default)]
struct OwnStores {
    clock: Timestamp,
    database: Arc<Mutex<Database>>,
}

impl Subject for OwnStores {
    type Store = OwnStore;

    fn fresh(&mut self) -> OwnStore {
        self.database = Arc::default();
        self.set_clock(self.clock);
        self.reopen()
    }

    fn reopen(&mut self) -> OwnStore {
        OwnStore(Arc::clone(&self.database))
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.clock = now;
        self.database.lock().unwrap().now = now;
    }
}

#[test]
fn store_010_my_own_store_is_a_store() {
    let report = check(&mut OwnStores::default(), 1, 100).unwrap_or_else(|it| panic!("{it}"));
    assert!(report.refusals > 100);
    fail(&mut OwnStores::default(), 1, 100).unwrap_or_else(|it| panic!("{it}"));
    race(&mut OwnStores::default(), 1, 100).unwrap_or_else(|it| panic!("{it}"));
}
// end

mod forgetful;
