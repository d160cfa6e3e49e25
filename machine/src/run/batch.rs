//! A batch of calls: all of it may start, or none of it does.
//!
//! ```text
//! names resolve -> parameters fit -> granted, and what the policy says -> approved -> authorized
//!     -> the run's place -> the host's permits -> prepared -> started
//! ```
//!
//! Every step is taken again by whoever resumes the batch, except for calls that have ended and for
//! approvals that are canonical.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::Effects;
use super::{Effect, State};
use crate::agent::{
    Diagnostic, Kept, RejectionReason, Resolution, Schema, ToolDefinition, ToolOutcome, Truncated,
};
use crate::effect::{Authorization, CheckSubject, External, Fitting};
use crate::event::RunEvent;
use crate::identity::{RunId, ToolCallId, Turn};
use crate::json::CanonicalJson;
use crate::projection::CallView;
use crate::record::{Doubt, Record, ToolSettled};

impl State {
    /// The calls of the last response that have not ended and do not run, in declaration order.
    pub(super) fn waiting(&self) -> Vec<CallView> {
        let calls = self.run().into_iter().flat_map(|run| run.unsettled_calls());
        calls.filter(|call| !self.flights.runs(call.id)).cloned().collect()
    }

    /// Takes the calls of the last response a step further.
    pub(super) fn run_calls(&mut self, effects: &mut Effects) {
        let waiting = self.waiting();
        if waiting.is_empty() {
            return;
        }
        if self.cleared {
            return self.start(&waiting, effects);
        }
        if waiting.iter().any(|call| self.agent().tool(&call.tool).is_none()) {
            let no_tool = |call: &CallView| {
                let message = alloc::format!("the agent has no tool named {}", call.tool);
                let is_there = self.agent().tool(&call.tool).is_some();
                (!is_there).then(|| Diagnostic::cut("UnknownTool", &message))
            };
            let verdicts: Vec<_> = waiting.iter().map(no_tool).collect();
            return self.refuse(&waiting, &verdicts, effects);
        }
        self.check(&waiting, effects);
    }

    /// Asks whether the parameters fit what their tools take (ARC-01).
    fn check(&mut self, waiting: &[CallView], effects: &mut Effects) {
        let Some((run, turn)) = self.place() else { return };
        let schema =
            |call: &CallView| self.agent().tool(&call.tool).map(|it| it.parameters.clone());
        let values: Vec<Fitting> = waiting
            .iter()
            .filter_map(|call| {
                Some(Fitting { schema: schema(call)?, value: call.parameters.clone() })
            })
            .collect();
        if values.iter().all(|value| value.schema.is_anything()) {
            return self.ask_clearance(waiting, effects);
        }
        let subject = CheckSubject::Parameters;
        self.flights.check = Some((turn, subject));
        effects.push(Effect::External(External::Check { run, turn, subject, values }));
    }

    pub(super) fn checked(
        &mut self,
        subject: CheckSubject,
        verdicts: &[Option<Diagnostic>],
        effects: &mut Effects,
    ) {
        if subject == CheckSubject::Output {
            return self.output_checked(verdicts, effects);
        }
        let waiting = self.waiting();
        if verdicts.len() != waiting.len() || verdicts.iter().any(Option::is_some) {
            return self.refuse(&waiting, verdicts, effects);
        }
        self.ask_clearance(&waiting, effects);
    }

    /// Ends every waiting call: those that are wrong with what is wrong, the others because of
    /// them.
    fn refuse(
        &mut self,
        waiting: &[CallView],
        verdicts: &[Option<Diagnostic>],
        effects: &mut Effects,
    ) {
        let verdicts = verdicts.iter().map(Option::as_ref).chain(core::iter::repeat(None));
        let refused = waiting.iter().zip(verdicts).map(|(call, why)| {
            let outcome = match why {
                Some(why) => ToolOutcome::InvalidInput(why.clone()),
                None => ToolOutcome::Rejected(RejectionReason::BatchRefused),
            };
            self.settled(call.id, Arc::new(outcome))
        });
        let records = refused.collect();
        self.close(records, effects);
    }

    /// Asks the host, always last and again on every resume (RUN-028).
    pub(super) fn authorize(&mut self, waiting: &[CallView], effects: &mut Effects) {
        let Some((run, turn)) = self.place() else { return };
        let calls: Vec<ToolCallId> = waiting.iter().map(|call| call.id).collect();
        self.flights.authorizer = Some(turn);
        effects.push(Effect::External(External::Authorize { run, turn, calls }));
    }

