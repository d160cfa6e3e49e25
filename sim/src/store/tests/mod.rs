//! The store in memory, by requirement.

mod commands;
mod defects;
mod prints;
mod profiles;

use std::sync::Arc;

use everstep_machine::admission::{AdmissionMachine, Call, Effect, Input, State};
use everstep_machine::agent::{AgentDefinition, Binding};
use everstep_machine::contract::Machine;
use everstep_machine::conversation::{Command as LogCommand, Reply as LogReply, Tail, TailRef};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, Epoch, IdempotencyKey, PrincipalId, ProducerId,
    SubmissionId, TenantId, Timestamp, Token,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{Claim, Command, Ownership};
use everstep_machine::record::{AbortRequested, Batch, Record};
use everstep_machine::store::{Pipeline, Replies, Reply, Store, StoreCommand, StoreFault};

use super::{MemoryStore, Shelf};
use crate::defect::Defect;
use crate::profile::Profile;

pub(super) const LEASE: DurationMs = DurationMs(1_000);

pub(super) fn conversation() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

pub(super) fn principal() -> PrincipalId {
    PrincipalId::new("ada").unwrap()
}

pub(super) fn producer() -> ProducerId {
    ProducerId::new("worker").unwrap()
}

fn call(key: &str) -> Call {
    let agent = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::new(agent, "", Vec::new(), 1).unwrap();
    Call {
        conversation: conversation(),
        principal: principal(),
        tenant: TenantId::new("acme").unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        input: CanonicalJson::string("hello").unwrap(),
        allowance: everstep_machine::agent::Allowance::default(),
        steers: None,
        binding: Arc::new(Binding { definition, model: Digest::ZERO }),
        producer: producer(),
    }
}

pub(super) fn submission(key: &str) -> SubmissionId {
    SubmissionId::derive(&conversation(), &principal(), &IdempotencyKey::new(key).unwrap())
}

/// Admit, materialize, ready: as the admission sends it.
pub(super) fn admission(key: &str) -> Pipeline {
    let step = AdmissionMachine::step(State::new(call(key)), Input::Started);
    match step.effects.into_iter().next() {
        Some(Effect::Store(pipeline)) => pipeline,
        other => panic!("an admission begins with its pipeline, not with {other:?}"),
    }
}

pub(super) fn pipeline(commands: Vec<StoreCommand>) -> Pipeline {
    Pipeline { lane: conversation(), commands }
}

pub(super) fn claim(key: &str, expected: u64, token: u8) -> StoreCommand {
    StoreCommand::Ledger(Command::Claim(Claim {
        submission: submission(key),
        expected: Epoch(expected),
        token: Token([token; 16]),
        producer: producer(),
        lease: LEASE,
        productive: None,
    }))
}

pub(super) fn owner(key: &str, epoch: u64, token: u8) -> Ownership {
    let (submission, token) = (submission(key), Token([token; 16]));
    Ownership { submission, token, epoch: Epoch(epoch) }
}

pub(super) fn fence(epoch: u64, expected: TailRef) -> StoreCommand {
    StoreCommand::Conversation(LogCommand::Fence { epoch: Epoch(epoch), expected })
}

/// A batch that no other number has.
pub(super) fn batch(number: u32) -> Arc<Batch> {
    let record = AbortRequested {
        submission: submission(&number.to_string()),
        principal: principal(),
        reason: Arc::from("enough"),
    };
    Arc::new(Batch::new(&conversation(), vec![Record::AbortRequested(record)]).unwrap())
}

pub(super) fn append(epoch: u64, expected: TailRef, batch: &Arc<Batch>) -> StoreCommand {
    StoreCommand::Conversation(LogCommand::Append {
        epoch: Epoch(epoch),
        producer: producer(),
        expected,
        batch: Arc::clone(batch),
    })
}

/// A store in which `a` was admitted.
pub(super) fn admitted(profile: Profile, defect: Option<Defect>) -> MemoryStore {
    let mut store = MemoryStore::new(profile, defect);
    store.execute(&admission("a")).unwrap();
    store
}

pub(super) fn shelf(store: &MemoryStore) -> &Shelf {
    store.shelf(&conversation()).unwrap()
}

pub(super) fn tail(store: &MemoryStore) -> Tail {
    shelf(store).log().tail().unwrap()
}

pub(super) fn execute(
    store: &mut MemoryStore,
    commands: Vec<StoreCommand>,
) -> Result<Replies, StoreFault> {
    store.execute(&pipeline(commands))
}

pub(super) fn appended(replies: &Replies) -> Option<Tail> {
    replies.iter().rev().find_map(|reply| match reply {
        Reply::Conversation(LogReply::Appended(tail)) => Some(*tail),
        _ => None,
    })
}

/// Sets the clock and executes.
pub(super) fn execute_at(
    store: &mut MemoryStore,
    now: u64,
    commands: Vec<StoreCommand>,
) -> Result<Replies, StoreFault> {
    store.set_clock(Timestamp(now));
    execute(store, commands)
}
