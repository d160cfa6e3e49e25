//! What a decision is based on.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use crate::agent::Bound;
use crate::identity::{SubmissionId, Timestamp};
use crate::ledger::Row;
use crate::projection::{Projection, SubmissionView};
use crate::record::Doubt;

/// What the log holds of a submission.
#[derive(Clone, Copy, Debug)]
pub enum Log<'a> {
    /// There is no log yet.
    Missing,
    /// There is one, and nothing of the submission in it.
    Silent,
    /// There is one, and this is canonical.
    Speaks(&'a SubmissionView),
}

/// What this ownership period knows by itself. Empty for whoever has just claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnKnowledge {
    /// Starts in flight under a fence that holds: awaited, not in doubt.
    pub in_flight: BTreeSet<Doubt>,
    /// Starts proven harmless under this epoch: they may be followed by another.
    pub excused: BTreeSet<Doubt>,
}

/// What a decision is based on.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The row.
    pub row: &'a Row,
    /// The rows that are attached to it, in admission order.
    pub attached: &'a [Arc<Row>],
    /// The fold of the log.
    pub fold: &'a Projection,
    /// What it holds of the submission.
    pub log: Log<'a>,
    /// Own knowledge.
    pub own: &'a OwnKnowledge,
    /// The binding at hand: what a run would go on under.
    pub bound: &'a Bound,
    /// The store's time when the row was read: what has expired by then has expired for good.
    pub now: Timestamp,
}

impl<'a> Evidence<'a> {
    /// Gathers the evidence about a submission from a row, the rows attached to it and the fold of
    /// its log.
    #[must_use]
    pub fn gather(
        row: &'a Row,
        attached: &'a [Arc<Row>],
        projection: &'a Projection,
        own: &'a OwnKnowledge,
        bound: &'a Bound,
        now: Timestamp,
    ) -> Self {
        let submission: SubmissionId = row.admission.submission;
        let log = match (projection.created(), projection.submission(submission)) {
            (None, _) => Log::Missing,
            (Some(_), None) => Log::Silent,
            (Some(_), Some(view)) => Log::Speaks(view),
        };
        Self { row, attached, fold: projection, log, own, bound, now }
    }
}
