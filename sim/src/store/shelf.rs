//! One lane with its rows and its log.

use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use everstep_machine::contract::Machine;
use everstep_machine::conversation::{self, Conversation};
use everstep_machine::identity::{ConversationId, SubmissionId, Timestamp};
use everstep_machine::ledger::{self, Change, Footprint, Lane, Ledger, Row};
use everstep_machine::record::StoredBatch;
use everstep_machine::store::{LaneView, Refusal, Reply, StoreCommand, Target};

use super::bend;
use super::log::Log;
use super::row::RowPrint;
use crate::defect::Defect;
use crate::fingerprint::{self, Fingerprinter, Memo};

/// Everything stored of one conversation.
#[derive(Clone, Debug)]
pub struct Shelf {
    lane: Lane,
    rows: Vec<Arc<Row>>,
    prints: Vec<u128>,
    log: Log,
    print: Memo,
}

/// What a command came to.
#[derive(Clone, Debug)]
pub(crate) struct Executed {
    /// The answer.
    pub(crate) answer: Result<Reply, Refusal>,
    /// Whether lane, rows or log changed.
    pub(crate) changed: bool,
    /// What it appended.
    pub(crate) appended: Option<Arc<StoredBatch>>,
}

impl Executed {
    const fn unchanged(answer: Result<Reply, Refusal>) -> Self {
        Self { answer, changed: false, appended: None }
    }
}

impl Shelf {
    /// A lane before its first row, without a log.
    #[must_use]
    pub fn new(conversation: ConversationId) -> Self {
        let lane = Lane::new(conversation);
        let (rows, prints, print) = (Vec::new(), Vec::new(), Memo::new());
        Self { lane, rows, prints, log: Log::new(), print }
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

    /// The row of a submission.
    #[must_use]
    pub fn row(&self, submission: SubmissionId) -> Option<&Arc<Row>> {
        self.rows.iter().find(|row| row.admission.submission == submission)
    }

    /// The log.
    #[must_use]
    pub const fn log(&self) -> &Log {
        &self.log
    }

    /// The row that can be claimed now.
    #[must_use]
    pub fn candidate(&self, clock: Timestamp) -> Option<Arc<Row>> {
        ledger::candidate(&self.slice(&Footprint::Candidates(None)), clock)
    }

    /// When a lease stops keeping a row from being claimed.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Timestamp> {
        ledger::wakes_at(&self.slice(&Footprint::Candidates(None)))
    }

    fn slice(&self, footprint: &Footprint) -> ledger::Slice {
        ledger::Slice { lane: self.lane.clone(), rows: footprint.select(self.rows.iter()) }
    }

    /// Executes one command at the store's time. The shelf is copied only when something changes
    /// and somebody else looks at it.
    pub(crate) fn execute(
        this: &mut Arc<Self>,
        command: &StoreCommand,
        clock: Timestamp,
        defect: Option<Defect>,
    ) -> Executed {
        match command {
            StoreCommand::Ledger(command) => Self::ledger(this, command, clock, defect),
            StoreCommand::Conversation(command) => Self::conversation(this, command, clock, defect),
            StoreCommand::ReadLane(target) => {
                let seen = bend::view(defect, this.read(*target, clock));
                Executed::unchanged(Ok(Reply::Lane(seen)))
            }
            StoreCommand::ReadLog { from } => {
                Executed::unchanged(Ok(Reply::Log(this.log.page(*from))))
            }
        }
    }

    fn read(&self, target: Target, clock: Timestamp) -> LaneView {
        let load = |footprint| Ok::<_, Infallible>(self.slice(&footprint));
        match LaneView::read(target, clock, load) {
            Ok(view) => view,
            Err(never) => match never {},
        }
    }

    fn ledger(
        this: &mut Arc<Self>,
        command: &ledger::Command,
        now: Timestamp,
        defect: Option<Defect>,
    ) -> Executed {
        let slice = this.slice(&command.footprint());
        let command = bend::ledger(defect, &this.lane, command);
        let step = Ledger::step(slice, ledger::Stamped { command, now });
        let mut executed =
            Executed::unchanged(Err(Refusal::Ledger(ledger::Refusal::NoSuchSubmission)));
        for effect in step.effects {
            match effect {
                ledger::Effect::Change(change) => {
                    executed.changed = true;
                    Arc::make_mut(this).write(change, defect);
                }
                ledger::Effect::Reply(reply) => executed.answer = Ok(Reply::Ledger(reply)),
                ledger::Effect::Refuse(why) => executed.answer = Err(Refusal::Ledger(why)),
            }
        }
        executed
    }

    fn write(&mut self, change: Change, defect: Option<Defect>) {
        self.print.clear();
        match change {
            Change::Lane(lane) => self.lane = lane,
            Change::Row(row) => {
                let place = self.rows.partition_point(|held| held.sequence < row.sequence);
                let held = self.rows.get(place).filter(|held| held.sequence == row.sequence);
                let row = bend::row(defect, held.map(Arc::as_ref), row);
                let print = fingerprint::of(&RowPrint(&row));
                if held.is_some() {
                    (self.rows[place], self.prints[place]) = (row, print);
                } else {
                    self.rows.insert(place, row);
                    self.prints.insert(place, print);
                }
            }
        }
    }

    fn conversation(
        this: &mut Arc<Self>,
        command: &conversation::Command,
        now: Timestamp,
        defect: Option<Defect>,
    ) -> Executed {
        let bent = bend::conversation(defect, &this.log, command);
        let command = match bent {
            bend::Bent::Command(command) => command,
            bend::Bent::Answer(reply) => {
                return Executed::unchanged(Ok(Reply::Conversation(reply)));
            }
        };
        let slice = this.log.slice(&this.lane.conversation, &command);
        let step = Conversation::step(slice, conversation::Stamped { command, now });
        let mut executed =
            Executed::unchanged(Err(Refusal::Conversation(conversation::Refusal::Absent)));
        for effect in step.effects {
            match effect {
                conversation::Effect::Change(change) => {
                    executed.changed = true;
                    let this = Arc::make_mut(this);
                    this.print.clear();
                    executed.appended = this.log.write(change, step.state.tail);
                }
                conversation::Effect::Reply(reply) => {
                    executed.answer = Ok(Reply::Conversation(reply));
                }
                conversation::Effect::Refuse(why) => {
                    executed.answer = Err(Refusal::Conversation(why));
                }
            }
        }
        executed
    }

    /// Hashes everything that can change a future. Times count from `clock`: a world that is
    /// the same but later has the same future.
    pub(crate) fn print(&self, clock: Timestamp, state: &mut impl Hasher) {
        state.write_u128(self.print.get_or(|| self.timeless_print()));
        let lease = self.lane.owner.as_ref().map(ledger::Owner::held_until);
        state.write_u64(lease.map_or(0, |until| until.0.saturating_sub(clock.0)));
    }

    fn timeless_print(&self) -> u128 {
        let mut state = Fingerprinter::new();
        // Whose lane it is follows from its first row.
        let Lane { conversation: _, tenant: _, next, epoch, owner, stamp: _ } = &self.lane;
        (next, epoch, owner.is_some()).hash(&mut state);
        if let Some(ledger::Owner { submission, token, producer, lease_until: _, pause: _ }) = owner
        {
            (submission, token, producer).hash(&mut state);
        }
        self.prints.hash(&mut state);
        self.log.print().hash(&mut state);
        state.value()
    }
}
