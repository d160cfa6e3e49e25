//! What was said to a run when it asked its model no more: it is answered after it.

use std::path::Path;
use std::sync::Arc;

use everstep_machine::identity::{AdmissionSequence, ConversationId, SubmissionId};
use everstep_machine::ledger::Row;
use everstep_machine::record::Settlement;
use everstep_runtime::{Host, Standing};

use crate::database;

/// A submission that had a run of its own after the one that it was meant for.
pub(super) struct Later {
    pub(super) row: Arc<Row>,
    pub(super) standing: Standing,
}

/// Waits until everything else in the lane is answered, or waits for people: what was said to the
/// run or to another one, and what tries that again. `last` is told already. What cannot be read is
/// left to the next line.
pub(super) async fn answered(
    host: &Host,
    db: &Path,
    lane: &ConversationId,
    last: SubmissionId,
) -> Vec<Later> {
    let mut later: Vec<Later> = Vec::new();
    let mut from = AdmissionSequence(0);
    while let Some(row) = next(db, lane, from) {
        let submission = row.admission.submission;
        from = row.sequence.next();
        // What was tried again is told by what tries it, which stands behind it.
        if submission == last || row.chain.retried.is_some() {
            continue;
        }
        let Ok(standing) = host.wait(lane, submission).await else { break };
        // What is behind it waits for the same people.
        let holds_up = !matches!(standing, Standing::Settled(_));
        later.push(Later { row, standing });
        if holds_up {
            break;
        }
    }
    let told = |it: &Later| match &it.standing {
        Standing::Settled(settled) => !matches!(settled.settlement, Settlement::Joined { .. }),
        Standing::Unknown(_) | Standing::Suspended(_) | Standing::Incompatible(_) => true,
    };
    later.retain(told);
    later
}

/// The first row of the lane from a place on.
fn next(db: &Path, lane: &ConversationId, from: AdmissionSequence) -> Option<Arc<Row>> {
    let reader = database::reader(db).ok()?;
    reader.rows(lane, from, 1).ok()?.entries.into_iter().next()
}
