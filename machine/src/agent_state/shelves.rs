//! All of it in plain memory: what any store of it is compared with.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::close::{Closing, close};
use super::effect::{Change, Effect, Refusal, Reply};
use super::guard::Guard;
use super::input::{Command, Stamped};
use super::state::{Address, Mark, Scope, Shelf, Slice, Slot};
use super::step::AgentState;
use crate::contract::Machine;
use crate::identity::{Timestamp, ToolCallId};

/// The state of all agents and runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelves {
    /// What is known of each scope.
    pub shelves: BTreeMap<Scope, Shelf>,
    /// What is under each key.
    pub slots: BTreeMap<Address, Slot>,
    /// What calls have written whose end is not canonical.
    pub marks: BTreeMap<(ToolCallId, Address), Mark>,
}

impl Shelves {
    /// Does what a command says.
    ///
    /// # Errors
    /// Why not; nothing changes then.
    pub fn ask(
        &mut self,
        guard: &Guard,
        command: &Command,
        now: Timestamp,
    ) -> Result<Reply, Refusal> {
        let address = guard.address(command)?;
        let slice = self.slice(address, command.caller().map(|it| it.call));
        let step = AgentState::step(slice, Stamped { command: command.clone(), now });
        let mut answer = Err(Refusal::NotKept);
        for effect in step.effects {
            match effect {
                Effect::Change(change) => self.apply(change),
                Effect::Reply(reply) => answer = Ok(reply),
                Effect::Refuse(refusal) => answer = Err(refusal),
            }
        }
        answer
    }

    /// Does what a batch has decided.
    pub fn close(&mut self, closing: Closing) {
        match closing {
            Closing::Run(run) => self.apply(Change::Discard(run)),
            Closing::Call { call, succeeded } => {
                let of_call = |mark: &&Mark| mark.call == call;
                let marks: Vec<Mark> = self.marks.values().filter(of_call).cloned().collect();
                for mark in marks {
                    let Slice { slot, shelf, .. } = self.slice(mark.address.clone(), None);
                    for change in close(&mark, &slot, &shelf, succeeded) {
                        self.apply(change);
                    }
                }
            }
        }
    }

    fn slice(&self, address: Address, call: Option<ToolCallId>) -> Slice {
        let slot = self.slots.get(&address).cloned().unwrap_or_default();
        let shelf = self.shelves.get(&address.scope).copied().unwrap_or_default();
        let mark = call.and_then(|call| self.marks.get(&(call, address.clone())).cloned());
        let writes = self.marks.keys().filter(|(by, _)| Some(*by) == call).count();
        Slice { address, slot, shelf, mark, writes: u32::try_from(writes).unwrap_or(u32::MAX) }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Shelf(scope, shelf) => drop(self.shelves.insert(scope, shelf)),
            Change::Slot(address, slot) if slot.is_blank() => drop(self.slots.remove(&address)),
            Change::Slot(address, slot) => drop(self.slots.insert(address, slot)),
            Change::Mark(mark) => {
                self.marks.insert((mark.call, mark.address.clone()), mark);
            }
            Change::Unmark(call, address) => drop(self.marks.remove(&(call, address))),
            Change::Discard(run) => {
                self.shelves.remove(&Scope::Run(run));
                self.slots.retain(|address, _| address.scope != Scope::Run(run));
            }
        }
    }
}
