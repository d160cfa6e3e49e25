//! Ways to a world: choices with the moments between them, and how they become schedules.

use std::any::Any;

use super::summary::Found;
use super::{Counterexample, Explorable, ExploreError};
use crate::fault::Fault;
use crate::schedule::{Arrival, Choice, Schedule, Walk, run};

/// The way to the world at hand, in case that it panics there.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Moments passed before a fault, and the fault.
    choices: Vec<(u64, Fault)>,
    /// Moments passed since.
    passed: u64,
}

impl Way {
    /// A moment is passed.
    pub(super) const fn passed(&mut self) {
        self.passed += 1;
    }

    /// A fork begins. Gives back what [`Way::back`] needs.
    pub(super) fn fork(&mut self, fault: Fault) -> u64 {
        self.choices.push((self.passed, fault));
        std::mem::take(&mut self.passed)
    }

    /// The fork is searched.
    pub(super) fn back(&mut self, passed: u64) {
        self.choices.pop();
        self.passed = passed;
    }

    /// The world at hand has panicked.
    pub(super) fn panicked<W: Explorable>(
        &self,
        world: &W,
        panic: &(dyn Any + Send),
    ) -> ExploreError {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("it does not say why").to_owned();
        ExploreError::Panicked { schedule: name_arrivals(world, &self.choices), message }
    }
}

/// Names the arrivals of a way that was found, and makes sure that it fails from the start.
pub(super) fn counterexample<W: Explorable>(
    world: &W,
    found: &Found,
) -> Result<Counterexample<W::Property>, ExploreError> {
    let mut choices = Vec::new();
    let mut rest = found;
    while let Some(next) = &rest.next {
        choices.push((rest.ahead, next.0));
        rest = &next.1;
    }
    let schedule = name_arrivals(world, &choices);
    match run(world.clone(), &schedule) {
        Ok(run) => match run.world.violation() {
            Some(property) => Ok(Counterexample { schedule, property }),
            None => Err(ExploreError::Diverged { schedule }),
        },
        Err(why) => Err(ExploreError::Lost { schedule, why }),
    }
}

/// The choices of a way, as far as a world goes it that is run from the start. The last fault is
/// not injected: it may be the one that panics.
fn name_arrivals<W: Explorable>(world: &W, way: &[(u64, Fault)]) -> Schedule {
    let mut walk = Walk::new(world.clone());
    let mut choices = Vec::new();
    for (ahead, fault) in way {
        if let Some(Choice { fault, .. }) = choices.last() {
            walk.inject(*fault);
        }
        for _ in 0..*ahead {
            if stand(&mut walk).is_some() {
                walk.advance();
            }
        }
        let Some(Arrival { failpoint, arrival }) = stand(&mut walk) else { break };
        if !walk.world().faults().any(|possible| possible == *fault) {
            break;
        }
        choices.push(Choice { failpoint, arrival, fault: *fault });
    }
    Schedule::of(choices)
}

/// Comes to the next moment, waking paused processes where the calm schedule has ended.
fn stand<W: Explorable>(walk: &mut Walk<W>) -> Option<Arrival> {
    while walk.at().is_none() && walk.drain() {}
    walk.at()
}
