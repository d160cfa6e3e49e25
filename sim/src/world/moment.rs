//! Places where a process may break.

use everstep_machine::effect::Failpoint;

/// Position of a process in its world: clients first, then aborts, the operator, workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessIndex(pub usize);

/// Position of a lane in its world, in the order in which the scenario names conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneIndex(pub usize);

/// What a task stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Spot {
    /// A phase of the command at this position of the pipeline in flight.
    Command(usize),
    /// A phase of the external effect at this position among those in flight.
    Flight(usize),
}

/// The next place of the calm schedule where a process may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Which effect, and where relative to it.
    pub failpoint: Failpoint,
    /// Whose effect it is.
    pub process: ProcessIndex,
    /// In which lane.
    pub lane: LaneIndex,
    /// Which of the process's tasks.
    pub(crate) task: usize,
    /// Where in the task.
    pub(crate) spot: Spot,
}

impl Moment {
    /// The position of the command in its pipeline, from 0; none for an effect outside.
    #[must_use]
    pub const fn position(&self) -> Option<usize> {
        match self.spot {
            Spot::Command(at) => Some(at),
            Spot::Flight(_) => None,
        }
    }
}
