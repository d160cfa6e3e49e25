//! Who is who: identifiers that others chose, identifiers that are derived, and counters.
//!
//! Names come from people and other systems ([`ConversationId`], [`AgentId`], …). What must
//! survive a crash is *derived* from its parents ([`SubmissionId`], [`ToolCallId`], …), so a
//! second execution of the same decision yields the same bytes. No identifier is authority.

mod counters;
mod derived;
mod named;

pub use counters::{AdmissionSequence, DurationMs, Epoch, Revision, Sequence, Timestamp, Turn};
pub use derived::{
    ApprovalId, AttemptId, BatchId, RecordId, ReservationId, RunId, StepKey, SubmissionId, Token,
    ToolCallId,
};
pub use named::{
    AgentId, CompactorVersion, ConversationId, GroupName, IdempotencyKey, NameError, PrincipalId,
    ProducerId, SessionId, StateKey, StepName, TenantId, ToolName,
};

#[cfg(test)]
mod tests;
