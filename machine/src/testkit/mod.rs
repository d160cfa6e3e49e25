//! What the machines' own tests share: a store in memory, an agent, and short ways to name things.
//!
//! [`story`] tells a log record by record, [`walk`] tells random ones; [`prompt`] says whether a
//! provider would accept what a model is shown.
//!
//! The store is the whole of what a driver does: footprint, load, step, store. It never crashes;
//! crashes are the simulator's business.

mod agent;
mod host;
pub(crate) mod prompt;
mod store;
pub(crate) mod story;
pub(crate) mod walk;

pub(crate) use agent::{
    BOOK, binding, booking, bound, call, policy, step, submission, text, under,
};
pub(crate) use host::{Host, LOST};
pub(crate) use store::Memory;
