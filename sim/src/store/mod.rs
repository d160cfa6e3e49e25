//! The store in memory: exactly what a driver does, and not one rule more.
//!
//! For each command it asks for the footprint, picks it from the [`Shelf`] of the lane, steps the
//! pure machine and writes the changes. Everything it could decide, the machines have decided; so
//! a test against this store is a test against every store.
//!
//! ```text
//! command --footprint--> slice --Machine::step--> changes --write--> shelf
//! ```
//!
//! Deliberately absent: rules, an index, and bytes. A planted [`Defect`] bends commands and
//! changes on their way, around the machines.

mod bend;
mod log;
mod row;
mod shelf;

use std::sync::Arc;

use everstep_machine::identity::{ConversationId, Timestamp};
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};

pub use log::Log;
pub(crate) use shelf::Executed;
pub use shelf::Shelf;

use crate::defect::Defect;
use crate::profile::Profile;

/// Every lane and its log. A clone shares what neither side changes afterwards.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    profile: Profile,
    defect: Option<Defect>,
    clock: Timestamp,
    shelves: Vec<Arc<Shelf>>,
}

impl MemoryStore {
    /// An empty store whose clock reads 0.
    #[must_use]
    pub const fn new(profile: Profile, defect: Option<Defect>) -> Self {
        Self { profile, defect, clock: Timestamp(0), shelves: Vec::new() }
    }

    /// Sets the clock that stamps every command, in either direction.
    pub const fn set_clock(&mut self, now: Timestamp) {
        self.clock = now;
    }

    /// What is stored of a conversation; none before its first command.
    #[must_use]
    pub fn shelf(&self, conversation: &ConversationId) -> Option<&Shelf> {
        self.shelves
            .iter()
            .map(Arc::as_ref)
            .find(|shelf| shelf.lane().conversation == *conversation)
    }

    fn position(&mut self, conversation: &ConversationId) -> usize {
        let is_it = |shelf: &Arc<Shelf>| shelf.lane().conversation == *conversation;
        self.shelves.iter().position(is_it).unwrap_or_else(|| {
            self.shelves.push(Arc::new(Shelf::new(conversation.clone())));
            self.shelves.len() - 1
        })
    }
}

impl Store for MemoryStore {
    /// Commits command by command, or all at once; a refusal keeps the commands before it either
    /// way, so both profiles answer alike and leave the same behind.
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let position = self.position(&pipeline.lane);
        let mut replies = Replies::with_capacity(pipeline.commands.len());
        let mut transaction = Arc::clone(&self.shelves[position]);
        for (at, command) in pipeline.commands.iter().enumerate() {
            let shelf = match self.profile {
                Profile::Weak => &mut self.shelves[position],
                Profile::Strong => &mut transaction,
            };
            match Shelf::execute(shelf, command, self.clock, self.defect).answer {
                Ok(reply) => replies.push(reply),
                Err(why) => {
                    self.commit(position, transaction);
                    return Err(StoreFault::Refused { at, why });
                }
            }
        }
        self.commit(position, transaction);
        Ok(replies)
    }
}

impl MemoryStore {
    fn commit(&mut self, position: usize, transaction: Arc<Shelf>) {
        match self.profile {
            Profile::Weak => {}
            Profile::Strong => self.shelves[position] = transaction,
        }
    }
}

#[cfg(test)]
mod tests;
