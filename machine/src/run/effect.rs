//! What a run asks for.

use alloc::sync::Arc;

use super::input::Timer;
use crate::effect::External;
use crate::event::RunEvent;
use crate::identity::DurationMs;
use crate::record::{Batch, Settlement};

/// What the attempt is asked to do, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Append this batch. The run has folded it already.
    Commit(Arc<Batch>),
    /// Say [`super::Input::Heard`], once everything before is acknowledged.
    Listen,
    /// Ask the outside, once everything before is acknowledged.
    External(External),
    /// Say [`super::Input::Due`] after this time.
    Schedule {
        /// Of what to remind the run.
        timer: Timer,
        /// From now.
        after: DurationMs,
    },
    /// Tell whoever watches, once everything before is acknowledged (ARC-10). Volatile: only a run
    /// that is watched says anything, and nothing depends on it.
    Tell(RunEvent),
    /// Settle the submission like this.
    Settle(Settlement),
}
