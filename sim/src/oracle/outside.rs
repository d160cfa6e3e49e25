//! What leaves for the outside, and what happens there.

use everstep_machine::agent::{ExecutionClass, Resolution, ToolOutcome};
use everstep_machine::effect::{Answer, External, Invocation};
use everstep_machine::identity::ToolCallId;
use everstep_machine::record::Doubt;

use super::{Judge, Permits, Property, Sometimes};
use crate::cast::Cast;
use crate::outside::{Answered, Deed, Outside};

impl Judge {
    /// An external effect happened, for somebody who may start `permits`.
    pub(crate) fn happened(
        &mut self,
        cast: &Cast,
        lane: usize,
        outside: &Outside,
        external: &External,
        answered: &Answered,
        permits: &Permits,
    ) {
        match external {
            External::CallModel(request) => {
                self.check_request(cast, request);
                self.check_heard(cast, lane, request, permits);
                self.check_shown(cast, request);
                self.note_charge(&answered.answer);
            }
            External::Check { .. }
            | External::Clear { .. }
            | External::Authorize { .. }
            | External::Permits { .. } => {}
            External::Approve { questions, .. } => {
                self.check_questions(cast, lane, questions);
                self.check_previews(cast, questions);
                self.note_approvals(&answered.answer);
            }
            External::InvokeTool(it) => {
                self.check_start(cast, lane, it, permits);
                self.note_silence(cast, outside, it);
                self.note_tries(outside, it, &answered.answer);
            }
            External::NextStep(it) => self.check_onward(lane, it, permits, cast),
            External::Reconcile(it) if answered.deed == Deed::Proved => {
                self.note(Sometimes::Reconciled);
                self.memory_mut().silent.retain(|start| *start != it.doubt);
            }
            External::Reconcile(_) => {}
        }
        match answered.deed {
            Deed::Executed(call) => {
                if !self.memory.executed.contains(&call) {
                    self.memory_mut().executed.push(call);
                }
                self.check_executions(cast, outside, call);
            }
            Deed::Stepped(start, ordinal) => {
                if !self.memory.executed.contains(&start.call) {
                    self.memory_mut().executed.push(start.call);
                }
                self.check_body(cast, lane, outside, start, ordinal);
            }
            Deed::Refused => self.note(Sometimes::Tombstoned),
            Deed::Contradicted(call) => self.broken(Property::Handlers, || {
                format!("the handler of {call:?} says two things of it: it is no pure function")
            }),
            Deed::Summarized => self.note(Sometimes::HostCompacted),
            Deed::Nothing | Deed::Proved => {}
        }
    }

    /// RUN-028, ARC-10: who starts a call was allowed to, has prepared it, and has the budget.
    fn check_start(&mut self, cast: &Cast, lane: usize, it: &Invocation, permits: &Permits) {
        let told = || format!("call {:?} of {} starts under epoch {}", it.call, it.tool, it.epoch);
        if !permits.authorises(it.epoch, it.call) {
            self.broken(Property::Authorised, told);
        }
        if !self.is_let_through(cast, lane, it.call, &it.tool, it.parameters.digest()) {
            self.broken(Property::Approved, told);
        }
        let class = cast.binding.definition.class_of(&it.tool);
        if it.class != class || class.is_prepared() && !self.is_prepared(cast, lane, it) {
            self.broken(Property::Prepared, told);
        }
        if !cast.fits(it) {
            self.broken(Property::Fitting, told);
        }
        self.check_barred(cast, lane, it.call);
        if !it.steps.is_empty() {
            self.note(Sometimes::StepGivenBack);
        }
    }

    /// Something happened that takes what nobody has granted, or not any more (AUTH-15, SEC-02).
    pub(crate) fn not_granted(&mut self, external: &External, deed: Deed) {
        let did = match deed {
            Deed::Executed(_) | Deed::Stepped(..) => true,
            // What only looks needs a grant as well.
            Deed::Nothing => matches!(external, External::InvokeTool(_)),
            Deed::Refused | Deed::Proved | Deed::Contradicted(_) | Deed::Summarized => false,
        };
        if did {
            self.broken(Property::Granted, || format!("{external:?} happens and is not granted"));
        }
    }

    fn note_charge(&mut self, answer: &Answer) {
        if let Answer::Model { response: Err(lost), .. } = answer
            && lost.used.is_some()
        {
            self.note(Sometimes::Charged);
        }
    }

    fn note_tries(&mut self, outside: &Outside, it: &Invocation, answer: &Answer) {
        let tried = outside.calls().iter().any(|past| past.call == it.call && past.passing > 0);
        let is_success = |outcome: &ToolOutcome| matches!(outcome, ToolOutcome::Success(_));
        if let Answer::Tool { outcome, .. } = answer
            && tried
            && is_success(outcome)
        {
            self.note(Sometimes::TriedAgain);
        }
    }

    fn note_silence(&mut self, cast: &Cast, outside: &Outside, it: &Invocation) {
        let start = Doubt { call: it.call, start: it.epoch };
        let has_effects = cast.binding.definition.class_of(&it.tool).is_prepared();
        if has_effects && outside.is_silent(start) {
            self.note(Sometimes::Unanswered);
            if !self.memory.silent.contains(&start) {
                self.memory_mut().silent.push(start);
            }
        }
    }

    /// Whether the start is canonical. A settled submission forgets its calls; a start of one
    /// that comes so late is a zombie's, who had prepared it while it could.
    fn is_prepared(&self, cast: &Cast, lane: usize, it: &Invocation) -> bool {
        let Some(submission) = cast.declared(it.call).map(|call| call.submission) else {
            return false;
        };
        self.memory.lanes[lane].fold.submission(submission).is_some_and(|view| {
            let mut calls = view.calls().peekable();
            let forgotten = view.settled.is_some() && calls.peek().is_none();
            let starts = calls.filter(|call| call.id == it.call).flat_map(|call| &call.starts);
            forgotten || starts.into_iter().any(|start| start.epoch == it.epoch)
        })
    }

    /// DUR-009.
    pub(super) fn check_executions(&mut self, cast: &Cast, outside: &Outside, call: ToolCallId) {
        let times = outside.executions(call);
        let Some(tool) = outside.tool_of(cast, call) else {
            return self.broken(Property::IdempotentOnce, || {
                format!("{call:?} ran, and no run can declare such a call")
            });
        };
        match cast.binding.definition.class_of(tool) {
            ExecutionClass::Readonly => {}
            ExecutionClass::Idempotent if times > 1 => self.note(Sometimes::RepeatedUnderKey),
            // Its steps are counted one by one.
            ExecutionClass::Idempotent | ExecutionClass::Durable => {}
            ExecutionClass::Ordinary => {
                let allowed = self.memory.repeats.iter().filter(|it| **it == call).count() + 1;
                if times > allowed {
                    self.broken(Property::OrdinaryOnce, || {
                        format!("call {call:?} of {tool} ran {times} times, allowed are {allowed}")
                    });
                }
            }
        }
    }

    /// The operator decided about a doubt.
    pub(crate) fn resolved(
        &mut self,
        cast: &Cast,
        outside: &Outside,
        doubt: Doubt,
        resolution: &Resolution,
    ) {
        if *resolution == Resolution::SafeToRepeat {
            self.memory_mut().repeats.push(doubt.call);
        }
        if outside.executions(doubt.call) > 0 {
            self.check_executions(cast, outside, doubt.call);
        }
    }
}
