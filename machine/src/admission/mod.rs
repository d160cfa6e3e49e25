//! One client call: admit, materialize, make ready, receipt.
//!
//! The receipt leaves only when all three are durable (DUR-001). A client that lost its answer
//! sends the identical call again, to this process or another one, and gets the same receipt.
//!
//! ```text
//! Idle --Started--> Sent --Stored--> Done
//!                    ^ |
//!                    +-+ Indeterminate: the identical pipeline again
//! ```
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | D-01 before `ledger.admit` | nothing was accepted; the client retries |
//! | D-02 before `ledger.ready` | the next attempt at the lane finishes the admission |
//! | D-03 after `ledger.ready` | the retry gets the same receipt |

mod effect;
mod input;
mod state;
mod step;

pub use effect::{Effect, Receipt, Rejection};
pub use input::Input;
pub(crate) use state::creation;
pub use state::{Call, State, saying};
pub use step::AdmissionMachine;

#[cfg(test)]
mod tests;
