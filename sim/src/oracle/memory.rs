//! What the oracles have seen and remember.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use everstep_machine::agent::{Bound, Purpose, Verdict};
use everstep_machine::conversation::TailRef;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AdmissionSequence, ApprovalId, Epoch, RunId, Sequence, SubmissionId, ToolCallId, Turn,
};
use everstep_machine::projection::Projection;
use everstep_machine::record::{Doubt, Settlement};

use super::account::Account;
use super::bindings::BoundSince;

/// Everything.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) lanes: Vec<LaneMemory>,
    /// Calls that the operator allowed to run once more, each as often as it was said.
    pub(super) repeats: Vec<ToolCallId>,
    /// What people decided, as the ledger accepted it.
    pub(super) decisions: Vec<(ApprovalId, Verdict)>,
    /// What was canonically approved in which lane, and with which parameters.
    pub(super) approved: Vec<(usize, ApprovalId, Digest)>,
    /// What was given up, and what tries it again, as the ledger accepted it.
    pub(super) retries: Vec<(SubmissionId, SubmissionId)>,
    /// Which bindings people wanted to be replaced, and by what, as the ledger accepted it.
    pub(super) rebinds: Vec<(SubmissionId, Sequence, Bound)>,
    /// Turns that the model was asked for.
    pub(super) asked: Vec<(RunId, Turn, Purpose)>,
    /// Bodies of steps that ran, each by its start and by how many steps stand before it.
    pub(super) bodies: Vec<(Doubt, u32)>,
    /// Calls with effects that have happened.
    pub(super) executed: Vec<ToolCallId>,
    /// Starts that gave no answer and of which nobody has found out how they ended.
    pub(super) silent: Vec<Doubt>,
}

/// What was seen of one lane and its log.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneMemory {
    /// The highest epoch that was ever claimed.
    pub(super) claimed: Epoch,
    /// For which submission it was claimed last.
    pub(super) owner: Option<SubmissionId>,
    /// Whether its owner has let go.
    pub(super) free: bool,
    /// The highest epoch that the log was ever at.
    pub(super) fenced: Epoch,
    /// Where the log ends.
    pub(super) tail: Option<TailRef>,
    /// The fold over every batch.
    pub(super) fold: Arc<Projection>,
    /// Submissions in the order in which they were admitted.
    pub(super) rows: Vec<RowMemory>,
    /// From which epoch on each run is bound to what.
    pub(super) bound: Vec<BoundSince>,
    /// What each run has used up, in the order in which they began.
    pub(super) accounts: Vec<Account>,
}

/// What was seen of one submission.
#[derive(Clone, Debug)]
pub(super) struct RowMemory {
    pub(super) submission: SubmissionId,
    pub(super) sequence: AdmissionSequence,
    /// Somebody wants it to end.
    pub(super) aborted: bool,
    /// Its input is canonical.
    pub(super) began: bool,
    /// Whose run it has joined, and how.
    pub(super) joined: Option<Joined>,
    /// How many settlements of it are canonical.
    pub(super) settlements: u32,
    /// Doubts that are marked.
    pub(super) marks: Vec<Doubt>,
    /// The last epoch that got it anywhere.
    pub(super) progressed: Epoch,
    /// How many owners in a row have died since.
    pub(super) deaths: usize,
}

/// That a submission is part of another one's run.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    /// The submission that began the run.
    pub(super) host: SubmissionId,
    /// Whether it came when the run would have stopped, and not out of its turn.
    pub(super) follows: bool,
    /// How the run ended.
    pub(super) ended: Option<Settlement>,
}

impl Memory {
    pub(super) fn new(lanes: usize) -> Self {
        let lanes = (0..lanes).map(|_| LaneMemory { free: true, ..LaneMemory::default() });
        Self {
            lanes: lanes.collect(),
            repeats: Vec::new(),
            decisions: Vec::new(),
            approved: Vec::new(),
            retries: Vec::new(),
            rebinds: Vec::new(),
            asked: Vec::new(),
            bodies: Vec::new(),
            executed: Vec::new(),
            silent: Vec::new(),
        }
    }

    /// Everything else follows from rows, logs and the outside, which have fingerprints of their own;
    /// and `asked` decides nothing.
    pub(super) fn print(&self, state: &mut impl Hasher) {
        for lane in &self.lanes {
            (lane.claimed, lane.fenced).hash(state);
        }
        self.repeats.hash(state);
        (&self.silent, &self.retries, &self.rebinds).hash(state);
    }
}

impl LaneMemory {
    pub(super) fn row(&mut self, submission: SubmissionId) -> Option<&mut RowMemory> {
        self.rows.iter_mut().find(|row| row.submission == submission)
    }

    pub(super) fn admit(&mut self, submission: SubmissionId, sequence: AdmissionSequence) {
        if self.row(submission).is_none() {
            self.rows.push(RowMemory {
                submission,
                sequence,
                aborted: false,
                began: false,
                joined: None,
                settlements: 0,
                marks: Vec::new(),
                progressed: Epoch(0),
                deaths: 0,
            });
        }
    }
}
