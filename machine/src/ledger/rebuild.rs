//! The ledger's markers, reproduced from the log: canonical history is authoritative (DUR-015).
//!
//! A row repeats some of what the log holds, so that the next command need not read it. Such a
//! marker may lag behind the log, since a crash can fall between the two writes, and recovery
//! repairs it. It may never run ahead of the log or contradict it.

use alloc::collections::{BTreeMap, BTreeSet};

use super::state::{InputMarker, MarkState, Phase, Row, Settled};
use crate::digest::Digest;
use crate::identity::{ApprovalId, SubmissionId};
use crate::projection::{Projection, SubmissionView};
use crate::record::Doubt;

/// What a row repeats of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Markers {
    /// Whether the input is canonical.
    pub applied: bool,
    /// The doubts that are canonical and not closed.
    pub doubts: BTreeSet<Doubt>,
    /// The doubts that are canonically closed.
    pub closed: BTreeSet<Doubt>,
    /// The requests for approval that are canonical and not decided, of calls that have not ended.
    pub asked: BTreeSet<ApprovalId>,
    /// The requests that are canonically decided.
    pub decided: BTreeSet<ApprovalId>,
    /// The submission whose run it has canonically joined.
    pub joined: Option<SubmissionId>,
    /// Digest of the canonical settlement.
    pub settled: Option<Digest>,
}

/// How a row compares with the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agreement {
    /// The row knows everything that the log says.
    Current,
    /// The log says more: recovery will repair the row.
    Behind,
    /// The row says something that the log does not: no crash can explain it.
    Ahead,
}

/// Reproduces the markers of every submission with a canonical record.
#[must_use]
pub fn rebuild(log: &Projection) -> BTreeMap<SubmissionId, Markers> {
    log.submissions().map(|(id, view)| (id, Markers::of_log(view))).collect()
}

/// Compares a row with the log.
#[must_use]
pub fn agreement(row: &Row, log: &Projection) -> Agreement {
    let view = log.submission(row.admission.submission);
    let canonical = view.map(Markers::of_log).unwrap_or_default();
    let known = Markers::of_row(row, &canonical);
    if known == canonical {
        Agreement::Current
    } else if known.is_part_of(&canonical) {
        Agreement::Behind
    } else {
        Agreement::Ahead
    }
}

impl Markers {
    fn of_log(view: &SubmissionView) -> Self {
        let asked = view.open_approvals().map(|request| request.request);
        Self {
            applied: view.run.is_some(),
            doubts: view.doubts().collect(),
            closed: view.resolved().collect(),
            asked: asked.collect(),
            decided: view.decided_approvals().collect(),
            joined: view.joined,
            settled: view.settled.map(|settlement| settlement.digest()),
        }
    }

    /// A settled row says nothing about its input and its requests: it takes the log's word for
    /// them. No row repeats what a policy decided at once.
    fn of_row(row: &Row, log: &Self) -> Self {
        let marks = |closed: bool| {
            let is_closed = move |state: &MarkState| matches!(state, MarkState::Closed(_));
            let wanted = row.marks.iter().filter(move |mark| is_closed(&mark.state) == closed);
            wanted.map(|mark| mark.doubt).collect()
        };
        let joined = match row.phase {
            Phase::Joined { host } => Some(host),
            Phase::Settled(_) => log.joined,
            _ => None,
        };
        let (applied, settled) = match row.phase {
            Phase::Admitted
            | Phase::Ready
            | Phase::Joining { .. }
            | Phase::Joined { .. }
            | Phase::Running(InputMarker::Missing) => (false, None),
            Phase::Running(InputMarker::Applied) | Phase::Unknown | Phase::Suspended => {
                (true, None)
            }
            Phase::Terminalizing(ref reserved) => (reserved.record.run.is_some(), None),
            Phase::Settled(Settled { digest, .. }) => (log.applied, Some(digest)),
        };
        let (asked, decided) = match row.phase {
            Phase::Settled(_) | Phase::Terminalizing(_) => (log.asked.clone(), log.decided.clone()),
            Phase::Admitted
            | Phase::Ready
            | Phase::Running(_)
            | Phase::Joining { .. }
            | Phase::Joined { .. }
            | Phase::Unknown
            | Phase::Suspended => {
                let requests = |closed: bool| {
                    let wanted = row.approvals.iter().filter(move |it| it.is_closed() == closed);
                    wanted.map(|mark| mark.request)
                };
                let decided = requests(true).chain(log.decided.iter().copied());
                (requests(false).collect(), decided.collect())
            }
        };
        Self { applied, doubts: marks(false), closed: marks(true), asked, decided, joined, settled }
    }

    /// What the row still holds for open may be closed in the log already.
    fn is_part_of(&self, log: &Self) -> bool {
        (!self.applied || log.applied)
            && self.doubts.iter().all(|it| log.doubts.contains(it) || log.closed.contains(it))
            && self.closed.is_subset(&log.closed)
            && self.asked.iter().all(|it| log.asked.contains(it) || log.decided.contains(it))
            && self.decided.is_subset(&log.decided)
            && (self.joined.is_none() || self.joined == log.joined)
            && (self.settled.is_none() || self.settled == log.settled)
    }
}
