//! Budgets, places and final answers (RUN-009, RUN-011, RUN-015 to RUN-017, RUN-027, RUN-029).

use everstep_machine::agent::ToolOutcome;
use everstep_machine::effect::{Answer, External};
use everstep_machine::identity::{Epoch, RunId, SubmissionId, Timestamp, ToolCallId, ToolName};
use everstep_machine::record::{Compaction, ModelResponded, Record, Settlement};

use super::account::{Account, Asked};
use super::{Judge, Property, Sometimes};
use crate::cast::Cast;

impl Judge {
    /// Keeps the account of a run, and holds it to what it may do.
    pub(super) fn keep_account(
        &mut self,
        cast: &Cast,
        lane: usize,
        record: &Record,
        epoch: Epoch,
        now: Timestamp,
    ) {
        let policy = cast.binding.definition.policy();
        match record {
            Record::InputRecorded(it) if it.kind.host().is_none() => {
                let account = Account::open(it, policy, epoch);
                self.memory_mut().lanes[lane].accounts.push(account);
            }
            Record::ModelInterrupted(it) => {
                let lost = self.with_account(lane, it.submission, |account| account.lost(it));
                if lost == Some(false) {
                    self.broken(Property::Charged, || {
                        let (epoch, turn) = (it.epoch, it.turn);
                        format!(
                            "epoch {epoch} charges a question for turn {turn} that nobody asked"
                        )
                    });
                }
            }
            Record::CompactionCreated(it) => {
                self.note(match it.compaction {
                    Compaction::ResultsCleared => Sometimes::Cleared,
                    Compaction::Summarized(_) => Sometimes::Summarized,
                });
                self.with_account(lane, it.submission, |account| account.compacted(it));
            }
            Record::ModelResponded(it) => self.check_response(cast, lane, it),
            Record::ToolPrepared(it) => self.check_barred(cast, lane, it.call),
            Record::ToolSettled(it) => {
                if matches!(&*it.outcome, ToolOutcome::Truncated(_) | ToolOutcome::Kept(_)) {
                    self.note(Sometimes::Truncated);
                }
                self.with_account(lane, it.submission, |account| account.settled(it));
            }
            Record::SubmissionSettled(it) => {
                self.check_limits(cast, lane, it.submission, &it.settlement, now);
            }
            Record::InputRecorded(_)
            | Record::ConversationCreated(_)
            | Record::StepRecorded(_)
            | Record::ToolUnknown(_)
            | Record::ToolResolved(_)
            | Record::AbortRequested(_)
            | Record::ApprovalRequested(_)
            | Record::ApprovalDecided(_)
            | Record::RunRebound(_)
            | Record::RecoveryDecided(_) => {}
        }
        self.note_opened(lane, record, epoch);
    }

    /// What opens the way to the next question is of an epoch; before it nobody can have asked.
    fn note_opened(&mut self, lane: usize, record: &Record, epoch: Epoch) {
        let joined = match record {
            Record::InputRecorded(it) => it.kind.host(),
            _ => None,
        };
        let opens = matches!(
            record,
            Record::InputRecorded(_)
                | Record::ModelResponded(_)
                | Record::ToolSettled(_)
                | Record::CompactionCreated(_)
        );
        if let Some(submission) = joined.or(record.submission()).filter(|_| opens) {
            self.with_account(lane, submission, |account| account.opened(epoch));
        }
    }

    /// BU-07: a question of the model leaves: whoever asks cannot know whether it arrives.
    pub(crate) fn note_out(&mut self, lane: usize, epoch: Epoch, run: RunId) {
        self.asked(lane, epoch, run, Asked::InVain);
    }

    /// BU-07: a question of the model happened, asked under an epoch, and was answered like this.
    pub(crate) fn note_asked(
        &mut self,
        lane: usize,
        epoch: Epoch,
        external: &External,
        answer: &Answer,
    ) {
        let (External::CallModel(request), Answer::Model { response, .. }) = (external, answer)
        else {
            return;
        };
        let asked = match response {
            Err(lost) if lost.fault.is_turned_away() && lost.used.is_none() => Asked::InVain,
            Err(_) | Ok(_) => Asked::Something,
        };
        self.asked(lane, epoch, request.run, asked);
    }

