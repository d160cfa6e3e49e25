//! Permits: so many calls at once, of an agent, of a group of tools, and of a whole host.
//!
//! A run keeps its own places ([`crate::agent::AgentPolicy::parallel_calls`]). What several runs
//! share is kept here. A call that has its run's place asks for its agent's, its group's and the
//! host's permit, in this order and all at once: it gets all of them or waits with none, so nobody
//! who waits keeps anybody else from going on, and no circle of waiters can form (RUN-009).
//!
//! ```text
//! Asked --(all free)--> Granted --Released--> (the next who fits is granted)
//!       --(one taken)--> waits, in the order of asking
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | RUN-009, ARC-05: never more than the limits | `step::fits` before anything is granted |
//! | every permit comes back | a ticket is released once, whether it was granted or waited |
//! | the first who fits is next | `step::grant` walks the queue from the front |
//!
//! Volatile: a crash gives everything back. Deliberately absent: priorities, and time.

mod effect;
mod input;
mod state;
mod step;

pub use effect::Effect;
pub use input::{Input, Ticket};
pub use state::{Limits, State};
pub use step::Permits;

#[cfg(test)]
mod tests;
