//! What a task's steps asked for, in the order in which it may leave.

use std::collections::VecDeque;
use std::sync::Arc;

use everstep_machine::admission::{Receipt, Rejection};
use everstep_machine::attempt::End;
use everstep_machine::effect::External;
use everstep_machine::identity::DurationMs;
use everstep_machine::run::Timer;
use everstep_machine::store::Pipeline;
use everstep_machine::{admission, attempt};

use crate::fingerprint::Printed;

/// An effect of either machine.
#[derive(Clone, Debug, Hash)]
pub(super) enum Action {
    Store(Arc<Printed<Pipeline>>),
    External(Arc<Printed<External>>),
    CallOff,
    CancelExternals,
    ScheduleRenewal(DurationMs),
    Schedule(Timer, DurationMs),
    /// A live event: nobody watches here, and nothing depends on it.
    Tell,
    End(End),
    Accept(Receipt),
    Reject(Rejection),
}

impl From<attempt::Effect> for Action {
    fn from(effect: attempt::Effect) -> Self {
        match effect {
            attempt::Effect::Store(pipeline) => Self::Store(Arc::new(Printed::new(pipeline))),
            attempt::Effect::External(external) => Self::External(Arc::new(Printed::new(external))),
            attempt::Effect::CallOff => Self::CallOff,
            attempt::Effect::CancelExternals => Self::CancelExternals,
            attempt::Effect::ScheduleRenewal { after } => Self::ScheduleRenewal(after),
            attempt::Effect::Schedule { timer, after } => Self::Schedule(timer, after),
            attempt::Effect::Tell { .. } => Self::Tell,
            attempt::Effect::End(end) => Self::End(end),
        }
    }
}

impl From<admission::Effect> for Action {
    fn from(effect: admission::Effect) -> Self {
        match effect {
            admission::Effect::Store(pipeline) => Self::Store(Arc::new(Printed::new(pipeline))),
            admission::Effect::Accept(receipt) => Self::Accept(receipt),
            admission::Effect::Reject(rejection) => Self::Reject(rejection),
        }
    }
}

/// Effects by the step that asked for them.
///
/// Within a step, nothing leaves while a pipeline before it is in flight, and what follows a
/// pipeline that failed is discarded. Steps do not wait for each other, except that only one
/// pipeline of a task is in flight at a time.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Plan {
    steps: VecDeque<PlannedStep>,
}

#[derive(Clone, Debug, Hash)]
struct PlannedStep {
    /// Whether its pipeline is in flight.
    waits: bool,
    actions: VecDeque<Action>,
}

impl Plan {
    /// Adds what a step asks for.
    pub(super) fn add(&mut self, actions: impl IntoIterator<Item = Action>) {
        let actions: VecDeque<_> = actions.into_iter().collect();
        if !actions.is_empty() {
            self.steps.push_back(PlannedStep { waits: false, actions });
        }
    }

    /// The next action that may leave. A pipeline that is taken is in flight until
    /// [`Plan::acknowledge`] or [`Plan::discard`]. A cancellation also drops the external effects
    /// that earlier steps asked for and that have not left.
    pub(super) fn take(&mut self) -> Option<Action> {
        let in_flight = self.steps.iter().any(|step| step.waits);
        let may_leave = |step: &PlannedStep| {
            !(step.waits || in_flight && matches!(step.actions.front(), Some(Action::Store(_))))
        };
        let at = self.steps.iter().position(may_leave)?;
        let action = self.steps[at].actions.pop_front()?;
        self.steps[at].waits = matches!(action, Action::Store(_));
        if matches!(action, Action::CancelExternals) {
            for step in self.steps.iter_mut().take(at) {
                step.actions.retain(|action| !matches!(action, Action::External(_)));
            }
        }
        self.steps.retain(|step| step.waits || !step.actions.is_empty());
        Some(action)
    }

    /// The pipeline in flight went through.
    pub(super) fn acknowledge(&mut self) {
        for step in &mut self.steps {
            step.waits = false;
        }
        self.steps.retain(|step| !step.actions.is_empty());
    }

    /// The pipeline in flight did not go through.
    pub(super) fn discard(&mut self) {
        self.steps.retain(|step| !step.waits);
    }

    /// Whether a pipeline is in flight or about to be.
    pub(super) fn has_pipeline(&self) -> bool {
        let waits_for_store = |action: &Action| matches!(action, Action::Store(_));
        self.steps.iter().any(|step| step.waits || step.actions.iter().any(waits_for_store))
    }
}
