//! A refund desk: an agent with one tool of each class.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::admission::Call;
use crate::agent::{
    AgentDefinition, AgentPolicy, Allowance, Binding, ExecutionClass, ModelRetry, NamedStep,
    OnExhaustion, StepOutput, ToolDefinition,
};
use crate::digest::Digest;
use crate::identity::{
    AgentId, ConversationId, IdempotencyKey, PrincipalId, ProducerId, StepName, SubmissionId,
    TenantId, ToolName,
};
use crate::json::CanonicalJson;
use crate::limits::RESPONSE_CALLS;

/// The steps of the durable tool of [`booking`].
pub(crate) const BOOK: [&str; 3] = ["hold", "charge", "send"];

/// A step in its version 1 that gives its own name.
pub(crate) fn step(name: &str) -> Arc<StepOutput> {
    let step = NamedStep { name: StepName::new(name).unwrap(), version: 1 };
    Arc::new(StepOutput { step, output: text(name) })
}

pub(crate) fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).unwrap()
}

/// Tools: `look` (readonly), `file` (idempotent), `pay` (ordinary), `wire` (ordinary, with a
/// reconciler). At most four turns.
pub(crate) fn binding() -> Arc<Binding> {
    let tool = |name, class, reconciles| ToolDefinition {
        reconciles,
        ..ToolDefinition::new(ToolName::new(name).unwrap(), class)
    };
    let tools = alloc::vec![
        tool("look", ExecutionClass::Readonly, false),
        tool("file", ExecutionClass::Idempotent, false),
        tool("pay", ExecutionClass::Ordinary, false),
        tool("wire", ExecutionClass::Ordinary, true),
    ];
    bound(tools, policy())
}

/// The same desk with one tool more: `book`, which is durable and has the steps of [`BOOK`].
pub(crate) fn booking() -> Arc<Binding> {
    let book = ToolDefinition::new(ToolName::new("book").unwrap(), ExecutionClass::Durable);
    let desk = binding();
    let tools = desk.definition.tools().iter().cloned().chain([book]).collect();
    bound(tools, policy())
}

/// An agent with these tools and this policy.
pub(crate) fn bound(tools: Vec<ToolDefinition>, policy: AgentPolicy) -> Arc<Binding> {
    let id = AgentId::new("desk").unwrap();
    let definition = AgentDefinition::with_policy(id, "You refund.", tools, policy).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"scripted") })
}

/// The same agent under another policy.
pub(crate) fn under(policy: AgentPolicy) -> Arc<Binding> {
    bound(binding().definition.tools().to_vec(), policy)
}

/// Four turns and not one more, no second try, and a place for every call.
pub(crate) fn policy() -> AgentPolicy {
    let usual = AgentPolicy::default();
    AgentPolicy {
        allowance: Allowance { turns: Some(4), ..Allowance::default() },
        on_exhaustion: OnExhaustion::Fail,
        repeated_failures: 0,
        parallel_calls: RESPONSE_CALLS as u32,
        retry: ModelRetry { retries: 0, ..usual.retry },
        ..usual
    }
}

pub(crate) fn call(key: &str, input: &str) -> Call {
    Call {
        conversation: ConversationId::new("main").unwrap(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        input: text(input),
        allowance: Allowance::default(),
        steers: None,
        binding: binding(),
        producer: ProducerId::new("front").unwrap(),
    }
}

pub(crate) fn submission(key: &str) -> SubmissionId {
    call(key, "").submission()
}
