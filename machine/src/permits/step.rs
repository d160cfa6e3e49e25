//! The rules of permits.

use alloc::vec::Vec;

use super::state::Claim;
use super::{Effect, Input, State, Ticket};
use crate::contract::{Machine, Step};

/// The machine of a host's permits.
pub struct Permits;

impl Machine for Permits {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        match input {
            Input::Asked { ticket, agent, group } if !state.knows(ticket) => {
                state.waiting.push_back((ticket, Claim { agent, group }));
            }
            // Asked for twice is asked for once.
            Input::Asked { .. } => {}
            Input::Released(ticket) => {
                state.granted.remove(&ticket);
                state.waiting.retain(|(waiting, _)| *waiting != ticket);
            }
        }
        let effects = state.grant();
        Step::new(state, effects)
    }
}

impl State {
    fn knows(&self, ticket: Ticket) -> bool {
        let waits = self.waiting.iter().any(|(waiting, _)| *waiting == ticket);
        waits || self.granted.contains_key(&ticket)
    }

    /// Whether everything that a call takes is free: its agent's place, its group's, the host's.
    fn fits(&self, claim: &Claim) -> bool {
        let count = |same: &dyn Fn(&Claim) -> bool| {
            self.granted.values().filter(|granted| same(granted)).count()
        };
        let agent = count(&|it| it.agent == claim.agent) < self.limits.agent.max(1);
        let group = claim.group.as_ref().is_none_or(|group| {
            count(&|it| it.group.as_ref() == Some(group)) < self.limits.of_group(group)
        });
        agent && group && self.granted.len() < self.limits.host.max(1)
    }

    /// Grants whoever fits, from the front. One that does not fit holds nobody up who does.
    fn grant(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut at = 0;
        while let Some((ticket, claim)) = self.waiting.get(at).cloned() {
            if self.fits(&claim) {
                self.waiting.remove(at);
                self.granted.insert(ticket, claim);
                effects.push(Effect::Grant(ticket));
            } else {
                at += 1;
            }
        }
        effects
    }
}
