//! What a run is told.

use crate::effect::Answer;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The classifier found nothing in doubt: go on from the last boundary.
    Resumed,
    /// The outside answered.
    Answered(Answer),
    /// The run may not go on: an abort, perhaps, or a lost fence.
    Stopped,
}
