//! What a search knows of everything below one world.

use std::rc::Rc;

use super::points::{FailpointSet, failpoints};
use crate::fault::Fault;
use crate::matrix::Row;

/// The shortest way to a broken property, told from a world onwards.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// How many choices it takes.
    pub(super) choices: u32,
    /// Moments to pass before the first of them.
    pub(super) ahead: u64,
    /// The first choice and the way after it. None: calmly on.
    pub(super) next: Option<Rc<(Fault, Found)>>,
}

impl Found {
    /// The property is broken here.
    const fn here() -> Self {
        Self { choices: 0, ahead: 0, next: None }
    }

    /// The same, from the moment before.
    fn one_step_earlier(&self) -> Self {
        Self { ahead: self.ahead + 1, ..self.clone() }
    }

    /// The same, from before a fault at this moment.
    fn behind(&self, fault: Fault) -> Self {
        let next = Some(Rc::new((fault, self.clone())));
        Self { choices: self.choices + 1, ahead: 0, next }
    }
}

/// Where a fork is, by numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// Of the failpoint.
    pub(super) failpoint: usize,
    /// Of the row that it realises.
    pub(super) row: usize,
}

/// Everything below one world. The default is nothing yet: forks and the calm way are added.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// Complete schedules.
    pub(super) schedules: u64,
    /// Those of them that break a property.
    pub(super) failed: u64,
    /// For each failpoint and then for each row, the schedules with a fault at it. Empty: none has
    /// a fault anywhere.
    through: Vec<u64>,
    /// Failpoints with a fault in a schedule that breaks a property.
    pub(super) failed_at: FailpointSet,
    /// The shortest way to a broken property.
    pub(super) found: Option<Found>,
}

impl Summary {
    /// One schedule, over.
    pub(super) fn end(failed: bool) -> Self {
        let found = failed.then(Found::here);
        Self { schedules: 1, failed: u64::from(failed), found, ..Self::default() }
    }

    /// Adds what is below a fork at this failpoint.
    pub(super) fn add_fork(&mut self, at: Numbers, fault: Fault, fork: &Self) {
        self.add_counts(fork);
        if self.through.is_empty() {
            self.through = vec![0; failpoints().len() + Row::ALL.len()];
        }
        // A schedule with two faults at one failpoint, or in one row, goes through it once.
        for place in [at.failpoint, failpoints().len() + at.row] {
            let already = fork.through.get(place).copied().unwrap_or(0);
            self.through[place] += fork.schedules - already;
        }
        if let Some(found) = &fork.found {
            self.failed_at.insert_number(at.failpoint);
            self.prefer(found.behind(fault));
        }
    }

    /// Adds what is below the calm way on.
    pub(super) fn add_calm(&mut self, calm: &Self) {
        self.add_counts(calm);
        if let Some(found) = &calm.found {
            self.prefer(found.one_step_earlier());
        }
    }

    fn add_counts(&mut self, below: &Self) {
        self.schedules += below.schedules;
        self.failed += below.failed;
        self.failed_at = self.failed_at.union(below.failed_at);
        if self.through.is_empty() {
            self.through.clone_from(&below.through);
        } else {
            let counts = self.through.iter_mut().zip(&below.through);
            counts.for_each(|(sum, count)| *sum += count);
        }
    }

    /// For each failpoint, and for each row, the schedules with a fault at it.
    pub(super) fn through(&self) -> (Vec<u64>, Vec<u64>) {
        let mut all = self.through.clone();
        all.resize(failpoints().len() + Row::ALL.len(), 0);
        let rows = all.split_off(failpoints().len());
        (all, rows)
    }

    /// Keeps the way with fewer choices, the one that was there on a tie.
    fn prefer(&mut self, found: Found) {
        if self.found.as_ref().is_none_or(|best| found.choices < best.choices) {
            self.found = Some(found);
        }
    }
}
