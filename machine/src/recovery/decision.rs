//! What an attempt can decide.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::agent::{Bound, Verdict};
use crate::identity::{ApprovalId, SubmissionId, ToolCallId};
use crate::ledger::{AbortIntent, Mismatch, RebindIntent, Reserved, ResolutionIntent, Suspension};
use crate::record::{CanonicalSettlement, Doubt, Resolver};

/// A decision and the row of the table that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The row of design 3.3's table, for the audit record.
    pub row: u8,
    /// The decision.
    pub decision: Decision,
}

/// The one next thing to do about a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is settled, and nothing is left to record.
    Nothing,
    /// Make these intents canonical; an outcome that is settled stays.
    ApplyResolutions(Vec<(Doubt, ResolutionIntent)>),
    /// These rows are part of the run, as the log says: mark them.
    RepairJoin(Vec<SubmissionId>),
    /// These rows are not part of the run, as the log says: let them wait again.
    RevertJoin(Vec<SubmissionId>),
    /// These rows have joined the run, which has ended: settle them as the log says.
    SettleJoined(Vec<CanonicalSettlement>),
    /// It belongs to the run of another row, and ends with it.
    AwaitHost,
    /// Finalize the row: the log says how it ended.
    FinalizeFromHistory(CanonicalSettlement),
    /// Append exactly the reserved settlement.
    AppendReserved(Reserved),
    /// Go on with the abort.
    SettleAborted(AbortStep),
    /// Find out what became of these starts, all of them in one decision.
    Reconcile(Vec<Doubt>),
    /// Mark the row: these doubts are canonical.
    EnsureUnknown(Vec<Doubt>),
    /// Cover the row's marks: these resolutions are canonical.
    CoverUnknown(Vec<Doubt>),
    /// Release the lane: a person has to say what happened.
    AwaitResolution,
    /// Leave it alone and say so: its run is bound to something else.
    Incompatible(Mismatch),
    /// Bind the run to what is at hand, as somebody wants it, instead of this.
    Rebind(RebindIntent, Bound),
    /// The run's binding is at hand: say that nobody waits for it any more.
    CoverIncompatible,
    /// Nobody has come for long enough who could go on: end it.
    EndIncompatible(Mismatch),
    /// Suspend the row: these requests are canonical, and nobody has decided them.
    EnsureSuspended(Vec<Suspension>),
    /// The time of these requests is over: see to it that nobody decides them any more.
    ExpireApprovals(Vec<ApprovalId>),
    /// Make these decisions canonical.
    DecideApprovals(Vec<Decided>),
    /// Cover the row's marks: the decisions of these requests are canonical.
    CoverApprovals(Vec<ApprovalId>),
    /// Release the lane: a person has to decide.
    AwaitApproval,
    /// Its owners keep dying, and nothing it did is in doubt: end it, for a person to look at.
    GiveUp,
    /// Run exactly these calls; the model is not asked again.
    ResumeBatch(Vec<ToolCallId>),
    /// Create the conversation.
    Materialize,
    /// The conversation is there: say that the submission is ready.
    RepairReadiness,
    /// Append the input.
    ApplyInput,
    /// The input is canonical: say so on the row.
    RepairInputMarker,
    /// Every declared call has its result: go on with the run.
    ResumeTurn,
}

/// A request and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Which request.
    pub request: ApprovalId,
    /// Whether the call may start.
    pub verdict: Verdict,
    /// Who says so.
    pub resolver: Resolver,
    /// Why.
    pub reason: Arc<str>,
}

/// How far an abort is. Audits come first, the settlement last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortStep {
    /// Append the request, unless it is canonical, and a doubt for every open start.
    Audit {
        /// The request, if it is not canonical yet.
        request: Option<AbortIntent>,
        /// The open starts.
        doubts: Vec<Doubt>,
        /// The open requests for approval. What nobody has decided is denied.
        decided: Vec<Decided>,
    },
    /// Mark the row, so that the doubts stay listed and resolvable.
    Mark(Vec<Doubt>),
    /// Reserve the aborted settlement.
    Reserve,
}
