//! One fixed record of every kind, and a batch of them all.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::agent::{
    Allowance, ApprovalTerms, Bound, Diagnostic, FinishReason, NamedStep, ResponsePart, Risk,
    ToolCall, Usage, Verdict,
};
use crate::approval::{Entry, Layer};
use crate::identity::{ApprovalId, DurationMs, StepName};

pub(super) const SUBMISSION: SubmissionId = SubmissionId([0x11; 16]);
pub(super) const RUN: RunId = RunId([0x22; 16]);
pub(super) const CALL: ToolCallId = ToolCallId([0x33; 16]);
const DOUBT: Doubt = Doubt { call: CALL, start: Epoch(7) };

pub(super) fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

pub(super) fn desk() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

fn created() -> ConversationCreated {
    ConversationCreated {
        conversation: desk(),
        tenant: TenantId::new("acme").unwrap(),
        agent: AgentId::new("refunds").unwrap(),
        definition: Digest([0xa1; 32]),
        model: Digest([0xa2; 32]),
        tools: Digest([0xa3; 32]),
    }
}

fn responded() -> ModelResponded {
    let call = ToolCall {
        label: "call_1".into(),
        tool: ToolName::new("refund").unwrap(),
        parameters: json(r#"{"amount":12}"#),
    };
    let response = ModelResponse {
        parts: vec![ResponsePart::Text("Let me see.".into()), ResponsePart::Call(call)],
        finish: FinishReason::ToolCalls,
        usage: Some(Usage {
            input_tokens: 300,
            cache_read_tokens: 200,
            cache_write_tokens: 50,
            output_tokens: 25,
            cost_micros: 1_250,
        }),
    };
    ModelResponded { submission: SUBMISSION, turn: Turn(1), response: Arc::new(response) }
}

fn asked() -> ApprovalRequested {
    let (parameters, policy) = (json(r#"{"amount":12}"#).digest(), Digest([0xa4; 32]));
    ApprovalRequested {
        submission: SUBMISSION,
        request: ApprovalId::derive(CALL, parameters, policy),
        call: CALL,
        parameters,
        policy,
        capability: Some(CapabilityKey::new("money.send:eur").unwrap()),
        risk: Risk::High,
        rule: Rule { layer: Layer::Core, entry: Entry::Risk(Risk::High) },
        target: Some("accounts/7".into()),
        preview: r#"{"amount":12}"#.into(),
        terms: ApprovalTerms {
            expiry: Some(DurationMs(60_000)),
            on_expiry: Verdict::Denied,
            approver: Some(PrincipalId::new("bob").unwrap()),
        },
    }
}

/// What a run is bound to: one of several.
fn bound(number: u8) -> Bound {
    Bound {
        definition: Digest([number; 32]),
        model: Digest([number + 1; 32]),
        tools: Digest([number + 2; 32]),
    }
}

/// One record of every kind, in the order of [`Record`].
pub(super) fn one_of_each() -> Vec<Record> {
    let (submission, epoch) = (SUBMISSION, Epoch(7));
    let principal = PrincipalId::new("ada").unwrap();
    let input = json(r#"{"text":"Refund €12, please 😀"}"#);
    let parameters = json(r#"{"amount":12}"#).digest();
    let failure = Diagnostic::new("Declined", "The card was declined.").unwrap();
    let resolution = Arc::new(Resolution::Completed(json(r#"{"refunded":true}"#)));
    let tool = ToolName::new("refund").unwrap();
    vec![
        Record::ConversationCreated(created()),
        Record::InputRecorded(InputRecorded {
            submission,
            principal: principal.clone(),
            run: RUN,
            input,
            kind: InputKind::First { bound: bound(0xb0) },
            at: Timestamp(1_700_000_000_000),
            allowance: Allowance { turns: Some(3), ..Allowance::default() },
        }),
        Record::ModelResponded(responded()),
        Record::ModelInterrupted(ModelInterrupted {
            submission,
            turn: Turn(300),
            epoch,
            ordinal: 1,
            lost_tokens: 512,
            lost_cost_micros: 40,
        }),
        Record::ToolPrepared(ToolPrepared { submission, call: CALL, epoch, tool, parameters }),
        Record::ToolSettled(ToolSettled {
            submission,
            call: CALL,
            outcome: Arc::new(ToolOutcome::Failure(failure)),
        }),
        Record::ToolUnknown(ToolUnknown { submission, doubt: DOUBT }),
        Record::ToolResolved(ToolResolved {
            submission,
            doubt: DOUBT,
            resolution,
            principal: principal.clone(),
            reason: "the ledger shows it".into(),
        }),
        Record::AbortRequested(AbortRequested {
            submission,
            principal,
            reason: "changed my mind".into(),
        }),
        Record::RecoveryDecided(RecoveryDecided { submission, epoch, row: 18 }),
        Record::SubmissionSettled(SubmissionSettled {
            submission,
            run: Some(RUN),
            settlement: Settlement::Completed {
                output: json(r#""Done.""#),
                finish: FinishKind::ModelStop,
                disposition: None,
            },
        }),
        Record::CompactionCreated(CompactionCreated {
            submission,
            turn: Turn(2),
            through: Sequence(40),
            compaction: Compaction::Summarized("They want €12 back.".into()),
            usage: None,
        }),
        Record::ApprovalRequested(asked()),
        Record::ApprovalDecided(ApprovalDecided {
            submission,
            request: asked().request,
            verdict: Verdict::Approved,
            resolver: Resolver::Person(PrincipalId::new("bob").unwrap()),
            reason: "looks right".into(),
        }),
        Record::StepRecorded(StepRecorded {
            submission,
            call: CALL,
            ordinal: 2,
            output: Arc::new(StepOutput {
                step: NamedStep { name: StepName::new("issue").unwrap(), version: 300 },
                output: json(r#"{"ticket":"T-9"}"#),
            }),
            digest: json(r#"{"ticket":"T-9"}"#).digest(),
        }),
        Record::RunRebound(RunRebound {
            submission,
            replaces: Sequence(1),
            from: bound(0xb0),
            to: bound(0xc0),
            principal: PrincipalId::new("bob").unwrap(),
            reason: "no harm in it".into(),
        }),
    ]
}

/// The place of a record's kind in [`one_of_each`]: a new kind does not compile without a sample.
pub(super) const fn place(record: &Record) -> usize {
    match record {
        Record::ConversationCreated(_) => 0,
        Record::InputRecorded(_) => 1,
        Record::ModelResponded(_) => 2,
        Record::ModelInterrupted(_) => 3,
        Record::ToolPrepared(_) => 4,
        Record::ToolSettled(_) => 5,
        Record::ToolUnknown(_) => 6,
        Record::ToolResolved(_) => 7,
        Record::AbortRequested(_) => 8,
        Record::RecoveryDecided(_) => 9,
        Record::SubmissionSettled(_) => 10,
        Record::CompactionCreated(_) => 11,
        Record::ApprovalRequested(_) => 12,
        Record::ApprovalDecided(_) => 13,
        Record::StepRecorded(_) => 14,
        Record::RunRebound(_) => 15,
    }
}

pub(super) fn envelope() -> Envelope {
    Envelope {
        conversation: desk(),
        first_sequence: Sequence(41),
        epoch: Epoch(7),
        producer: ProducerId::new("worker-1").unwrap(),
        committed_at: Timestamp(1_700_000_000_123),
        previous: Digest([0xee; 32]),
    }
}

/// A stored batch with a record of every kind.
pub(super) fn stored() -> StoredBatch {
    StoredBatch::commit(envelope(), Batch::new(&desk(), one_of_each()).unwrap())
}
