//! What an attempt is told.

use crate::effect::Answer;
use crate::identity::Token;
use crate::run::Timer;
use crate::store::{Replies, StoreFault};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The attempt may begin.
    Started {
        /// Fresh entropy for the claim.
        token: Token,
    },
    /// The store answered the pipeline in flight.
    Stored(Result<Replies, StoreFault>),
    /// The outside answered.
    Answered(Answer),
    /// The lease needs renewal.
    RenewalDue,
    /// A timer of the run went off. It may be dropped, doubled or late, and is never early.
    Due(Timer),
    /// The host stops: nothing new begins. What is out already is recorded when it comes back.
    Draining,
    /// Something about the lane changed: an abort, perhaps. A hint only; it may be dropped,
    /// doubled or late.
    Woken,
}
