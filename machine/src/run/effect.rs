//! What a run asks for.

use alloc::sync::Arc;

use crate::effect::External;
use crate::record::{Batch, Settlement};

/// What the attempt is asked to do, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Append this batch. The run has folded it already.
    Commit(Arc<Batch>),
    /// Ask the outside, once everything before is acknowledged.
    External(External),
    /// Settle the submission like this.
    Settle(Settlement),
}
