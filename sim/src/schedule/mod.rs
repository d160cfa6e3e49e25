//! Schedules: what is injected where, as text that survives every change of a generator.
//!
//! A schedule is the calm schedule plus choices. A choice names an arrival and a fault:
//! `ledger.claim/after@2=crash` means that the second time the world stands at that failpoint,
//! counted over all processes and the whole schedule, the fault is injected before the world
//! passes it. Standing somewhere for the first time, and standing somewhere after passing a moment
//! or losing what was there, is an arrival; asking for an abort or waking a process while the
//! world stands still is none. Choices are kept in the order in which they are made, so several
//! may share one arrival.

mod choice;
mod run;
mod walk;

pub use choice::{Choice, ChoiceError, Schedule};
pub use run::{Run, Stuck, run};
pub use walk::{Arrival, Walk};

#[cfg(test)]
mod tests;
