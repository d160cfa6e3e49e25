//! What a run is told, and who in it has to know.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::next::{Next, next};
use super::state::Hearing;
use super::{Effect, Input, Liveness, State, Timer, Wanted};
use crate::agent::{Diagnostic, ExecutionClass, ToolOutcome};
use crate::contract::{Machine, Step};
use crate::effect::Answer;
use crate::identity::Timestamp;
use crate::record::{Doubt, Record, Settlement};

/// The machine of one run.
pub struct Run;

impl Machine for Run {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Resumed { now } => {
                state.liveness = Liveness::Live;
                state.now = state.now.max(now);
                (state.cleared, state.unsure) = (false, false);
                // Its pause may have gone with an earlier attempt's timers.
                state.flights.retry = None;
                state.hearing = Hearing::Nothing;
                state.tell_again(&mut effects);
                state.watch_the_clock(&mut effects);
                state.interrupt(&mut effects);
                state.go_on(&mut effects);
            }
            Input::Stopped => state.liveness = Liveness::Resting,
            Input::Steered(said) => {
                state.steering.push_back(said);
                if state.liveness == Liveness::Live {
                    state.go_on(&mut effects);
                }
            }
            Input::Clock { now } => state.now = state.now.max(now),
            Input::Heard { said, now } => {
                state.now = state.now.max(now);
                if state.hearing == Hearing::Asked {
                    state.hearing = Hearing::Told;
                    state.steering = said.into();
                    if state.liveness == Liveness::Live {
                        state.go_on(&mut effects);
                    }
                }
            }
            Input::Due(timer) => match state.liveness {
                Liveness::Live => state.due(timer, &mut effects),
                Liveness::Resting => {}
            },
            Input::Answered(answer) => match state.liveness {
                Liveness::Live => state.answered(answer, &mut effects),
                Liveness::Resting => {}
            },
        }
        Step::new(state, effects)
    }
}

pub(super) type Effects = Vec<Effect>;

impl State {
    /// Does what comes next, unless it is being done already.
    pub(super) fn go_on(&mut self, effects: &mut Effects) {
        if self.unsure {
            return self.rest_when_alone();
        }
        let Some(run) = self.run() else { return };
        let next = next(run, &self.terms());
        match next {
            Next::Fail(settlement) if self.flights.tools.is_empty() => {
                self.charge_what_is_out(effects);
                self.settle(settlement, effects);
            }
            // Nothing new begins; what runs comes to its end first.
            Next::Fail(_) => self.want_only(|_| false, effects),
            Next::AskModel(..) | Next::RunCalls(_) if self.draining => {}
            Next::Answer(finish) => {
                if !self.flights.is_asking() {
                    let goes_on = self.may_go_on_after_its_answer();
                    if goes_on && !self.has_heard(effects) {
                        return;
                    }
                    if !(goes_on && self.take_in(Wanted::AtTheEnd, effects)) {
                        self.answer(finish, effects);
                    }
                }
            }
            Next::AskModel(turn, tools) => {
                if !self.flights.is_asking() && self.has_heard(effects) {
                    self.take_in(Wanted::Soon, effects);
                    self.hearing = Hearing::Nothing;
                    self.ask(turn, tools, effects);
                }
            }
            Next::RunCalls(_) => {
                if !self.flights.is_judging() {
                    self.run_calls(effects);
                }
            }
        }
    }

