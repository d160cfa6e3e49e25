//! Canonical records: the closed set of facts that a Conversation Log can hold.
//!
//! Records are appended in atomic [`Batch`]es. Everything durable about a run is a fold over
//! them; nothing else is a source of truth (DUR-015).

mod batch;
mod codec;
mod identity;
mod kind;
mod settlement;

use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::{
    Allowance, ApprovalTerms, Bound, ModelResponse, Resolution, Risk, StepOutput, ToolOutcome,
    Usage, Verdict,
};
use crate::approval::Rule;
use crate::authority::CapabilityKey;
use crate::digest::Digest;
use crate::identity::{
    AgentId, ApprovalId, ConversationId, Epoch, PrincipalId, RunId, Sequence, SubmissionId,
    TenantId, Timestamp, ToolCallId, ToolName, Turn,
};
use crate::json::CanonicalJson;

pub use batch::{Batch, BatchError, Corruption, Envelope, StoredBatch};
pub use codec::{CodecError, SCHEMA_VERSION, decode_records, encode_records};
pub use kind::BatchKind;
pub use settlement::{
    CanonicalSettlement, FinishKind, Outcome, PolicyLimit, Settlement, SettlementError,
};

/// The first record of every conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConversationCreated {
    /// Which conversation.
    pub conversation: ConversationId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The agent that answers in it.
    pub agent: AgentId,
    /// Digest of the Agent Definition at creation.
    pub definition: Digest,
    /// Digest of the model at creation.
    pub model: Digest,
    /// Digest of the tools at creation.
    pub tools: Digest,
}

/// An input of a run became canonical.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InputRecorded {
    /// Which submission brought it.
    pub submission: SubmissionId,
    /// Whose it is.
    pub principal: PrincipalId,
    /// The run that it feeds.
    pub run: RunId,
    /// What was submitted.
    pub input: CanonicalJson,
    /// How it got into the run.
    pub kind: InputKind,
    /// What the store's clock read when that was decided: a run's duration counts from its first
    /// input (RUN-027).
    pub at: Timestamp,
    /// How much less the run may use than its agent's policy allows.
    pub allowance: Allowance,
}

/// How an input gets into a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InputKind {
    /// It began the run, which is bound to this from then on.
    First {
        /// What the run is bound to.
        bound: Bound,
    },
    /// It was sent to a run that was going on, and came before its next request (RUN-012).
    Steering {
        /// The submission that began the run.
        host: SubmissionId,
    },
    /// It waited, and came when the run would otherwise have stopped (RUN-013).
    FollowUp {
        /// The submission that began the run.
        host: SubmissionId,
    },
}

impl InputKind {
    /// The submission that began the run, if it is another one.
    #[must_use]
    pub const fn host(self) -> Option<SubmissionId> {
        match self {
            Self::First { .. } => None,
            Self::Steering { host } | Self::FollowUp { host } => Some(host),
        }
    }
}

/// A model answered, completely.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelResponded {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which turn.
    pub turn: Turn,
    /// Every part of the response.
    pub response: Arc<ModelResponse>,
}

/// A question of the model came to nothing: its answer was lost with whoever asked, broke on its
/// way, or is of no use. What it has used is counted all the same (BU-07).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelInterrupted {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which turn was asked for.
    pub turn: Turn,
    /// The epoch that says so.
    pub epoch: Epoch,
    /// How many questions for this turn had come to nothing before.
    pub ordinal: u32,
    /// Tokens that the lost question has used by its last word, or else is taken to have used.
    pub lost_tokens: u64,
    /// What it has cost by its last word, in millionths of the binding's currency.
    pub lost_cost_micros: u64,
}

/// Context was made smaller. What it covers stays in the log, and is shown no more (CAP-007).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CompactionCreated {
    /// Which submission.
    pub submission: SubmissionId,
    /// Before which turn.
    pub turn: Turn,
    /// Every message up to the turn that begins with this record is covered. A response and its
    /// results are one: no cut comes between them (RUN-023).
    pub through: Sequence,
    /// What is shown instead.
    pub compaction: Compaction,
    /// What making it used.
    pub usage: Option<Usage>,
}

/// What is shown instead of covered messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Compaction {
    /// The messages themselves, without what the tools returned.
    ResultsCleared,
    /// A summary of them.
    Summarized(Arc<str>),
}

impl CompactionCreated {
    pub(crate) fn summary_bytes(&self) -> usize {
        match &self.compaction {
            Compaction::ResultsCleared => 0,
            Compaction::Summarized(summary) => summary.len(),
        }
    }
}

/// Somebody has to say whether a call may start. Canonical before anybody learns of it (CAP-006).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// Which submission.
    pub submission: SubmissionId,
    /// The request: derived from the call, the digest of its parameters and the policy's.
    pub request: ApprovalId,
    /// Which call.
    pub call: ToolCallId,
    /// Digest of exactly these parameters (AUTH-13).
    pub parameters: Digest,
    /// The version of the policy that asks.
    pub policy: Digest,
    /// What the call takes, if that has to be granted.
    pub capability: Option<CapabilityKey>,
    /// How much harm the call can do.
    pub risk: Risk,
    /// What wants somebody to be asked.
    pub rule: Rule,
    /// What it is done to, if its tool says so.
    pub target: Option<Arc<str>>,
    /// The parameters, without what nobody is shown, cut to
    /// [`crate::limits::APPROVAL_PREVIEW_BYTES`].
    pub preview: Arc<str>,
    /// Until when it stands, what it comes to then, and who alone may decide it.
    pub terms: ApprovalTerms,
}

