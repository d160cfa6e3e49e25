//! One lane: its owner, its rows, and the only way they change.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::approval::ApprovalMark;
use super::compat::Compat;
use super::input::Admission;
use super::retry::Chain;
use crate::agent::{Bound, Resolution};
use crate::digest::Digest;
use crate::identity::{
    AdmissionSequence, ApprovalId, ConversationId, DurationMs, Epoch, PrincipalId, ProducerId,
    SubmissionId, TenantId, Timestamp, Token,
};
use crate::limits::TEXT_BYTES;
use crate::record::{CodecError, Doubt, Outcome, SubmissionSettled};

/// What a lane knows beside its rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lane {
    /// The conversation, which is the lane's name.
    pub conversation: ConversationId,
    /// Whose data it is, once a row was admitted: nobody else's submission is (SEC-01).
    pub tenant: Option<TenantId>,
    /// Position of the next admitted row.
    pub next: AdmissionSequence,
    /// The epoch of the last claim; 0 before the first.
    pub epoch: Epoch,
    /// Who owns the lane.
    pub owner: Option<Owner>,
    /// The latest time that the store's clock ever showed here.
    pub stamp: Timestamp,
}

/// The owner of a lane. Its epoch is the lane's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The row that was claimed.
    pub submission: SubmissionId,
    /// The claim's token.
    pub token: Token,
    /// Who claimed.
    pub producer: ProducerId,
    /// When the lane may be claimed by anyone; until then, and after it until somebody does,
    /// the owner's writes stand (LE-03).
    pub lease_until: Timestamp,
    /// How much longer than its lease others have to wait, because the owners before it have died
    /// without getting anywhere (DUR-018).
    pub pause: DurationMs,
}

impl Owner {
    /// From when on others may claim, unless it renews or lets go.
    #[must_use]
    pub const fn held_until(&self) -> Timestamp {
        self.lease_until.after(self.pause)
    }
}

/// Whether the row knows that its input is canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InputMarker {
    /// Not known here; the log decides.
    Missing,
    /// Known.
    Applied,
}

/// The settlement that will be appended, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reserved {
    /// The record.
    pub record: Arc<SubmissionSettled>,
    /// Digest of the exact encoded record.
    pub digest: Digest,
}

impl Reserved {
    /// Fixes a record together with the digest of its exact bytes (DUR-011).
    ///
    /// # Errors
    /// The settlement's parts contradict each other.
    pub fn new(record: SubmissionSettled) -> Result<Self, CodecError> {
        let digest = record.digest()?;
        Ok(Self { record: Arc::new(record), digest })
    }
}

/// The settlement that is canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settled {
    /// Digest of the exact encoded record.
    pub digest: Digest,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it was given up: a person may have it tried again.
    pub given_up: bool,
    /// The epoch that finalized: only it may say so again.
    pub epoch: Epoch,
    /// When.
    pub at: Timestamp,
}

/// How far a submission is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Accepted; its conversation may not be durable yet.
    Admitted,
    /// May be claimed.
    Ready,
    /// Was claimed.
    Running(InputMarker),
    /// Is being taken into a run: its input may be canonical already.
    Joining {
        /// The submission that began the run.
        host: SubmissionId,
    },
    /// Is part of a run: its input is canonical there, and it settles with its host.
    Joined {
        /// The submission that began the run.
        host: SubmissionId,
    },
    /// Waits for resolutions.
    Unknown,
    /// Waits for decisions.
    Suspended,
    /// Its outcome is fixed.
    Terminalizing(Reserved),
    /// It ended.
    Settled(Settled),
}

/// Somebody wants the submission to end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AbortIntent {
    /// Who.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

/// How, by whom and why a doubt is closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResolutionIntent {
    /// How.
    pub resolution: Arc<Resolution>,
    /// By whom.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

impl ResolutionIntent {
    /// Whether it fits a canonical record: what does not could never be acted on.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        let diagnostic = match &*self.resolution {
            Resolution::Failed(diagnostic) => diagnostic.check().is_ok(),
            Resolution::Completed(_) | Resolution::NeverStarted | Resolution::SafeToRepeat => true,
        };
        diagnostic && self.reason.len() <= TEXT_BYTES
    }
}

