//! What a run is told.

use alloc::vec::Vec;

use crate::effect::Answer;
use crate::identity::{PrincipalId, SubmissionId, Timestamp, Turn};
use crate::json::CanonicalJson;

/// Something that was said to a run while it was going on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Steered {
    /// The submission that it is.
    pub submission: SubmissionId,
    /// Who says it.
    pub principal: PrincipalId,
    /// What is said.
    pub input: CanonicalJson,
    /// When it may come in.
    pub wanted: Wanted,
}

/// When something that was said may come into a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// Before the next request (RUN-012).
    Soon,
    /// When the run would otherwise stop (RUN-013).
    AtTheEnd,
}

/// Something that a run asked to be reminded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The pause is over after which the model is asked again for this turn.
    Retry(Turn),
    /// The run's time is over (RUN-027).
    Deadline,
    /// Four fifths of the run's time are over (RUN-022).
    Warning,
    /// The calls of a run that is to end have had their time to end by themselves (RUN-008).
    CallOff,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The classifier found nothing in doubt: go on from the last boundary.
    Resumed {
        /// What time it is.
        now: Timestamp,
    },
    /// The outside answered.
    Answered(Answer),
    /// A timer went off. It may be dropped, doubled or late, and is never early.
    Due(Timer),
    /// Somebody says something to the run.
    Steered(Steered),
    /// What the lane has for the run, as it asked: all of it, in order, instead of what was said
    /// before.
    Heard {
        /// What was said.
        said: Vec<Steered>,
        /// The store's time of the reading.
        now: Timestamp,
    },
    /// What time it is, from whoever drives a run without a lane.
    Clock {
        /// Now.
        now: Timestamp,
    },
    /// The run may not go on: an abort, perhaps, or a lost fence.
    Stopped,
}
