//! What a row must show when somebody lets its lane go (DUR-002, DUR-017).

use everstep_machine::identity::SubmissionId;
use everstep_machine::ledger::{Command, Reply};
use everstep_machine::record::CanonicalSettlement;
use everstep_machine::store;

use super::{Judge, Property, Sometimes};
use crate::store::Executed;

impl Judge {
    /// Follows what the ledger was told, and looks when an owner lets go.
    pub(super) fn check_listing(&mut self, lane: usize, command: &Command, executed: &Executed) {
        let Ok(store::Reply::Ledger(reply)) = &executed.answer else { return };
        match command {
            Command::Admit(admission) => {
                if let Reply::Admitted(sequence) = reply {
                    if executed.changed {
                        self.memory_mut().lanes[lane].admit(admission.submission, *sequence);
                    } else {
                        self.note(Sometimes::ReceiptOnRetry);
                    }
                }
            }
            Command::Abort { submission, .. } if executed.changed => {
                self.aborted(lane, *submission)
            }
            Command::MarkUnknown { owner, doubts } => {
                if let Some(row) = self.memory_mut().lanes[lane].row(owner.submission) {
                    row.marks.extend(doubts);
                }
            }
            Command::Decide { request, intent, .. } if executed.changed => {
                self.memory_mut().decisions.push((*request, intent.verdict));
            }
            Command::Incompatible { .. } | Command::Rebind { .. } if executed.changed => {
                self.note_binding(command);
            }
            Command::RevertJoin { .. } if executed.changed => self.note(Sometimes::JoinReverted),
            Command::Retry { submission, .. } => {
                if let Reply::Retried(retried) = reply {
                    self.check_retry(lane, *submission, retried, executed.changed);
                }
            }
            Command::Suspend { .. } if executed.changed => self.note(Sometimes::Suspended),
            Command::Expire { .. } if executed.changed => self.note(Sometimes::Expired),
            Command::Release { owner } if executed.changed => {
                self.check_marks(lane, owner.submission);
            }
            Command::Finalize { owner, settlement } if executed.changed => {
                self.check_marks(lane, owner.submission);
                self.check_final(lane, owner.submission, *settlement);
            }
            Command::Abort { .. }
            | Command::Release { .. }
            | Command::Finalize { .. }
            | Command::Ready { .. }
            | Command::Claim(_)
            | Command::Renew { .. }
            | Command::MarkInput { .. }
            | Command::Join { .. }
            | Command::MarkJoined { .. }
            | Command::SettleJoined { .. }
            | Command::RevertJoin { .. }
            | Command::Resolve { .. }
            | Command::CoverUnknown { .. }
            | Command::Suspend { .. }
            | Command::Decide { .. }
            | Command::Expire { .. }
            | Command::CoverApprovals { .. }
            | Command::Incompatible { .. }
            | Command::Rebind { .. }
            | Command::CoverIncompatible { .. }
            | Command::Reserve { .. } => {}
        }
    }

    fn aborted(&mut self, lane: usize, submission: SubmissionId) {
        let seen = &self.memory.lanes[lane];
        self.note(if seen.free { Sometimes::AbortedQueued } else { Sometimes::AbortedLive });
        if let Some(row) = self.memory_mut().lanes[lane].row(submission) {
            row.aborted = true;
        }
    }

    /// Whatever is in doubt in the log is marked on the row.
    fn check_marks(&mut self, lane: usize, submission: SubmissionId) {
        let seen = &self.memory.lanes[lane];
        let marks = seen.rows.iter().find(|row| row.submission == submission);
        let view = seen.fold.submission(submission);
        let unlisted = view.and_then(|view| {
            view.doubts().find(|doubt| marks.is_none_or(|row| !row.marks.contains(doubt)))
        });
        if let Some(doubt) = unlisted {
            self.broken(Property::Listed, || {
                format!("the owner lets lane {lane} go and {doubt:?} is not marked on the row")
            });
        }
    }

    /// A row ends as its log says.
    fn check_final(
        &mut self,
        lane: usize,
        submission: SubmissionId,
        settlement: CanonicalSettlement,
    ) {
        let view = self.memory.lanes[lane].fold.submission(submission);
        let canonical = view.and_then(|view| view.settled);
        if canonical != Some(settlement) {
            self.broken(Property::OneSettlement, || {
                format!("a row of lane {lane} ends with {settlement:?}, the log says {canonical:?}")
            });
        }
    }
}