/// How far a doubt is closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MarkState {
    /// Nobody has said anything.
    Open,
    /// Somebody has; the owner must make it canonical.
    Intended(ResolutionIntent),
    /// It is canonical. Kept, so that a late repetition is answered as the first time.
    Closed(ResolutionIntent),
}

/// An unknown outcome of the row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// Which start of which call.
    pub doubt: Doubt,
    /// Since when: its age is what an operator sees (DUR-017).
    pub since: Timestamp,
    /// How far it is closed.
    pub state: MarkState,
}

/// One submission.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row {
    /// What was submitted.
    pub admission: Arc<Admission>,
    /// Its place in the lane.
    pub sequence: AdmissionSequence,
    /// When it was accepted.
    pub admitted_at: Timestamp,
    /// How often it was claimed.
    pub claims: u32,
    /// The owners of the row that died, one after the other, since the last that got anywhere or
    /// let go: their epochs, rising, at most [`crate::limits::FRUITLESS_CLAIMS`] (DUR-018).
    pub fruitless: Vec<Epoch>,
    /// How far it is.
    pub phase: Phase,
    /// Whether somebody wants it to end.
    pub abort: Option<AbortIntent>,
    /// Its unknown outcomes, by call and start.
    pub marks: Vec<Mark>,
    /// The requests for approval that it was suspended for, by their ids.
    pub approvals: Vec<ApprovalMark>,
    /// What it tries again, and what tries it again (DUR-018).
    pub chain: Chain,
    /// Who came with another binding than its run has, and what people want done about it.
    pub compat: Compat,
}

/// Why a row may be claimed, if it may: what a store indexes, so that a claim never reads a
/// whole lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Standing {
    /// Waits for execution: only the lowest such row of a lane may be claimed.
    Queued,
    /// Waits for execution like another, and its host's run may take it out of turn (RUN-012).
    Steering,
    /// Belongs to a run that another row began: nothing to claim before that one is settled.
    Attached,
    /// Has nothing to execute but something to record: aborted before it began to run, or
    /// settled with a resolution that is not canonical yet.
    Errand,
    /// Settled, with a doubt that nobody has spoken on: nothing to claim, and still listed
    /// (DUR-017).
    Doubtful,
    /// Settled by being given up, and nobody has had it tried again: nothing to claim, and listed
    /// for people (DUR-018).
    GivenUp,
    /// Settled, with nothing left to do.
    Resting,
}

impl Standing {
    /// Those of which the lowest row can be claimed, if it is its turn.
    pub const CLAIMABLE: [Self; 3] = [Self::Queued, Self::Steering, Self::Errand];
    /// Those that wait for execution.
    pub const WAITING: [Self; 2] = [Self::Queued, Self::Steering];
}

impl Lane {
    /// The lane of a conversation before anything was submitted.
    #[must_use]
    pub const fn new(conversation: ConversationId) -> Self {
        Self {
            conversation,
            tenant: None,
            next: AdmissionSequence(0),
            epoch: Epoch(0),
            owner: None,
            stamp: Timestamp(0),
        }
    }

    /// What time it is here when the store's clock reads `clock`: a clock that fell behind the
    /// stamp stands still until it has caught up (CL-01).
    #[must_use]
    pub fn time(&self, clock: Timestamp) -> Timestamp {
        clock.max(self.stamp)
    }

    /// Until when nobody else may claim, if that is later than the lane's own time `now`.
    #[must_use]
    pub fn leased_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.owner.as_ref().map(Owner::held_until).filter(|until| now < *until)
    }
}

