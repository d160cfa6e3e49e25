//! Steps of durable tools: what a handler asks for, and what is recorded of it (DUR-010).
//!
//! ```text
//! handler --Steps::run--> Entry (a machine: recorded, run, or a fault)
//!             |  body runs, succeeds
//!             +--Handed--> Record ... Answer::Step ... committed ... External::NextStep
//!             |                                                           |
//!             +<---------------- the handler goes on --------------------+
//! ```
//!
//! | promise | how |
//! | --- | --- |
//! | the handler goes on only when its step is committed | it waits for a word that [`Record::recorded`] alone gives |
//! | first time and ever after it sees the same | what it is given is always read from what is recorded |
//! | a fault of its steps is the call's, whatever the handler makes of it | [`Record::fault`] is asked when it has ended |
//!
//! Deliberately absent: rules, which are `everstep_machine::steps`'s.

mod record;
mod run;

pub(crate) use record::{Handed, Record, Recorder};
pub use run::{StepError, Steps};

#[cfg(test)]
mod tests;
