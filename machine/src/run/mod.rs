//! The interpreter: one run, turn by turn.
//!
//! A run is the fold of its records plus what is in flight outside. It never remembers how it got
//! here: at every boundary [`next`] reads the fold and says what comes next, for a run that is
//! going on and for one that is resumed alike.
//!
//! ```text
//! Resting --Resumed--> Live --Answered--> Live --(Settle)--> Resting
//!                       |
//!                       +--Stopped--> Resting
//!
//! ask the model -> response canonical -> authorize -> prepared canonical -> invoke
//!       ^                                                                     |
//!       +------------- every call has its result, canonical <-----------------+
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | DUR-010: a step is recorded once, before its handler goes on | `steps`, from the fold |
//! | ARC-03: one result a call | an answer counts only for a start in flight, and ends its flight |
//! | RUN-005, RUN-006: whole batches, declaration order | `projection::transcript` |
//! | RUN-023, RUN-024: what is old is made smaller, once a turn and once a refusal | `compaction`, from the fold |
//! | CO-07: one estimate of a request's size | `context::estimate` |
//! | RUN-028: authorization before preparation, on every resume | `batch::authorize` |
//! | DUR-008: an incomplete response executes nothing | `respond::judge` before the response is canonical |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | D-07 mid stream | the interruption is recorded and the model asked again |
//! | A-12 a summary, not recorded | nothing has changed; it is asked for again |
//! | A-12 a summary, recorded | the turn is asked, and no further summary before it |
//! | D-08, D-09 before preparation | the batch is authorized again |
//! | D-10 to D-12 prepared, no result | the classifier decides; the run is not live |
//! | A-11 a step is recorded | the handler is entered again and given it; the next one runs |
//! | D-13, D-14 at a boundary | `next` says the same again |
//!
//! Deliberately absent: streams, which end before a response gets here, and retries of tools.

mod approval;
mod ask;
mod batch;
mod budget;
mod clear;
mod compaction;
mod context;
mod effect;
mod ephemeral;
mod failure;
mod flights;
mod input;
mod listen;
mod lost;
mod next;
mod respond;
mod start;
mod state;
mod step;
mod steps;
mod summary;
mod tell;

pub use effect::Effect;
pub(crate) use failure::{incompatible, poison};
pub use flights::Flights;
pub use input::{Input, Steered, Timer, Wanted};
pub use next::{Next, Terms, next};
pub use state::{Liveness, State};
pub use step::Run;

#[cfg(test)]
mod tests;
