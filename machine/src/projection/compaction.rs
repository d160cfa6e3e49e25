//! What is shown when context was made smaller. The records themselves stay (CAP-007).

use alloc::sync::Arc;

use crate::agent::{Kept, Message, Messages, ToolOutcome, Truncated};
use crate::record::{Compaction, CompactionCreated};

impl CompactionCreated {
    /// The messages as they are shown from now on.
    pub(super) fn applied_to(&self, messages: &Messages) -> Messages {
        match &self.compaction {
            Compaction::ResultsCleared => {
                let entries = messages.entries().cloned().map(|(at, message)| match message {
                    Message::ToolResult { call, label, outcome } if at <= self.through => {
                        (at, Message::ToolResult { call, label, outcome: cleared(&outcome) })
                    }
                    other => (at, other),
                });
                entries.collect()
            }
            Compaction::Summarized(summary) => {
                let mut shown = Messages::default();
                shown.push(self.through, Message::Summary(summary.clone()));
                let rest = messages.entries().filter(|(at, _)| *at > self.through);
                shown.extend(rest.cloned());
                shown
            }
        }
    }
}

impl Message {
    /// Bytes that go when old results are cleared.
    #[must_use]
    pub fn clearable_bytes(&self) -> usize {
        match self {
            Self::ToolResult { outcome, .. } => match &**outcome {
                ToolOutcome::Success(_) | ToolOutcome::Truncated(_) | ToolOutcome::Kept(_) => {
                    outcome.bytes()
                }
                ToolOutcome::Failure(_)
                | ToolOutcome::Rejected(_)
                | ToolOutcome::InvalidInput(_)
                | ToolOutcome::Defect(_) => 0,
            },
            Self::User(_) | Self::Summary(_) | Self::Assistant(_) => 0,
        }
    }
}

/// A result without what the tool returned. How the call ended stays.
fn cleared(outcome: &Arc<ToolOutcome>) -> Arc<ToolOutcome> {
    let bytes = match &**outcome {
        ToolOutcome::Success(result) => result.as_str().len() as u64,
        ToolOutcome::Truncated(it) | ToolOutcome::Kept(Kept { cut: it, .. }) => it.bytes,
        ToolOutcome::Failure(_)
        | ToolOutcome::Rejected(_)
        | ToolOutcome::InvalidInput(_)
        | ToolOutcome::Defect(_) => return outcome.clone(),
    };
    let (head, tail) = (Arc::from(""), Arc::from(""));
    Arc::new(ToolOutcome::Truncated(Truncated { head, tail, bytes }))
}
