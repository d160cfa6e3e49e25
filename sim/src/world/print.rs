//! The fingerprint of a world.
//!
//! Left out, because no future depends on it: how often things happened, the story, what already
//! happened sometimes, commit times and chain digests. While no attempt is alive, times count
//! from now, so that the same world a minute later is the same world; an attempt may remember
//! absolute times, and then they count.

use std::hash::Hash;

use super::World;
use super::process::Body;
use crate::fingerprint::Fingerprinter;

impl World {
    pub(super) fn print(&self) -> u128 {
        let mut state = Fingerprinter::new();
        for process in &self.processes {
            process.hash(&mut state);
        }
        for shelf in &self.shelves {
            shelf.print(self.clock, &mut state);
        }
        self.checkpoints.hash(&mut state);
        let mut tasks = self.processes.iter().flat_map(|process| &process.tasks);
        let remembers = tasks.any(|task| matches!(*task.body, Body::Attempt(_)));
        remembers.then_some(self.clock).hash(&mut state);
        self.outside.hash(&mut state);
        self.operator.hash(&mut state);
        self.countdowns.hash(&mut state);
        (self.held, self.revoked).hash(&mut state);
        self.judge.print(&mut state);
        state.value()
    }
}
