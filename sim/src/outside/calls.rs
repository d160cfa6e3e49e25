//! What tools have done, call by call.

use std::sync::Arc;

use everstep_machine::identity::{Epoch, ToolCallId};
use everstep_machine::record::Doubt;

use crate::fingerprint::Printed;

/// What happened to one call of a tool with effects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallHistory {
    /// Which call; for an idempotent tool it is also the key.
    pub call: ToolCallId,
    /// The starts that ran, in this order, by the epoch they carried.
    pub executions: Vec<Epoch>,
    /// Starts below this epoch are refused.
    pub tombstone: Epoch,
}

/// Everything that has happened outside.
#[derive(Clone, Debug, Default, Hash)]
pub struct Outside {
    calls: Arc<Printed<Vec<CallHistory>>>,
}

impl Outside {
    /// What happened, by call.
    #[must_use]
    pub fn calls(&self) -> &[CallHistory] {
        &self.calls
    }

    /// How often a call ran.
    #[must_use]
    pub fn executions(&self, call: ToolCallId) -> usize {
        self.of(call).map_or(0, |history| history.executions.len())
    }

    /// Whether this start ran.
    #[must_use]
    pub fn has_executed(&self, start: Doubt) -> bool {
        self.of(start.call).is_some_and(|history| history.executions.contains(&start.start))
    }

    /// Whether a start of this epoch is refused.
    #[must_use]
    pub fn is_tombstoned(&self, call: ToolCallId, epoch: Epoch) -> bool {
        self.of(call).is_some_and(|history| epoch < history.tombstone)
    }

    fn of(&self, call: ToolCallId) -> Option<&CallHistory> {
        self.calls.iter().find(|history| history.call == call)
    }

    pub(super) fn execute(&mut self, call: ToolCallId, epoch: Epoch) {
        self.history(call).executions.push(epoch);
    }

    pub(super) fn tombstone(&mut self, call: ToolCallId, below: Epoch) {
        let history = self.history(call);
        history.tombstone = history.tombstone.max(below);
    }

    /// Kept in the order of calls, so that equal outsides are equal whatever came first.
    fn history(&mut self, call: ToolCallId) -> &mut CallHistory {
        let calls = Arc::make_mut(&mut self.calls);
        let place = calls.partition_point(|history| history.call < call);
        if calls.get(place).is_none_or(|history| history.call != call) {
            let (executions, tombstone) = (Vec::new(), Epoch(0));
            calls.insert(place, CallHistory { call, executions, tombstone });
        }
        &mut calls[place]
    }
}
