//! One ownership period of one lane: read, claim, fence, classify, act, run, settle.
//!
//! Recovery is the only way to start. An attempt reads the lane and its log, classifies what it
//! finds, performs that one decision on slices it predicts with the store's own machines, and
//! classifies again, until a run is live or there is nothing it may do. A new submission is
//! simply the evidence "ready, no input recorded".
//!
//! ```text
//! Idle --Started--> Reading --Stored--> Working --Stored, Answered--> Working --…--> Ended
//!                      ^                   |
//!                      +----- Refused -----+
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | ARC-13: nothing is acted on before the fence | `open` puts claim and fence before the first act |
//! | DUR-013: a decision needs nothing but what is durable | `recovery::classify` |
//! | ARC-10: nothing leaves before its commit | effects follow their pipeline in one step |
//! | one pipeline in flight | `Working` keeps answers that arrive meanwhile in its `inbox` |
//! | STORE-007: what a process remembers is confirmed or thrown away | `Reading` begins anew unless the first page links to it |
//!
//! | crash point | what the next attempt does |
//! | --- | --- |
//! | while reading | reads again: nothing had changed |
//! | after the claim, before the fence | claims a higher epoch once the lease has expired |
//! | after the fence | classifies what is in the log by then |
//! | anywhere later | the same: there is no other way to start |
//!
//! Deliberately absent: a separate recovery pass, retries of anything external, clocks.

mod act;
mod effect;
mod input;
mod join;
mod live;
mod predict;
mod read;
mod resolve;
mod state;
mod step;

pub use effect::{Effect, End};
pub use input::Input;
pub use state::{Setup, State};
pub use step::Attempt;

#[cfg(test)]
mod tests;
