//! Which lane a host works on next, and when it has to look again.
//!
//! A host hears of work in three ways: a hint that a lane has changed, a scan of every lane with
//! something left to do, and the hour at which somebody else's lease runs out. Hints may be lost,
//! doubled and late, so they only make things faster; the scan is what finds work, and it is asked
//! for whenever an attempt has ended, since what the attempt left behind is in the store and
//! nowhere else. Between those this machine is parked: it polls nothing. What its host does to learn
//! that another process has committed something is a cheap glance, four times a second.
//!
//! What it remembers of lanes that it leaves alone is bounded. A lane beyond that is met again by a
//! later scan, and its end asks for no scan by itself, so that however many lanes of a file are
//! broken, the others are worked on.
//!
//! ```text
//! lane: unknown --Hinted, Scanned--> queued --a slot is free--> worked on --Ended--> unknown
//!                                                                  |
//!                                               Corrupt, Defect ---+---> left alone
//!                                 Declined, Incompatible ----------+---> waits --RetryDue--> unknown
//!
//! scan: resting --Started, LookDue, Ended, ...--> looking --Scanned (last page)--> resting
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | DUR-005: one attempt a lane in this host | a lane is queued once, and not while it is worked on |
//! | ARC-05: bounded | at most `slots` attempts, at most [`crate::limits::QUEUED_LANES`] waiting lanes, at most [`crate::limits::LEFT_ALONE`] that are left alone, and as many declined ones; what does not fit is found by a later scan |
//! | STORE-006: a corrupt lane is left alone | it is not started again by this host while it is remembered |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | anywhere | nothing here is durable: a new host scans |
//!
//! Deliberately absent: rules of a lane (an attempt has them), clocks (a scan says how long until
//! the next lease ends), permits for single calls, priorities.

mod effect;
mod input;
mod state;
mod step;

pub use effect::Effect;
pub use input::{Findings, Input};
pub use state::State;
pub use step::Scheduler;

#[cfg(test)]
mod tests;
