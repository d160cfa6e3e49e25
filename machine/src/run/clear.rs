//! Clearance: what the host's authority and its policy say about a batch, before anybody is asked
//! about it and before anything of it begins (AUTH-15).
//!
//! ```text
//! parameters fit --asked--> one is refused: no call of the batch starts
//!                       \--> some want somebody to be asked, the others go ahead
//! ```
//!
//! Whoever resumes asks again: what was granted yesterday counts for nothing today (SEC-02).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::Effects;
use super::{Effect, Liveness, State};
use crate::agent::{ExecutionClass, RejectionReason, Resolution, ToolDefinition, ToolOutcome};
use crate::authority::{Action, Resource};
use crate::effect::{Asker, Clearance, Clearances, External, Proposed, Subject};
use crate::identity::ToolCallId;
use crate::json::CanonicalJson;
use crate::projection::{CallView, StartState};
use crate::record::{Doubt, Record, ToolUnknown};

impl State {
    /// Asks what is said of the calls that wait.
    pub(super) fn ask_clearance(&mut self, waiting: &[CallView], effects: &mut Effects) {
        let (Some((run, turn)), Some(asker)) = (self.place(), self.asker()) else { return };
        let proposed = waiting.iter().map(|call| Proposed {
            call: call.id,
            tool: call.tool.clone(),
            action: self.action(call),
        });
        let calls = proposed.collect();
        self.flights.clearance = Some(turn);
        effects.push(Effect::External(External::Clear { run, turn, asker, calls }));
    }

    /// Goes on with a batch of which something is said. A call of which nothing is said is refused.
    pub(super) fn ruled(&mut self, said: &Clearances, effects: &mut Effects) {
        let waiting = self.waiting();
        let refusal = |call: &CallView| match of(said, call.id) {
            Some(Clearance::Auto | Clearance::Prompt { .. }) => None,
            Some(Clearance::Refused(reason)) => Some(*reason),
            None => Some(RejectionReason::NotAuthorized),
        };
        if waiting.iter().any(|call| refusal(call).is_some()) {
            let reason = |call: &CallView| refusal(call).unwrap_or(RejectionReason::BatchRefused);
            return self.turn_down(&waiting, reason, effects);
        }
        self.approve(&waiting, said, effects);
    }

    /// Ends a batch of which nothing starts any more. A call that may have happened under an earlier
    /// epoch was not turned down before it started: somebody has to say what became of it.
    pub(super) fn turn_down(
        &mut self,
        waiting: &[CallView],
        reason: impl Fn(&CallView) -> RejectionReason,
        effects: &mut Effects,
    ) {
        let doubts: Vec<Doubt> =
            waiting.iter().filter_map(|call| self.may_have_happened(call)).collect();
        let is_in_doubt = |call: &CallView| doubts.iter().any(|doubt| doubt.call == call.id);
        let ends = waiting
            .iter()
            .filter(|call| !is_in_doubt(call))
            .map(|call| self.settled(call.id, Arc::new(ToolOutcome::Rejected(reason(call)))));
        let submission = self.submission;
        let unknown = doubts
            .iter()
            .map(|doubt| Record::ToolUnknown(ToolUnknown { submission, doubt: *doubt }));
        let records = ends.chain(unknown).collect();
        if doubts.is_empty() {
            return self.close(records, effects);
        }
        self.want_only(|_| false, effects);
        self.commit(records, effects);
        self.liveness = Liveness::Resting;
    }

    /// The start to be asked about of a call that may have happened, before it was started this time.
    ///
    /// That a later start never happened says nothing of an earlier one, which may have been excused
    /// only because the call may be made again. Whoever said that it is safe to repeat has said so of
    /// every start up to that one.
    pub(super) fn may_have_happened(&self, call: &CallView) -> Option<Doubt> {
        let is_repeated = match self.agent().class_of(&call.tool) {
            ExecutionClass::Idempotent | ExecutionClass::Durable => true,
            // It waits again only if it was proven that it never started.
            ExecutionClass::Ordinary | ExecutionClass::Readonly => false,
        };
        let (mut open, mut may) = (None, false);
        for start in call.starts.iter().rev() {
            let is_earlier = start.epoch < self.epoch;
            match &start.state {
                StartState::Open => {
                    open = open.or(Some(start.epoch));
                    may |= is_earlier && is_repeated;
                }
                StartState::Unknown => may |= is_earlier,
                StartState::Resolved(how) if **how == Resolution::NeverStarted => {}
                StartState::Resolved(_) => {
                    may |= is_earlier;
                    break;
                }
            }
        }
        open.filter(|_| may).map(|start| Doubt { call: call.id, start })
    }

    /// For whom the run acts.
    pub(super) fn asker(&self) -> Option<Asker> {
        Some(Asker {
            tenant: self.projection.created()?.tenant.clone(),
            principal: self.run()?.input.principal.clone(),
            conversation: self.conversation.clone(),
            binding: self.binding.clone(),
        })
    }

    /// What has to be granted for a call, if anything has.
    pub(super) fn action(&self, call: &CallView) -> Option<Arc<Action>> {
        let tool = self.agent().tool(&call.tool)?;
        tool.capability.as_ref()?;
        let resource = match target(tool, &call.parameters) {
            Subject::Named(resource) => Some(resource),
            Subject::Unsaid | Subject::Unresolved => None,
        };
        self.asker()?.action(tool, self.run()?.bound.definition, resource)
    }
}

/// What is said of a call.
pub(super) fn of(said: &Clearances, call: ToolCallId) -> Option<&Clearance> {
    said.calls.iter().find(|(of, _)| *of == call).map(|(_, clearance)| clearance)
}

/// What a call is done to.
pub(super) fn target(tool: &ToolDefinition, parameters: &CanonicalJson) -> Subject {
    let Some(pointer) = &tool.resource else { return Subject::Unsaid };
    let named =
        parameters.at(pointer).and_then(|value| value.as_text().map(|text| Resource::new(&text)));
    match named {
        Some(Ok(resource)) => Subject::Named(resource),
        Some(Err(_)) | None => Subject::Unresolved,
    }
}
