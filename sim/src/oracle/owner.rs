//! What an attempt believes, against what is stored (DUR-015).

use everstep_machine::attempt::State;
use everstep_machine::ledger::{ApprovalMark, ApprovalState, Mark, MarkState, Phase, Row};

use super::{Judge, Property};
use crate::store::Shelf;

impl Judge {
    /// Compares an attempt whose pipelines are all acknowledged with the store, if it still owns both lane
    /// and log: who has lost one of them believes what was true then. `outrun`: the owner before
    /// wrote the row after this one had read it and before it claimed.
    pub(crate) fn compare(&mut self, lane: usize, shelf: &Shelf, state: &State, outrun: bool) {
        let (Some(owner), Some(tail)) = (state.ownership(), shelf.log().tail()) else { return };
        let holds = shelf.lane().owner.as_ref().is_some_and(|it| it.token == owner.token);
        if !holds || tail.epoch != owner.epoch {
            return;
        }
        if state.projection().is_some_and(|fold| *fold != *self.memory.lanes[lane].fold) {
            self.broken(Property::Fold, || {
                format!("epoch {} of lane {lane} works on another fold than its log's", owner.epoch)
            });
        }
        let predicted = state.predicted_tail();
        let same =
            predicted.is_none_or(|it| (it.epoch, it.reference()) == (tail.epoch, tail.reference()));
        if !same {
            self.broken(Property::Prediction, || {
                format!("the owner of lane {lane} expects {predicted:?}, the log ends at {tail:?}")
            });
        }
        if let (Some(predicted), Some(stored)) =
            (state.predicted_row(), shelf.row(owner.submission))
            && !outrun
            && !agree(predicted, stored)
        {
            self.broken(Property::Prediction, || {
                format!("the owner of lane {lane} expects {predicted:?}, stored is {stored:?}")
            });
        }
    }
}

/// Whether a row is as its owner expects it: times aside, and what other people may have asked
/// for meanwhile.
pub(super) fn agree(predicted: &Row, stored: &Row) -> bool {
    let Row {
        admission,
        sequence,
        admitted_at: _,
        claims,
        fruitless,
        phase,
        abort,
        marks,
        approvals,
        chain,
        // Whoever comes while a lease is over, and whoever speaks, may say something about it.
        compat: _,
    } = predicted;
    admission.submission == stored.admission.submission
        && *sequence == stored.sequence
        && (*claims, fruitless) == (stored.claims, &stored.fruitless)
        && same_phase(phase, &stored.phase)
        && (abort.is_none() || *abort == stored.abort)
        && chain.retry_of == stored.chain.retry_of
        && (chain.retried.is_none() || chain.retried == stored.chain.retried)
        && marks.len() == stored.marks.len()
        && marks.iter().zip(&stored.marks).all(|(mine, theirs)| same_mark(mine, theirs))
        && approvals.len() == stored.approvals.len()
        && approvals.iter().zip(&stored.approvals).all(|(mine, theirs)| same_request(mine, theirs))
}

fn same_phase(mine: &Phase, theirs: &Phase) -> bool {
    match (mine, theirs) {
        (Phase::Settled(mine), Phase::Settled(theirs)) => {
            (mine.digest, mine.outcome, mine.epoch) == (theirs.digest, theirs.outcome, theirs.epoch)
        }
        _ => mine == theirs,
    }
}

fn same_request(mine: &ApprovalMark, theirs: &ApprovalMark) -> bool {
    let decided_since = mine.is_open() && matches!(theirs.state, ApprovalState::Intended(_));
    mine.request == theirs.request && (decided_since || mine.state == theirs.state)
}

fn same_mark(mine: &Mark, theirs: &Mark) -> bool {
    let spoken_since = mine.is_open() && matches!(theirs.state, MarkState::Intended(_));
    mine.doubt == theirs.doubt && (spoken_since || mine.state == theirs.state)
}
