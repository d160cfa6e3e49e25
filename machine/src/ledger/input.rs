//! What a ledger can be asked, and how it answers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::approval::{DecisionIntent, Suspension};
use super::slice::Change;
use super::state::{AbortIntent, Reserved, ResolutionIntent};
use crate::agent::{Allowance, Verdict};
use crate::digest::{Digest, Hasher};
use crate::identity::{
    AdmissionSequence, AgentId, ApprovalId, DurationMs, Epoch, IdempotencyKey, PrincipalId,
    ProducerId, SubmissionId, TenantId, Timestamp, Token,
};
use crate::json::CanonicalJson;
use crate::record::{CanonicalSettlement, Doubt};

/// What a client submits, as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Admission {
    /// Derived from conversation, principal and key: equal keys are equal submissions.
    pub submission: SubmissionId,
    /// Who submits.
    pub principal: PrincipalId,
    /// Whose data it is.
    pub tenant: TenantId,
    /// The client's name for it.
    pub key: IdempotencyKey,
    /// The agent that is to answer.
    pub agent: AgentId,
    /// Digest of agent, input and allowance: an equal key with another payload is a conflict.
    pub payload: Digest,
    /// The input.
    pub input: CanonicalJson,
    /// How much less its run may use than the agent's policy allows.
    pub allowance: Allowance,
}

impl Admission {
    /// The digest of what is submitted.
    #[must_use]
    pub fn payload_of(agent: &AgentId, input: &CanonicalJson, allowance: &Allowance) -> Digest {
        Hasher::new("everstep/payload")
            .bytes(agent.as_str().as_bytes())
            .bytes(input.as_str().as_bytes())
            .bytes(&allowance.to_bytes())
            .digest()
    }
}

/// Ownership of a lane, as its owner proves it (DUR-006).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ownership {
    /// The row that was claimed.
    pub submission: SubmissionId,
    /// The claim's token.
    pub token: Token,
    /// The claim's epoch.
    pub epoch: Epoch,
}

/// A claim of a lane for one of its rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The row that was read.
    pub submission: SubmissionId,
    /// The lane's epoch that was read; the claim takes the next one.
    pub expected: Epoch,
    /// Fresh entropy: a replay of this very claim is known by it.
    pub token: Token,
    /// Who claims.
    pub producer: ProducerId,
    /// How long the lease lasts.
    pub lease: DurationMs,
    /// The last epoch that got the row anywhere, as the log says that was read.
    pub productive: Option<Epoch>,
}

/// A command for one lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Accept a submission at the end of the lane.
    Admit(Arc<Admission>),
    /// Its conversation is durable: it may run (DUR-001).
    Ready {
        /// Which row.
        submission: SubmissionId,
    },
    /// Own the lane, under a strictly higher epoch.
    Claim(Claim),
    /// Own it for longer; the token stays. Succeeds after expiry if nobody superseded it.
    Renew {
        /// Whose lease.
        owner: Ownership,
        /// From now.
        lease: DurationMs,
    },
    /// Own it no longer.
    Release {
        /// Whose lane.
        owner: Ownership,
    },
    /// The input is canonical.
    MarkInput {
        /// The owner.
        owner: Ownership,
    },
    /// Somebody wants the submission to end. Needs no ownership; the first intent wins.
    Abort {
        /// Which row.
        submission: SubmissionId,
        /// What is wanted.
        intent: AbortIntent,
    },
    /// These doubts are canonical: the row waits for resolutions (DUR-017).
    MarkUnknown {
        /// The owner.
        owner: Ownership,
        /// Which; marks merge.
        doubts: Vec<Doubt>,
    },
    /// Somebody closes a doubt. Needs no ownership; the first intent wins.
    Resolve {
        /// Which row.
        submission: SubmissionId,
        /// Exactly which doubt.
        doubt: Doubt,
        /// How, by whom and why.
        intent: ResolutionIntent,
    },
    /// These resolutions are canonical.
    CoverUnknown {
        /// The owner.
        owner: Ownership,
        /// Which.
        doubts: Vec<Doubt>,
    },
    /// These requests are canonical: the row waits for decisions (CAP-006).
    Suspend {
        /// The owner.
        owner: Ownership,
        /// Which; marks merge.
        requests: Vec<Suspension>,
    },
    /// Somebody decides a request. Needs no ownership; the first intent wins (AUTH-14).
    Decide {
        /// Which row.
        submission: SubmissionId,
        /// Exactly which request: its id names call, parameters and policy.
        request: ApprovalId,
        /// How, by whom and why.
        intent: DecisionIntent,
    },
    /// The time of these requests is over and nobody has decided them: now nobody can.
    Expire {
        /// The owner.
        owner: Ownership,
        /// Which.
        requests: Vec<ApprovalId>,
    },
    /// These decisions are canonical.
    CoverApprovals {
        /// The owner.
        owner: Ownership,
        /// Of which requests.
        requests: Vec<ApprovalId>,
    },
    /// Fix the one exact settlement (DUR-011). The first write wins.
    Reserve {
        /// The owner.
        owner: Ownership,
        /// The record to append.
        reserved: Reserved,
    },
    /// The settlement is canonical: the row ends and the lane is free.
    Finalize {
        /// The owner.
        owner: Ownership,
        /// The proof.
        settlement: CanonicalSettlement,
    },
}

/// A command with the store's time, which only a store can give.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stamped {
    /// The command.
    pub command: Command,
    /// The store's clock. It may jump; the lane's stamp never falls.
    pub now: Timestamp,
}

