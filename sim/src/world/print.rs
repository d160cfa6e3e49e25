//! The fingerprint of a world.
//!
//! Left out, because no future depends on it: how often things happened, the story, what already
//! happened sometimes, commit times and chain digests. While no attempt is alive, times count
//! from now, so that the same world a minute later is the same world; an attempt may remember
//! absolute times, and then they count.

use std::hash::{Hash, Hasher};

use everstep_machine::store::Reply;

use super::World;
use super::process::{Body, Process, Sent, Task};
use crate::fingerprint::Fingerprinter;

impl World {
    pub(super) fn print(&self) -> u128 {
        let mut state = Fingerprinter::new();
        for process in &self.processes {
            process.print.get_or_init(|| print_process(process)).hash(&mut state);
        }
        for shelf in &self.shelves {
            shelf.print(self.clock, &mut state);
        }
        let attempts = self.processes.iter().flat_map(|process| &process.tasks);
        let remembers = attempts.into_iter().any(|task| matches!(task.body, Body::Attempt(_)));
        remembers.then_some(self.clock).hash(&mut state);
        self.outside.hash(&mut state);
        self.operator.request.hash(&mut state);
        self.countdowns.hash(&mut state);
        self.held.hash(&mut state);
        self.judge.print(&mut state);
        state.value()
    }
}

fn print_process(process: &Process) -> u128 {
    let Process { role, progress, paused, stopped, tasks, print: _ } = process;
    let mut state = Fingerprinter::new();
    (role, progress, paused, stopped).hash(&mut state);
    tasks.len().hash(&mut state);
    for task in tasks {
        let Task { lane, body, epoch, authorised, plan, sent, flights, renewal, woken, outrun } =
            task;
        (lane, body, epoch, authorised, plan, flights, renewal, woken, outrun).hash(&mut state);
        print_sent(sent.as_ref(), &mut state);
    }
    state.value()
}

fn print_sent(sent: Option<&Sent>, state: &mut Fingerprinter) {
    let Some(sent) = sent else { return state.write_u8(0) };
    let Sent { pipeline, at, executed, replies, transaction: _ } = sent;
    state.write_u8(1);
    (pipeline, at, executed).hash(state);
    for reply in replies {
        match reply {
            // The last link of a log names everything before it.
            Reply::Log(page) => {
                (&page.tail, page.batches.len()).hash(state);
                page.batches.last().map(|last| last.chain()).hash(state);
            }
            Reply::Ledger(_) | Reply::Conversation(_) | Reply::Lane(_) => reply.hash(state),
        }
    }
}
