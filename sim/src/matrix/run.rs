//! Running scenarios through every schedule up to a depth.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::report::{Case, CaseName, Failure, Report};
use crate::defect::Defect;
use crate::explore::{Bounds, Counterexample, Counters, ExploreError, explore};
use crate::oracle::Property;
use crate::profile::Profile;
use crate::scenario::Scenario;
use crate::schedule::{Schedule, run as run_schedule};
use crate::shrink::shrink;
use crate::world::World;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenarios.
    pub scenarios: Vec<Arc<Scenario>>,
    /// On which stores.
    pub profiles: Vec<Profile>,
    /// A rule to break on purpose.
    pub defect: Option<Defect>,
    /// How deep, and how much memory one case may take.
    pub bounds: Bounds,
    /// Threads, at least 1. The report does not depend on it.
    pub jobs: usize,
}

impl Plan {
    /// Scenario and store of every case, in the order of the report.
    #[must_use]
    pub fn cases(&self) -> Vec<CaseName> {
        let pairs = self.scenarios.iter().flat_map(|scenario| {
            self.profiles.iter().map(|profile| (scenario.name.clone(), *profile))
        });
        pairs.map(|(scenario, profile)| CaseName { scenario, profile }).collect()
    }
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{case}: {why}")]
pub struct MatrixError {
    /// In which case.
    pub case: CaseName,
    /// What happened.
    pub why: ExploreError,
}

/// Runs every scenario on every store, and shrinks what fails.
///
/// Cases run on several threads, each case on one; the report is the same for any number of them.
/// `counters` and `done`, the number of finished cases, are for progress only.
///
/// # Errors
/// A case did not come to its end. The first such case, in the order of the report, is told.
///
/// # Panics
/// When a machine, or the world, breaks an invariant it asserts.
pub fn run(plan: &Plan, counters: &Counters, done: &AtomicUsize) -> Result<Report, MatrixError> {
    let began = Instant::now();
    let names = plan.cases();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(at) else { return mine };
            let scenario = &plan.scenarios[at / plan.profiles.len()];
            mine.push((at, case(plan, name, scenario, counters)));
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..plan.jobs).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for worker in workers {
            match worker.join() {
                Ok(theirs) => results.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(at, _)| *at);
    let cases = results.into_iter().map(|(_, case)| case).collect::<Result<Vec<_>, _>>()?;
    Ok(Report::new(plan.bounds.depth, cases, began.elapsed()))
}

fn case(
    plan: &Plan,
    name: &CaseName,
    scenario: &Arc<Scenario>,
    counters: &Counters,
) -> Result<Case, MatrixError> {
    let world = World::new(Arc::clone(scenario), name.profile, plan.defect);
    let exploration = explore(&world, plan.bounds, counters)
        .map_err(|why| MatrixError { case: name.clone(), why })?;
    let failure = exploration.found.as_ref().map(|found| failure(&world, found));
    Ok(Case { name: name.clone(), exploration, failure })
}

/// The 1-minimal schedule below a counterexample, and what it breaks.
fn failure(world: &World, found: &Counterexample<Property>) -> Failure {
    let breaks = |schedule: &Schedule| {
        let end = run_schedule(world.clone(), schedule).ok()?;
        end.world.violation().filter(|broken| broken.property == found.property).cloned()
    };
    let schedule = shrink(&found.schedule, |candidate| breaks(candidate).is_some());
    let violation = breaks(&schedule).expect("a shrunk schedule was seen to fail");
    Failure { schedule, violation }
}
