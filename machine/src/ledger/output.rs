//! How a ledger answers: accepted, or refused and nothing changes.

use super::retry::Retried;
use super::slice::Change;
use super::state::AbortIntent;
use crate::agent::Verdict;
use crate::identity::{AdmissionSequence, Epoch, SubmissionId, Timestamp};

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
    /// What steers a run has its agent.
    #[error("the run belongs to another agent")]
    ForeignRun,
    /// A conversation is one tenant's (SEC-01).
    #[error("the conversation belongs to another tenant")]
    OtherTenant,
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
