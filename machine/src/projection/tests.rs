//! The fold: what each record does, what it may not contradict, and what a model is shown of it.

mod checkpoint;
mod compaction;
mod contradictions;
mod effects;
mod folding;
mod reader;
mod steps;
mod transcript;

use super::*;
use crate::agent::{Bound, Message, Resolution};
use crate::digest::Digest;
use crate::identity::{Epoch, Sequence, Turn};
use crate::record::{Corruption, Doubt, Record, Settlement};
use crate::testkit::story::{Story, Tale, completed, failed, success};
use crate::testkit::text;

const ONE: Tale = Tale("1");
const TWO: Tale = Tale("2");

/// A log with the input and one response with these calls.
fn declared(calls: &[&str]) -> Story {
    Story::new().tell([ONE.input()]).tell([ONE.responded(0, calls)])
}

/// A log whose one ordinary call is prepared under epoch 1.
fn prepared() -> Story {
    declared(&["pay"]).tell([ONE.prepared(start(), "pay")])
}

/// The start of the first call under epoch 1.
fn start() -> Doubt {
    ONE.start(0, 0, 1)
}

fn result(index: usize) -> Record {
    ONE.tool_settled(ONE.call(0, index), success("result"))
}
