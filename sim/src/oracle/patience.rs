//! How often the owners of a submission died in vain, and whether it may be given up (DUR-018).
//!
//! The judge counts by itself: claims and releases as the ledger answered them, progress as the
//! log shows it. What owner and row say about it plays no part.

use everstep_machine::identity::{Epoch, SubmissionId};
use everstep_machine::limits::FRUITLESS_CLAIMS;
use everstep_machine::record::{PolicyLimit, Record, Settlement, SubmissionSettled};

use super::{Judge, Property, Sometimes};

impl Judge {
    /// A lane is claimed for a submission: an owner of the same one that has not let go is dead.
    pub(super) fn note_death(&mut self, lane: usize, submission: SubmissionId) {
        let seen = &mut self.memory_mut().lanes[lane];
        let (former, free, epoch) = (seen.owner.replace(submission), seen.free, seen.claimed);
        if let Some(row) = seen.row(submission).filter(|_| !free && former == Some(submission)) {
            row.deaths = if row.progressed < epoch { row.deaths + 1 } else { 0 };
        }
    }

    /// An owner lets go of a lane.
    pub(super) fn note_release(&mut self, lane: usize, submission: SubmissionId) {
        if let Some(row) = self.memory_mut().lanes[lane].row(submission) {
            row.deaths = 0;
        }
    }

    /// Looks at a record that `epoch` wrote.
    pub(super) fn check_patience(&mut self, lane: usize, epoch: Epoch, record: &Record) {
        match record {
            Record::InputRecorded(_)
            | Record::ModelResponded(_)
            | Record::CompactionCreated(_)
            | Record::ApprovalRequested(_)
            | Record::ApprovalDecided(_)
            | Record::StepRecorded(_)
            | Record::ToolSettled(_)
            | Record::RunRebound(_)
            | Record::ToolResolved(_) => {
                let id = record.submission();
                if let Some(row) = id.and_then(|id| self.memory_mut().lanes[lane].row(id)) {
                    (row.progressed, row.deaths) = (epoch, 0);
                }
            }
            Record::SubmissionSettled(it) => self.check_given_up(lane, it),
            Record::ConversationCreated(_)
            | Record::ModelInterrupted(_)
            | Record::ToolPrepared(_)
            | Record::ToolUnknown(_)
            | Record::AbortRequested(_)
            | Record::RecoveryDecided(_) => {}
        }
    }

    fn check_given_up(&mut self, lane: usize, it: &SubmissionSettled) {
        let limit = match &it.settlement {
            Settlement::Failed { limit, .. } => *limit,
            Settlement::Completed { .. } | Settlement::Joined { .. } | Settlement::Aborted => None,
        };
        if limit != Some(PolicyLimit::Attempts) {
            return;
        }
        self.note(Sometimes::GivenUp);
        let seen = &self.memory.lanes[lane];
        let row = seen.rows.iter().find(|row| row.submission == it.submission);
        let deaths = row.map_or(0, |row| row.deaths);
        let view = seen.fold.submission(it.submission);
        let doubts = view.map_or(0, |view| view.open_starts().count() + view.doubts().count());
        if deaths < FRUITLESS_CLAIMS || doubts > 0 {
            self.broken(Property::Patience, || {
                format!(
                    "{:?} of lane {lane} is given up after {deaths} deaths, with {doubts} doubts",
                    it.submission
                )
            });
        }
    }
}
