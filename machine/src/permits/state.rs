//! Who runs, and who waits.

use alloc::collections::{BTreeMap, VecDeque};

use super::Ticket;
use crate::identity::{AgentId, GroupName};

/// How many calls may run at once. Zero means one: a limit that lets nothing through would let
/// nothing end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Of one agent.
    pub agent: usize,
    /// Of one group that is not named here.
    pub group: usize,
    /// Of named groups.
    pub groups: BTreeMap<GroupName, usize>,
    /// Of the whole host.
    pub host: usize,
}

/// What a call takes while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Claim {
    pub(super) agent: AgentId,
    pub(super) group: Option<GroupName>,
}

/// The permits of a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) limits: Limits,
    pub(super) granted: BTreeMap<Ticket, Claim>,
    pub(super) waiting: VecDeque<(Ticket, Claim)>,
}

impl Limits {
    pub(super) fn of_group(&self, group: &GroupName) -> usize {
        self.groups.get(group).copied().unwrap_or(self.group).max(1)
    }
}

impl State {
    /// Permits that nobody holds.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self { limits, granted: BTreeMap::new(), waiting: VecDeque::new() }
    }

    /// Whether a call has its permits.
    #[must_use]
    pub fn holds(&self, ticket: Ticket) -> bool {
        self.granted.contains_key(&ticket)
    }

    /// How many calls may run at once.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Calls that run.
    #[must_use]
    pub fn granted(&self) -> usize {
        self.granted.len()
    }

    /// Calls that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
