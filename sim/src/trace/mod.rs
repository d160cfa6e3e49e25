//! Traces: one schedule of one scenario with its verdict, in a file that explains itself.
//!
//! A trace carries the whole text of its scenario and the choices of its schedule. It holds no
//! seed, so it means the same after every change of a generator, and no path, so it means the same
//! in every folder.
//!
//! ```toml
//! schema = 1
//! property = "a submission settles once"
//! profile = "weak"
//! choices = ["ledger.finalize/before@1=crash"]
//!
//! [scenario]
//! name = "answer"
//! text = '''
//! …
//! '''
//! ```
//!
//! `property` is the verdict that is expected: the name of the property that the schedule breaks,
//! or `holds`. `defect` names a rule that is to be broken on purpose, `commit` the version of the
//! project that wrote the trace.

mod error;
mod file;

use std::sync::Arc;

use crate::defect::Defect;
use crate::oracle::{Property, Violation};
use crate::profile::Profile;
use crate::scenario::Scenario;
use crate::schedule::{Run, Schedule, Stuck, run};
use crate::world::World;

pub use error::{Fault, TraceError};
pub use file::{CHOICES, TRACE_BYTES};

/// A schedule of a scenario, and what is expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The text it was read from.
    pub text: String,
    /// The store.
    pub profile: Profile,
    /// A rule to break on purpose.
    pub defect: Option<Defect>,
    /// The schedule.
    pub schedule: Schedule,
    /// What it breaks; none when everything holds.
    pub property: Option<Property>,
    /// The version of the project that wrote it.
    pub commit: Option<String>,
}

/// The word for a verdict in which nothing is broken.
pub const HOLDS: &str = "holds";

impl Trace {
    /// The world in which nothing has happened yet.
    #[must_use]
    pub fn world(&self) -> World {
        World::new(Arc::clone(&self.scenario), self.profile, self.defect)
    }

    /// Runs the schedule and records what happens.
    ///
    /// # Errors
    /// The schedule does not fit the world any more.
    pub fn replay(&self) -> Result<Run<World>, Stuck> {
        let mut world = self.world();
        world.record_story();
        run(world, &self.schedule)
    }

    /// Whether a verdict is the expected one.
    #[must_use]
    pub fn expects(&self, violation: Option<&Violation>) -> bool {
        violation.map(|violation| violation.property) == self.property
    }

    /// The expected verdict, in words.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        self.property.map_or(HOLDS, Property::name)
    }
}

#[cfg(test)]
mod tests;
