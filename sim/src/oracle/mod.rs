//! Oracles: what must hold after everything that happens in a world.
//!
//! A `Judge` watches from outside. It sees every command with its answer, everything that
//! leaves for the outside and comes back, every receipt and every end; it remembers little, and
//! what it remembers it has seen itself. It trusts the machines only where a property is about
//! them: the fold it compares an owner's with is made of the log alone.
//!
//! | file | looks at |
//! | --- | --- |
//! | `fencing` | who may write, and over what |
//! | `history` | what a batch says, record by record |
//! | `listing` | what a row must show when its lane is let go |
//! | `outside` | what leaves for the outside and what happens there |
//! | `request` | what a model is shown |
//! | `budget`, `account` | what a run uses up, and what may follow |
//! | `secret` | what is to be taken out |
//! | `patience` | how often owners died, and what was given up |
//! | `steps` | which bodies of durable calls run, and what is recorded of them |
//! | `bindings` | under which binding a run goes on |
//! | `retry` | what is tried again once it was given up |
//! | `permits` | what an attempt was allowed to start |
//! | `owner` | what an attempt believes |
//! | `end` | what is left when nothing happens any more |

mod account;
mod approval;
mod bindings;
mod budget;
mod end;
mod fencing;
mod history;
mod joining;
mod listing;
mod meddling;
mod memory;
mod outside;
mod owner;
mod patience;
mod permits;
mod property;
mod rebuilt;
mod request;
mod retry;
mod secret;
mod steps;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use everstep_machine::admission::{Receipt, Rejection};
use everstep_machine::attempt::End;
use everstep_machine::ledger::{Phase, Refusal};
use everstep_machine::projection::Projection;
use everstep_machine::store::{self, StoreCommand};

pub(crate) use permits::Permits;
pub use property::{Property, Sometimes, SometimesSet, Violation};

use crate::cast::Cast;
use crate::store::{Executed, Shelf};
use memory::Memory;

/// Watches one world.
#[derive(Clone)]
pub(crate) struct Judge {
    memory: Arc<Memory>,
    reached: SometimesSet,
    violation: Option<Arc<Violation>>,
}

impl Judge {
    pub(crate) fn new(lanes: usize) -> Self {
        let memory = Arc::new(Memory::new(lanes));
        Self { memory, reached: SometimesSet::default(), violation: None }
    }

    /// The fold over a log, as it was seen to grow.
    pub(crate) fn fold(&self, lane: usize) -> &Projection {
        &self.memory.lanes[lane].fold
    }

    pub(crate) fn violation(&self) -> Option<&Violation> {
        self.violation.as_deref()
    }

    pub(crate) const fn reached(&self) -> SometimesSet {
        self.reached
    }

    /// Something happened that sometimes does.
    pub(crate) const fn note(&mut self, one: Sometimes) {
        self.reached.insert(one);
    }

    /// A property is broken. Only the first one counts: what follows may be its consequence.
    pub(crate) fn broken(&mut self, property: Property, detail: impl FnOnce() -> String) {
        if self.violation.is_none() {
            self.violation = Some(Arc::new(Violation { property, detail: detail() }));
        }
    }

    fn memory_mut(&mut self) -> &mut Memory {
        Arc::make_mut(&mut self.memory)
    }

    /// The store executed a command, or refused it. `permits` is what the sender may start.
    pub(crate) fn command(
        &mut self,
        cast: &Cast,
        lane: usize,
        command: &StoreCommand,
        executed: &Executed,
        permits: &Permits,
    ) {
        match command {
            StoreCommand::Ledger(command) => {
                self.check_owner(lane, command, executed);
                self.check_listing(lane, command, executed);
                self.check_reserved(cast, lane, command);
            }
            StoreCommand::Conversation(command) => {
                self.check_writer(lane, command, executed);
                if let Some(batch) = &executed.appended {
                    self.check_batch(cast, lane, batch, permits);
                }
            }
            StoreCommand::ReadLane(_) | StoreCommand::ReadLog { .. } => {}
        }
    }

    /// A client got its receipt.
    pub(crate) fn receipt(&mut self, shelf: &Shelf, receipt: Receipt) {
        let ready = shelf.row(receipt.submission).is_some_and(|row| {
            row.sequence == receipt.position && !matches!(row.phase, Phase::Admitted)
        });
        if !ready || shelf.log().tail().is_none() {
            self.broken(Property::Receipts, || {
                format!(
                    "submission {:?} got a receipt; ready on the ledger: {ready}; conversation \
                     stored: {}",
                    receipt.submission,
                    shelf.log().tail().is_some()
                )
            });
        }
    }

    /// A client was turned away.
    pub(crate) fn rejected(&mut self, why: Rejection) {
        match why {
            // Whoever speaks to a run may come too late.
            Rejection::Refused(store::Refusal::Ledger(
                Refusal::AlreadySettled
                | Refusal::RunClosing
                | Refusal::NotRunning
                | Refusal::AbortIntended,
            )) => {}
            Rejection::Refused(why) => {
                self.broken(Property::Expected, || format!("a client is turned away: {why}"));
            }
            Rejection::Corrupt => {
                self.broken(Property::NoDefect, || "an admission distrusts its store".to_owned());
            }
        }
    }

    /// An attempt ended by itself.
    pub(crate) fn ended(&mut self, end: End) {
        match end {
            End::Idle
            | End::Settled
            | End::Parked
            | End::Incompatible
            | End::Unanswered
            | End::Superseded => {}
            End::Corrupt(_) | End::Defect => {
                self.broken(Property::NoDefect, || format!("an attempt ended with {end:?}"));
            }
        }
    }

    /// What the oracles remember and nothing else in the world tells.
    pub(crate) fn print(&self, state: &mut impl Hasher) {
        self.memory.print(state);
        self.violation.is_some().hash(state);
    }
}

#[cfg(test)]
mod tests;
