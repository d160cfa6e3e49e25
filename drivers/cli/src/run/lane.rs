//! The one lane that a run works on, whatever else the file holds.

use std::sync::Arc;

use everstep_machine::agent::Binding;
use everstep_machine::identity::{ConversationId, DurationMs, SubmissionId};
use everstep_machine::ledger::{self, Slice};
use everstep_machine::scheduler::Findings;
use everstep_runtime::{Bindings, LookOut, ScanFailed};
use everstep_sqlite::{Clock as _, SqliteReader, WallClock};

use crate::database::last_of_chain;

/// Looks at one lane. Its conversation holds one submission and what tries it again: only the last of
/// them may have anything to do, so the slice is that row.
pub(super) struct OwnLane {
    reader: SqliteReader,
    lane: ConversationId,
    submission: SubmissionId,
}

impl OwnLane {
    pub(super) fn new(
        reader: SqliteReader,
        lane: ConversationId,
        submission: SubmissionId,
    ) -> Self {
        Self { reader, lane, submission }
    }
}

impl LookOut for OwnLane {
    fn scan(&mut self, _: Option<&ConversationId>) -> Result<Findings, ScanFailed> {
        let failed = |why: everstep_sqlite::StoreError| ScanFailed(why.to_string());
        let lane = self.reader.lane(&self.lane).map_err(failed)?;
        let row = last_of_chain(&self.reader, &self.lane, self.submission).map_err(failed)?;
        let (Some(lane), Some(row)) = (lane, row) else { return Ok(Findings::default()) };
        let slice = Slice { lane, rows: vec![row] };
        let clock = WallClock.now();
        let claimable = ledger::candidate(&slice, clock).map(|_| self.lane.clone());
        let now = slice.lane.time(clock);
        let wait = |until: everstep_machine::identity::Timestamp| {
            DurationMs(until.0.saturating_sub(now.0))
        };
        let wakes_in = if claimable.is_none() { ledger::wakes_at(&slice).map(wait) } else { None };
        Ok(Findings { claimable: claimable.into_iter().collect(), wakes_in, after: None })
    }
}

/// Knows one lane's agent.
pub(super) struct OneAgent {
    lane: ConversationId,
    binding: Arc<Binding>,
}

impl OneAgent {
    pub(super) fn new(lane: &ConversationId, binding: &Arc<Binding>) -> Self {
        Self { lane: lane.clone(), binding: Arc::clone(binding) }
    }
}

impl Bindings for OneAgent {
    fn binding(&self, lane: &ConversationId) -> Option<Arc<Binding>> {
        (*lane == self.lane).then(|| Arc::clone(&self.binding))
    }
}
