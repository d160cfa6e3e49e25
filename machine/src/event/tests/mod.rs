//! What the tests of live events share.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::agent::{Dimension, Gauge, Usage};
use crate::identity::{
    AgentId, ConversationId, RunId, StepName, SubmissionId, Timestamp, ToolCallId, ToolName, Turn,
};
use crate::record::{FinishKind, PolicyLimit};

mod announce;
mod families;
mod log;
mod sequences;
mod trace;
mod wire;

const RUN: RunId = RunId([0x2a; 16]);
const SUBMISSION: SubmissionId = SubmissionId([0x11; 16]);
const CALL: ToolCallId = ToolCallId([0xc1; 16]);
const OTHER: ToolCallId = ToolCallId([0xc2; 16]);

fn source() -> Source {
    Source {
        run: RUN,
        conversation: ConversationId::new("desk").unwrap(),
        agent: AgentId::new("clerk").unwrap(),
    }
}

fn text(words: &str) -> RunEvent {
    RunEvent::TextDelta { text: Arc::from(words) }
}

fn fact(turn: u32) -> RunEvent {
    RunEvent::TurnStarted { turn: Turn(turn) }
}

fn begun() -> RunEvent {
    RunEvent::RunStarted { submission: SUBMISSION }
}

fn completed() -> RunEvent {
    RunEvent::RunCompleted { finish: FinishKind::ModelStop, dropped: 0 }
}

fn declared(call: ToolCallId) -> RunEvent {
    RunEvent::ToolCallDeclared { call, tool: ToolName::new("refund").unwrap() }
}

/// Events as a sequencer numbers them, one a millisecond.
fn numbered(events: impl IntoIterator<Item = RunEvent>) -> Vec<Enveloped> {
    let mut sequencer = Sequencer::new(source());
    let events = events.into_iter().zip(0..);
    events.map(|(event, at)| sequencer.number(Timestamp(at), event).unwrap()).collect()
}

/// One event of every family, in the order of the enum.
fn one_of_each() -> Vec<RunEvent> {
    let call = CALL;
    let gauge = Gauge { dimension: Dimension::ToolCalls, used: 8, limit: 10 };
    let usage = Usage {
        input_tokens: 30,
        cache_read_tokens: 20,
        cache_write_tokens: 5,
        output_tokens: 7,
        cost_micros: 99,
    };
    Vec::from([
        begun(),
        fact(3),
        RunEvent::ModelStarted { turn: Turn(3), retry: 1 },
        text("Let me\n\"see\""),
        RunEvent::ReasoningDelta { text: Arc::from("12 €?") },
        declared(call),
        RunEvent::ToolCallStarted { call },
        RunEvent::progress(call, "half of it"),
        RunEvent::ToolStepRecorded { call, step: StepName::new("charge").unwrap() },
        RunEvent::ToolCallSucceeded { call },
        RunEvent::ToolCallFailed { call, kind: FailureKind::InvalidInput },
        RunEvent::ToolCallUnknown { call },
        RunEvent::ApprovalRequested { call },
        RunEvent::BudgetWarning { gauge },
        RunEvent::ContextCompacted { kind: CompactionKind::ResultsCleared },
        RunEvent::InputReceived { submission: SUBMISSION },
        RunEvent::TurnCompleted { turn: Turn(3), usage: Some(usage) },
        completed(),
        RunEvent::RunFailed {
            tag: FailureTag::cut("BudgetExceeded"),
            limit: Some(PolicyLimit::Budget(Dimension::Cost)),
            dropped: 4,
        },
        RunEvent::RunInterrupted { why: Interruption::OwnershipLost, dropped: 0 },
    ])
}

/// Where an event stands in [`one_of_each`]: a new family breaks the build here.
const fn place(event: &RunEvent) -> usize {
    match event {
        RunEvent::RunStarted { .. } => 0,
        RunEvent::TurnStarted { .. } => 1,
        RunEvent::ModelStarted { .. } => 2,
        RunEvent::TextDelta { .. } => 3,
        RunEvent::ReasoningDelta { .. } => 4,
        RunEvent::ToolCallDeclared { .. } => 5,
        RunEvent::ToolCallStarted { .. } => 6,
        RunEvent::ToolProgress { .. } => 7,
        RunEvent::ToolStepRecorded { .. } => 8,
        RunEvent::ToolCallSucceeded { .. } => 9,
        RunEvent::ToolCallFailed { .. } => 10,
        RunEvent::ToolCallUnknown { .. } => 11,
        RunEvent::ApprovalRequested { .. } => 12,
        RunEvent::BudgetWarning { .. } => 13,
        RunEvent::ContextCompacted { .. } => 14,
        RunEvent::InputReceived { .. } => 15,
        RunEvent::TurnCompleted { .. } => 16,
        RunEvent::RunCompleted { .. } => 17,
        RunEvent::RunFailed { .. } => 18,
        RunEvent::RunInterrupted { .. } => 19,
    }
}
