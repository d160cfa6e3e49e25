//! Living: the run's effects become commands and questions, and answers become its inputs.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::effect::{Effect, End};
use super::predict::{Defect, Draft, Predicted};
use super::read::{Next, end, view_of};
use super::state::{Setup, Stage, Working};
use crate::contract::Machine;
use crate::effect::{Answer, CheckSubject};
use crate::identity::DurationMs;
use crate::limits::CALL_OFF_MS;
use crate::record::{Doubt, Record, ToolSettled};
use crate::run::{self, Liveness, Run, Timer};
use crate::store::LaneView;

impl Working {
    /// Steps the run and does what it asks for.
    pub(super) fn drive(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        input: run::Input,
    ) -> Predicted {
        let rest = run::State::new(
            setup.binding.clone(),
            setup.lane.clone(),
            self.submission,
            self.run.epoch(),
            crate::projection::Projection::default(),
        );
        let step = Run::step(core::mem::replace(&mut self.run, rest), input);
        self.run = step.state;
        for effect in step.effects {
            match effect {
                run::Effect::Commit(batch) => self.commit(setup, draft, batch)?,
                run::Effect::Listen => self.listens = true,
                run::Effect::External(external) => {
                    draft.after.push(Effect::External(external));
                }
                run::Effect::Tell(event) => self.tell(draft, event),
                run::Effect::Schedule { timer, after } => {
                    draft.after.push(Effect::Schedule { timer, after });
                }
                run::Effect::Settle(settlement) => self.reserve(draft, settlement)?,
            }
        }
        Ok(())
    }

    /// Hands waiting answers to whoever asked: the reconciliation, who resolves, or the live run. A resting
    /// run's answers wait on.
    pub(super) fn deliver(&mut self, setup: &Setup, draft: &mut Draft) -> Predicted {
        let mut later = VecDeque::new();
        while let Some(answer) = self.inbox.pop_front() {
            match (answer, self.run.liveness()) {
                (Answer::Reconciler { doubt, reconciliation }, _) => {
                    if self.asked.remove(&doubt) {
                        self.proofs.insert(doubt, reconciliation);
                    }
                }
                (Answer::Checked { subject: CheckSubject::Resolution(doubt), verdicts, .. }, _) => {
                    self.fitted(doubt, verdicts);
                }
                (answer, Liveness::Live) => {
                    draft.consumed.push(answer.clone());
                    self.drive(setup, draft, run::Input::Answered(answer))?;
                }
                (answer, Liveness::Resting) => later.push_back(answer),
            }
        }
        self.inbox = later;
        for timer in core::mem::take(&mut self.due) {
            self.drive(setup, draft, run::Input::Due(timer))?;
        }
        Ok(())
    }

    /// Looks at the lane again after a hint. Somebody may have taken it, or wants the end.
    pub(super) fn refresh(mut self, setup: &Setup, view: LaneView) -> Next {
        let (Some(row), Some(owner)) = (view.row, &view.lane.owner) else {
            return end(End::Superseded);
        };
        if owner.token != self.token {
            return end(End::Superseded);
        }
        let is_aborted = row.abort.is_some();
        self.read_at = view.now;
        self.slice = view_of(view.lane, row, view.beside);
        if self.calling_off {
            return self.wait_for_calls(setup);
        }
        match self.run.liveness() {
            Liveness::Live if is_aborted => self.call_off(setup),
            Liveness::Live => self.hear(setup),
            Liveness::Resting => self.proceed(setup),
        }
    }

    /// Somebody wants the end of a live run: its calls are told, and have some time to end by
    /// themselves (RUN-008). Nothing begins meanwhile, and the run hears of nothing.
    fn call_off(mut self, setup: &Setup) -> Next {
        if self.is_alone() {
            return self.stop(setup);
        }
        self.calling_off = true;
        let after = DurationMs(CALL_OFF_MS);
        let reminder = Effect::Schedule { timer: Timer::CallOff, after };
        (working(self), alloc::vec![Effect::CallOff, reminder])
    }

    /// Waits until every call is back, or until they have had their time.
    pub(super) fn wait_for_calls(mut self, setup: &Setup) -> Next {
        if self.is_alone() || self.due.contains(&Timer::CallOff) {
            return self.stop(setup);
        }
        let mut draft = Draft::default();
        match self.housekeep(setup, &mut draft) {
            Ok(()) => self.send(setup, draft),
            Err(Defect) => end(End::Defect),
        }
    }

    /// Whether no call runs whose answer is not here.
    fn is_alone(&self) -> bool {
        let back: BTreeSet<Doubt> = self.inbox.iter().filter_map(Answer::start).collect();
        self.run.flights().tools.is_subset(&back)
    }

    /// Stops a live run. What has returned is kept; what is still out becomes a doubt.
    fn stop(mut self, setup: &Setup) -> Next {
        self.calling_off = false;
        let mut draft = Draft::default();
        let stopped = self
            .drive(setup, &mut draft, run::Input::Stopped)
            .and_then(|()| self.keep_returned(setup, &mut draft))
            .map(|_| self.run = self.run.clone().with_flights(run::Flights::default()));
        let (stage, mut effects) = match stopped {
            Ok(()) => self.go_on(setup, draft),
            Err(Defect) => end(End::Defect),
        };
        effects.insert(0, Effect::CancelExternals);
        (stage, effects)
    }

    /// Records the results that wait to be acted on, before anything that is out is called a
    /// doubt, and what the question of the model has used that is out (BU-07). Each counts once,
    /// and is offered again if the pipeline is refused. Other answers are of no use to a run that
    /// ends. Whether there was anything to record.
    pub(super) fn keep_returned(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
    ) -> Result<bool, Defect> {
        let mut groups = Vec::new();
        let inbox = core::mem::take(&mut self.inbox);
        let said = inbox.iter().find(|it| self.run.flights().awaits_model(it)).cloned();
        if let Some((record, said)) = self.run.give_up_what_is_out(said) {
            groups.extend(record.map(|record| alloc::vec![record]));
            draft.consumed.push(said);
        }
        let mut flights = self.run.flights().clone();
        for answer in inbox {
            let record = match &answer {
                Answer::Tool { start, outcome } if flights.land(start) => {
                    let (submission, call) = (self.submission, start.call);
                    let outcome = self.run.kept(call, outcome.clone());
                    Record::ToolSettled(ToolSettled { submission, call, outcome })
                }
                Answer::Step { start, ordinal, output } if flights.awaits(*start, *ordinal) => {
                    flights.steps.remove(start);
                    match self.run.next_step(start.call, *ordinal, output) {
                        Ok(Some(record)) => record,
                        Ok(None) | Err(_) => continue,
                    }
                }
                _ => continue,
            };
            groups.push(alloc::vec![record]);
            draft.consumed.push(answer);
        }
        let has_returned = !groups.is_empty();
        self.record_groups(setup, draft, groups)?;
        self.run = self.run.clone().with_flights(flights);
        Ok(has_returned)
    }
}

/// The stage of an attempt that goes on working.
pub(super) fn working(working: Working) -> Stage {
    Stage::Working(alloc::boxed::Box::new(working))
}
