//! The rules of a run.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::next::{Next, failed, next};
use super::{Effect, Input, Liveness, State};
use crate::agent::{
    Diagnostic, FinishReason, ModelFault, ModelRequest, ModelResponse, RejectionReason, ToolOutcome,
};
use crate::contract::{Machine, Step};
use crate::effect::{Answer, Authorization, External, Invocation};
use crate::identity::{ToolCallId, Turn};
use crate::projection::CallView;
use crate::record::{
    Doubt, ModelInterrupted, ModelResponded, PolicyLimit, Record, Settlement, ToolPrepared,
    ToolSettled,
};

/// The machine of one run.
pub struct Run;

impl Machine for Run {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Resumed => {
                state.liveness = Liveness::Live;
                state.interrupt(&mut effects);
                state.go_on(&mut effects);
            }
            Input::Stopped => state.liveness = Liveness::Resting,
            Input::Answered(answer) => match state.liveness {
                Liveness::Live => state.answered(answer, &mut effects),
                Liveness::Resting => {}
            },
        }
        Step::new(state, effects)
    }
}

type Effects = Vec<Effect>;

impl State {
    /// Whoever takes over and asks the model says first that an earlier question is lost.
    fn interrupt(&mut self, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        let turn = run.next_turn();
        let took_over = run.input_epoch < self.epoch && run.interrupted != Some(self.epoch);
        let asks = matches!(next(run, self.max_turns()), Next::AskModel(_));
        if took_over && asks && self.flights.model.is_none() {
            let (submission, epoch) = (self.submission, self.epoch);
            let record = ModelInterrupted { submission, turn, epoch };
            self.commit(alloc::vec![Record::ModelInterrupted(record)], effects);
        }
    }

    /// Does what comes next, unless it is being done already.
    fn go_on(&mut self, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        match next(run, self.max_turns()) {
            Next::Finish(settlement) => self.settle(settlement, effects),
            Next::AskModel(turn) if self.flights.model.is_none() => self.ask(turn, effects),
            Next::RunCalls(calls) if self.flights.authorizer.is_none() => {
                self.begin_batch(&calls, effects);
            }
            Next::AskModel(_) | Next::RunCalls(_) => {}
        }
    }

    fn ask(&mut self, turn: Turn, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        let request = ModelRequest {
            agent: self.binding.definition.id().clone(),
            run: run.run,
            turn,
            messages: self.projection.messages(self.submission),
        };
        self.flights.model = Some(turn);
        effects.push(Effect::External(External::CallModel(Arc::new(request))));
    }

    /// The preflight of a batch: all of it may start, or none of it does.
    fn begin_batch(&mut self, calls: &[ToolCallId], effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        let Some(turn) = run.turns.last() else { return };
        let is_declared = |call: &CallView| self.binding.definition.tool(&call.tool).is_some();
        if !turn.calls.iter().all(is_declared) {
            let settled = run.unsettled_calls().map(|call| self.refused(call, is_declared(call)));
            let records = settled.collect();
            self.commit(records, effects);
            return self.go_on(effects);
        }
        let is_in_flight = |id: &ToolCallId| self.flights.tools.iter().any(|it| it.call == *id);
        let calls: Vec<ToolCallId> = calls.iter().copied().filter(|id| !is_in_flight(id)).collect();
        if calls.is_empty() {
            return;
        }
        let (run, turn) = (run.run, turn.turn);
        self.flights.authorizer = Some(turn);
        effects.push(Effect::External(External::Authorize { run, turn, calls }));
    }

    fn refused(&self, call: &CallView, declared: bool) -> Record {
        let outcome = if declared {
            ToolOutcome::Rejected(RejectionReason::BatchRefused)
        } else {
            let message = alloc::format!("the agent has no tool named {}", call.tool);
            ToolOutcome::InvalidInput(Diagnostic::cut("UnknownTool", &message))
        };
        self.settled(call.id, Arc::new(outcome))
    }

    fn settled(&self, call: ToolCallId, outcome: Arc<ToolOutcome>) -> Record {
        Record::ToolSettled(ToolSettled { submission: self.submission, call, outcome })
    }

    /// An answer counts once, and only while its question is in flight.
    fn answered(&mut self, answer: Answer, effects: &mut Effects) {
        let Some(own) = self.run().map(|run| run.run) else { return };
        match answer {
            Answer::Model { run, turn, response }
                if run == own && self.flights.model == Some(turn) =>
            {
                self.flights.model = None;
                self.responded(turn, response, effects);
            }
            Answer::Authorizer { run, turn, authorization }
                if run == own && self.flights.authorizer == Some(turn) =>
            {
                self.flights.authorizer = None;
                self.authorized(authorization, effects);
            }
            Answer::Tool { start, outcome } if self.flights.tools.remove(&start) => {
                let record = self.settled(start.call, outcome);
                self.commit(alloc::vec![record], effects);
                self.go_on(effects);
            }
            Answer::Model { .. }
            | Answer::Authorizer { .. }
            | Answer::Tool { .. }
            | Answer::Reconciler { .. } => {}
        }
    }

