//! What an admission is told.

use crate::store::{Replies, StoreFault};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The client called.
    Started,
    /// The store answered the pipeline in flight.
    Stored(Result<Replies, StoreFault>),
}
