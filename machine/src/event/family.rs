//! The families of live events (RUN-032).

use alloc::string::String;
use alloc::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::wire;
use crate::agent::{Diagnostic, Gauge, ToolOutcome, Usage};
use crate::identity::{StepName, SubmissionId, ToolCallId, ToolName, Turn};
use crate::limits::{DIAGNOSTIC_TAG_CHARS, RESPONSE_BYTES, TEXT_BYTES};
use crate::record::{Compaction, FinishKind, PolicyLimit, Settlement};

/// Something that happens to a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run begins, or goes on under another attempt. The first event of a trace.
    RunStarted {
        /// The submission that it answers.
        #[serde(with = "wire::id")]
        submission: SubmissionId,
    },
    /// A turn begins.
    TurnStarted {
        /// Which turn.
        turn: Turn,
    },
    /// A model is asked.
    ModelStarted {
        /// For which turn.
        turn: Turn,
        /// How often it was asked for this turn before.
        retry: u32,
    },
    /// The model has said so much more of its answer. May never become canonical (DUR-008).
    TextDelta {
        /// The next words: at most [`RESPONSE_BYTES`].
        #[serde(deserialize_with = "wire::words")]
        text: Arc<str>,
    },
    /// The model has thought so much more. May never become canonical.
    ReasoningDelta {
        /// The next words: at most [`RESPONSE_BYTES`].
        #[serde(deserialize_with = "wire::words")]
        text: Arc<str>,
    },
    /// A response declares a call.
    ToolCallDeclared {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
        /// Of which tool.
        tool: ToolName,
    },
    /// The handler of a call is started.
    ToolCallStarted {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
    },
    /// The handler of a call says how far it is.
    ToolProgress {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
        /// In words: at most [`TEXT_BYTES`].
        #[serde(deserialize_with = "wire::progress")]
        text: Arc<str>,
    },
    /// A step of a durable call is recorded (DUR-010).
    ToolStepRecorded {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
        /// Which step.
        step: StepName,
    },
    /// A call has its result.
    ToolCallSucceeded {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
    },
    /// A call has ended without a result.
    ToolCallFailed {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
        /// In which way.
        kind: FailureKind,
    },
    /// A start of a call may have happened, and nobody knows. This is no end: the call may still
    /// be proven to have ended, or be started again (DUR-017).
    ToolCallUnknown {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
    },
    /// Somebody has to say whether a call may start.
    ApprovalRequested {
        /// Which call.
        #[serde(with = "wire::id")]
        call: ToolCallId,
    },
    /// Four fifths of a budget are used up (RUN-022).
    BudgetWarning {
        /// How much of what.
        #[serde(with = "wire::Gauge")]
        gauge: Gauge,
    },
    /// Older context was made smaller.
    ContextCompacted {
        /// In which way.
        kind: CompactionKind,
    },
    /// Something that was said to the run while it was going on has come in.
    InputReceived {
        /// The submission that it is.
        #[serde(with = "wire::id")]
        submission: SubmissionId,
    },
    /// A turn has its response and the results of its calls.
    TurnCompleted {
        /// Which turn.
        turn: Turn,
        /// What the response used, if the provider says so.
        usage: Option<Usage>,
    },
    /// The run has an answer. Terminal.
    RunCompleted {
        /// Why it finished.
        #[serde(with = "wire::FinishKind")]
        finish: FinishKind,
        /// Events of the run that found no place; the log fills it in.
        dropped: u64,
    },
    /// The run has failed. Terminal.
    RunFailed {
        /// The stable name of the failure; its message is not for every watcher.
        tag: FailureTag,
        /// The policy limit that ended the run, if one did (RUN-011).
        #[serde(with = "wire::limit")]
        limit: Option<PolicyLimit>,
        /// Events of the run that found no place; the log fills it in.
        dropped: u64,
    },
    /// The run does not go on here. Terminal.
    RunInterrupted {
        /// Why.
        why: Interruption,
        /// Events of the run that found no place; the log fills it in.
        dropped: u64,
    },
}

/// In which way a call ended without a result: [`ToolOutcome`] without anything that a tool said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The tool declares that it failed.
    Failure,
    /// The call was turned down before it started.
    Rejected,
    /// The call does not fit any tool of the agent.
    InvalidInput,
    /// The handler broke.
    Defect,
}

/// In which way context was made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionKind {
    /// The results of older calls are shown no more.
    ResultsCleared,
    /// Older messages are shown as a summary.
    Summarized,
}

/// Why a run does not go on here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// It was aborted, and is settled so.
    Aborted,
    /// This attempt owns the run no more. The run is not settled: another attempt tells the rest,
    /// in a trace of its own.
    OwnershipLost,
}

/// The stable name of a failure: at most [`DIAGNOSTIC_TAG_CHARS`] characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FailureTag(Arc<str>);

impl FailureTag {
    /// The tag of a diagnostic.
    #[must_use]
    pub fn of(diagnostic: &Diagnostic) -> Self {
        Self::cut(diagnostic.tag())
    }

