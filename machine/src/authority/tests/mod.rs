//! Authority by requirement, and the laws of its patterns and rights.

mod evaluating;
mod keys;
mod laws;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;

use super::*;
use crate::contract::Machine;
use crate::digest::Digest;
use crate::identity::{PrincipalId, TenantId};

fn key(text: &str) -> CapabilityKey {
    CapabilityKey::new(text).unwrap()
}

fn grant(text: &str) -> Grant {
    Grant::new(text).unwrap()
}

fn granted(texts: &[&str]) -> Granted {
    texts.iter().map(|text| (grant(text), Scope::Workspace)).collect()
}

fn tenant() -> TenantId {
    TenantId::new("acme").unwrap()
}

fn principal() -> PrincipalId {
    PrincipalId::new("ada").unwrap()
}

fn path() -> ComponentPath {
    ComponentPath::new("agent/output/archive_summary").unwrap()
}

fn right(text: &str, within: Option<&str>) -> Right {
    let within = within.map_or(Selector::Any, |it| Selector::Within(Resource::new(it).unwrap()));
    Right { grant: grant(text), within }
}

/// A host in which Ada belongs to a tenant with this policy.
fn host(policy: Policy) -> State {
    let inputs = [
        Input::Joined { tenant: tenant(), principal: principal() },
        Input::PolicyLaidDown { tenant: tenant(), policy },
    ];
    inputs.into_iter().fold(State::default(), |state, input| Authority::step(state, input).state)
}

fn action(capability: &str) -> Action {
    Action {
        tenant: tenant(),
        principal: principal(),
        definition: Some(Digest::of("test", b"agent")),
        standpoint: Standpoint::Root,
        capability: key(capability),
        need: Need::Registry,
        component: None,
        declared: BTreeSet::new(),
        resource: None,
    }
}

/// What a host says, as whoever asks hears it.
fn ask(state: &State, action: Action) -> Decision {
    let input = Input::Asked { ticket: Ticket(7), action: Box::new(action) };
    let step = Authority::step(state.clone(), input);
    assert_eq!(&step.state, state, "asking changes nothing");
    match step.effects.as_slice() {
        [Effect::Answer { ticket: Ticket(7), decision }] => decision.clone(),
        other => panic!("no single answer: {other:?}"),
    }
}

fn denial(state: &State, action: Action) -> Option<Denial> {
    match ask(state, action).outcome {
        Outcome::Allowed { .. } => None,
        Outcome::Denied(denial) => Some(denial),
    }
}