impl Row {
    /// Why the row may be claimed, if it may.
    ///
    /// Only a row that never began to run is an errand when it is aborted, however often its
    /// errand was claimed: once it runs, its calls may be in doubt, and the row keeps its place
    /// in the queue until it is settled.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match &self.phase {
            Phase::Settled(_) if self.marks.iter().any(Mark::is_intended) => Standing::Errand,
            Phase::Settled(_) if self.marks.iter().any(Mark::is_open) => Standing::Doubtful,
            Phase::Settled(settled) if settled.given_up && self.chain.retried.is_none() => {
                Standing::GivenUp
            }
            Phase::Settled(_) => Standing::Resting,
            Phase::Admitted | Phase::Ready if self.abort.is_some() => Standing::Errand,
            Phase::Admitted | Phase::Ready if self.admission.steers.is_some() => Standing::Steering,
            Phase::Joining { .. } | Phase::Joined { .. } => Standing::Attached,
            _ => Standing::Queued,
        }
    }

    /// From when on, by the store's time, an owner of the row has anything to do; none while only
    /// people can go on. An unknown waits until somebody has spoken on every doubt (DUR-017), a
    /// suspended row until every request is decided or one has expired, and both until somebody
    /// wants the whole submission to end.
    #[must_use]
    pub fn claimable_from(&self) -> Option<Timestamp> {
        let now = Some(Timestamp(0));
        match &self.phase {
            Phase::Admitted | Phase::Ready | Phase::Running(_) | Phase::Terminalizing(_) => now,
            Phase::Unknown | Phase::Suspended if self.abort.is_some() => now,
            Phase::Unknown if self.marks.iter().any(Mark::is_open) => None,
            Phase::Unknown => now,
            Phase::Suspended => {
                let mut open = self.approvals.iter().filter(|mark| mark.is_open()).peekable();
                if open.peek().is_none() { now } else { open.filter_map(|it| it.expires_at).min() }
            }
            Phase::Settled(_) if self.standing() == Standing::Errand => now,
            Phase::Settled(_) | Phase::Joining { .. } | Phase::Joined { .. } => None,
        }
    }

    /// Whether an owner of the row has anything to do at this time of the store.
    #[must_use]
    pub fn is_claimable(&self, now: Timestamp) -> bool {
        self.claimable_from().is_some_and(|from| from <= now)
    }

    /// Whether at this time of the store it waits for people, if only until a request expires.
    #[must_use]
    pub fn awaits_people(&self, now: Timestamp) -> bool {
        match &self.phase {
            Phase::Unknown | Phase::Suspended => !self.is_claimable(now),
            Phase::Admitted
            | Phase::Ready
            | Phase::Running(_)
            | Phase::Joining { .. }
            | Phase::Joined { .. }
            | Phase::Terminalizing(_)
            | Phase::Settled(_) => false,
        }
    }

    /// Until when somebody with this binding has nothing to do about it, as far as the row says: its
    /// run is bound to something else, and nobody wants it to end or to be bound anew.
    #[must_use]
    pub fn waits_for_binding(&self, bound: &Bound, now: Timestamp) -> Option<Timestamp> {
        match &self.phase {
            Phase::Running(_) | Phase::Unknown | Phase::Suspended if self.abort.is_none() => {
                self.compat.waits_until(bound).filter(|until| now < *until)
            }
            Phase::Running(_)
            | Phase::Unknown
            | Phase::Suspended
            | Phase::Admitted
            | Phase::Ready
            | Phase::Joining { .. }
            | Phase::Joined { .. }
            | Phase::Terminalizing(_)
            | Phase::Settled(_) => None,
        }
    }

    /// The submission that began the run which it belongs to, while that is not settled.
    #[must_use]
    pub const fn host(&self) -> Option<SubmissionId> {
        match self.phase {
            Phase::Joining { host } | Phase::Joined { host } => Some(host),
            Phase::Admitted
            | Phase::Ready
            | Phase::Running(_)
            | Phase::Unknown
            | Phase::Suspended
            | Phase::Terminalizing(_)
            | Phase::Settled(_) => None,
        }
    }

    /// The mark of a request for approval.
    #[must_use]
    pub fn approval(&self, request: ApprovalId) -> Option<&ApprovalMark> {
        self.approvals.iter().find(|mark| mark.request == request)
    }

    /// Whether a doubt of the row is not canonically closed.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        !self.marks.iter().all(Mark::is_closed)
    }

    /// The mark of a doubt.
    #[must_use]
    pub fn mark(&self, doubt: Doubt) -> Option<&Mark> {
        self.marks.iter().find(|mark| mark.doubt == doubt)
    }
}

impl Mark {
    /// Whether nobody has said anything.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, MarkState::Open)
    }

    /// Whether somebody has, and it is not canonical yet.
    #[must_use]
    pub const fn is_intended(&self) -> bool {
        matches!(self.state, MarkState::Intended(_))
    }

    /// Whether it is canonical.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, MarkState::Closed(_))
    }
}
