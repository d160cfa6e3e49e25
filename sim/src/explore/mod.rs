//! Every schedule with up to so many faults, each different world executed once.
//!
//! A search walks the calm schedule. At every moment it forks the world once for each fault that
//! may be injected there, searches the fork with one fault less to spend, and then passes the
//! moment. Nothing is replayed to come to a fork.
//!
//! Worlds that are equal have equal futures. What a search learnt below a world is kept under the
//! world's fingerprint and the faults left to spend: how many schedules there are below, through
//! which failpoints and rows of the matrix they go, and the shortest one that breaks a property. Meeting an equal world
//! again costs one look. So the counts are those of the full enumeration, although almost all of
//! it is never executed.
//!
//! | what costs a fault | |
//! | --- | --- |
//! | crash, crash-done, pause, lose | one |
//! | wake | one, when it is chosen; none at the end of the calm schedule |
//! | abort, steer | none; the world offers each at most once in a schedule |
//!
//! Deliberately absent: randomness, threads inside one search, and any look into the world.

mod counts;
mod points;
mod search;
mod summary;
mod way;
mod world;

use everstep_machine::effect::Failpoint;

use crate::fault::Fault;
use crate::oracle::SometimesSet;
use crate::schedule::{Schedule, Stuck};

pub use counts::{Counters, Exploration};
pub use points::{FailpointSet, failpoints, number};
pub use search::{Bounds, explore};

/// The most steps that one schedule may take before it counts as endless.
pub const MAX_STEPS: u64 = 1_000_000;

/// Where a world stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// What happens when the moment is passed, and in which phase of it.
    pub failpoint: Failpoint,
    /// The process that would crash.
    pub process: usize,
}

/// A world that can be searched.
///
/// A search never looks inside. It relies on three rules: every method is deterministic; worlds
/// with equal fingerprints have equal futures; without faults every world comes to an end.
pub trait Explorable: Clone {
    /// What can be broken.
    type Property: Copy + Eq + core::fmt::Debug;

    /// Where the calm schedule stands. None: it has nothing left to do.
    fn place(&self) -> Option<Place>;
    /// What may be injected here, in a fixed order.
    fn faults(&self) -> impl Iterator<Item = Fault>;
    /// Injects one of [`Explorable::faults`].
    fn inject(&mut self, fault: Fault);
    /// Passes the moment.
    fn advance(&mut self);
    /// Where the calm schedule has nothing left to do: wakes a paused process. False: the end.
    fn drain(&mut self) -> bool;
    /// Judges the end.
    fn conclude(&mut self);
    /// The first broken property.
    fn violation(&self) -> Option<Self::Property>;
    /// 128 bits over everything that can influence the future and its judgement.
    fn fingerprint(&self) -> u128;
    /// What sometimes happens and has happened on the way here.
    fn reached(&self) -> SometimesSet;
}

/// What one fault costs.
#[must_use]
pub const fn cost(fault: Fault) -> u8 {
    match fault {
        Fault::Crash | Fault::CrashDone | Fault::Pause | Fault::Lose | Fault::Wake => 1,
        Fault::Abort | Fault::Steer | Fault::Revoke => 0,
    }
}

/// A schedule that breaks a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<P> {
    /// The shortest there is within the depth, and of those the one with the earliest choices.
    pub schedule: Schedule,
    /// What it breaks.
    pub property: P,
}

/// Why a search did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExploreError {
    /// There are more worlds than may be executed.
    #[error(
        "{bound} worlds are executed and there are more; {explored} ends of schedules were met; \
         search less deep, or allow more worlds"
    )]
    TooManyWorlds {
        /// The most that may be executed.
        bound: u64,
        /// Ends of schedules that were met until then.
        explored: u64,
    },
    /// A schedule does not end.
    #[error("a schedule has not ended after {0} steps")]
    Endless(u64),
    /// An assertion fails, in a machine or in the world.
    #[error("the schedule `{schedule}` panics: {message}")]
    Panicked {
        /// The first such schedule of the search.
        schedule: Schedule,
        /// What the panic says.
        message: String,
    },
    /// The shortest counterexample does not fail when it is run from the start. The world is not
    /// deterministic, or a fingerprint leaves something out.
    #[error("the schedule `{schedule}` failed in the search and does not when run from the start")]
    Diverged {
        /// The schedule.
        schedule: Schedule,
    },
    /// The shortest counterexample cannot be run from the start, for the same reason.
    #[error("the schedule `{schedule}` failed in the search and cannot be run again: {why}")]
    Lost {
        /// The schedule.
        schedule: Schedule,
        /// What came in between.
        why: Stuck,
    },
}

#[cfg(test)]
pub(crate) mod tests;
