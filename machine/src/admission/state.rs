//! What an admission knows.

use alloc::sync::Arc;

use crate::agent::{Allowance, Binding};
use crate::conversation;
use crate::identity::{
    ConversationId, Epoch, IdempotencyKey, PrincipalId, ProducerId, SubmissionId, TenantId,
};
use crate::json::CanonicalJson;
use crate::ledger::{self, Admission};
use crate::record::{Batch, BatchError, ConversationCreated, Record};
use crate::store::{Pipeline, StoreCommand};

/// What a client submits, with the binding that a host chose for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The conversation.
    pub conversation: ConversationId,
    /// Who submits.
    pub principal: PrincipalId,
    /// Whose data it is.
    pub tenant: TenantId,
    /// The client's name for the submission.
    pub key: IdempotencyKey,
    /// The input.
    pub input: CanonicalJson,
    /// How much less the run may use than the agent's policy allows (RUN-018).
    pub allowance: Allowance,
    /// The submission whose run it is meant for, if that still asks its model again (RUN-012).
    pub steers: Option<SubmissionId>,
    /// The agent that is to answer.
    pub binding: Arc<Binding>,
    /// The process that serves the call.
    pub producer: ProducerId,
}

/// An admission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing was sent.
    Idle(Arc<Call>),
    /// The whole admission was sent, and will be sent again until it is answered.
    Sent(Pipeline),
    /// The client has its answer.
    Done,
}

impl State {
    /// An admission that has not begun.
    #[must_use]
    pub fn new(call: Call) -> Self {
        Self::Idle(Arc::new(call))
    }
}

impl Call {
    /// The submission's id: the same for every repetition of the call.
    #[must_use]
    pub fn submission(&self) -> SubmissionId {
        SubmissionId::derive(&self.conversation, &self.principal, &self.key)
    }

    /// Everything an admission needs of the store, in one pipeline.
    pub(super) fn pipeline(&self) -> Result<Pipeline, BatchError> {
        let submission = self.submission();
        let agent = self.binding.definition.id().clone();
        let payload = Admission::payload_of(&agent, &self.input, &self.allowance, self.steers);
        let admission = Admission {
            submission,
            principal: self.principal.clone(),
            tenant: self.tenant.clone(),
            key: self.key.clone(),
            agent,
            payload,
            input: self.input.clone(),
            allowance: self.allowance,
            steers: self.steers,
        };
        let creation = creation(&self.binding, &self.conversation, &self.tenant)?;
        let materialize = conversation::Command::Materialize {
            epoch: Epoch(0),
            producer: self.producer.clone(),
            created: Arc::new(creation),
        };
        let commands = alloc::vec![
            StoreCommand::Ledger(ledger::Command::Admit(Arc::new(admission))),
            StoreCommand::Conversation(materialize),
            StoreCommand::Ledger(ledger::Command::Ready { submission }),
        ];
        Ok(Pipeline { lane: self.conversation.clone(), commands })
    }
}

/// Everything that saying something to a run needs of the store, in one pipeline (RUN-012). The
/// conversation is there, since the run is. It may be sent again: equal keys are equal submissions.
#[must_use]
pub fn saying(
    conversation: &ConversationId,
    host: &Admission,
    principal: PrincipalId,
    key: IdempotencyKey,
    input: CanonicalJson,
) -> Pipeline {
    let submission = SubmissionId::derive(conversation, &principal, &key);
    let (agent, steers) = (host.agent.clone(), Some(host.submission));
    let allowance = Allowance::default();
    let payload = Admission::payload_of(&agent, &input, &allowance, steers);
    let tenant = host.tenant.clone();
    let said =
        Admission { submission, principal, tenant, key, agent, payload, input, allowance, steers };
    let commands = alloc::vec![
        StoreCommand::Ledger(ledger::Command::Admit(Arc::new(said))),
        StoreCommand::Ledger(ledger::Command::Ready { submission }),
    ];
    Pipeline { lane: conversation.clone(), commands }
}

/// The first batch of a conversation: the same for whoever creates it under one binding.
pub(crate) fn creation(
    binding: &Binding,
    conversation: &ConversationId,
    tenant: &TenantId,
) -> Result<Batch, BatchError> {
    let created = ConversationCreated {
        conversation: conversation.clone(),
        tenant: tenant.clone(),
        agent: binding.definition.id().clone(),
        definition: binding.definition.definition_digest(),
        model: binding.model,
        tools: binding.definition.tools_digest(),
    };
    Batch::new(conversation, alloc::vec![Record::ConversationCreated(created)])
}
