//! What is to be taken out of a result is never kept and never shown (ARC-12, SEC-04).

use everstep_machine::agent::{ModelRequest, ToolOutcome};
use everstep_machine::effect::ApprovalQuestion;
use everstep_machine::ledger::Command;
use everstep_machine::record::{Record, StoredBatch};

use super::{Judge, Property};
use crate::cast::Cast;

impl Judge {
    /// A batch is kept, byte for byte.
    pub(super) fn check_kept(&mut self, cast: &Cast, lane: usize, stored: &StoredBatch) {
        if cast.canaries.are_none() {
            return;
        }
        if let Some(secret) = cast.canaries.in_bytes(&stored.encode()) {
            let kind = stored.batch().kind();
            self.broken(Property::Secrets, || format!("log {lane} holds {secret} in {kind:?}"));
        }
        for bytes in artifacts(stored) {
            if let Some(secret) = cast.canaries.in_bytes(bytes) {
                let broken = || format!("an artifact of log {lane} holds {secret}");
                self.broken(Property::Secrets, broken);
            }
        }
    }

    /// A settlement is fixed.
    pub(super) fn check_reserved(&mut self, cast: &Cast, lane: usize, command: &Command) {
        let Command::Reserve { reserved, .. } = command else { return };
        let secret = cast.canaries.in_text(|| format!("{:?}", reserved.record));
        if let Some(secret) = secret {
            self.broken(Property::Secrets, || format!("a row of lane {lane} ends with {secret}"));
        }
    }

    /// A request leaves.
    pub(super) fn check_shown(&mut self, cast: &Cast, request: &ModelRequest) {
        if let Some(secret) = cast.canaries.in_text(|| format!("{request:?}")) {
            let turn = request.turn;
            self.broken(Property::Secrets, || format!("a model is shown {secret} in turn {turn}"));
        }
    }

    /// An approver is asked. What it is shown has nothing in it that is to be taken out of the
    /// parameters either.
    pub(super) fn check_previews(&mut self, cast: &Cast, questions: &[ApprovalQuestion]) {
        for question in questions {
            let shown = question.preview.as_str();
            if let Some(secret) = cast.canaries.in_preview(shown) {
                let tool = &question.tool;
                self.broken(Property::Secrets, || {
                    format!("an approver of {tool} is shown {secret}")
                });
            }
        }
    }
}

/// The bytes that are kept beside the log with a batch (STORE-009).
fn artifacts(stored: &StoredBatch) -> impl Iterator<Item = &[u8]> {
    stored.batch().records().iter().filter_map(|record| match record {
        Record::ToolSettled(it) => match &*it.outcome {
            ToolOutcome::Kept(kept) => kept.whole.bytes(),
            _ => None,
        },
        _ => None,
    })
}
