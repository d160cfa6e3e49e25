//! Canonical records, for people and for machines.

mod json;
mod words;

use everstep_machine::record::Record;

pub(crate) use json::{record as as_json, resolution as resolution_json};
pub(crate) use words::{record as words, resolution as resolution_words};

/// What kind of record it is.
pub(crate) const fn kind(record: &Record) -> &'static str {
    match record {
        Record::ConversationCreated(_) => "ConversationCreated",
        Record::InputRecorded(_) => "InputRecorded",
        Record::ModelResponded(_) => "ModelResponded",
        Record::ModelInterrupted(_) => "ModelInterrupted",
        Record::ToolPrepared(_) => "ToolPrepared",
        Record::ToolSettled(_) => "ToolSettled",
        Record::ToolUnknown(_) => "ToolUnknown",
        Record::ToolResolved(_) => "ToolResolved",
        Record::AbortRequested(_) => "AbortRequested",
        Record::RecoveryDecided(_) => "RecoveryDecided",
        Record::SubmissionSettled(_) => "SubmissionSettled",
        Record::CompactionCreated(_) => "CompactionCreated",
        Record::ApprovalRequested(_) => "ApprovalRequested",
        Record::ApprovalDecided(_) => "ApprovalDecided",
        Record::StepRecorded(_) => "StepRecorded",
        Record::RunRebound(_) => "RunRebound",
    }
}
