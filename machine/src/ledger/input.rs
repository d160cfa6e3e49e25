//! What a ledger can be asked, and how it answers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::approval::{DecisionIntent, Suspension};
use super::compat::{Mismatch, RebindIntent};
use super::retry::{Retried, RetryIntent};
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
    /// Derived from conversation, principal and key: equal keys are equal submissions. That of a
    /// retry is derived from the submission that it tries again.
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
    /// The submission whose run it is meant for, if that still asks its model again (RUN-012).
    pub steers: Option<SubmissionId>,
}

impl Admission {
    /// The digest of what is submitted.
    #[must_use]
    pub fn payload_of(
        agent: &AgentId,
        input: &CanonicalJson,
        allowance: &Allowance,
        steers: Option<SubmissionId>,
    ) -> Digest {
        Hasher::new("everstep/payload")
            .bytes(agent.as_str().as_bytes())
            .bytes(input.as_str().as_bytes())
            .bytes(&allowance.to_bytes())
            .bytes(steers.as_ref().map_or(&[][..], |host| &host.0))
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
    /// Take another row into the owner's run: its input is about to become canonical there.
    Join {
        /// The owner, whose row is the host.
        owner: Ownership,
        /// The row that joins.
        joining: SubmissionId,
    },
    /// Its input is canonical in the owner's run.
    MarkJoined {
        /// The owner, whose row is the host.
        owner: Ownership,
        /// The row that has joined.
        joined: SubmissionId,
    },
    /// Its input did not become canonical: it waits again (DUR-016).
    RevertJoin {
        /// The owner, whose row is the host.
        owner: Ownership,
        /// The row that was joining.
        joining: SubmissionId,
    },
    /// Its settlement is canonical, with that of its host.
    SettleJoined {
        /// The owner, whose row is the host.
        owner: Ownership,
        /// The proof.
        settlement: CanonicalSettlement,
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
    /// Somebody wants what was given up to be tried again. Needs no ownership; the first intent
    /// wins (DUR-018).
    Retry {
        /// Which row.
        submission: SubmissionId,
        /// Who, and why.
        intent: RetryIntent,
    },
    /// Somebody came with another binding than the run has, and left it alone. Needs no ownership.
    Incompatible {
        /// Which row.
        submission: SubmissionId,
        /// The lane's epoch that was read.
        epoch: Epoch,
        /// What the run wants, and what was at hand.
        mismatch: Mismatch,
        /// Who came.
        by: ProducerId,
    },
    /// Somebody wants the run to go on under another binding. Needs no ownership; the last intent
    /// counts.
    Rebind {
        /// Which row.
        submission: SubmissionId,
        /// Instead of which binding, under which, who and why.
        intent: RebindIntent,
    },
    /// The owner's binding is the run's: nobody waits for another owner any more.
    CoverIncompatible {
        /// The owner.
        owner: Ownership,
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
    /// The row of this submission, and of the one that it is about.
    Pair(SubmissionId, SubmissionId),
    /// The row of this host and of the submission that wants to join it, and the first row behind
    /// the host that waits for its turn.
    Joining(SubmissionId, SubmissionId),
    /// The row of this host, and every row that is attached to it.
    Attached(SubmissionId),
    /// The same, and what its run may take in: at most [`crate::limits::JOINED_A_RUN`] rows that
    /// steer it, and as many of the rows behind it that wait for their turn.
    Offered(SubmissionId),
}

impl Command {
    /// Which rows this command needs to see.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        match self {
            Self::Admit(admission) => match admission.steers {
                None => Footprint::Submission(admission.submission),
                Some(host) => Footprint::Pair(admission.submission, host),
            },
            Self::Claim(claim) => Footprint::Candidates(Some(claim.submission)),
            Self::Ready { submission }
            | Self::Abort { submission, .. }
            | Self::Resolve { submission, .. }
            | Self::Decide { submission, .. }
            | Self::Retry { submission, .. }
            | Self::Incompatible { submission, .. }
            | Self::Rebind { submission, .. } => Footprint::Submission(*submission),
            Self::Renew { owner, .. }
            | Self::Release { owner }
            | Self::MarkInput { owner }
            | Self::MarkUnknown { owner, .. }
            | Self::CoverUnknown { owner, .. }
            | Self::Suspend { owner, .. }
            | Self::Expire { owner, .. }
            | Self::CoverApprovals { owner, .. }
            | Self::CoverIncompatible { owner }
            | Self::Reserve { owner, .. } => Footprint::Submission(owner.submission),
            Self::Join { owner, joining } => Footprint::Joining(owner.submission, *joining),
            Self::MarkJoined { owner, joined: it } | Self::RevertJoin { owner, joining: it } => {
                Footprint::Pair(owner.submission, *it)
            }
            Self::SettleJoined { owner, settlement } => {
                Footprint::Pair(owner.submission, settlement.submission())
            }
            Self::Finalize { owner, .. } => Footprint::Attached(owner.submission),
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
    /// The row is being taken in.
    Joining,
    /// The row is part of the run.
    Joined,
    /// The row waits for its turn.
    JoinReverted,
    /// The row is settled with its host.
    JoinedSettled,
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
    /// It is noted.
    IncompatibleNoted,
    /// The intent stands.
    RebindIntended,
    /// Nobody waits for another owner.
    IncompatibleCovered,
    /// What stands, which is what the first one wanted.
    Retried(Retried),
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
    /// The row is part of a run that another one began, and shares its end.
    #[error("the submission has joined the run of {host}")]
    HasJoined {
        /// The submission that began the run.
        host: SubmissionId,
    },
    /// What steers a run has its agent and its tenant.
    #[error("the run belongs to another agent or another tenant")]
    ForeignRun,
    /// Another row waits between the run and the one that is to join it.
    #[error("the submission is not the next one behind the run")]
    NotNext,
    /// A row that has joined is not settled, and its host cannot be before it.
    #[error("a submission that has joined is not settled")]
    JoinedOpen,
    /// The row cannot be in the state that the command supposes.
    #[error("the submission has not started")]
    NotRunning,
    /// The row has not ended, so there is nothing to try again.
    #[error("the submission is not settled")]
    NotSettled,
    /// The row ended otherwise than by being given up.
    #[error("the submission was not given up")]
    NotGivenUp,
    /// Nobody has found the run to be bound to something else, or it is bound anew since.
    #[error("nobody has met the run with another binding than its own")]
    NotIncompatible,
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
