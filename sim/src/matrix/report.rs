//! What a run of the matrix found out.

use std::fmt;
use std::time::Duration;

use super::rows::Row;
use crate::explore::{Exploration, FailpointSet, failpoints, number};
use crate::oracle::{Property, Sometimes, SometimesSet, Violation};
use crate::profile::Profile;
use crate::schedule::Schedule;

/// A scenario on a store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseName {
    /// The scenario's name.
    pub scenario: String,
    /// The store.
    pub profile: Profile,
}

impl fmt::Display for CaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on a {} store", self.scenario, self.profile)
    }
}

/// A schedule from which no choice can be removed, and what it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The schedule.
    pub schedule: Schedule,
    /// What it breaks.
    pub violation: Violation,
}

/// One scenario on one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Which.
    pub name: CaseName,
    /// What the search counted.
    pub exploration: Exploration<Property>,
    /// The shortest failing schedule.
    pub failure: Option<Failure>,
}

/// One row, over all cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowReport {
    /// Which.
    pub row: Row,
    /// Schedules with a fault at one of its failpoints.
    pub schedules: u64,
    /// Executed worlds that stood at one of its failpoints.
    pub worlds: u64,
    /// No schedule with a fault at one of its failpoints breaks a property.
    pub holds: bool,
}

/// All cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Faults in one schedule, at most.
    pub depth: u8,
    /// The cases, in the order of the plan.
    pub cases: Vec<Case>,
    /// The time it took.
    pub elapsed: Duration,
}

impl Report {
    pub(super) const fn new(depth: u8, cases: Vec<Case>, elapsed: Duration) -> Self {
        Self { depth, cases, elapsed }
    }

    fn sum(&self, count: impl Fn(&Exploration<Property>) -> u64) -> u64 {
        self.cases.iter().map(|case| count(&case.exploration)).sum()
    }

    /// Complete schedules.
    #[must_use]
    pub fn schedules(&self) -> u64 {
        self.sum(|found| found.schedules)
    }

    /// Schedules that break a property.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.sum(|found| found.failed)
    }

    /// Worlds that were executed.
    #[must_use]
    pub fn worlds(&self) -> u64 {
        self.sum(|found| found.worlds)
    }

    /// Steps that were executed.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.sum(|found| found.steps)
    }

    /// Failpoints at which some world stood.
    #[must_use]
    pub fn visited(&self) -> FailpointSet {
        let sets = self.cases.iter().map(|case| case.exploration.visited);
        sets.fold(FailpointSet::EMPTY, FailpointSet::union)
    }

    /// Failpoints with a fault in a schedule that breaks a property.
    #[must_use]
    pub fn failed_at(&self) -> FailpointSet {
        let sets = self.cases.iter().map(|case| case.exploration.failed_at);
        sets.fold(FailpointSet::EMPTY, FailpointSet::union)
    }

    /// What sometimes happens and did.
    #[must_use]
    pub fn reached(&self) -> SometimesSet {
        let sets = self.cases.iter().map(|case| case.exploration.reached);
        sets.fold(SometimesSet::default(), SometimesSet::union)
    }

    /// What sometimes happens and never did.
    pub fn unreached(&self) -> impl Iterator<Item = Sometimes> {
        let reached = self.reached();
        Sometimes::ALL.iter().copied().filter(move |one| !reached.contains(*one))
    }

    /// For each failpoint, by number: schedules with a fault at it, and worlds that stood at it.
    #[must_use]
    pub fn failpoints(&self) -> Vec<(u64, u64)> {
        let count =
            |at: usize| (self.sum(|found| found.through[at]), self.sum(|found| found.stood[at]));
        (0..failpoints().len()).map(count).collect()
    }

    /// The rows, in order.
    #[must_use]
    pub fn rows(&self) -> Vec<RowReport> {
        let failed = self.failed_at();
        let row = |(at, row): (usize, &Row)| RowReport {
            row: *row,
            schedules: self.sum(|found| found.through_rows[at]),
            worlds: row.failpoints().map(|point| self.sum(|f| f.stood[number(point)])).sum(),
            holds: !row.failpoints().any(|point| failed.contains(point)),
        };
        Row::ALL.iter().enumerate().map(row).collect()
    }

    /// The failures, one for each case that has one.
    pub fn failures(&self) -> impl Iterator<Item = (&CaseName, &Failure)> {
        self.cases.iter().filter_map(|case| Some((&case.name, case.failure.as_ref()?)))
    }
}
