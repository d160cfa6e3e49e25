//! Several pipelines in one transaction: one fsync for all who wait at the same time.
//!
//! What each is answered, and what is in the file then, is the same as if they had been executed
//! one after the other. A refusal ends its own pipeline, whose prefix stands, as ever. Any other
//! trouble undoes the whole transaction, and each pipeline is executed by itself: so trouble stays
//! with the one that has it, and nobody is answered before what he is told is on the disk.
//!
//! Nothing is grouped where somebody listens to failpoints, or wants every command committed by
//! itself: those moments mean what they say only for one pipeline at a time. Nor are pipelines that
//! only read: they have no disk to wait for, and remember what they have read.

use everstep_machine::store::{Pipeline, Replies};

use super::{Ran, SqliteStore, run};
use crate::command::writes;
use crate::error::StoreError;
use crate::log;
use crate::options::CommitMode;
use crate::transaction::begin;

/// The fate of one pipeline.
type Answer = Result<Replies, StoreError>;

impl SqliteStore {
    /// Executes pipelines in their order and tells each one's fate as soon as it is known, exactly
    /// as [`SqliteStore::perform`] would. Those in a row that write share a transaction if they can.
    pub fn perform_all(&mut self, pipelines: &[Pipeline], mut answer: impl FnMut(Answer)) {
        let alone = self.mode == CommitMode::PerCommand || self.on_failpoint.is_some();
        let is_writing = |it: &Pipeline| it.commands.iter().any(writes);
        let may_share = |a: &Pipeline, b: &Pipeline| !alone && is_writing(a) && is_writing(b);
        for group in pipelines.chunk_by(may_share) {
            match self.together(group) {
                Some(answers) => answers.into_iter().for_each(&mut answer),
                None => group.iter().for_each(|it| answer(self.perform(it))),
            }
        }
    }

    /// One transaction for all of them; none if it came to nothing, and each has to go by itself.
    fn together(&mut self, group: &[Pipeline]) -> Option<Vec<Answer>> {
        let Self { connection, path, home, busy, clock, counters, .. } = self;
        if group.len() < 2 || home.is_left(path) {
            return None;
        }
        let transaction = match begin(connection, true, *busy, &mut counters.waits) {
            Ok(transaction) => transaction,
            // Each of them would only wait as long again.
            Err(trouble) => {
                let error = trouble.at(path, *busy);
                return Some(group.iter().map(|_| Err(error.clone())).collect());
            }
        };
        counters.transactions += 1;
        let (mut answers, mut changed) = (Vec::with_capacity(group.len()), Vec::new());
        for Pipeline { lane, commands } in group {
            let before = connection.total_changes();
            let mut page = |from| log::page(&transaction, lane, from);
            let mut replies = Replies::with_capacity(commands.len());
            let now = clock.now();
            let ran =
                run(&transaction, lane, commands, now, &mut page, &mut |_, _| {}, &mut replies);
            answers.push(match ran.ok()? {
                Ran::Through => Ok(replies),
                Ran::Refused(why) => Err(StoreError::Refused { at: replies.len(), why }),
            });
            if connection.total_changes() != before {
                changed.push(lane);
            }
        }
        transaction.commit().ok()?;
        if !changed.is_empty() {
            self.committed(&changed);
        }
        Some(answers)
    }
}
