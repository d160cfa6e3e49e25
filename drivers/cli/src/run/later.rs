//! What was said to a run when it asked its model no more: it is answered after it.

use std::path::Path;
use std::sync::Arc;

use everstep_machine::identity::{AdmissionSequence, ConversationId, SubmissionId};
use everstep_machine::ledger::Row;
use everstep_machine::record::Settlement;
use everstep_runtime::{Host, Standing};

use crate::database;

/// Rows of a lane that are looked at: more is said to nobody's run on a command line.
const ROWS: usize = 256;

/// A submission that had a run of its own after the one that it was meant for.
pub(super) struct Later {
    pub(super) row: Arc<Row>,
    pub(super) standing: Standing,
}

/// Waits until everything that was said to a run is answered or waits for people. What cannot be
/// read is left to the next line.
pub(super) async fn answered(
    host: &Host,
    db: &Path,
    lane: &ConversationId,
    submission: SubmissionId,
) -> Vec<Later> {
    let Ok(reader) = database::reader(db) else { return Vec::new() };
    let rows = reader.rows(lane, AdmissionSequence(0), ROWS);
    drop(reader);
    let mut later = Vec::new();
    for row in rows.map(|page| page.entries).unwrap_or_default() {
        if row.admission.steers != Some(submission) {
            continue;
        }
        let Ok(standing) = host.wait(lane, row.admission.submission).await else { continue };
        let joined = match &standing {
            Standing::Settled(it) => matches!(it.settlement, Settlement::Joined { .. }),
            Standing::Unknown(_) | Standing::Suspended(_) => false,
        };
        if !joined {
            later.push(Later { row, standing });
        }
    }
    later
}
