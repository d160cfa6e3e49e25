//! What a scheduler knows.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::identity::{ConversationId, DurationMs};

/// The scheduler of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) slots: usize,
    pub(super) phase: Phase,
    pub(super) running: BTreeMap<ConversationId, News>,
    pub(super) queue: VecDeque<ConversationId>,
    pub(super) quarantine: BTreeSet<ConversationId>,
    pub(super) declined: BTreeMap<ConversationId, Declined>,
    pub(super) look: Look,
}

/// Whether lanes are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// They are.
    Open,
    /// What runs comes to its end; nothing new is begun.
    Stopping,
    /// Everything has ended.
    Stopped,
}

/// Whether a lane has changed since its attempt began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum News {
    /// Not that anybody said.
    None,
    /// It has: an attempt that ends may have ended too early to see it.
    Some,
}

/// A lane that could not be begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Declined {
    /// How long it was, or is, left to others.
    pub(super) wait: DurationMs,
    /// Whether that time is not over.
    pub(super) waits: bool,
}

/// How far the scan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Look {
    /// Nobody looks.
    Resting,
    /// A page is on its way.
    Looking {
        /// The shortest wait that the pages so far have named.
        soonest: Option<DurationMs>,
        /// Whether somebody asked for another scan meanwhile.
        again: bool,
    },
}

impl State {
    /// A scheduler that works on at most `slots` lanes at once; zero means one.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self {
            slots: slots.max(1),
            phase: Phase::Open,
            running: BTreeMap::new(),
            queue: VecDeque::new(),
            quarantine: BTreeSet::new(),
            declined: BTreeMap::new(),
            look: Look::Resting,
        }
    }

    /// Lanes that are worked on now.
    pub fn running(&self) -> impl Iterator<Item = &ConversationId> {
        self.running.keys()
    }

    /// Lanes that this host leaves alone, because what is stored in them does not verify or an
    /// attempt at them found a bug.
    pub fn quarantined(&self) -> impl Iterator<Item = &ConversationId> {
        self.quarantine.iter()
    }
}
