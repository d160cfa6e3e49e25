//! Stores that break one rule each.

use std::thread;

use everstep_machine::conversation;
use everstep_machine::identity::Timestamp;
use everstep_machine::ledger::Command;
use everstep_machine::store::{Pipeline, Refusal, Replies, Reply, Store, StoreCommand, StoreFault};

use super::desk::{Desk, Handle};
use crate::conformance::Subject;
use crate::profile::Profile;
use crate::store::MemoryStore;

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It answers a renewal and does not write it.
    DropsAChange,
    /// It says "already there" to whoever sends a batch again, whatever epoch wrote it.
    AnswersTheFenced,
    /// What was sent last is gone when it is opened again.
    Forgets,
    /// Two appends over one tail are both taken.
    TakesBoth,
    /// It does what stands behind a refused command.
    GoesOn,
    /// Whoever sends what begins with all that was sent last is answered as the last time.
    AnswersFromMemory,
    /// Reading and writing are two transactions.
    ReadsBeforeItLocks,
}

/// A handle of a store that is wrong.
pub(super) struct Bad {
    wrong: Wrong,
    store: Handle,
    before: Option<MemoryStore>,
    answered: Option<(Pipeline, Replies)>,
}

impl Store for Bad {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        self.before = Some(self.store.copy());
        match self.wrong {
            Wrong::Forgets => self.store.execute(pipeline),
            Wrong::GoesOn => self.going_on(pipeline),
            Wrong::AnswersFromMemory => self.remembering(pipeline),
            Wrong::ReadsBeforeItLocks => {
                let mut copy = self.store.copy();
                let answer = copy.execute(pipeline);
                (0..500).for_each(|_| thread::yield_now());
                self.store.replace(copy);
                answer
            }
            Wrong::DropsAChange | Wrong::AnswersTheFenced | Wrong::TakesBoth => {
                let commands = pipeline.commands.iter().enumerate();
                let replies = commands.map(|(at, it)| self.bent(&pipeline.lane, it, at));
                replies.collect()
            }
        }
    }
}

const fn is_writing(command: &StoreCommand) -> bool {
    matches!(command, StoreCommand::Ledger(_) | StoreCommand::Conversation(_))
}

impl Bad {
    fn going_on(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let answer = self.store.execute(pipeline);
        if let Err(StoreFault::Refused { at, .. }) = answer {
            let (lane, commands) = (pipeline.lane.clone(), pipeline.commands[at + 1..].to_vec());
            let _unasked = self.store.execute(&Pipeline { lane, commands });
        }
        answer
    }

    /// Answers a pipeline that goes on behind what was sent last without doing the rest of it.
    fn remembering(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        if let Some((last, replies)) = &self.answered
            && last.lane == pipeline.lane
            && last.commands.len() < pipeline.commands.len()
            && last.commands.iter().any(is_writing)
            && pipeline.commands.starts_with(&last.commands)
        {
            return Ok(replies.clone());
        }
        let answer = self.store.execute(pipeline);
        self.answered = answer.clone().ok().map(|replies| (pipeline.clone(), replies));
        answer
    }

    fn one(
        &mut self,
        lane: &everstep_machine::identity::ConversationId,
        command: StoreCommand,
    ) -> Result<Reply, Refusal> {
        let pipeline = Pipeline { lane: lane.clone(), commands: vec![command] };
        match self.store.execute(&pipeline) {
            Ok(mut replies) => Ok(replies.remove(0)),
            Err(StoreFault::Refused { why, .. }) => Err(why),
            Err(fault) => panic!("memory does not fail: {fault}"),
        }
    }

    fn bent(
        &mut self,
        lane: &everstep_machine::identity::ConversationId,
        command: &StoreCommand,
        at: usize,
    ) -> Result<Reply, StoreFault> {
        let before = self.store.copy();
        let mut answer = self.one(lane, command.clone());
        match (self.wrong, command, &answer) {
            (Wrong::DropsAChange, StoreCommand::Ledger(Command::Renew { .. }), Ok(_)) => {
                self.store.replace(before);
            }
            (
                Wrong::AnswersTheFenced,
                StoreCommand::Conversation(conversation::Command::Append { batch, .. }),
                Err(Refusal::Conversation(conversation::Refusal::Fenced { .. })),
            ) => {
                let log = before.shelf(lane).map(|shelf| shelf.log().clone()).unwrap();
                let there = log.batches().iter().any(|it| it.batch().id() == batch.id());
                if there {
                    let reply = conversation::Reply::Appended(log.tail().unwrap());
                    answer = Ok(Reply::Conversation(reply));
                }
            }
            (
                Wrong::TakesBoth,
                StoreCommand::Conversation(append @ conversation::Command::Append { .. }),
                Err(Refusal::Conversation(conversation::Refusal::TailConflict { actual })),
            ) => {
                let mut append = append.clone();
                if let conversation::Command::Append { expected, .. } = &mut append {
                    *expected = *actual;
                }
                answer = self.one(lane, StoreCommand::Conversation(append));
            }
            _ => {}
        }
        answer.map_err(|why| StoreFault::Refused { at, why })
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        if let (Wrong::Forgets, Some(before)) = (self.wrong, self.before.take()) {
            self.store.replace(before);
        }
    }
}

/// A store that is wrong, for the kit to find.
pub(super) struct Shelter {
    wrong: Wrong,
    desk: Desk,
}

impl Shelter {
    pub(super) fn of(wrong: Wrong) -> Self {
        Self { wrong, desk: Desk::new(Profile::Weak) }
    }
}

impl Subject for Shelter {
    type Store = Bad;

    fn fresh(&mut self) -> Bad {
        Bad { wrong: self.wrong, store: self.desk.fresh(), before: None, answered: None }
    }

    fn reopen(&mut self) -> Bad {
        Bad { wrong: self.wrong, store: self.desk.reopen(), before: None, answered: None }
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.desk.set_clock(now);
    }
}
