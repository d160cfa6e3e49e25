//! What a scheduler asks for.

use crate::identity::{ConversationId, DurationMs};

/// What the host is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Begin an attempt at this lane, and say [`super::Input::Ended`] when it is over, or
    /// [`super::Input::Declined`] if it cannot be begun.
    StartAttempt {
        /// Which lane.
        lane: ConversationId,
    },
    /// Tell the attempt at this lane that the lane has changed.
    WakeAttempt {
        /// Which lane.
        lane: ConversationId,
    },
    /// Look at the lanes behind this one that have something left to do, and answer with
    /// [`super::Input::Scanned`] or [`super::Input::ScanFailed`]. One is in flight at most.
    Scan {
        /// Behind which lane; none means from the first.
        after: Option<ConversationId>,
    },
    /// Say [`super::Input::LookDue`] after this time, or earlier if that was asked for before.
    ScheduleLook {
        /// From now.
        after: DurationMs,
    },
    /// Say [`super::Input::RetryDue`] after this time; until then the lane is left to others.
    ScheduleRetry {
        /// Which lane.
        lane: ConversationId,
        /// From now.
        after: DurationMs,
    },
    /// Everything has come to rest after [`super::Input::StopRequested`].
    Stopped,
}