/// Which rows of a lane a command needs to see, beside the lane itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// The row of this submission.
    Submission(SubmissionId),
    /// The row of this submission, and for each [`super::Standing`] that can be claimed the
    /// lowest row of that standing.
    Candidates(Option<SubmissionId>),
}

impl Command {
    /// Which rows this command needs to see.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        match self {
            Self::Admit(admission) => Footprint::Submission(admission.submission),
            Self::Claim(claim) => Footprint::Candidates(Some(claim.submission)),
            Self::Ready { submission }
            | Self::Abort { submission, .. }
            | Self::Resolve { submission, .. }
            | Self::Decide { submission, .. } => Footprint::Submission(*submission),
            Self::Renew { owner, .. }
            | Self::Release { owner }
            | Self::MarkInput { owner }
            | Self::MarkUnknown { owner, .. }
            | Self::CoverUnknown { owner, .. }
            | Self::Suspend { owner, .. }
            | Self::Expire { owner, .. }
            | Self::CoverApprovals { owner, .. }
            | Self::Reserve { owner, .. }
            | Self::Finalize { owner, .. } => Footprint::Submission(owner.submission),
        }
    }
}

/// How a ledger answers a command that it accepts. A repeated command is answered as the first
/// time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Accepted; the position in the lane.
    Admitted(AdmissionSequence),
    /// Ready, or already beyond.
    Ready,
    /// Owned, under this epoch.
    Claimed(Epoch),
    /// Owned until then.
    Renewed(Timestamp),
    /// Not owned any more.
    Released,
    /// The marker stands.
    InputMarked,
    /// The intent that stands, which is the first one.
    AbortIntended(AbortIntent),
    /// The marks stand.
    UnknownMarked,
    /// The intent stands.
    Resolved,
    /// The marks are covered.
    UnknownCovered,
    /// The marks stand.
    Suspended,
    /// The decision stands.
    Decided,
    /// Nobody can decide the requests any more.
    Expired,
    /// The marks are covered.
    ApprovalsCovered,
    /// The settlement is fixed.
    Reserved,
    /// The row is settled.
    Finalized,
}

/// Why a ledger refuses a command. A refusal changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The lane has no such row.
    #[error("there is no such submission")]
    NoSuchSubmission,
    /// The key names a submission with another payload.
    #[error("the idempotency key names a submission with another payload")]
    IdempotencyConflict,
    /// The row is not the one that may be claimed now.
    #[error("the submission is not claimable now")]
    NotClaimable,
    /// The lane's epoch is not the expected one.
    #[error("the lane is at epoch {actual}")]
    EpochMoved {
        /// The lane's epoch.
        actual: Epoch,
    },
    /// The lane's lease has not expired.
    #[error("the lane is owned until {until}")]
    Owned {
        /// When the lease expires.
        until: Timestamp,
    },
    /// Token or epoch are not those of the lane's owner (DUR-006).
    #[error("the lane is not owned by this claim; it is at epoch {actual}")]
    OwnershipLost {
        /// The lane's epoch.
        actual: Epoch,
    },
    /// A settlement is reserved: the outcome is fixed.
    #[error("a settlement is reserved; the outcome is fixed")]
    RunClosing,
    /// The submission is settled.
    #[error("the submission is settled")]
    AlreadySettled,
    /// Nobody has asked for an abort, so an aborted outcome cannot be reserved.
    #[error("no abort is intended")]
    NoAbort,
    /// An abort is intended, so only an aborted outcome can be reserved.
    #[error("an abort is intended")]
    AbortIntended,
    /// An unknown outcome is open, so only an aborted outcome can be reserved.
    #[error("an unknown outcome is open")]
    UnknownOpen,
    /// Not enough owners of the row have died in a row for it to be given up.
    #[error("the submission has attempts left")]
    AttemptsLeft,
    /// The row cannot be in the state that the command supposes.
    #[error("the submission has not started")]
    NotRunning,
    /// Another settlement is reserved.
    #[error("another settlement is reserved")]
    ReservationConflict,
    /// The settlement is another row's, or not the one that is reserved or finalized.
    #[error("the settlement is not this submission's one settlement")]
    SettlementDiffers,
    /// The row has no mark for this doubt.
    #[error("there is no such unknown outcome")]
    NoSuchDoubt,
    /// A reason has more than [`crate::limits::TEXT_BYTES`] bytes, or a diagnostic is over its bounds: it would
    /// fit no canonical record.
    #[error("the reason or the diagnostic is too long for a canonical record")]
    TooLong,
    /// The doubt was closed differently before.
    #[error("the unknown outcome was resolved differently before")]
    ResolutionConflict,
    /// The row does not wait for this request.
    #[error("there is no such request for approval")]
    NoSuchApproval,
    /// The request was decided before, differently or by somebody else.
    #[error("the request was decided before: it is {}", match verdict {
        Verdict::Approved => "approved",
        Verdict::Denied => "denied",
    })]
    AlreadyDecided {
        /// The decision that stands.
        verdict: Verdict,
    },
    /// The request's time is over.
    #[error("the request for approval has expired")]
    ApprovalExpired,
    /// The request's time is not over.
    #[error("the request for approval stands until {until}")]
    NotExpired {
        /// When it is; the end of time if it never is.
        until: Timestamp,
    },
    /// The request names somebody else who alone may decide it.
    #[error("somebody else has to decide this request")]
    NotTheApprover,
}

/// What a step of the machine asks for: changes to write exactly as they are, and then exactly
/// one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// To be written.
    Change(Change),
    /// The command was accepted.
    Reply(Reply),
    /// The command was refused, and nothing changes.
    Refuse(Refusal),
}
