//! Reservations: what a child may use up is taken from its parent's budget before the child starts.
//!
//! A run has one budget, whoever works for it. A child gets a part of what its parent has left, so two
//! children that start at the same time never share a remainder. What a child uses up is charged once
//! to itself and once to each of its ancestors, while it happens. What it has not used goes back once,
//! when its end is canonical.
//!
//! ```text
//! absent --Reserve--> Reserved --Settle--> ReleasePending --Release--> Released
//!                      Report               Report                      Report (late)
//! ```
//!
//! | invariant | where it is asserted |
//! | --- | --- |
//! | SUB-010: allocated = covered + released, once a reservation is settled | `State::check` |
//! | SUB-010: observed = covered + overrun | `State::check` |
//! | SUB-010: cap + overruns = available + open reservations + observed, for each account | `State::check` |
//! | BU-01, BU-03: what is observed is one's own and that of each child, once | `State::check`; a second account in the tests |
//! | SUB-010: concurrent reservations never oversubscribe | `step::reserve` takes from what is available before it answers |
//!
//! Usage is cumulative and never falls: a report that says the same again, or less, changes nothing, so
//! neither a report that comes twice nor one that is late charges twice, and no correction makes budget.
//! What nobody has reported by the end counts as used up whole. What is used beyond a reservation is
//! never cut to fit: it is an overrun of every account that it is charged to, and none of those reserves
//! anything any more. A child whose outcome is unknown is not settled, so it keeps what it has.
//!
//! Deliberately absent: who may delegate, what a child is, and time.

mod amounts;
mod effect;
mod input;
mod state;
mod step;

pub use amounts::{Amounts, Dimension, Used};
pub use effect::{Effect, Refusal};
pub use input::{Input, Owner};
pub use state::{Account, Limits, Phase, Reservation, State};
pub use step::Reservations;

#[cfg(test)]
mod tests;