    /// A tag, without what is over the bound.
    #[must_use]
    pub fn cut(tag: &str) -> Self {
        let end = tag.char_indices().nth(DIAGNOSTIC_TAG_CHARS).map_or(tag.len(), |(at, _)| at);
        Self(Arc::from(&tag[..end]))
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for FailureTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let tag = Self::cut(&text);
        if tag.0.len() == text.len() {
            Ok(tag)
        } else {
            Err(serde::de::Error::custom("the tag of a failure is over its bound"))
        }
    }
}

impl From<&Compaction> for CompactionKind {
    fn from(compaction: &Compaction) -> Self {
        match compaction {
            Compaction::ResultsCleared => Self::ResultsCleared,
            Compaction::Summarized(_) => Self::Summarized,
        }
    }
}

impl RunEvent {
    /// The end of a call, without what the tool said.
    #[must_use]
    pub const fn tool_ended(call: ToolCallId, outcome: &ToolOutcome) -> Self {
        let kind = match outcome {
            ToolOutcome::Success(_) | ToolOutcome::Truncated(_) | ToolOutcome::Kept(_) => {
                return Self::ToolCallSucceeded { call };
            }
            ToolOutcome::Failure(_) => FailureKind::Failure,
            ToolOutcome::Rejected(_) => FailureKind::Rejected,
            ToolOutcome::InvalidInput(_) => FailureKind::InvalidInput,
            ToolOutcome::Defect(_) => FailureKind::Defect,
        };
        Self::ToolCallFailed { call, kind }
    }

    /// The end of a run, without its answer and without the message of its failure.
    #[must_use]
    pub fn run_ended(settlement: &Settlement) -> Self {
        match settlement {
            Settlement::Completed { finish, .. } => {
                Self::RunCompleted { finish: *finish, dropped: 0 }
            }
            // The run that it was answered in tells how it finished.
            Settlement::Joined { .. } => {
                Self::RunCompleted { finish: FinishKind::ModelStop, dropped: 0 }
            }
            Settlement::Failed { diagnostic, limit } => {
                Self::RunFailed { tag: FailureTag::of(diagnostic), limit: *limit, dropped: 0 }
            }
            Settlement::Aborted => Self::RunInterrupted { why: Interruption::Aborted, dropped: 0 },
        }
    }

    /// What a handler says about a call, cut at [`TEXT_BYTES`] on a character boundary.
    #[must_use]
    pub fn progress(call: ToolCallId, text: &str) -> Self {
        let text = Arc::from(&text[..text.floor_char_boundary(TEXT_BYTES)]);
        Self::ToolProgress { call, text }
    }

    /// Whether no event of the trace follows (RUN-002).
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        match self {
            Self::RunCompleted { .. } | Self::RunFailed { .. } | Self::RunInterrupted { .. } => {
                true
            }
            Self::RunStarted { .. }
            | Self::TurnStarted { .. }
            | Self::ModelStarted { .. }
            | Self::TextDelta { .. }
            | Self::ReasoningDelta { .. }
            | Self::ToolCallDeclared { .. }
            | Self::ToolCallStarted { .. }
            | Self::ToolProgress { .. }
            | Self::ToolStepRecorded { .. }
            | Self::ToolCallSucceeded { .. }
            | Self::ToolCallFailed { .. }
            | Self::ToolCallUnknown { .. }
            | Self::ApprovalRequested { .. }
            | Self::BudgetWarning { .. }
            | Self::ContextCompacted { .. }
            | Self::InputReceived { .. }
            | Self::TurnCompleted { .. } => false,
        }
    }

    /// The words that the event brings, if it is one that only brings words.
    #[must_use]
    pub const fn words(&self) -> Option<&Arc<str>> {
        match self {
            Self::TextDelta { text }
            | Self::ReasoningDelta { text }
            | Self::ToolProgress { text, .. } => Some(text),
            Self::RunStarted { .. }
            | Self::TurnStarted { .. }
            | Self::ModelStarted { .. }
            | Self::ToolCallDeclared { .. }
            | Self::ToolCallStarted { .. }
            | Self::ToolStepRecorded { .. }
            | Self::ToolCallSucceeded { .. }
            | Self::ToolCallFailed { .. }
            | Self::ToolCallUnknown { .. }
            | Self::ApprovalRequested { .. }
            | Self::BudgetWarning { .. }
            | Self::ContextCompacted { .. }
            | Self::InputReceived { .. }
            | Self::TurnCompleted { .. }
            | Self::RunCompleted { .. }
            | Self::RunFailed { .. }
            | Self::RunInterrupted { .. } => None,
        }
    }

    /// Bytes of words that an event of this family may bring.
    pub(super) const fn most_words(&self) -> usize {
        if matches!(self, Self::ToolProgress { .. }) { TEXT_BYTES } else { RESPONSE_BYTES }
    }

    /// Says how many events were dropped, if this is the event that says so.
    pub(super) const fn tell_dropped(&mut self, events: u64) {
        if let Self::RunCompleted { dropped, .. }
        | Self::RunFailed { dropped, .. }
        | Self::RunInterrupted { dropped, .. } = self
        {
            *dropped = events;
        }
    }
}
