//! What a committed batch says, record by record.

use std::sync::Arc;

use everstep_machine::agent::{RejectionReason, Resolution, ToolOutcome};
use everstep_machine::conversation::TailRef;
use everstep_machine::identity::{Epoch, SubmissionId};
use everstep_machine::projection::StartState;
use everstep_machine::record::{Doubt, Record, StoredBatch, ToolPrepared, ToolSettled};

use super::{Judge, Permits, Property, Sometimes};
use crate::cast::Cast;

impl Judge {
    /// A batch was committed by somebody who may start `permits`.
    pub(super) fn check_batch(
        &mut self,
        cast: &Cast,
        lane: usize,
        stored: &Arc<StoredBatch>,
        permits: &Permits,
    ) {
        let epoch = stored.envelope().epoch;
        let now = stored.envelope().committed_at;
        self.check_kept(cast, lane, stored);
        let records = stored.batch().records();
        for (at, record) in records.iter().enumerate() {
            self.check_record(cast, lane, epoch, record, permits);
            self.check_binding(cast, lane, epoch, record, permits);
            if let Record::ApprovalDecided(it) = record {
                self.check_decision(cast, (lane, epoch), &records[..at], it, permits);
            }
            if let Record::ToolSettled(it) = record {
                self.check_result(cast, lane, &records[..at], it);
                self.check_known(lane, &records[..at], it);
                self.check_turned_down(lane, it);
            }
            self.keep_account(cast, lane, record, epoch, now);
            self.check_patience(lane, epoch, record);
        }
        self.check_left_behind(cast, lane);
        let seen = &mut self.memory_mut().lanes[lane];
        let content = stored.batch().content();
        seen.tail = Some(TailRef { next_sequence: stored.next_sequence(), content });
        if let Err(why) = Arc::make_mut(&mut seen.fold).apply(epoch, stored.batch()) {
            self.broken(Property::Chain, || format!("log {lane}: {why}"));
        }
    }

    fn check_record(
        &mut self,
        cast: &Cast,
        lane: usize,
        epoch: Epoch,
        record: &Record,
        permits: &Permits,
    ) {
        match record {
            Record::ConversationCreated(_)
            | Record::ModelResponded(_)
            | Record::ModelInterrupted(_)
            | Record::ToolSettled(_)
            | Record::AbortRequested(_)
            | Record::ApprovalRequested(_)
            | Record::ApprovalDecided(_)
            | Record::CompactionCreated(_)
            | Record::RunRebound(_)
            | Record::RecoveryDecided(_) => {}
            Record::StepRecorded(it) => self.check_step(lane, epoch, it),
            Record::InputRecorded(it) => match it.kind.host() {
                None => self.check_order(cast, lane, it.submission),
                Some(host) => self.check_joining(cast, lane, host, it),
            },
            Record::ToolPrepared(it) => self.check_prepared(cast, lane, epoch, it, permits),
            Record::ToolUnknown(_) => self.note(Sometimes::Unknown),
            Record::ToolResolved(it) => self.note(match &*it.resolution {
                Resolution::Completed(_) => Sometimes::ResolvedCompleted,
                Resolution::Failed(_) => Sometimes::ResolvedFailed,
                Resolution::NeverStarted => Sometimes::ResolvedNeverStarted,
                Resolution::SafeToRepeat => Sometimes::ResolvedSafeToRepeat,
            }),
            Record::SubmissionSettled(it) => {
                self.check_settled(cast, lane, it.submission);
                self.check_together(cast, lane, it);
            }
        }
    }

    /// DUR-004, DUR-005: the ones before have settled, or somebody wanted them to end.
    fn check_order(&mut self, cast: &Cast, lane: usize, submission: SubmissionId) {
        let seen = &self.memory.lanes[lane];
        let place = seen.rows.iter().find(|row| row.submission == submission);
        let place = place.map(|row| row.sequence);
        let others = || seen.rows.iter().filter(|row| row.submission != submission);
        let active = others().find(|row| row.began && row.settlements == 0);
        let overtaken = others().find(|row| {
            Some(row.sequence) < place && !row.began && row.settlements == 0 && !row.aborted
        });
        let late = others().find(|row| {
            Some(row.sequence) > place
                && row.began
                && row.joined.as_ref().is_none_or(|it| it.follows)
        });
        let (active, overtaken, late) = (
            active.map(|row| row.submission),
            overtaken.or(late).map(|row| row.submission),
            place.is_none(),
        );
        if let Some(other) = active {
            self.broken(Property::OneActiveRun, || {
                format!("{} begins while {} runs", cast.name_of(submission), cast.name_of(other))
            });
        }
        if let Some(other) = overtaken {
            self.broken(Property::AdmissionOrder, || {
                format!("{} and {} change places", cast.name_of(submission), cast.name_of(other))
            });
        }
        if late {
            self.broken(Property::Receipts, || {
                format!("{} begins and was never admitted", cast.name_of(submission))
            });
        }
        if let Some(row) = self.memory_mut().lanes[lane].row(submission) {
            row.began = true;
        }
    }

