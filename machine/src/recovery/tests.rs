//! The table, row by row, over logs that are told by hand, and over any log and any row.

mod approvals;
mod compat;
mod doubts;
mod joining;
mod order;
mod properties;
mod rows;

use alloc::vec::Vec;

use super::*;
use crate::agent::Resolution;
use crate::identity::{Epoch, Timestamp};
use crate::ledger::{InputMarker, Mark, MarkState, Phase, Reserved, Row, Settled};
use crate::projection::Projection;
use crate::record::{CanonicalSettlement, Doubt, Record, Settlement};
use crate::testkit::story::{Story, Tale, abort, completed, intent, success};
use crate::testkit::{binding, text};

const ONE: Tale = Tale("1");

/// When the row is read.
const NOW: Timestamp = Timestamp(5_000);

const RUNNING: Phase = Phase::Running(InputMarker::Applied);
const CLAIMED: Phase = Phase::Running(InputMarker::Missing);

/// Classifies with the knowledge of whoever has just claimed.
fn decide(row: &Row, story: &Story) -> Classified {
    decide_with(row, story, &OwnKnowledge::default())
}

fn decide_with(row: &Row, story: &Story, own: &OwnKnowledge) -> Classified {
    classify(&Evidence::gather(row, &[], &story.fold, own, &binding().bound(), NOW))
}

fn classified(row: u8, decision: Decision) -> Classified {
    Classified { row, decision }
}

/// A log with the input and one response with these calls.
fn declared(calls: &[&str]) -> Story {
    Story::new().tell([ONE.input()]).tell([ONE.responded(0, calls)])
}

/// A log in which every call of these ordinary ones is prepared under epoch 1.
fn prepared(calls: usize) -> Story {
    let tools: Vec<&str> = core::iter::repeat_n("pay", calls).collect();
    declared(&tools).tell((0..calls).map(|index| ONE.prepared(ONE.start(0, index, 1), "pay")))
}

/// The start of the call at `index` of the first response, under epoch 1.
fn start(index: usize) -> Doubt {
    ONE.start(0, index, 1)
}

fn unknown(index: usize) -> Record {
    ONE.unknown(start(index))
}

fn starts(indices: &[usize]) -> Vec<Doubt> {
    indices.iter().map(|index| start(*index)).collect()
}

fn open(doubt: Doubt) -> Mark {
    Mark { doubt, since: Timestamp(1_000), state: MarkState::Open }
}

fn intended(doubt: Doubt, resolution: Resolution) -> Mark {
    Mark { state: MarkState::Intended(intent(resolution)), ..open(doubt) }
}

fn closed(doubt: Doubt, resolution: Resolution) -> Mark {
    Mark { state: MarkState::Closed(intent(resolution)), ..open(doubt) }
}

fn marked(phase: Phase, marks: Vec<Mark>) -> Row {
    Row { marks, ..ONE.row(phase) }
}

fn aborted(phase: Phase) -> Row {
    Row { abort: Some(abort()), ..ONE.row(phase) }
}

fn reserved(settlement: Settlement) -> Reserved {
    let Record::SubmissionSettled(record) = ONE.settled(settlement) else { unreachable!() };
    Reserved::new(record).unwrap()
}

fn settlement(story: &Story) -> CanonicalSettlement {
    story.view(ONE).settled.expect("the settlement is canonical")
}

/// The phase of a row whose settlement is the canonical one.
fn settled(story: &Story) -> Phase {
    let it = settlement(story);
    let (digest, outcome) = (it.digest(), it.outcome());
    Phase::Settled(Settled {
        digest,
        outcome,
        given_up: false,
        epoch: Epoch(1),
        at: Timestamp(2_000),
    })
}

/// An aborted submission whose one call is in doubt for good.
fn aborted_in_doubt() -> Story {
    let story = prepared(1).tell([ONE.abort_requested(), unknown(0)]);
    story.tell([ONE.settled(Settlement::Aborted)])
}
