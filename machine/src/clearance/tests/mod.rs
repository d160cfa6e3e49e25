//! Clearance: authority and approval in their fixed order, for many runs of one host.

mod asked;
mod cleared;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::agent::{Binding, Entries, ExecutionClass, Judgement, Risk, ToolDefinition};
use crate::approval::{Answer, QuestionId};
use crate::authority::{self, CapabilityKey, Grant, Granted, Policy, Scope};
use crate::contract::Machine;
use crate::effect::{ApprovalAnswer, ApprovalQuestion, Asker, Clearance, Proposed, Subject};
use crate::identity::{
    ApprovalId, ConversationId, PrincipalId, TenantId, Timestamp, ToolCallId, ToolName,
};
use crate::record::Resolver;
use crate::testkit::{bound, policy, text};

fn tenant() -> TenantId {
    TenantId::new("acme").unwrap()
}

fn principal(name: &str) -> PrincipalId {
    PrincipalId::new(name).unwrap()
}

fn key(text: &str) -> CapabilityKey {
    CapabilityKey::new(text).unwrap()
}

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

fn granted(texts: &[&str]) -> Granted {
    texts.iter().map(|text| (Grant::new(text).unwrap(), Scope::Workspace)).collect()
}

/// An agent whose `pay` takes `money.send` and is asked about, and whose `look` takes nothing.
fn agent() -> Arc<Binding> {
    let pay = ToolDefinition {
        capability: Some(key("money.send")),
        approval: Judgement::Prompt,
        risk: Risk::High,
        ..ToolDefinition::new(name("pay"), ExecutionClass::Ordinary)
    };
    let look = ToolDefinition::new(name("look"), ExecutionClass::Readonly);
    bound(Vec::from([pay, look]), policy())
}

fn asker(who: &str) -> Asker {
    Asker {
        tenant: tenant(),
        principal: principal(who),
        conversation: ConversationId::new("main").unwrap(),
        binding: agent(),
    }
}

fn call(number: u8) -> ToolCallId {
    ToolCallId([number; 16])
}

/// A call of one of its tools.
fn proposed(asker: &Asker, number: u8, tool: &str) -> Proposed {
    let capability = asker.binding.definition.tool(&name(tool)).unwrap().capability.clone();
    let action = capability.map(|capability| {
        Arc::new(authority::Action {
            tenant: asker.tenant.clone(),
            principal: asker.principal.clone(),
            definition: Some(asker.binding.bound().definition),
            standpoint: authority::Standpoint::Root,
            capability,
            need: authority::Need::Registry,
            component: None,
            declared: alloc::collections::BTreeSet::new(),
            resource: None,
        })
    });
    Proposed { call: call(number), tool: name(tool), action }
}

/// What is said of one call.
fn say(state: &State, asker: &Asker, tool: &str) -> Clearance {
    let mut said = state.clear(asker, &[proposed(asker, 1, tool)]);
    assert_eq!(said.calls[0].0, call(1));
    said.calls.remove(0).1
}

fn tell(state: &mut State, input: Input) -> Vec<Effect> {
    let step = Clearances::step(core::mem::take(state), input);
    *state = step.state;
    assert_eq!(state.approval.check(), Ok(()));
    step.effects
}

/// A host in which these belong to the tenant, and these are granted.
fn host(members: &[&str], grants: &[&str]) -> State {
    let mut state = State::default();
    for who in members {
        let joined = authority::Input::Joined { tenant: tenant(), principal: principal(who) };
        tell(&mut state, Input::Authority(joined));
    }
    let policy = Policy { defaults: granted(grants), ..Policy::default() };
    let laid = authority::Input::PolicyLaidDown { tenant: tenant(), policy };
    tell(&mut state, Input::Authority(laid));
    state
}
