//! Every order of events of a world, breadth first.
//!
//! The matrix of `everstep-sim` follows one calm order between faults. A check follows all of
//! them: at every state each process that could move does so in a branch of its own, time may pass
//! although somebody could move, and faults strike wherever they can. States are met breadth
//! first and kept by a fingerprint of 128 bits, each with the state it was first reached from, so
//! the way to a broken property is a shortest one.
//!
//! What is judged: the oracles of the world in every state; the oracles of the end in every state
//! in which nothing can move any more; and, once everything is explored, that such an end can
//! still be reached from every state without further faults.
//!
//! What a complete check proves is bounded by its scenario and its faults, and by the world's
//! honesty: two states that share a fingerprint by accident (one in 2^128 a pair) are one.
//!
//! Deliberately absent so far: folding of symmetric workers, reduction of independent lanes,
//! threads.

mod checker;
mod model;
mod report;
mod world;

pub use checker::{Limits, check};
pub use model::{Model, Move};
pub use report::{Counterexample, Defeat, Progress, Report};

#[cfg(test)]
mod tests;
