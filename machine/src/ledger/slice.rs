//! The part of a lane that one command sees, and the only way it changes.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::approval::ApprovalMark;
use super::state::{Lane, Phase, Row};
use crate::identity::SubmissionId;

/// The part of a lane that one command sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The lane.
    pub lane: Lane,
    /// The rows of the command's footprint, in admission order.
    pub rows: Vec<Arc<Row>>,
}

/// What a store has to write, exactly as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Replace the lane.
    Lane(Lane),
    /// Insert or replace the row of that submission.
    Row(Arc<Row>),
}

impl Slice {
    /// The row of a submission, if the slice holds it.
    #[must_use]
    pub fn row(&self, submission: SubmissionId) -> Option<&Arc<Row>> {
        self.rows.iter().find(|row| row.admission.submission == submission)
    }

    /// Makes a change: the only way a slice changes.
    ///
    /// # Panics
    /// The change was not made by a step over this slice. What the ledger's table of invariants
    /// promises is asserted here a second time.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Lane(lane) => {
                check_lane(&self.lane, lane);
                self.lane = lane.clone();
            }
            Change::Row(row) => {
                check_row(row);
                self.put(row);
            }
        }
    }

    fn put(&mut self, row: &Arc<Row>) {
        let submission = row.admission.submission;
        match self.rows.iter_mut().find(|held| held.admission.submission == submission) {
            Some(held) => {
                check_progress(held, row);
                *held = Arc::clone(row);
            }
            None => {
                let place = self.rows.partition_point(|held| held.sequence < row.sequence);
                self.rows.insert(place, Arc::clone(row));
            }
        }
    }
}

fn check_lane(held: &Lane, next: &Lane) {
    assert_eq!(held.conversation, next.conversation, "DUR-004: a lane keeps its name");
    assert!(held.next <= next.next, "DUR-004: a place in a lane is given once");
    assert!(held.epoch <= next.epoch, "DUR-006: the epoch of a lane never falls");
    assert!(held.stamp <= next.stamp, "CL-01: the stamp of a lane never falls");
    if let Some(owner) = &next.owner {
        let same = held.owner.as_ref().is_some_and(|old| old.token == owner.token);
        assert!(same || held.epoch < next.epoch, "DUR-005: a new owner takes a higher epoch");
    }
}

fn check_row(row: &Row) {
    let ordered = row.marks.windows(2).all(|pair| pair[0].doubt < pair[1].doubt);
    assert!(ordered, "DUR-017: a doubt has one mark");
    let ordered = row.approvals.windows(2).all(|pair| pair[0].request < pair[1].request);
    assert!(ordered, "AUTH-14: a request has one mark");
    let fits = match &row.phase {
        Phase::Admitted | Phase::Ready | Phase::Joining { .. } | Phase::Joined { .. } => {
            row.marks.is_empty() && row.approvals.is_empty()
        }
        Phase::Running(_) | Phase::Suspended => !row.is_doubtful(),
        Phase::Unknown => row.is_doubtful(),
        Phase::Terminalizing(_) | Phase::Settled(_) => true,
    };
    assert!(fits, "DUR-017: a row is unknown exactly while a doubt of it is not closed");
    let waits = !row.approvals.iter().all(ApprovalMark::is_closed);
    let fits = match &row.phase {
        Phase::Suspended => waits,
        // What was asked before an abort met a doubt is never decided.
        Phase::Unknown | Phase::Terminalizing(_) | Phase::Settled(_) => true,
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. } => !waits,
    };
    assert!(fits, "CAP-006: a row is suspended exactly while a request of it is not decided");
    let fits = match &row.phase {
        Phase::Settled(settled) => settled.given_up || row.chain.retried.is_none(),
        _ => row.chain.retried.is_none(),
    };
    assert!(fits, "DUR-018: only what was given up is tried again");
}

fn check_progress(held: &Row, next: &Row) {
    assert_eq!(held.sequence, next.sequence, "DUR-004: a row keeps its place");
    assert!(held.claims <= next.claims, "DUR-006: a claim is never forgotten");
    let first = held.abort.is_none() || held.abort == next.abort;
    assert!(first, "DUR-012: the first abort intent stands");
    let (old, new) = (&held.chain, &next.chain);
    let first = old.retried.is_none() || old.retried == new.retried;
    assert!(first && old.retry_of == new.retry_of, "DUR-018: what is retried is retried once");
    let fixed = match (&held.phase, &next.phase) {
        (Phase::Settled(held), Phase::Settled(next)) => held == next,
        (Phase::Settled(_), _) => false,
        (Phase::Terminalizing(held), Phase::Terminalizing(next)) => held == next,
        (Phase::Terminalizing(held), Phase::Settled(next)) => held.digest == next.digest,
        (Phase::Terminalizing(_), _) => false,
        _ => true,
    };
    assert!(fixed, "DUR-002: a submission has one outcome");
    let stays = match (&held.phase, &next.phase) {
        (Phase::Joined { .. }, next @ Phase::Joined { .. }) => held.phase == *next,
        (Phase::Joined { .. }, next) => matches!(next, Phase::Settled(_)),
        _ => true,
    };
    assert!(stays, "DUR-016: what has joined a run settles with it");
}