    fn check_prepared(
        &mut self,
        cast: &Cast,
        lane: usize,
        epoch: Epoch,
        it: &ToolPrepared,
        permits: &Permits,
    ) {
        let told = || format!("call {:?} of {} is prepared under epoch {epoch}", it.call, it.tool);
        if it.epoch != epoch || !permits.authorises(epoch, it.call) {
            self.broken(Property::Authorised, told);
        }
        if !self.is_let_through(cast, lane, it.call, &it.tool, it.parameters) {
            self.broken(Property::Approved, told);
        }
        if cast.group_of(&it.tool).is_some() && !permits.has_place(it.call) {
            self.broken(Property::Permitted, told);
        }
    }

    /// What has happened is not said to have been turned down, unless somebody let it be made again.
    fn check_turned_down(&mut self, lane: usize, it: &ToolSettled) {
        let ToolOutcome::Rejected(why) = &*it.outcome else { return };
        if matches!(why, RejectionReason::NotGranted(_)) {
            self.note(Sometimes::NotGranted);
        }
        let fold = Arc::clone(&self.memory.lanes[lane].fold);
        let is_safe = |state: &StartState| match state {
            StartState::Resolved(how) => **how == Resolution::SafeToRepeat,
            StartState::Open | StartState::Unknown => false,
        };
        let mut calls = fold.submission(it.submission).into_iter().flat_map(|view| view.calls());
        let call = calls.find(|call| call.id == it.call);
        let may_repeat =
            call.is_some_and(|call| call.starts.iter().any(|start| is_safe(&start.state)));
        if self.memory.executed.contains(&it.call) && !may_repeat {
            self.broken(Property::TurnedDown, || {
                format!("call {:?} has happened, and is said to be {why}", it.call)
            });
        }
    }

    /// A result follows its call, which may be in the batch before it, and is the only one.
    fn check_result(&mut self, cast: &Cast, lane: usize, before: &[Record], it: &ToolSettled) {
        let declared = cast.declared(it.call).map(|call| (call.submission, call.turn));
        let is_new = before.iter().any(|record| match record {
            Record::ModelResponded(new) => declared == Some((new.submission, new.turn)),
            _ => false,
        });
        let again = before.iter().any(|record| match record {
            Record::ToolSettled(other) => other.call == it.call,
            _ => false,
        });
        let fold = &self.memory.lanes[lane].fold;
        let call = fold.submission(it.submission).and_then(|view| {
            view.calls().find(|call| call.id == it.call).map(|call| call.outcome.is_some())
        });
        match call {
            Some(false) if !again => {}
            None if is_new && !again => {}
            Some(_) => {
                self.broken(Property::Results, || format!("call {:?} ended twice", it.call));
            }
            None => self.broken(Property::Results, || {
                format!("call {:?} has a result and was never declared", it.call)
            }),
        }
    }

    /// The last start of a call gives its result, unless somebody looked or spoke.
    fn check_known(&mut self, lane: usize, before: &[Record], it: &ToolSettled) {
        let fold = &self.memory.lanes[lane].fold;
        let call = fold.submission(it.submission);
        let call = call.and_then(|view| view.calls().find(|call| call.id == it.call));
        let Some(last) = call.and_then(|call| call.starts.last()) else { return };
        let start = Doubt { call: it.call, start: last.epoch };
        let is_resolved = before.iter().any(|record| match record {
            Record::ToolResolved(resolved) => resolved.doubt == start,
            _ => false,
        });
        if !is_resolved && self.memory.silent.contains(&start) {
            self.broken(Property::Known, || {
                format!("{start:?} gave no answer, and yet it ended as {:?}", it.outcome)
            });
        }
    }

    fn check_settled(&mut self, cast: &Cast, lane: usize, submission: SubmissionId) {
        let Some(row) = self.memory_mut().lanes[lane].row(submission) else {
            return self.broken(Property::OneSettlement, || {
                format!("{} settles and was never admitted", cast.name_of(submission))
            });
        };
        row.settlements += 1;
        if row.settlements > 1 {
            self.broken(Property::OneSettlement, || {
                format!("{} settles again", cast.name_of(submission))
            });
        }
    }
}
