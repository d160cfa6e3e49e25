//! What a ledger can be asked.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::approval::{DecisionIntent, Suspension};
use super::compat::{Mismatch, RebindIntent};
use super::retry::RetryIntent;
use super::state::{AbortIntent, Reserved, ResolutionIntent};
use crate::agent::Allowance;
use crate::digest::{Digest, Hasher};
use crate::identity::{
    AgentId, ApprovalId, DurationMs, Epoch, IdempotencyKey, PrincipalId, ProducerId, SubmissionId,
    TenantId, Timestamp, Token,
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
