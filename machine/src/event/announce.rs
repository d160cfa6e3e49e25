//! Which events state which record. A producer hands over records that are committed and nothing
//! else, so no event comes before its fact (ARC-10).
//!
//! What no record says is told by whoever does it: that a turn begins, that a model is asked and
//! what it says, that a handler is started and how far it is.

use alloc::vec;
use alloc::vec::Vec;

use super::RunEvent;
use crate::identity::{RunId, ToolCallId};
use crate::projection::{CallView, RunView, StartState};
use crate::record::{InputKind, ModelResponded, Record};

/// What a committed record says to whoever watches its run, in order.
#[must_use]
pub fn announce(record: &Record) -> Vec<RunEvent> {
    match record {
        Record::InputRecorded(it) => vec![match it.kind {
            InputKind::First { .. } => RunEvent::RunStarted { submission: it.submission },
            InputKind::Steering { .. } | InputKind::FollowUp { .. } => {
                RunEvent::InputReceived { submission: it.submission }
            }
        }],
        Record::ModelResponded(it) => declared(it).collect(),
        Record::StepRecorded(it) => {
            let step = it.output.step.name.clone();
            vec![RunEvent::ToolStepRecorded { call: it.call, step }]
        }
        Record::ToolSettled(it) => vec![RunEvent::tool_ended(it.call, &it.outcome)],
        Record::ToolUnknown(it) => vec![RunEvent::ToolCallUnknown { call: it.doubt.call }],
        Record::CompactionCreated(it) => {
            vec![RunEvent::ContextCompacted { kind: (&it.compaction).into() }]
        }
        Record::ApprovalRequested(it) => vec![RunEvent::ApprovalRequested { call: it.call }],
        // A submission that came into another one's run ends with it, and the run ends once.
        Record::SubmissionSettled(it) if it.run == Some(RunId::derive(it.submission)) => {
            vec![RunEvent::run_ended(&it.settlement)]
        }
        Record::SubmissionSettled(_)
        | Record::ConversationCreated(_)
        | Record::ModelInterrupted(_)
        | Record::ToolPrepared(_)
        | Record::ToolResolved(_)
        | Record::AbortRequested(_)
        | Record::ApprovalDecided(_)
        | Record::RunRebound(_)
        | Record::RecoveryDecided(_) => Vec::new(),
    }
}

fn declared(it: &ModelResponded) -> impl Iterator<Item = RunEvent> {
    let run = RunId::derive(it.submission);
    it.response.calls().enumerate().map(move |(index, call)| RunEvent::ToolCallDeclared {
        call: ToolCallId::derive(run, it.turn, index),
        tool: call.tool.clone(),
    })
}

/// How the trace of an attempt begins that takes over a run: what has to be said again so that
/// what follows makes sense to somebody who has heard nothing before.
///
/// That is the run itself and, if calls of its last response are open, that turn with those calls.
/// A start of which this attempt has no answer is in doubt for whoever watches, whether the doubt is
/// canonical or not: from there the call may end, or start again.
#[must_use]
pub fn announce_again(run: &RunView) -> Vec<RunEvent> {
    let mut events = vec![RunEvent::RunStarted { submission: run.input.submission }];
    let open: Vec<_> = run.unsettled_calls().collect();
    if let (Some(last), [_, ..]) = (run.turns.last(), &open[..]) {
        events.push(RunEvent::TurnStarted { turn: last.turn });
        let declared = open
            .iter()
            .map(|call| RunEvent::ToolCallDeclared { call: call.id, tool: call.tool.clone() });
        events.extend(declared);
        let doubted = open.iter().filter(|call| is_doubted(call));
        events.extend(doubted.map(|call| RunEvent::ToolCallUnknown { call: call.id }));
    }
    events
}

fn is_doubted(call: &CallView) -> bool {
    match call.starts.last().map(|start| &start.state) {
        Some(StartState::Open | StartState::Unknown | StartState::Resolved(_)) => true,
        None => false,
    }
}