    /// The model was asked for a run.
    pub(super) fn asked(&mut self, lane: usize, epoch: Epoch, run: RunId, asked: Asked) {
        let accounts = &mut self.memory_mut().lanes[lane].accounts;
        let own = accounts.iter_mut().filter(|account| account.run() == run);
        own.for_each(|account| account.asks(epoch, asked));
    }

    /// BU-07: a row has an owner, or is let go of by one.
    pub(super) fn note_owner(
        &mut self,
        lane: usize,
        submission: SubmissionId,
        note: impl FnOnce(&mut Account),
    ) {
        self.with_account(lane, submission, note);
    }

    fn with_account<T>(
        &mut self,
        lane: usize,
        submission: SubmissionId,
        act: impl FnOnce(&mut Account) -> T,
    ) -> Option<T> {
        let accounts = &mut self.memory_mut().lanes[lane].accounts;
        accounts.iter_mut().find(|account| account.submission == submission).map(act)
    }

    fn check_response(&mut self, cast: &Cast, lane: usize, it: &ModelResponded) {
        let Some(run) = cast.runs().find(|client| client.submission == it.submission) else {
            return;
        };
        let run = run.run;
        let ids = (0..it.response.calls().count()).map(|at| ToolCallId::derive(run, it.turn, at));
        let policy = cast.binding.definition.policy();
        let fits =
            self.with_account(lane, it.submission, |account| account.responded(it, ids, policy));
        if let Some(Err(why)) = fits {
            self.broken(Property::FinalAnswer, || {
                format!("the response to turn {} of {run:?} is recorded, and {why}", it.turn)
            });
        }
    }

    /// No call of a turn starts that a budget forbids to start.
    pub(super) fn check_barred(&mut self, cast: &Cast, lane: usize, call: ToolCallId) {
        let Some(declared) = cast.declared(call) else { return };
        let mut accounts = self.memory.lanes[lane].accounts.iter();
        let account = accounts.find(|account| account.submission == declared.submission);
        if account.is_some_and(|account| account.bars(declared.turn)) {
            self.broken(Property::Barred, || {
                let turn = declared.turn;
                format!("call {call:?} of turn {turn} starts, and a budget is used up")
            });
        }
    }

    fn check_limits(
        &mut self,
        cast: &Cast,
        lane: usize,
        submission: SubmissionId,
        settlement: &Settlement,
        now: Timestamp,
    ) {
        if self.with_account(lane, submission, |account| account.owes()) == Some(true) {
            self.broken(Property::Charged, || {
                let name = cast.name_of(submission);
                format!("{name} ends, and a question that came to nothing is not charged")
            });
        }
        let policy = cast.binding.definition.policy();
        let fits = self
            .with_account(lane, submission, |account| account.closes_with(settlement, now, policy));
        if let Some(Err(why)) = fits {
            self.broken(Property::Limits, || format!("{} ended: {why}", cast.name_of(submission)));
        }
    }

    /// RUN-009: a host has calls of these tools in flight.
    pub(crate) fn in_groups(&mut self, cast: &Cast, tools: &[ToolName]) {
        for group in &cast.scenario.groups {
            let is_in =
                |tool: &&ToolName| cast.group_of(tool).is_some_and(|it| it.name == group.name);
            let calls = tools.iter().filter(is_in).count();
            if calls > group.places {
                self.broken(Property::Groups, || {
                    let (name, places) = (&group.name, group.places);
                    format!("{calls} calls of group {name} are in flight, it has {places} places")
                });
            }
        }
    }

    /// RUN-009: an attempt has so many calls of its run in flight.
    pub(crate) fn in_flight(&mut self, cast: &Cast, calls: usize) {
        let places = cast.binding.definition.policy().parallel_calls as usize;
        if calls == places {
            self.note(Sometimes::Full);
        }
        if calls > places {
            self.broken(Property::Places, || {
                format!("{calls} calls of a run are in flight, it has {places} places")
            });
        }
    }
}
