//! Live events: what somebody who watches a run is told, and nothing that anybody depends on.
//!
//! A run tells what happens to it, word by word and call by call. Each event carries where it
//! comes from and a number, so that a watcher who was cut off goes on from where it was. Events
//! are no source of truth: what is canonical is in the log of the conversation, and an event that
//! states a fact leaves only when that fact is committed.
//!
//! - [`RunEvent`] is the closed set of families, [`Enveloped`] one of them with its coordinates.
//! - [`Sequencer`] numbers the events of one run and hears nothing after the last one.
//! - [`EventLog`] keeps what was numbered, within bounds, and is read by offset.
//! - [`announce`] says which events state which record, [`announce_again`] what a watcher needs
//!   to be told when a run is taken over.
//! - [`check_trace`] judges a whole trace.
//!
//! ```text
//! open --pushed--> open --pushed, terminal--> ended --pushed--> ended (refused, counted)
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | RUN-002: one terminal event, the last one | `Sequencer::number`; asked of a trace by `check_trace` |
//! | RUN-010: no watcher is waited for | a reader has an offset of its own, the log knows no readers |
//! | RUN-031: bounded | `EventLog::push`: places and bytes, one place kept for the terminal event |
//! | RUN-032: every event has its coordinates | `Enveloped`, which only a `Sequencer` makes |
//! | ARC-10: a fact is told when it is committed | `announce`, given only records that are |
//! | AB-07: what comes after the end is dropped and counted | `Sequencer::number` |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | anywhere | nothing here is durable: the next attempt begins a trace of its own |
//!
//! # What a full log does
//!
//! Words (text, reasoning and the progress of tools) are many, and what matters of them becomes
//! canonical anyway. So the oldest words make room for whatever is new, words included. All other
//! events stay until the end. When they alone fill the log, what comes is dropped and counted, and
//! the terminal event, whose place is kept, tells how many were.
//!
//! Words that made room leave a gap in the numbers: a reader is told how many it has missed.
//! What was dropped never had a number.
//!
//! # Deliberately absent
//!
//! The outputs and parameters of tools and the messages of failures, which may be sensitive;
//! readers, which only have offsets; the events of child runs, which will be families of their
//! own; the troubles of a host, which are no part of a run.

mod announce;
mod envelope;
mod family;
mod log;
mod sequencer;
mod trace;
mod wire;

pub use announce::{announce, announce_again};
pub use envelope::{EVENT_VERSION, Enveloped, EventSequence, Source};
pub use family::{CompactionKind, FailureKind, FailureTag, Interruption, RunEvent};
pub use log::{EventLog, Page};
pub use sequencer::{Refusal, Sequencer};
pub use trace::{TraceFault, check_trace};

#[cfg(test)]
mod tests;
