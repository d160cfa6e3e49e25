//! The one lane that a run works on, whatever else the file holds.

use std::sync::Arc;

use everstep_machine::agent::Binding;
use everstep_machine::identity::ConversationId;
use everstep_machine::scheduler::Findings;
use everstep_runtime::{Bindings, LookOut, ScanFailed};
use everstep_sqlite::SqliteReader;

/// Looks at one lane: at its submission, and at what was said to its run.
pub(super) struct OwnLane {
    reader: SqliteReader,
    lane: ConversationId,
}

impl OwnLane {
    pub(super) const fn new(reader: SqliteReader, lane: ConversationId) -> Self {
        Self { reader, lane }
    }
}

impl LookOut for OwnLane {
    fn scan(&mut self, _: Option<&ConversationId>) -> Result<Findings, ScanFailed> {
        self.reader.findings_of(&self.lane).map_err(|why| ScanFailed(why.to_string()))
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
    fn agents(&self) -> Vec<Arc<Binding>> {
        vec![Arc::clone(&self.binding)]
    }

    fn binding(&self, lane: &ConversationId) -> Option<Arc<Binding>> {
        (*lane == self.lane).then(|| Arc::clone(&self.binding))
    }
}
