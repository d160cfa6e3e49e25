//! Steps of durable calls (DUR-010): of all that a call does, the one step that was not recorded may
//! run again, and nothing else.

use std::sync::Arc;

use everstep_machine::agent::StepOutput;
use everstep_machine::effect::Onward;
use everstep_machine::identity::{Epoch, ToolCallId};
use everstep_machine::record::{Doubt, StepRecorded};

use super::{Judge, Permits, Property, Sometimes};
use crate::cast::Cast;
use crate::outside::Outside;

/// What the log says of the steps of a call.
struct Known {
    /// Who recorded each, and what.
    steps: Vec<(Epoch, Arc<StepOutput>)>,
    /// Whether it has ended: its steps are kept no more.
    has_ended: bool,
}

impl Judge {
    /// The body of a step ran. A start that was superseded may run the one that it was about to run,
    /// although its successor has recorded it: nobody can hold it back, and it records nothing.
    pub(super) fn check_body(
        &mut self,
        cast: &Cast,
        lane: usize,
        outside: &Outside,
        start: Doubt,
        ordinal: u32,
    ) {
        let told = |why: &str| {
            let place = ordinal + 1;
            format!("step {place} of call {:?} runs under epoch {}: {why}", start.call, start.start)
        };
        let known = self.known(cast, lane, start.call);
        let is_zombie = start.start < self.memory.lanes[lane].claimed;
        let recorded = known.steps.len() as u32;
        if (ordinal < recorded || known.has_ended) && !is_zombie {
            self.broken(Property::RecordedSteps, || told("it is recorded"));
        }
        if ordinal > recorded && !known.has_ended {
            self.broken(Property::RecordedSteps, || told("the one before is not recorded"));
        }
        if outside.bodies(start, ordinal) > 1 {
            self.broken(Property::RecordedSteps, || told("this start has run it"));
        }
        let ran = |(other, at): &(Doubt, u32)| other.call == start.call && *at == ordinal;
        if self.memory.bodies.iter().any(ran) {
            self.note(Sometimes::StepAgain);
        }
        self.memory_mut().bodies.push((start, ordinal));
    }

    /// A handler is let go on, whose step this very start has recorded.
    pub(super) fn check_onward(
        &mut self,
        lane: usize,
        onward: &Onward,
        permits: &Permits,
        cast: &Cast,
    ) {
        let Onward { start, recorded, .. } = *onward;
        let told = || format!("call {:?} goes on under epoch {}", start.call, start.start);
        if !permits.authorises(start.start, start.call) {
            self.broken(Property::Authorised, told);
        }
        let known = self.known(cast, lane, start.call);
        let by = known.steps.get(recorded as usize).map(|(epoch, _)| *epoch);
        if by != Some(start.start) && !known.has_ended {
            self.broken(Property::RecordedSteps, || {
                format!("{}, and its step {} is not recorded", told(), recorded + 1)
            });
        }
    }

    /// A step was recorded: it has run, and it is the next one.
    pub(super) fn check_step(&mut self, lane: usize, epoch: Epoch, it: &StepRecorded) {
        let start = Doubt { call: it.call, start: epoch };
        if !self.memory.bodies.contains(&(start, it.ordinal)) {
            self.broken(Property::RecordedSteps, || {
                format!("lane {lane}: {} of {start:?} is recorded and has not run", it.output.step)
            });
        }
    }

    fn known(&self, cast: &Cast, lane: usize, call: ToolCallId) -> Known {
        let submission = cast.declared(call).map(|call| call.submission);
        let view = submission.and_then(|it| self.memory.lanes[lane].fold.submission(it));
        let found = view.and_then(|view| view.calls().find(|it| it.id == call));
        match found {
            Some(call) => Known {
                steps: call.steps.iter().map(|it| (it.epoch, Arc::clone(&it.output))).collect(),
                has_ended: call.outcome.is_some(),
            },
            // A submission that is settled forgets its calls.
            None => Known {
                steps: Vec::new(),
                has_ended: view.is_some_and(|view| view.settled.is_some()),
            },
        }
    }
}
