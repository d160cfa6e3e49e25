//! Running one schedule from the start.

use super::{Choice, Schedule, Walk};
use crate::explore::{Explorable, MAX_STEPS};

/// A schedule that was run to its end, or to the first broken property.
#[derive(Clone, Debug)]
pub struct Run<W> {
    /// The world at the end.
    pub world: W,
    /// Moments passed and faults injected.
    pub steps: u64,
}

/// Why a schedule cannot be run in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// The world ended before it came there.
    #[error("the choice {0} is never reached")]
    Unreached(Choice),
    /// The world came there and the fault is not possible.
    #[error("the fault of the choice {0} is not possible there")]
    Impossible(Choice),
    /// The world does not come to an end.
    #[error("the schedule has not ended after {0} steps")]
    Endless(u64),
}

/// Runs a schedule from the start and judges the end.
///
/// A broken property ends the run at once; choices that were to come after it do not matter.
///
/// # Errors
/// The schedule does not fit the world.
pub fn run<W: Explorable>(world: W, schedule: &Schedule) -> Result<Run<W>, Stuck> {
    let mut walk = Walk::new(world);
    let mut open = schedule.choices().iter().peekable();
    for steps in 0..MAX_STEPS {
        if walk.world().violation().is_some() {
            return Ok(Run { world: walk.into_world(), steps });
        }
        let Some(here) = walk.at() else {
            if walk.drain() {
                continue;
            }
            if let Some(choice) = open.next() {
                return Err(Stuck::Unreached(*choice));
            }
            let mut world = walk.into_world();
            world.conclude();
            return Ok(Run { world, steps });
        };
        let wanted =
            |choice: &&Choice| choice.failpoint == here.failpoint && choice.arrival == here.arrival;
        match open.next_if(wanted) {
            None => walk.advance(),
            Some(choice) if walk.world().faults().any(|fault| fault == choice.fault) => {
                walk.inject(choice.fault);
            }
            Some(choice) => return Err(Stuck::Impossible(*choice)),
        }
    }
    Err(Stuck::Endless(MAX_STEPS))
}