/// Who or what decided a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Resolver {
    /// A person.
    Person(PrincipalId),
    /// A policy, at once.
    Policy,
    /// Nobody, in time.
    Expiry,
    /// The end of the submission, which was asked for first.
    Abort,
    /// What a person has allowed for the session (AUTH-10).
    Session {
        /// The request that was decided then.
        original: ApprovalId,
    },
}

/// A request was decided (CAP-006). Canonical before it is honoured.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which request.
    pub request: ApprovalId,
    /// Whether the call may start.
    pub verdict: Verdict,
    /// Who says so.
    pub resolver: Resolver,
    /// Why.
    pub reason: Arc<str>,
}

/// A call of a class other than readonly is about to start.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolPrepared {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which call.
    pub call: ToolCallId,
    /// The epoch under which it starts: at most one start of a call an epoch.
    pub epoch: Epoch,
    /// Which tool.
    pub tool: ToolName,
    /// Digest of exactly these parameters.
    pub parameters: Digest,
}

/// A step of a durable call has succeeded, and its body is not run again (DUR-010).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StepRecorded {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which call.
    pub call: ToolCallId,
    /// How many steps of the call were recorded before: they follow each other.
    pub ordinal: u32,
    /// Which step, and what it gave: at most [`crate::limits::STEP_OUTPUT_BYTES`].
    pub output: Arc<StepOutput>,
    /// Digest of what it gave.
    pub digest: Digest,
}

/// The one terminal result of a call (ARC-03).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolSettled {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which call.
    pub call: ToolCallId,
    /// How it ended.
    pub outcome: Arc<ToolOutcome>,
}

/// The effect of one start may have happened and is not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Doubt {
    /// Which call.
    pub call: ToolCallId,
    /// The epoch of the start in doubt. Doubt belongs to a start, not to a call.
    pub start: Epoch,
}

/// A doubt became canonical.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolUnknown {
    /// Which submission.
    pub submission: SubmissionId,
    /// Which start of which call.
    pub doubt: Doubt,
}

/// A doubt was closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolResolved {
    /// Which submission.
    pub submission: SubmissionId,
    /// Exactly the doubt that is closed; a later start of the call is a new one.
    pub doubt: Doubt,
    /// How.
    pub resolution: Arc<Resolution>,
    /// By whom.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

/// Somebody asked for an abort.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AbortRequested {
    /// Which submission.
    pub submission: SubmissionId,
    /// By whom.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

/// What an attempt decided on taking over (DUR-013).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecoveryDecided {
    /// Which submission.
    pub submission: SubmissionId,
    /// The epoch that decides.
    pub epoch: Epoch,
    /// The row of the classifier's table that matched.
    pub row: u8,
}

/// A run goes on under another binding, because somebody said so. Canonical before it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunRebound {
    /// Which submission.
    pub submission: SubmissionId,
    /// Where in the log the binding stands that is replaced: at its input, or at the rebinding
    /// before.
    pub replaces: Sequence,
    /// What the run was bound to.
    pub from: Bound,
    /// What it is bound to from now on.
    pub to: Bound,
    /// Who wanted it.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

/// The submission ended, once (DUR-002).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubmissionSettled {
    /// Which submission.
    pub submission: SubmissionId,
    /// Its run; none when it was aborted before its input was canonical.
    pub run: Option<RunId>,
    /// How it ended.
    pub settlement: Settlement,
}

/// A canonical fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record {
    /// The first record of a conversation.
    ConversationCreated(ConversationCreated),
    /// An input became canonical.
    InputRecorded(InputRecorded),
    /// A model answered.
    ModelResponded(ModelResponded),
    /// A question of the model came to nothing.
    ModelInterrupted(ModelInterrupted),
    /// A call is about to start.
    ToolPrepared(ToolPrepared),
    /// A call ended.
    ToolSettled(ToolSettled),
    /// A start is in doubt.
    ToolUnknown(ToolUnknown),
    /// A doubt was closed.
    ToolResolved(ToolResolved),
    /// An abort was asked for.
    AbortRequested(AbortRequested),
    /// An attempt took over.
    RecoveryDecided(RecoveryDecided),
    /// The submission ended.
    SubmissionSettled(SubmissionSettled),
    /// Context was made smaller.
    CompactionCreated(CompactionCreated),
    /// Somebody has to say whether a call may start.
    ApprovalRequested(ApprovalRequested),
    /// A request was decided.
    ApprovalDecided(ApprovalDecided),
    /// A step of a call has succeeded.
    StepRecorded(StepRecorded),
    /// A run goes on under another binding.
    RunRebound(RunRebound),
}

#[cfg(test)]
pub(crate) mod strategies;
#[cfg(test)]
mod tests;
