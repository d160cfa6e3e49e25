//! The names, records and settlements that scripts are about.

use std::sync::Arc;

use everstep_machine::agent::{Allowance, Bound, Diagnostic};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AgentId, ApprovalId, ConversationId, DurationMs, Epoch, IdempotencyKey, PrincipalId,
    ProducerId, RunId, SubmissionId, TenantId, Timestamp, ToolCallId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{Admission, Reserved, Suspension};
use everstep_machine::projection::Projection;
use everstep_machine::record::{
    Batch, CanonicalSettlement, ConversationCreated, Doubt, FinishKind, InputKind, InputRecorded,
    PolicyLimit, Record, RecoveryDecided, Settlement, SubmissionSettled,
};

use super::acts::{Ending, Fact, RETRIES, Row};

const PLAIN: &str = "ARC-09: the name is short and plain";

/// The conversation of a lane.
pub(super) fn lane(lane: u8) -> ConversationId {
    ConversationId::new(if lane == 0 { "desk" } else { "shop" }).expect(PLAIN)
}

pub(super) fn principal(name: &str) -> PrincipalId {
    PrincipalId::new(name).expect(PLAIN)
}

pub(super) fn producer() -> ProducerId {
    ProducerId::new("worker").expect(PLAIN)
}

fn key(row: Row) -> IdempotencyKey {
    IdempotencyKey::new(&row.to_string()).expect(PLAIN)
}

pub(super) fn tenant(strange: bool) -> TenantId {
    TenantId::new(if strange { "street" } else { "house" }).expect(PLAIN)
}

pub(super) fn agent(name: &str) -> AgentId {
    AgentId::new(name).expect(PLAIN)
}

pub(super) fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).expect("ARC-09: the text is short")
}

pub(super) fn submission(lane: &ConversationId, row: Row) -> SubmissionId {
    match row.checked_sub(RETRIES) {
        Some(dead) => SubmissionId::retry_of(submission(lane, dead)),
        None => SubmissionId::derive(lane, &principal("ada"), &key(row)),
    }
}

/// Three doubts of two calls.
pub(super) fn doubt(number: u8) -> Doubt {
    Doubt { call: ToolCallId([number / 2; 16]), start: Epoch((number % 2).into()) }
}

pub(super) fn request(number: u8) -> ApprovalId {
    ApprovalId([number; 16])
}

/// The first request stands for a minute, the second one for ever but for one person alone, and
/// every other one for ever.
pub(super) fn suspension(number: u8) -> Suspension {
    Suspension {
        request: request(number),
        expiry: (number == 0).then_some(DurationMs(60_000)),
        approver: (number == 1).then(|| principal("ada")),
    }
}

/// Who submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Whose lane it is.
    Own,
    /// Somebody who means another agent.
    OtherAgent,
    /// Somebody of another tenant.
    OtherTenant,
}

pub(super) fn admission(
    lane: &ConversationId,
    row: Row,
    input: &str,
    steers: Option<Row>,
    from: From,
) -> Arc<Admission> {
    Arc::new(Admission {
        submission: submission(lane, row),
        principal: principal("ada"),
        tenant: tenant(from == From::OtherTenant),
        key: key(row),
        agent: agent(if from == From::OtherAgent { "chef" } else { "clerk" }),
        payload: Digest::of("everstep/conformance", input.as_bytes()),
        allowance: Allowance::default(),
        steers: steers.map(|host| submission(lane, host)),
        input: text(input),
    })
}

pub(super) fn creation(lane: &ConversationId, name: &str) -> Record {
    let digest = Digest::of("everstep/conformance", name.as_bytes());
    Record::ConversationCreated(ConversationCreated {
        conversation: lane.clone(),
        tenant: tenant(false),
        agent: agent(name),
        definition: digest,
        model: digest,
        tools: digest,
    })
}

/// One of several bindings.
pub(super) fn bound(number: u8) -> Bound {
    let digest = Digest([number; 32]);
    Bound { definition: digest, model: digest, tools: digest }
}

pub(super) fn record(lane: &ConversationId, fact: Fact) -> Record {
    match fact {
        Fact::Input(row) => Record::InputRecorded(InputRecorded {
            submission: submission(lane, row),
            principal: principal("ada"),
            run: RunId::derive(submission(lane, row)),
            input: text("hello"),
            kind: InputKind::First { bound: bound(0) },
            at: Timestamp(1_000),
            allowance: Allowance::default(),
        }),
        Fact::Settled(row, ending) => {
            Record::SubmissionSettled(settled(submission(lane, row), ending))
        }
        Fact::Recovery(row, epoch) => Record::RecoveryDecided(RecoveryDecided {
            submission: submission(lane, row),
            epoch: Epoch(epoch.into()),
            row: 16,
        }),
        Fact::Creation => creation(lane, "clerk"),
    }
}

fn settled(submission: SubmissionId, ending: Ending) -> SubmissionSettled {
    let failed = |tag, limit| {
        let diagnostic = Diagnostic::cut(tag, "it broke");
        Settlement::Failed { diagnostic, limit }
    };
    let settlement = match ending {
        Ending::Completed => Settlement::Completed {
            output: text("done"),
            finish: FinishKind::ModelStop,
            disposition: None,
        },
        Ending::Failed => failed("Broken", None),
        Ending::Aborted => Settlement::Aborted,
        Ending::GivenUp => failed(PolicyLimit::Attempts.tag(), Some(PolicyLimit::Attempts)),
    };
    SubmissionSettled { submission, run: Some(RunId::derive(submission)), settlement }
}

pub(super) fn reserved(submission: SubmissionId, ending: Ending) -> Reserved {
    Reserved::new(settled(submission, ending)).expect("DUR-011: the parts of a settlement agree")
}

/// The proof that a settlement is canonical: the fold of a log in which it is.
pub(super) fn canonical(
    lane: &ConversationId,
    submission: SubmissionId,
    ending: Ending,
) -> Option<CanonicalSettlement> {
    let input = InputRecorded {
        submission,
        principal: principal("ada"),
        run: RunId::derive(submission),
        input: text("hello"),
        kind: InputKind::First { bound: bound(0) },
        at: Timestamp(1_000),
        allowance: Allowance::default(),
    };
    let end = Record::SubmissionSettled(settled(submission, ending));
    let mut fold = Projection::default();
    for records in [vec![creation(lane, "clerk")], vec![Record::InputRecorded(input), end]] {
        fold.apply(Epoch(1), &Batch::new(lane, records).ok()?).ok()?;
    }
    fold.submission(submission)?.settled
}
