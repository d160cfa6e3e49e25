//! Starting calls whose batch has passed every check.
//!
//! ```text
//! waits --a place of the run--> asks --permits of the host--> prepared, started
//! ```
//!
//! Places and permits are acquired in this one order (RUN-009), and a call is prepared only with all
//! of them: who waits is in nobody's doubt.

use alloc::vec::Vec;

use super::flights::Flights;
use super::step::Effects;
use super::{Effect, State};
use crate::agent::ExecutionClass;
use crate::effect::{External, Invocation, Wanting};
use crate::event::RunEvent;
use crate::identity::{GroupName, ToolCallId};
use crate::projection::CallView;
use crate::record::{Doubt, Record, ToolPrepared};

impl State {
    /// Starts as many calls as have a place, in declaration order, once their host has permits for
    /// them. They are prepared in one batch when they start, and not before: a call that waits for
    /// its place or for a permit is in nobody's doubt.
    pub(super) fn start(&mut self, waiting: &[CallView], effects: &mut Effects) {
        if self.draining {
            return;
        }
        let free = (self.policy().parallel_calls as usize).saturating_sub(self.flights.places());
        let holds = |call: &&CallView| self.flights.permitted.contains(&call.id);
        let asks = |call: &&CallView| !self.flights.asked.contains(&call.id) && !holds(call);
        let next = waiting.iter().filter(asks).take(free);
        if !self.shares {
            let next: Vec<CallView> = next.cloned().collect();
            return self.launch(&next, effects);
        }
        let next: Vec<ToolCallId> = next.map(|call| call.id).collect();
        let permitted: Vec<CallView> = waiting.iter().filter(holds).cloned().collect();
        self.launch(&permitted, effects);
        if let Some((run, _)) = self.place().filter(|_| !next.is_empty()) {
            self.flights.asked.extend(next);
            let asked = waiting.iter().filter(|call| self.flights.asked.contains(&call.id));
            let calls = asked.map(|call| self.wanting(call)).collect();
            let agent = self.agent().id().clone();
            self.flights.untold = false;
            effects.push(Effect::External(External::Permits { run, agent, calls }));
        }
    }

    /// There is room for calls: they start, or keep their permits while their batch is judged anew.
    pub(super) fn permitted(&mut self, calls: &[ToolCallId], effects: &mut Effects) {
        for call in calls {
            if self.flights.asked.remove(call) {
                self.flights.permitted.insert(*call);
            }
        }
        self.go_on(effects);
    }

    /// What calls have that do not start any more goes back: of those that wait or could start, only
    /// these still want to. A host that was to be told before and was not is told now.
    pub(super) fn want_only(&mut self, wants: impl Fn(ToolCallId) -> bool, effects: &mut Effects) {
        let flights = &mut self.flights;
        let before = flights.places();
        flights.asked.retain(|call| wants(*call));
        flights.permitted.retain(|call| wants(*call));
        let is_less = self.flights.untold || self.flights.places() < before;
        let Some((run, _)) = self.place().filter(|_| is_less) else { return };
        self.flights.untold = false;
        let wanting = |call: &CallView| {
            let Flights { asked, permitted, .. } = &self.flights;
            asked.contains(&call.id) || permitted.contains(&call.id)
        };
        let waiting = self.waiting();
        let calls =
            waiting.iter().filter(|call| wanting(call)).map(|it| self.wanting(it)).collect();
        let agent = self.agent().id().clone();
        effects.push(Effect::External(External::Permits { run, agent, calls }));
    }

    fn wanting(&self, call: &CallView) -> Wanting {
        Wanting { call: call.id, group: self.group(call) }
    }

    fn group(&self, call: &CallView) -> Option<GroupName> {
        self.agent().tool(&call.tool).and_then(|tool| tool.group.clone())
    }

    /// Prepares calls and starts them.
    fn launch(&mut self, calls: &[CallView], effects: &mut Effects) {
        // A start that this epoch prepared and that never left is simply made now.
        let is_prepared =
            |call: &&CallView| call.starts.last().map(|it| it.epoch) == Some(self.epoch);
        let needs =
            calls.iter().filter(|call| self.class(call).is_prepared() && !is_prepared(call));
        let records: Vec<Record> = needs.map(|call| self.prepared(call)).collect();
        if !records.is_empty() {
            self.commit(records, effects);
        }
        let Some((run, _)) = self.place() else { return };
        for call in calls {
            let (start, class) = (Doubt { call: call.id, start: self.epoch }, self.class(call));
            let action = self.action(call);
            self.flights.permitted.remove(&call.id);
            self.flights.tools.insert(start);
            if class == ExecutionClass::Durable {
                self.flights.steps.insert(start, call.steps.len() as u32);
            }
            self.tell(|| RunEvent::ToolCallStarted { call: call.id }, effects);
            effects.push(Effect::External(External::InvokeTool(Invocation {
                call: call.id,
                epoch: self.epoch,
                tool: call.tool.clone(),
                run,
                agent: self.agent().id().clone(),
                group: self.group(call),
                class,
                parameters: call.parameters.clone(),
                steps: call.steps.iter().map(|step| step.output.clone()).collect(),
                action,
            })));
        }
    }

    fn prepared(&self, call: &CallView) -> Record {
        Record::ToolPrepared(ToolPrepared {
            submission: self.submission,
            call: call.id,
            epoch: self.epoch,
            tool: call.tool.clone(),
            parameters: call.parameters.digest(),
        })
    }

    fn class(&self, call: &CallView) -> ExecutionClass {
        self.agent().class_of(&call.tool)
    }
}
