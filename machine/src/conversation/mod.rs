//! The Conversation Log: appends batches or refuses them.
//!
//! A log is a chain of batches under one epoch at a time. The machine sees only the slice of the
//! log that one command needs, its [`Footprint`], and answers with the [`Change`]s a store has
//! to write exactly as they are.
//!
//! ```text
//! absent --Materialize--> epoch 0 --Fence--> epoch n --Append--> epoch n, longer
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | ARC-13: a superseded epoch cannot append | `step::append` compares epochs exactly |
//! | DUR-007: an append is atomic and idempotent | one [`Change::Commit`] a batch, batch ids |
//! | STORE-004: an append is conflict-checked | `step::append` compares tails |
//! | a log never shrinks and its epoch never falls | `Slice::apply` asserts both |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | before a commit | nothing happened: the next owner decides anew |
//! | after a commit, answer lost | the same epoch sends the same bytes: "already there" |
//!
//! Deliberately absent: what records mean. That is the fold's business (`projection`).

mod input;
mod state;
mod step;

pub use input::{Command, Effect, Footprint, Refusal, Reply, Stamped};
pub use state::{Change, Committed, Slice, Tail, TailRef};
pub use step::Conversation;

#[cfg(test)]
mod tests;
