//! A host's permits, awaited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_machine::contract::Machine;
use everstep_machine::identity::{AgentId, GroupName};
use everstep_machine::permits::{Effect, Input, Limits, Permits, State, Ticket};
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

    /// Waits until a call may start. Whoever stops waiting has asked for nothing.
    pub(crate) async fn pass(&self, agent: AgentId, group: Option<GroupName>) -> Permit {
        let (permit, granted) = self.ask(agent, group);
        // The sender goes only with the ticket, and the ticket is ours.
        let _ = granted.await;
        permit
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

impl Desk {
    fn tell(&mut self, input: Input) {
        let Some(state) = self.state.take() else { return };
        let step = Permits::step(state, input);
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
