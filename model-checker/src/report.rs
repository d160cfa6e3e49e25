//! What a check found out.

use std::time::Duration;

/// How a check stands while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Different states met.
    pub states: u64,
    /// States met and not explored.
    pub frontier: u64,
    /// Moves from the start to the state at hand.
    pub depth: u32,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defeat<P> {
    /// A property is broken.
    Broken {
        /// Which.
        property: P,
        /// What was seen.
        detail: String,
    },
    /// The last move fails an assertion.
    Panicked {
        /// What the panic says.
        message: String,
    },
    /// From here no good end can be reached any more, although something can always happen.
    Stuck,
}

/// A shortest way to what went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<A, P> {
    /// What happens, in order.
    pub actions: Vec<A>,
    /// The same in words.
    pub told: Vec<String>,
    /// How it ends.
    pub defeat: Defeat<P>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<A, P> {
    /// Moves that were taken.
    pub moves: u64,
    /// Different states met; faults that are left count as part of a state.
    pub states: u64,
    /// Those of them in which nothing can happen without a fault.
    pub ends: u64,
    /// Moves from the start to the farthest state met.
    pub depth: u32,
    /// States met and not explored: 0 when the check is complete.
    pub frontier: u64,
    /// Moves from the start within which every state was met.
    pub covered: u32,
    /// What went wrong first.
    pub counterexample: Option<Counterexample<A, P>>,
    /// The time it took.
    pub elapsed: Duration,
}

impl<A, P> Report<A, P> {
    /// Whether every state within the faults was explored.
    pub const fn is_complete(&self) -> bool {
        self.frontier == 0 && self.counterexample.is_none()
    }
}
