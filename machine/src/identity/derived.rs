//! Identifiers derived from their parents, so that the same decision has the same name twice.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::{ConversationId, Epoch, IdempotencyKey, PrincipalId, StepName, Turn};
use crate::digest::{Digest, Hasher, hex};

macro_rules! derived {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// 128 bits, shown as 32 hexadecimal digits.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(#[serde(with = "crate::digest::spelled")] pub [u8; 16]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                hex(f, &self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                hex(f, &self.0[..4])?;
                f.write_str("…")
            }
        }
    )*};
}

derived! {
    /// One accepted submission: conversation, principal and idempotency key.
    SubmissionId;
    /// The one run of a submission.
    RunId;
    /// One ownership period of a submission: submission and epoch.
    AttemptId;
    /// One tool call: run, turn and index in the response. The provider's own id is a label only.
    ToolCallId;
    /// One step of a durable call: call and name, whatever its version and however often its body
    /// runs (DUR-010). What a body does under its key can be done once.
    StepKey;
    /// One request for approval: call, parameters and policy version. Whoever names it has named all
    /// three (AUTH-13).
    ApprovalId;
    /// What a child may use up: parent run and call (SUB-010).
    ReservationId;
    /// One canonical record.
    RecordId;
    /// One atomic batch: conversation and its record ids in order.
    BatchId;
    /// Proof of one claim. Recorded entropy, never derived.
    Token;
}

impl SubmissionId {
    /// The submission that `principal` names `key` in `conversation`.
    #[must_use]
    pub fn derive(
        conversation: &ConversationId,
        principal: &PrincipalId,
        key: &IdempotencyKey,
    ) -> Self {
        let hasher = Hasher::new("everstep/submission")
            .bytes(conversation.as_str().as_bytes())
            .bytes(principal.as_str().as_bytes())
            .bytes(key.as_str().as_bytes());
        Self(hasher.id())
    }

    /// The submission that tries `submission` again (DUR-018). No client can name one like this, so
    /// nobody is there before.
    #[must_use]
    pub fn retry_of(submission: Self) -> Self {
        Self(Hasher::new("everstep/retry").bytes(&submission.0).id())
    }
}

impl RunId {
    /// The run of a submission.
    #[must_use]
    pub fn derive(submission: SubmissionId) -> Self {
        Self(Hasher::new("everstep/run").bytes(&submission.0).id())
    }
}

impl AttemptId {
    /// The attempt at a submission under one epoch.
    #[must_use]
    pub fn derive(submission: SubmissionId, epoch: Epoch) -> Self {
        Self(Hasher::new("everstep/attempt").bytes(&submission.0).number(epoch.0).id())
    }
}

impl ToolCallId {
    /// The call at `index` of the response of one turn (RUN-034).
    #[must_use]
    pub fn derive(run: RunId, turn: Turn, index: usize) -> Self {
        let hasher = Hasher::new("everstep/tool-call")
            .bytes(&run.0)
            .number(u64::from(turn.0))
            .number(index as u64);
        Self(hasher.id())
    }
}

impl ReservationId {
    /// The reservation for the child that a call of a run starts.
    #[must_use]
    pub fn derive(run: RunId, call: ToolCallId) -> Self {
        Self(Hasher::new("everstep/reservation-id").bytes(&run.0).bytes(&call.0).id())
    }
}

impl StepKey {
    /// The step that a call names so.
    #[must_use]
    pub fn derive(call: ToolCallId, name: &StepName) -> Self {
        Self(Hasher::new("everstep/step").bytes(&call.0).bytes(name.as_str().as_bytes()).id())
    }
}

impl ApprovalId {
    /// The request about a call with exactly these parameters, under one version of the policy.
    #[must_use]
    pub fn derive(call: ToolCallId, parameters: Digest, policy: Digest) -> Self {
        let hasher =
            Hasher::new("everstep/approval").bytes(&call.0).bytes(&parameters.0).bytes(&policy.0);
        Self(hasher.id())
    }
}

impl BatchId {
    /// The batch of these records in this conversation.
    #[must_use]
    pub fn derive(conversation: &ConversationId, records: &[RecordId]) -> Self {
        let hasher = Hasher::new("everstep/batch").bytes(conversation.as_str().as_bytes());
        Self(records.iter().fold(hasher, |hasher, record| hasher.bytes(&record.0)).id())
    }
}
