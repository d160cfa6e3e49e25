//! A step of a durable call: recorded once, and only then does its handler go on (DUR-010).

use alloc::sync::Arc;

use super::step::Effects;
use super::{Effect, State};
use crate::agent::{StepOutput, ToolOutcome};
use crate::effect::{External, Onward};
use crate::identity::ToolCallId;
use crate::projection::{CallView, StartState};
use crate::record::{Doubt, Record, StepRecorded};
use crate::steps::{self, StepFault};

impl State {
    /// A step has succeeded. It becomes canonical unless it is, which it may be when the store
    /// refused what came behind it; then its handler goes on. A run that drains lets it rest: the
    /// next owner enters the handler again.
    pub(super) fn stepped(
        &mut self,
        start: Doubt,
        ordinal: u32,
        output: &Arc<StepOutput>,
        effects: &mut Effects,
    ) {
        if !self.runs_under(start) {
            // Its preparation is not what the log says of it: the classifier judges the start.
            self.flights.land(&start);
            return self.unanswered(start, effects);
        }
        match self.next_step(start.call, ordinal, output) {
            Ok(Some(record)) => self.commit(alloc::vec![record], effects),
            Ok(None) => {}
            // Who asked does not keep the rules of a handler: it has no step more.
            Err(fault) => {
                self.flights.land(&start);
                let outcome = Arc::new(ToolOutcome::Defect(fault.diagnostic()));
                return self.returned(start.call, outcome, effects);
            }
        }
        self.flights.steps.insert(start, ordinal.saturating_add(1));
        let Some((run, _)) = self.place().filter(|_| !self.draining) else { return };
        let action = self.waiting_on(start.call).and_then(|call| self.action(call));
        let onward = Onward { run, start, recorded: ordinal, action };
        effects.push(Effect::External(External::NextStep(onward)));
    }

    /// Whether the log says that this start of a call runs, under this epoch.
    fn runs_under(&self, start: Doubt) -> bool {
        let mut calls = self.run().into_iter().flat_map(|run| run.unsettled_calls());
        let last = calls.find(|it| it.id == start.call).and_then(|call| call.starts.last());
        start.start == self.epoch
            && last.is_some_and(|last| last.epoch == start.start && last.state == StartState::Open)
    }

    fn waiting_on(&self, call: ToolCallId) -> Option<&CallView> {
        self.run()?.unsettled_calls().find(|it| it.id == call)
    }

    /// The record of a step; none if it is canonical.
    pub(crate) fn next_step(
        &self,
        call: ToolCallId,
        ordinal: u32,
        output: &Arc<StepOutput>,
    ) -> Result<Option<Record>, StepFault> {
        let calls = self.run().into_iter().flat_map(|run| run.unsettled_calls());
        let recorded = calls.filter(|it| it.id == call).flat_map(|call| &call.steps);
        let recorded: alloc::vec::Vec<&StepOutput> = recorded.map(|it| &*it.output).collect();
        match recorded.get(ordinal as usize) {
            Some(known) if **known == **output => return Ok(None),
            Some(known) => {
                let (expected, found) = (known.step.clone(), output.step.clone());
                return Err(StepFault::Differs { ordinal, expected, found });
            }
            None => steps::follows(recorded, output)?,
        }
        let (submission, digest) = (self.submission, output.output.digest());
        let output = output.clone();
        Ok(Some(Record::StepRecorded(StepRecorded { submission, call, ordinal, output, digest })))
    }
}