    pub(super) fn authorized(&mut self, authorization: Authorization, effects: &mut Effects) {
        let waiting = self.waiting();
        match authorization {
            Authorization::Allowed => {
                self.cleared = true;
                self.start(&waiting, effects);
            }
            Authorization::Denied => {
                self.turn_down(&waiting, |_| RejectionReason::NotAuthorized, effects);
            }
        }
    }

    /// A call has ended: its one result becomes canonical, bounded once and for all (RUN-019).
    pub(super) fn returned(
        &mut self,
        call: ToolCallId,
        outcome: Arc<ToolOutcome>,
        effects: &mut Effects,
    ) {
        let turned_down = matches!(&*outcome, ToolOutcome::Rejected(_));
        if let Some(start) = self.last_in_doubt(call).filter(|_| turned_down) {
            // This start did not happen. An earlier one may have.
            return self.unanswered(start, effects);
        }
        let record = self.settled(call, self.kept(call, outcome));
        self.close(alloc::vec![record], effects);
    }

    /// The start of a call that may have happened before it was started this time.
    fn last_in_doubt(&self, call: ToolCallId) -> Option<Doubt> {
        let call = self.run()?.unsettled_calls().find(|it| it.id == call)?;
        self.may_have_happened(call)
    }

    /// Records how calls have ended, and goes on.
    pub(super) fn close(&mut self, records: Vec<Record>, effects: &mut Effects) {
        let ended = |call| {
            let is_end = |it: &Record| matches!(it, Record::ToolSettled(it) if it.call == call);
            records.iter().any(is_end)
        };
        self.want_only(|call| !ended(call), effects);
        self.commit(records, effects);
        let last = self.run().and_then(|run| run.turns.last());
        if let Some(last) = last.filter(|turn| turn.calls.iter().all(|it| it.outcome.is_some())) {
            let (turn, usage) = (last.turn, last.response.usage);
            self.tell(|| RunEvent::TurnCompleted { turn, usage }, effects);
        }
        self.go_on(effects);
    }

    /// What is kept of an outcome, whoever has found it out: nothing that nobody is to see, and
    /// not more than fits.
    pub(crate) fn kept(&self, call: ToolCallId, outcome: Arc<ToolOutcome>) -> Arc<ToolOutcome> {
        let ToolOutcome::Success(result) = &*outcome else { return outcome };
        // Nobody says what of it may be kept: that it was done is all that is.
        let Some(tool) = self.tool_of(call) else {
            return Arc::new(ToolOutcome::Truncated(Truncated::of(result.as_str(), 0)));
        };
        let result = result.redacted(&tool.redact);
        let most = tool.result_bytes as usize;
        Arc::new(if result.as_str().len() <= most {
            ToolOutcome::Success(result)
        } else if self.keeps {
            ToolOutcome::Kept(Kept::of(&result, most))
        } else {
            ToolOutcome::Truncated(Truncated::of(result.as_str(), most))
        })
    }

    /// What is kept of what a person said about a call: nothing that nobody is to see (ARC-12).
    pub(crate) fn kept_of(&self, call: ToolCallId, said: &Arc<Resolution>) -> Arc<Resolution> {
        match (&**said, self.tool_of(call)) {
            (Resolution::Completed(result), Some(tool)) => {
                Arc::new(Resolution::Completed(result.redacted(&tool.redact)))
            }
            (Resolution::Completed(_), None) => {
                Arc::new(Resolution::Completed(CanonicalJson::null()))
            }
            (Resolution::Failed(_) | Resolution::NeverStarted | Resolution::SafeToRepeat, _) => {
                said.clone()
            }
        }
    }

    /// Under which run and turn a call was declared that has not ended, and what its tool returns.
    pub(crate) fn returns(&self, call: ToolCallId) -> Option<(RunId, Turn, Schema)> {
        let (run, tool) = (self.run()?, self.tool_of(call)?);
        let turn = run.turns.iter().find(|turn| turn.calls.iter().any(|it| it.id == call))?;
        Some((run.run, turn.turn, tool.success.clone()))
    }

    /// The tool of a call that has not ended.
    pub(super) fn tool_of(&self, call: ToolCallId) -> Option<&ToolDefinition> {
        let call = self.run()?.unsettled_calls().find(|it| it.id == call)?;
        self.agent().tool(&call.tool)
    }

    pub(super) fn settled(&self, call: ToolCallId, outcome: Arc<ToolOutcome>) -> Record {
        Record::ToolSettled(ToolSettled { submission: self.submission, call, outcome })
    }

    pub(super) fn place(&self) -> Option<(crate::identity::RunId, crate::identity::Turn)> {
        let run = self.run()?;
        Some((run.run, run.turns.last()?.turn))
    }
}
