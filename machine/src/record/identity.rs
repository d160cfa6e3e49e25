//! The deterministic identity of each record.

use super::{Compaction, Record};
use crate::digest::Hasher;
use crate::identity::{Epoch, RecordId, SubmissionId, ToolCallId};

fn by(tag: &'static str, submission: SubmissionId) -> Hasher {
    Hasher::new(tag).bytes(&submission.0)
}

impl Record {
    /// The id of the record that a call starts under an epoch.
    #[must_use]
    pub fn start_of(submission: SubmissionId, call: ToolCallId, epoch: Epoch) -> RecordId {
        let hasher = by("everstep/record/prepared", submission).bytes(&call.0).number(epoch.0);
        RecordId(hasher.id())
    }

    /// The id of the record that a call has ended.
    #[must_use]
    pub fn end_of_call(submission: SubmissionId, call: ToolCallId) -> RecordId {
        RecordId(by("everstep/record/tool-settled", submission).bytes(&call.0).id())
    }

    /// The id of the record that a submission has settled.
    #[must_use]
    pub fn end_of(submission: SubmissionId) -> RecordId {
        RecordId(by("everstep/record/settled", submission).id())
    }

    /// The id that a second execution of the same decision would derive again.
    #[must_use]
    pub fn id(&self) -> RecordId {
        let hasher = match self {
            Self::ConversationCreated(it) => {
                Hasher::new("everstep/record/created").bytes(it.conversation.as_str().as_bytes())
            }
            Self::InputRecorded(it) => by("everstep/record/input", it.submission),
            Self::ModelResponded(it) => {
                by("everstep/record/responded", it.submission).number(it.turn.0.into())
            }
            Self::ModelInterrupted(it) => by("everstep/record/interrupted", it.submission)
                .number(it.turn.0.into())
                .number(it.epoch.0)
                .number(it.ordinal.into()),
            Self::ToolPrepared(it) => return Self::start_of(it.submission, it.call, it.epoch),
            Self::StepRecorded(it) => by("everstep/record/step", it.submission)
                .bytes(&it.call.0)
                .bytes(it.output.step.name.as_str().as_bytes()),
            Self::ToolSettled(it) => return Self::end_of_call(it.submission, it.call),
            Self::ToolUnknown(it) => by("everstep/record/unknown", it.submission)
                .bytes(&it.doubt.call.0)
                .number(it.doubt.start.0),
            Self::ToolResolved(it) => by("everstep/record/resolved", it.submission)
                .bytes(&it.doubt.call.0)
                .number(it.doubt.start.0),
            Self::AbortRequested(it) => by("everstep/record/abort", it.submission),
            Self::RecoveryDecided(it) => {
                by("everstep/record/recovery", it.submission).number(it.epoch.0)
            }
            Self::SubmissionSettled(it) => return Self::end_of(it.submission),
            Self::CompactionCreated(it) => by("everstep/record/compaction", it.submission)
                .number(it.turn.0.into())
                .number(match it.compaction {
                    Compaction::ResultsCleared => 0,
                    Compaction::Summarized(_) => 1,
                })
                // A turn that is refused for its length may have been summarized, less far.
                .number(it.through.0),
            Self::ApprovalRequested(it) => {
                by("everstep/record/approval-requested", it.submission).bytes(&it.request.0)
            }
            Self::ApprovalDecided(it) => {
                by("everstep/record/approval-decided", it.submission).bytes(&it.request.0)
            }
        };
        RecordId(hasher.id())
    }

    /// The submission that the record belongs to; none for the first record of a conversation.
    #[must_use]
    pub const fn submission(&self) -> Option<SubmissionId> {
        Some(match self {
            Self::ConversationCreated(_) => return None,
            Self::InputRecorded(it) => it.submission,
            Self::ModelResponded(it) => it.submission,
            Self::ModelInterrupted(it) => it.submission,
            Self::ToolPrepared(it) => it.submission,
            Self::StepRecorded(it) => it.submission,
            Self::ToolSettled(it) => it.submission,
            Self::ToolUnknown(it) => it.submission,
            Self::ToolResolved(it) => it.submission,
            Self::AbortRequested(it) => it.submission,
            Self::RecoveryDecided(it) => it.submission,
            Self::SubmissionSettled(it) => it.submission,
            Self::CompactionCreated(it) => it.submission,
            Self::ApprovalRequested(it) => it.submission,
            Self::ApprovalDecided(it) => it.submission,
        })
    }
}
