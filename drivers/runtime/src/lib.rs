//! The host: performs on tokio what the machines of `everstep-machine` ask for.
//!
//! A host decides nothing. The machines say which lane is worked on, what is stored, what is asked
//! of the outside and in which order; the host moves pipelines to a store's thread, runs handlers
//! as tasks, watches timers, and tells the machines what came of it.
//!
//! ```text
//!            StartAttempt             Store                    (one thread: the durable port)
//! scheduler -------------> attempt --------------------------> store worker
//!     ^  ^                  |  ^ |   External                  (tasks: model, tools, authorizer,
//!     |  |                  |  | +---------------------------> outside          reconciler)
//!     |  +--- Ended --------+  +--- Stored, Answered, Woken, RenewalDue
//!     +--- Hinted, Scanned, LookDue, ChangedElsewhere --- clients, store, look-out, timer
//! ```
//!
//! | promise | how |
//! | --- | --- |
//! | ARC-10: nothing leaves before its commit | the effects behind a pipeline leave when it is acknowledged, and a fault discards them |
//! | ARC-05: bounded | a bound on concurrent attempts; one pipeline an attempt; a model that is far ahead of its reduction waits; hints that do not fit are one word, that something has changed; live events are dropped, not queued |
//! | STORE-012: waiting without polls or lost wakes | a waiter subscribes to its lane, then reads, then parks until something is said of that lane; of other processes that is learnt by a glance through the store, [`Config::glance`] apart, which tells their commits from its own |
//! | DUR-019: killed where the simulator crashes | [`Failpoints`] bear the names of the machines' effects |
//! | DUR-010: a durable handler goes on only when its step is committed | it rests meanwhile: nothing of it is polled, and dropping it has stopped it between two steps |
//! | CAP-012: what a call writes of its agent's state is written once, and never by who is superseded | [`State`], which is asked in the store, in one transaction with lane and log |
//! | SEC-01: nothing is admitted, shown or told across tenants | [`Caller`], and the ledger: a conversation is one tenant's |
//! | AUTH-15: what is not granted does not begin | [`Clearance`] is asked before anybody is, and once more at the door |
//! | OPS-03: stopping loses nothing | a host that stops begins nothing, records what comes back in time, and gives its lanes back |
//! | a handler that panics | is a [`everstep_machine::agent::ToolOutcome::Defect`], and nothing of its words is kept |
//!
//! Deliberately absent: rules, retries of anything outside, a store (it comes through
//! [`everstep_machine::store::Shared`] and [`LookOut`]), and any use of the wall clock.

mod call;
mod caller;
mod clearance;
mod client;
mod desk;
mod drive;
mod ephemeral;
mod event;
mod failpoint;
mod folds;
mod host;
mod in_flight;
mod inbox;
mod interrupts;
mod lookout;
mod news;
mod outside;
mod permits;
mod ports;
mod prepared;
mod run_stream;
mod saying;
mod state;
mod steps;
mod store;
mod stream;
mod streams;
mod task;
mod tool;
mod wait;

pub use caller::Caller;
pub use clearance::Clearance;
pub use client::HostError;
pub use ephemeral::{End, Ephemeral, EphemeralError, How};
pub use event::Event;
pub use failpoint::{Failpoints, FailpointsError};
pub use host::{Config, Host, StartError};
pub use interrupts::Interrupts;
pub use lookout::{LookOut, ScanFailed};
pub use ports::{
    AllowAll, Approver, Authorizer, Bindings, BoxFuture, Decision, Handlers, Model, NoApprover,
    NoReconciler, Ports, Reconciler, Tools,
};
pub use prepared::{Compactor, ContextSnapshot, Prepared};
pub use run_stream::{CutOff, RunEvents, RunStream, SoleEvents, Untold};
pub use saying::NotSaid;
pub use state::{Kept, State, StateError};
pub use steps::{StepError, Steps};
pub use stream::{NoMoreParts, Parts};
pub use task::{block_on, blocking, pause};
pub use tool::{
    Cancellation, Canceller, Ended, Failed, HandlerError, Live, NoFailure, Tool, ToolContext,
    ToolFault, Toolkit, ToolkitError, ToolkitFault, in_time,
};
pub use wait::Standing;
