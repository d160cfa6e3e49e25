//! What a batch of records decides about state: it is written in the transaction of the batch.

use alloc::vec;
use alloc::vec::Vec;

use super::effect::Change;
use super::state::{Mark, Shelf, Slot, WriteClass};
use crate::identity::{RecordId, RunId, ToolCallId};
use crate::record::{Batch, Record};

/// Something that is decided now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// A call has ended: what it has written is applied, or taken back.
    Call {
        /// Which call.
        call: ToolCallId,
        /// Whether it did what it was to do.
        succeeded: bool,
    },
    /// A run has ended: what it kept for itself goes.
    Run(RunId),
}

/// What the records of a batch that has been appended decide, in their order. `is_used` says whether
/// a record is in the log.
///
/// A doubt that is closed without an outcome decides nothing while its run goes on, since the call is
/// started again. Once the submission has settled nobody starts it any more.
///
/// # Errors
/// What is asked cannot be read.
pub fn closings<E>(
    batch: &Batch,
    mut is_used: impl FnMut(RecordId) -> Result<bool, E>,
) -> Result<Vec<Closing>, E> {
    let mut closings = Vec::new();
    for record in batch.records() {
        match record {
            Record::ToolSettled(it) => {
                let succeeded = !it.outcome.is_failure();
                closings.push(Closing::Call { call: it.call, succeeded });
            }
            Record::ToolResolved(it) => {
                if it.resolution.outcome().is_none() && is_used(Record::end_of(it.submission))? {
                    closings.push(Closing::Call { call: it.doubt.call, succeeded: false });
                }
            }
            Record::SubmissionSettled(it) => {
                closings.push(Closing::Run(RunId::derive(it.submission)));
            }
            Record::ConversationCreated(_)
            | Record::InputRecorded(_)
            | Record::ModelResponded(_)
            | Record::ModelInterrupted(_)
            | Record::ToolPrepared(_)
            | Record::ToolUnknown(_)
            | Record::AbortRequested(_)
            | Record::RecoveryDecided(_)
            | Record::CompactionCreated(_)
            | Record::ApprovalRequested(_)
            | Record::ApprovalDecided(_)
            | Record::StepRecorded(_) => {}
        }
    }
    Ok(closings)
}

/// Closes what one call has written under one key.
#[must_use]
pub fn close(mark: &Mark, slot: &Slot, shelf: &Shelf, succeeded: bool) -> Vec<Change> {
    let unmark = Change::Unmark(mark.call, mark.address.clone());
    let current = match (mark.class, succeeded) {
        (WriteClass::RunLocal | WriteClass::Uncertain, _) => return vec![unmark],
        (WriteClass::Canonical, true) => mark.after.clone(),
        (WriteClass::Compensatable, false) => mark.before.clone(),
        (WriteClass::Canonical, false) | (WriteClass::Compensatable, true) => slot.current.clone(),
    };
    // Nobody else has written meanwhile: the key was held.
    let next = Slot { current, hold: None };
    let keys = shelf.counting(slot, &next);
    let mut changes = vec![Change::Slot(mark.address.clone(), next), unmark];
    if keys != shelf.keys {
        changes.push(Change::Shelf(mark.address.scope.clone(), Shelf { keys, ..*shelf }));
    }
    changes
}