    fn responded(
        &mut self,
        turn: Turn,
        response: Result<Arc<ModelResponse>, ModelFault>,
        effects: &mut Effects,
    ) {
        let judged =
            response.map_err(fault).and_then(|response| judge(&response).map(|()| response));
        let response = match judged {
            Ok(response) => response,
            Err(settlement) => return self.settle(settlement, effects),
        };
        let record = ModelResponded { submission: self.submission, turn, response };
        match self.fold(alloc::vec![Record::ModelResponded(record)]) {
            Some(batch) => {
                effects.push(Effect::Commit(batch));
                self.go_on(effects);
            }
            None => {
                self.settle(failed("ResponseTooLarge", "the response is over its bounds"), effects)
            }
        }
    }

    fn authorized(&mut self, authorization: Authorization, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        let is_in_flight = |id: ToolCallId| self.flights.tools.iter().any(|it| it.call == id);
        let waiting: Vec<CallView> =
            run.unsettled_calls().filter(|call| !is_in_flight(call.id)).cloned().collect();
        match authorization {
            Authorization::Allowed => self.start(&waiting, effects),
            Authorization::Denied => {
                let reason = ToolOutcome::Rejected(RejectionReason::NotAuthorized);
                let outcome = Arc::new(reason);
                let denied = waiting.iter().map(|call| self.settled(call.id, outcome.clone()));
                let records = denied.collect();
                self.commit(records, effects);
                self.go_on(effects);
            }
        }
    }

    /// Prepares what must be prepared in one batch, then starts in declaration order.
    fn start(&mut self, calls: &[CallView], effects: &mut Effects) {
        // A start that this epoch prepared and that never left is simply made now.
        let is_prepared =
            |call: &&CallView| call.starts.last().map(|it| it.epoch) == Some(self.epoch);
        let needs =
            calls.iter().filter(|call| self.class(call).is_prepared() && !is_prepared(call));
        let records: Vec<Record> = needs.map(|call| self.prepared(call)).collect();
        if !records.is_empty() {
            self.commit(records, effects);
        }
        for call in calls {
            self.flights.tools.insert(Doubt { call: call.id, start: self.epoch });
            effects.push(Effect::External(External::InvokeTool(Invocation {
                call: call.id,
                epoch: self.epoch,
                tool: call.tool.clone(),
                class: self.class(call),
                parameters: call.parameters.clone(),
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

    fn class(&self, call: &CallView) -> crate::agent::ExecutionClass {
        self.binding.definition.class_of(&call.tool)
    }

    fn max_turns(&self) -> u32 {
        self.binding.definition.max_turns()
    }

    fn commit(&mut self, records: Vec<Record>, effects: &mut Effects) {
        let batch = self.fold(records);
        let batch = batch.expect("ARC-04: a run's own records are bounded and follow its fold");
        effects.push(Effect::Commit(batch));
    }

    fn settle(&mut self, settlement: Settlement, effects: &mut Effects) {
        self.liveness = Liveness::Resting;
        effects.push(Effect::Settle(settlement));
    }
}

fn fault(fault: ModelFault) -> Settlement {
    let (ModelFault::Unavailable(diagnostic) | ModelFault::Protocol(diagnostic)) = fault;
    if diagnostic.tag() == PolicyLimit::TAG {
        // A provider may use any word, but a policy tag is only ours to give.
        return failed("ModelFault", diagnostic.message());
    }
    Settlement::Failed { diagnostic, limit: None }
}

/// Whether a response may become canonical: it is complete, and its finish fits its calls
/// (RUN-004, MM-01).
fn judge(response: &ModelResponse) -> Result<(), Settlement> {
    let has_calls = response.calls().next().is_some();
    match (response.finish, has_calls) {
        (FinishReason::Stop, false) | (FinishReason::ToolCalls, true) => Ok(()),
        (FinishReason::Length, _) => {
            Err(failed("ResponseTruncated", "the response was cut at a length limit"))
        }
        (FinishReason::Stop, true) | (FinishReason::ToolCalls, false) => {
            Err(failed("ResponseContradictory", "the finish reason does not fit the calls"))
        }
    }
}
