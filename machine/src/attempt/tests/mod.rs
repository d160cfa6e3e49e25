//! Attempts against a store in memory, by requirement.

mod answers;
mod approvals;
mod bounds;
mod calling_off;
mod cases;
mod chaos;
mod compat;
mod crashes;
mod fresh;
mod gaps;
mod hints;
mod joining;
mod memory;
mod pages;
mod poison;
mod refusals;
mod resolutions;
mod secrets;
mod silence;
mod stage;
mod steps;
mod unheard;
mod zombies;

use crate::record::Record;
use crate::testkit::Host;

/// The kinds of the records after the creation, by name.
fn history(host: &Host) -> alloc::vec::Vec<&'static str> {
    let records = host.store.log.iter().flat_map(|stored| stored.batch().records());
    records.skip(1).map(name).collect()
}

fn name(record: &Record) -> &'static str {
    match record {
        Record::ConversationCreated(_) => "created",
        Record::InputRecorded(_) => "input",
        Record::ModelResponded(_) => "responded",
        Record::ModelInterrupted(_) => "interrupted",
        Record::ToolPrepared(_) => "prepared",
        Record::ToolSettled(_) => "tool-settled",
        Record::ToolUnknown(_) => "unknown",
        Record::ToolResolved(_) => "resolved",
        Record::AbortRequested(_) => "abort",
        Record::RecoveryDecided(_) => "recovery",
        Record::SubmissionSettled(_) => "settled",
        Record::CompactionCreated(_) => "compaction",
        Record::ApprovalRequested(_) => "asked",
        Record::ApprovalDecided(_) => "decided",
        Record::StepRecorded(_) => "step",
        Record::RunRebound(_) => "rebound",
    }
}
