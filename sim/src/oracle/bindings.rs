//! Under which binding a run goes on (cases CR-05, CR-09).
//!
//! The judge knows what each attempt really has, whatever it was told, and keeps by itself from which
//! epoch on a run is bound to what: the log says so, and for a rebinding a person has to have said it
//! before. A zombie whose effects leave late is held to what the run was bound to under its own epoch.

use everstep_machine::agent::Bound;
use everstep_machine::effect::External;
use everstep_machine::identity::{Epoch, SubmissionId};
use everstep_machine::ledger::Command;
use everstep_machine::record::{InputKind, Record, RunRebound};

use super::{Judge, Permits, Property, Sometimes};
use crate::cast::Cast;

/// From this epoch on, a submission's run is bound to this.
pub(super) type BoundSince = (SubmissionId, Epoch, Bound);

impl Judge {
    /// Looks at a record that `epoch` wrote, with what `permits` says is at its writer's hand.
    pub(super) fn check_binding(
        &mut self,
        cast: &Cast,
        lane: usize,
        epoch: Epoch,
        record: &Record,
        permits: &Permits,
    ) {
        match record {
            Record::InputRecorded(it) => match it.kind {
                InputKind::First { bound } => {
                    self.check_bound_to(cast, it.submission, bound, permits);
                    self.bind(lane, (it.submission, epoch, bound));
                }
                InputKind::Steering { host } | InputKind::FollowUp { host } => {
                    self.check_under(cast, lane, host, epoch, permits);
                }
            },
            Record::RunRebound(it) => {
                self.note(Sometimes::Rebound);
                self.check_wanted(cast, it);
                self.check_bound_to(cast, it.submission, it.to, permits);
                self.bind(lane, (it.submission, epoch, it.to));
            }
            Record::ModelResponded(_)
            | Record::CompactionCreated(_)
            | Record::ApprovalRequested(_)
            | Record::ToolPrepared(_)
            | Record::StepRecorded(_) => {
                if let Some(submission) = record.submission() {
                    self.check_under(cast, lane, submission, epoch, permits);
                }
            }
            // What is said of a run that does not go on may be written by anybody who owns it, what a
            // question of an earlier owner has used among it (BU-07).
            Record::ConversationCreated(_)
            | Record::ModelInterrupted(_)
            | Record::ToolSettled(_)
            | Record::ToolUnknown(_)
            | Record::ToolResolved(_)
            | Record::ApprovalDecided(_)
            | Record::AbortRequested(_)
            | Record::RecoveryDecided(_)
            | Record::SubmissionSettled(_) => {}
        }
    }

    /// An effect happens outside that an attempt has asked for under an epoch.
    pub(crate) fn check_effect(
        &mut self,
        cast: &Cast,
        lane: usize,
        epoch: Epoch,
        external: &External,
        permits: &Permits,
    ) {
        if let Some(submission) = submission_of(cast, external) {
            self.check_under(cast, lane, submission, epoch, permits);
        }
    }

    /// What is said of bindings on the ledger, as it accepts it.
    pub(super) fn note_binding(&mut self, command: &Command) {
        match command {
            Command::Incompatible { .. } => self.note(Sometimes::Incompatible),
            Command::Rebind { submission, intent } => {
                self.memory_mut().rebinds.push((*submission, intent.replaces, intent.to));
            }
            _ => {}
        }
    }

    fn bind(&mut self, lane: usize, since: BoundSince) {
        self.memory_mut().lanes[lane].bound.push(since);
    }

    fn check_bound_to(
        &mut self,
        cast: &Cast,
        submission: SubmissionId,
        bound: Bound,
        permits: &Permits,
    ) {
        if permits.bound.is_some_and(|it| it != bound) {
            self.broken(Property::Bindings, || {
                format!("{} is bound to what nobody has at hand", cast.name_of(submission))
            });
        }
    }

    fn check_wanted(&mut self, cast: &Cast, it: &RunRebound) {
        let said = (it.submission, it.replaces, it.to);
        if !self.memory.rebinds.contains(&said) {
            self.broken(Property::Bindings, || {
                format!("{} is bound anew, and nobody wanted it", cast.name_of(it.submission))
            });
        }
    }

    fn check_under(
        &mut self,
        cast: &Cast,
        lane: usize,
        submission: SubmissionId,
        epoch: Epoch,
        permits: &Permits,
    ) {
        let bound = &self.memory.lanes[lane].bound;
        let known = bound.iter().rev().find(|(it, since, _)| *it == submission && *since <= epoch);
        let expected = known.map(|(_, _, bound)| *bound);
        if let (Some(expected), Some(found)) = (expected, permits.bound)
            && expected != found
        {
            self.broken(Property::Bindings, || {
                let name = cast.name_of(submission);
                format!("{name} goes on under epoch {epoch} and another binding than its own")
            });
        }
    }
}

/// Whose run an effect belongs to.
fn submission_of(cast: &Cast, external: &External) -> Option<SubmissionId> {
    let run = match external {
        External::CallModel(request) => request.run,
        External::Clear { run, .. }
        | External::Approve { run, .. }
        | External::Authorize { run, .. } => *run,
        External::InvokeTool(it) => cast.declared(it.call)?.run,
        External::NextStep(it) => cast.declared(it.start.call)?.run,
        // To ask for a place is to do nothing yet.
        External::Permits { .. } => return None,
        External::Reconcile(it) => cast.declared(it.doubt.call)?.run,
        External::Check { .. } => return None,
    };
    cast.runs().find(|client| client.run == run).map(|client| client.submission)
}
