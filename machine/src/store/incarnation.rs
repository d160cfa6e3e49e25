//! What becomes of a file that is a copy of another one (STORE-013).
//!
//! A backup is a moment of a file that went on afterwards. Somebody may still hold a claim of that
//! file, and claims were made in it of which the backup knows nothing. So a restored file is a new
//! *incarnation*: every lane and every log of it, and every one that is still to come, begins at an
//! epoch that no claim of any other copy ever had or will have. Whoever claimed elsewhere is
//! superseded here, and a start, a doubt or a tombstone that is named by an epoch is never taken
//! for one of a history that was lost.
//!
//! Epochs are counted from the time of the restore, in millionths of a second. Of two copies of
//! one backup the later one is therefore above the earlier one, whatever that one has claimed
//! since: a claim is a commit, and no lane commits a thousand times in a millisecond.

use serde::{Deserialize, Serialize};

use crate::conversation::{self, Tail};
use crate::identity::{ConversationId, Epoch, Timestamp};
use crate::ledger::Lane;

/// Epochs that belong to one millisecond.
const EPOCHS_A_MILLISECOND: u64 = 1_000;

/// How far above everything in the file an incarnation is at least: where the clock is behind the
/// epochs of the file, this is more claims than were made since any backup.
const EPOCHS_APART: u64 = 1_000_000_000;

/// One life of a file: the epoch that its claims are above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Incarnation {
    /// Every claim in this file has a higher epoch.
    pub epoch: Epoch,
    /// When it began.
    pub since: Timestamp,
}

impl Incarnation {
    /// That of a file which is nobody's copy.
    pub const FIRST: Self = Self { epoch: Epoch(0), since: Timestamp(0) };

    /// That of a copy which is made at this time, of a file whose highest epoch is `latest`. None
    /// if there is no epoch left.
    #[must_use]
    pub fn after(latest: Epoch, now: Timestamp) -> Option<Self> {
        let apart = latest.0.checked_add(EPOCHS_APART)?;
        let epoch = Epoch(apart.max(now.0.saturating_mul(EPOCHS_A_MILLISECOND)));
        (epoch < epoch.next()).then_some(Self { epoch, since: now })
    }

    /// A lane of which nothing is stored.
    #[must_use]
    pub fn lane(&self, conversation: ConversationId) -> Lane {
        Lane { epoch: self.epoch, ..Lane::new(conversation) }
    }

    /// What this incarnation makes of a lane of an earlier one: nobody owns it, and whoever ever
    /// did is superseded (DUR-006). Nobody is said to have died of its row. A lane of its own stays
    /// as it is, so doing it again changes nothing.
    #[must_use]
    pub fn inherit(&self, lane: &Lane) -> Lane {
        if lane.epoch >= self.epoch {
            return lane.clone();
        }
        let stamp = lane.time(self.since);
        Lane { epoch: self.epoch, owner: None, stamp, ..lane.clone() }
    }

    /// The command that fences the log of an earlier incarnation (ARC-13).
    #[must_use]
    pub const fn fence(&self, tail: &Tail) -> conversation::Command {
        conversation::Command::Fence { epoch: self.epoch, expected: tail.reference() }
    }
}
