//! A refund desk: an agent with one tool of each class.

use alloc::sync::Arc;

use crate::admission::Call;
use crate::agent::{AgentDefinition, Binding, ExecutionClass, ToolDefinition};
use crate::digest::Digest;
use crate::identity::{
    AgentId, ConversationId, IdempotencyKey, PrincipalId, ProducerId, SubmissionId, TenantId,
    ToolName,
};
use crate::json::CanonicalJson;

pub(crate) fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).unwrap()
}

/// Tools: `look` (readonly), `file` (idempotent), `pay` (ordinary), `wire` (ordinary, with a
/// reconciler). At most four turns.
pub(crate) fn binding() -> Arc<Binding> {
    let tool = |name, class, reconciles| ToolDefinition {
        name: ToolName::new(name).unwrap(),
        class,
        reconciles,
    };
    let tools = alloc::vec![
        tool("look", ExecutionClass::Readonly, false),
        tool("file", ExecutionClass::Idempotent, false),
        tool("pay", ExecutionClass::Ordinary, false),
        tool("wire", ExecutionClass::Ordinary, true),
    ];
    let id = AgentId::new("desk").unwrap();
    let definition = AgentDefinition::new(id, "You refund.", tools, 4).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"scripted") })
}

pub(crate) fn call(key: &str, input: &str) -> Call {
    Call {
        conversation: ConversationId::new("main").unwrap(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        input: text(input),
        binding: binding(),
        producer: ProducerId::new("front").unwrap(),
    }
}

pub(crate) fn submission(key: &str) -> SubmissionId {
    call(key, "").submission()
}
