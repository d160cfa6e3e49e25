//! A host's permits, awaited, and what a run holds of them before its calls have begun.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_machine::contract::Machine;
use everstep_machine::effect::Wanting;
use everstep_machine::identity::{AgentId, GroupName, ToolCallId};
use everstep_machine::permits::{self, Effect, Input, Limits, State, Ticket};
use tokio::sync::oneshot;

/// Where calls of all runs of a host wait for their permits.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<Mutex<Desk>>);

#[derive(Debug)]
struct Desk {
    state: Option<State>,
    next: u64,
    waiting: HashMap<Ticket, oneshot::Sender<()>>,
}

/// The permits of one call. Dropping it gives them back, whether they were granted or not.
#[derive(Debug)]
pub(crate) struct Permit {
    gate: Gate,
    ticket: Ticket,
}

impl Gate {
    pub(crate) fn new(limits: Limits) -> Self {
        let desk = Desk { state: Some(State::new(limits)), next: 0, waiting: HashMap::new() };
        Self(Arc::new(Mutex::new(desk)))
    }

    fn ask(&self, agent: AgentId, group: Option<GroupName>) -> (Permit, oneshot::Receiver<()>) {
        let (grant, granted) = oneshot::channel();
        let mut desk = self.desk();
        let ticket = Ticket(desk.next);
        desk.next += 1;
        desk.waiting.insert(ticket, grant);
        desk.tell(Input::Asked { ticket, agent, group });
        drop(desk);
        (Permit { gate: self.clone(), ticket }, granted)
    }

    /// A panic elsewhere leaves a sound state behind: it is replaced whole.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a run has asked for calls that have not begun. Dropping it gives all of it back.
#[derive(Debug)]
pub(crate) struct Permits {
    gate: Gate,
    of: HashMap<ToolCallId, Permit>,
}

impl Permits {
    pub(crate) fn of(gate: Gate) -> Self {
        Self { gate, of: HashMap::new() }
    }

    /// Asks for what is not asked for, and gives back what nobody wants any more. Of each call that
    /// has its permits, or waits for them from now on: what says so when it has them.
    pub(crate) fn ask(
        &mut self,
        agent: &AgentId,
        calls: &[Wanting],
    ) -> Vec<(ToolCallId, Option<oneshot::Receiver<()>>)> {
        self.of.retain(|held, _| calls.iter().any(|it| it.call == *held));
        let mut asked = Vec::new();
        for Wanting { call, group } in calls {
            match self.of.get(call) {
                Some(permit) if permit.is_granted() => asked.push((*call, None)),
                Some(_) => {}
                None => {
                    let (permit, mut grant) = self.gate.ask(agent.clone(), group.clone());
                    let waits = grant.try_recv().is_err().then_some(grant);
                    asked.push((*call, waits));
                    self.of.insert(*call, permit);
                }
            }
        }
        asked
    }

    /// Hands a call that begins what it has.
    pub(crate) fn take(&mut self, call: ToolCallId) -> Option<Permit> {
        self.of.remove(&call)
    }

    /// Wants nothing any more.
    pub(crate) fn give_back(&mut self) {
        self.of.clear();
    }
}

impl Permit {
    fn is_granted(&self) -> bool {
        self.gate.desk().state.as_ref().is_some_and(|state| state.holds(self.ticket))
    }
}

impl Desk {
    fn tell(&mut self, input: Input) {
        let Some(state) = self.state.take() else { return };
        let step = permits::Permits::step(state, input);
        self.state = Some(step.state);
        for Effect::Grant(ticket) in step.effects {
            if let Some(grant) = self.waiting.remove(&ticket) {
                // One that has stopped waiting gives its permit back by itself.
                let _ = grant.send(());
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut desk = self.gate.desk();
        desk.waiting.remove(&self.ticket);
        desk.tell(Input::Released(self.ticket));
    }
}
