//! What a search counts.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Counterexample;
use super::points::{FailpointSet, failpoints};
use crate::oracle::SometimesSet;

/// Counters that another thread may look at while searches run. They decide nothing.
#[derive(Debug, Default)]
pub struct Counters {
    worlds: AtomicU64,
    steps: AtomicU64,
}

impl Counters {
    /// Worlds executed so far.
    pub fn worlds(&self) -> u64 {
        self.worlds.load(Ordering::Relaxed)
    }

    /// Steps executed so far.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, worlds: u64, steps: u64) {
        self.worlds.fetch_add(worlds, Ordering::Relaxed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }
}

/// What a search found out. All of it is the same on every machine and for every number of
/// threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration<P> {
    /// Complete schedules, as the full enumeration counts them.
    pub schedules: u64,
    /// Those of them that break a property.
    pub failed: u64,
    /// Worlds that were executed: all that no search had met before, and few that it had.
    pub worlds: u64,
    /// Moments passed and faults injected to execute them.
    pub steps: u64,
    /// Failpoints at which a world stood.
    pub visited: FailpointSet,
    /// What sometimes happens and happened in some world.
    pub reached: SometimesSet,
    /// For each failpoint, by number, the schedules with a fault at it.
    pub through: Vec<u64>,
    /// For each row of the matrix, by position, the schedules with a fault at one of its
    /// failpoints.
    pub through_rows: Vec<u64>,
    /// For each failpoint, by number, the executed worlds that stood at it.
    pub stood: Vec<u64>,
    /// Failpoints with a fault in a schedule that breaks a property.
    pub failed_at: FailpointSet,
    /// The shortest schedule that breaks a property, run again from the start.
    pub found: Option<Counterexample<P>>,
}

impl<P> Exploration<P> {
    pub(super) fn nothing() -> Self {
        Self {
            schedules: 0,
            failed: 0,
            worlds: 0,
            steps: 0,
            visited: FailpointSet::EMPTY,
            reached: SometimesSet::default(),
            through: Vec::new(),
            through_rows: Vec::new(),
            stood: vec![0; failpoints().len()],
            failed_at: FailpointSet::EMPTY,
            found: None,
        }
    }
}
