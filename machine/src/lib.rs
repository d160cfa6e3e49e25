//! The sans-IO core of Everstep: pure machines that decide everything and do nothing.
//!
//! A [`Machine`] turns a state and an input into the next state and effects. It performs no IO,
//! reads no clock and draws no randomness (ARC-15), so whoever drives it, be it a simulator that
//! crashes it at every failpoint or a host on a real database, runs the same code.
//!
//! Where to begin:
//!
//! - [`attempt`] is the durable protocol, from claim to settlement; [`recovery`] is its judgement
//!   and [`run`] its interpreter; [`admission`] is how work gets in, [`scheduler`] how a host
//!   finds it, [`response`] how a model's stream becomes one answer.
//! - [`authority`] says what somebody may do at all, [`approval`] what a person is asked about,
//!   [`guard`] what a command line comes to.
//! - [`reservation`] is what a child may use up of its parent's budget.
//! - [`steps`] is what a durable tool may ask for when its handler is entered again.
//! - [`ledger`] and [`conversation`] are the rules of a store; [`store`] is its port.
//! - [`agent_state`] is what agents keep beside their conversations.
//! - [`record`] is what becomes canonical, [`projection`] what that means, [`json`] how values
//!   are spelled, [`identity`] how everything is named.
//! - [`effect`] lists what can be asked of the world, and so where it can crash.
#![no_std]

extern crate alloc;

pub mod admission;
pub mod agent;
pub mod agent_state;
pub mod approval;
pub mod attempt;
pub mod authority;
pub mod clearance;
pub mod contract;
pub mod conversation;
pub mod digest;
pub mod effect;
pub mod event;
pub mod guard;
pub mod identity;
pub mod json;
pub mod ledger;
pub mod limits;
pub mod permits;
pub mod projection;
pub mod record;
pub mod recovery;
pub mod reservation;
pub mod response;
pub mod run;
pub mod scheduler;
pub mod session;
pub mod steps;
pub mod store;

#[cfg(test)]
mod testkit;

pub use contract::{Machine, Step};