    /// An answer counts once, and only while its question is in flight.
    fn answered(&mut self, answer: Answer, effects: &mut Effects) {
        let Some(own) = self.run().map(|run| run.run) else { return };
        match answer {
            Answer::Model { run, turn, purpose, response }
                if run == own && self.flights.model == Some((turn, purpose)) =>
            {
                self.flights.model = None;
                self.responded(turn, purpose, response, effects);
            }
            Answer::Checked { run, turn, subject, verdicts }
                if run == own && self.flights.check == Some((turn, subject)) =>
            {
                self.flights.check = None;
                self.checked(subject, &verdicts, effects);
            }
            Answer::Cleared { run, turn, said }
                if run == own && self.flights.clearance == Some(turn) =>
            {
                self.flights.clearance = None;
                self.ruled(&said, effects);
            }
            Answer::Approver { run, turn, questions, answers }
                if run == own && self.flights.is_asked(turn, &questions) =>
            {
                self.flights.approver = None;
                self.approved(&questions, &answers, effects);
            }
            Answer::Authorizer { run, turn, authorization }
                if run == own && self.flights.authorizer == Some(turn) =>
            {
                self.flights.authorizer = None;
                self.authorized(authorization, effects);
            }
            Answer::Permitted { run, calls } if run == own => self.permitted(&calls, effects),
            Answer::Step { start, ordinal, output } if self.flights.awaits(start, ordinal) => {
                self.stepped(start, ordinal, &output, effects);
            }
            Answer::Tool { start, outcome } if self.flights.land(&start) => {
                self.returned(start.call, outcome, effects);
            }
            Answer::Unsure { start } if self.flights.land(&start) => {
                self.unanswered(start, effects);
            }
            Answer::Model { .. }
            | Answer::Checked { .. }
            | Answer::Cleared { .. }
            | Answer::Approver { .. }
            | Answer::Authorizer { .. }
            | Answer::Permitted { .. }
            | Answer::Step { .. }
            | Answer::Tool { .. }
            | Answer::Unsure { .. }
            | Answer::Reconciler { .. } => {}
        }
    }

    /// What has no effect has failed. Of anything else nobody knows whether it happened.
    pub(super) fn unanswered(&mut self, start: Doubt, effects: &mut Effects) {
        let class = self.tool_of(start.call).map(|tool| tool.class);
        if class == Some(ExecutionClass::Readonly) {
            let why = Diagnostic::cut("NoAnswer", "the tool gave no answer");
            return self.returned(start.call, Arc::new(ToolOutcome::Failure(why)), effects);
        }
        self.unsure = true;
        self.want_only(|_| false, effects);
        self.go_on(effects);
    }

    /// A start of which nobody knows is the classifier's to judge, once its siblings are back.
    /// Until then nothing new begins.
    fn rest_when_alone(&mut self) {
        if self.flights.tools.is_empty() {
            self.unsure = false;
            self.liveness = Liveness::Resting;
        }
    }

    fn due(&mut self, timer: Timer, effects: &mut Effects) {
        match timer {
            Timer::Retry(turn) if self.flights.retry == Some(turn) => {
                self.flights.retry = None;
                self.go_on(effects);
            }
            // Whoever drives the run calls it off.
            Timer::Retry(_) | Timer::CallOff => {}
            Timer::Warning => {
                let before = self.gauges();
                self.now = self.now.max(self.warning_at().unwrap_or_default());
                self.warn(&before, effects);
            }
            Timer::Deadline => {
                let run = self.run();
                let deadline = run.and_then(|run| super::budget::deadline(run, &self.allowance()));
                self.now = self.now.max(deadline.unwrap_or_default());
                self.go_on(effects);
            }
        }
    }

    /// Asks to be told when the run's time is over.
    fn watch_the_clock(&self, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        if let Some(deadline) = super::budget::deadline(run, &self.allowance())
            && self.now < deadline
        {
            let after = crate::identity::DurationMs(deadline.0 - self.now.0);
            effects.push(Effect::Schedule { timer: Timer::Deadline, after });
        }
        let warning = self.warning_at().filter(|at| self.watched && self.now < *at);
        if let Some(at) = warning {
            let after = crate::identity::DurationMs(at.0 - self.now.0);
            effects.push(Effect::Schedule { timer: Timer::Warning, after });
        }
    }

    /// When four fifths of its time are over: whoever watches is warned then (RUN-022).
    fn warning_at(&self) -> Option<Timestamp> {
        let began = self.run()?.input.at;
        let span = self.allowance().duration?.0;
        Some(Timestamp(began.0.saturating_add(span.saturating_mul(4).div_ceil(5))))
    }

    pub(super) fn commit(&mut self, records: Vec<Record>, effects: &mut Effects) {
        let batch = self.fold(records);
        let batch = batch.expect("ARC-04: a run's own records are bounded and follow its fold");
        effects.push(Effect::Commit(batch.clone()));
        self.tell_facts(&batch, effects);
    }

    pub(super) fn settle(&mut self, settlement: Settlement, effects: &mut Effects) {
        self.liveness = Liveness::Resting;
        effects.push(Effect::Settle(settlement));
    }
}
