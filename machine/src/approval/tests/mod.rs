//! Approval by requirement, the laws of its lattice, and the machine under whatever happens.

mod fingerprints;
mod policies;
mod sequences;
mod sessions;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::*;
use crate::agent::Risk;
use crate::authority::{CapabilityKey, Pattern, Resource};
use crate::contract::Machine;
use crate::digest::Digest;
use crate::guard;
use crate::identity::{AgentId, ApprovalId, PrincipalId, SessionId, Timestamp, ToolName};
use crate::json::CanonicalJson;
use crate::limits::SESSION_ALLOW_MS;

fn tool(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

fn agent(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn principal(name: &str) -> PrincipalId {
    PrincipalId::new(name).unwrap()
}

fn key(text: &str) -> CapabilityKey {
    CapabilityKey::new(text).unwrap()
}

fn request(number: u8) -> ApprovalId {
    ApprovalId([number; 16])
}

fn deed() -> Deed {
    Deed {
        agent: agent("writer"),
        revision: Digest::of("test", b"revision 1"),
        snapshot: Digest::of("test", b"snapshot 1"),
        tool: tool("terminal"),
        capability: Some(key("terminal.exec")),
        action: CanonicalJson::parse(br#"{"command":"grep \"a.*b\" f"}"#).unwrap(),
        targets: Vec::from([Resource::new("workspace/f").unwrap()]),
        policy: Digest::of("test", b"policy 1"),
    }
}

fn ruled(judgement: Judgement, risk: Risk) -> Ruling {
    Ruling { judgement, risk, rule: Rule { layer: Layer::Core, entry: Entry::Tool } }
}

/// Ada's call in her first session, put to a person by the core.
fn ask(number: u8) -> Ask {
    Ask {
        request: request(number),
        session: session("one"),
        principal: principal("ada"),
        deed: deed(),
        ruling: ruled(Judgement::Prompt, Risk::High),
        is_resolved: true,
    }
}

fn asked(now: u64, ask: Ask) -> Input {
    Input::Asked { now: Timestamp(now), ask: Box::new(ask) }
}

fn decided(now: u64, question: u64, answer: Answer) -> Input {
    Input::Decided { now: Timestamp(now), question: QuestionId(question), answer }
}

/// A host in which Ada has a session.
fn open() -> State {
    let mut state = State::default();
    let input = Input::Opened { session: session("one"), principal: principal("ada") };
    assert!(tell(&mut state, input).is_empty());
    state
}

/// Tells a host's approvals something, and looks at all of their invariants.
fn tell(state: &mut State, input: Input) -> Vec<Effect> {
    let step = Approval::step(core::mem::take(state), input);
    *state = step.state;
    assert_eq!(state.check(), Ok(()));
    step.effects
}

fn shown(question: u64, number: u8) -> Vec<Effect> {
    Vec::from([Effect::Ask { question: QuestionId(question), request: request(number) }])
}

fn allowed(number: u8, grounds: Grounds) -> Effect {
    Effect::Allow { request: request(number), grounds }
}

fn denied(number: u8, refusal: Refusal) -> Effect {
    Effect::Deny { request: request(number), refusal }
}

/// A host in which Ada has allowed her call for the session, at this time.
fn allowing(now: u64) -> State {
    let mut state = open();
    assert_eq!(tell(&mut state, asked(now, ask(1))), shown(0, 1));
    let answer = tell(&mut state, decided(now, 0, Answer::ForSession));
    assert_eq!(answer, [allowed(1, Grounds::Person(QuestionId(0)))]);
    assert_eq!((state.allows(), state.questions()), (1, 0));
    state
}

/// Whether a call is let through by what was said before.
fn is_remembered(state: &State, now: u64, ask: Ask) -> bool {
    let mut state = state.clone();
    let number = ask.request;
    let remembered = Grounds::Session { original: request(1) };
    let yes = [Effect::Allow { request: number, grounds: remembered }];
    tell(&mut state, asked(now, ask)) == yes
}
