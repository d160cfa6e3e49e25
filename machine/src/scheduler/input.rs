//! What a scheduler is told.

use alloc::vec::Vec;

use crate::attempt::End;
use crate::identity::{ConversationId, DurationMs};

/// One page of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Findings {
    /// Lanes that can be claimed now.
    pub claimable: Vec<ConversationId>,
    /// How long until the first of the others can be claimed, if time alone is in the way.
    pub wakes_in: Option<DurationMs>,
    /// Where the next page begins; none when every lane was looked at.
    pub after: Option<ConversationId>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The host is up.
    Started,
    /// This lane has changed. A hint.
    Hinted {
        /// Which lane.
        lane: ConversationId,
    },
    /// Another process has changed some lane. A hint.
    ChangedElsewhere,
    /// A page of the scan in flight.
    Scanned(Findings),
    /// The scan in flight could not be made.
    ScanFailed,
    /// It is time to look again.
    LookDue,
    /// An attempt is over.
    Ended {
        /// At which lane.
        lane: ConversationId,
        /// Why.
        end: End,
    },
    /// The attempt that was asked for cannot be made: this host does not know the lane's agent, or
    /// lacks what a claim needs. Nothing was touched.
    Declined {
        /// Which lane.
        lane: ConversationId,
    },
    /// A lane that was declined may be begun with again.
    RetryDue {
        /// Which lane.
        lane: ConversationId,
    },
    /// No lane is to be claimed any more.
    StopRequested,
}
