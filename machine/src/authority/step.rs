//! The rules of authority.

use alloc::vec;

use super::{Effect, Input, State};
use crate::contract::{Machine, Step};

/// The machine of a host's authority.
pub struct Authority;

impl Machine for Authority {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        match input {
            Input::Joined { tenant, principal } => {
                state.revoked.remove(&(tenant.clone(), principal.clone()));
                state.members.insert((tenant, principal));
            }
            Input::Revoked { tenant, principal } => {
                state.members.remove(&(tenant.clone(), principal.clone()));
                state.revoked.insert((tenant.clone(), principal.clone()));
                return Step::new(state, vec![Effect::Forget { tenant, principal }]);
            }
            Input::PolicyLaidDown { tenant, policy } => {
                state.governed.insert(tenant.clone());
                state.policies.insert(tenant, policy);
            }
            Input::PolicyWithdrawn { tenant } => {
                state.policies.remove(&tenant);
            }
            Input::GrantRevoked { tenant, component, grant } => {
                if let Some(policy) = state.policies.get_mut(&tenant) {
                    policy.revoke(component.as_ref(), &grant);
                }
            }
            Input::Asked { ticket, action } => {
                let decision = state.evaluate(&action);
                return Step::new(state, vec![Effect::Answer { ticket, decision }]);
            }
        }
        Step::quiet(state)
    }
}
