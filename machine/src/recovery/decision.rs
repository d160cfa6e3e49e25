//! What an attempt can decide.

use alloc::vec::Vec;

use crate::identity::ToolCallId;
use crate::ledger::{AbortIntent, Reserved, ResolutionIntent};
use crate::record::{CanonicalSettlement, Doubt};

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

/// How far an abort is. Audits come first, the settlement last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortStep {
    /// Append the request, unless it is canonical, and a doubt for every open start.
    Audit {
        /// The request, if it is not canonical yet.
        request: Option<AbortIntent>,
        /// The open starts.
        doubts: Vec<Doubt>,
    },
    /// Mark the row, so that the doubts stay listed and resolvable.
    Mark(Vec<Doubt>),
    /// Reserve the aborted settlement.
    Reserve,
}
