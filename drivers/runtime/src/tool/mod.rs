//! Tools as users write them: an async function with types, and what the engine has to know.
//!
//! The types of parameters, result and failure say what a model is shown and what is accepted:
//! their JSON Schemas are derived, and `serde` decodes and encodes. A tool that somebody else
//! describes carries its schemas as text: [`Tool::dynamic`].
//!
//! ```text
//! Invocation --fits?--decode--> handler --encode--> fits? --> Ended::Outcome --> the machine
//!               |        |         |  \-- no answer in time, ordinary --> Ended::Unsure
//!               |        |         \--- HadNoEffect --pause--> again, at most twice
//!               \--------+-- InvalidInput
//! ```
//!
//! | promise | how |
//! | --- | --- |
//! | ARC-01, RUN-003: a handler never sees undecoded parameters | it is called with a value of its own type, or not at all |
//! | DUR-010: a step that is recorded does not run again | [`Tool::durable`], whose handler does its work in [`crate::Steps`] |
//! | CAP-001, CAP-002: what is missing is named before anything runs | [`Toolkit::new`], [`Toolkit::check`] |
//! | CAP-004: what comes out is encoded, canonical and fits the schema | whatever is not is a defect of the call |
//! | RUN-008: who is called off is told | [`ToolContext::cancelled`], in a run without a store; after a short while the handler is dropped. A host drops it at once |
//! | RUN-014: an uncertain effect is never repeated | only a handler's own word that nothing happened leads to another try |
//! | SEC-03: how a tool is treated is declared, and cannot be changed by a call | [`ToolDefinition`], compared with the agent's |
//! | SEC-04: what nobody is to see is in no diagnostic | redacted places are taken out of failures, and decoding errors lose their words |
//!
//! A panic is a defect of that call; the task that the host gives each call contains it.
//!
//! Deliberately absent: permits, which the machine counts, and cutting results, which it does when
//! a call is settled.
//!
//! [`ToolDefinition`]: everstep_machine::agent::ToolDefinition

mod builder;
mod cancel;
mod codec;
mod context;
mod derive;
mod failed;
mod fault;
mod handler;
mod perform;
mod toolkit;

pub use builder::Tool;
pub use cancel::{Cancellation, Canceller};
pub use context::{Live, ToolContext};
pub use failed::{Failed, HandlerError, NoFailure};
pub use fault::{ToolFault, ToolkitError, ToolkitFault};
pub use perform::{Ended, in_time};
pub use toolkit::Toolkit;
pub(crate) use toolkit::unsound_output;

/// The page on durable tools, whose example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/durable-tools.md")]
struct DurableToolsPage;

/// The page on state, whose example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/state.md")]
struct StatePage;

#[cfg(test)]
mod tests;
