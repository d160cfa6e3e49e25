//! What the unit tests share: a blank file of ours, and values to put into it.

use std::sync::Arc;

use everstep_machine::agent::{Bound, Resolution};
use everstep_machine::conversation::Tail;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AdmissionSequence, AgentId, ConversationId, Epoch, IdempotencyKey, PrincipalId, ProducerId,
    RunId, Sequence, SubmissionId, TenantId, Timestamp, Token, ToolCallId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{
    AbortIntent, Admission, Chain, Compat, Lane, Mark, MarkState, Owner, Phase, ResolutionIntent,
    Retried, RetryIntent, Row, Settled,
};
use everstep_machine::record::StoredBatch;
use everstep_machine::record::{Batch, Doubt, Envelope, InputRecorded, Outcome, Record};
use rusqlite::Connection;

/// A database with our tables, in memory.
pub(crate) fn blank() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    crate::format::create(&connection).unwrap();
    connection
}

pub(crate) fn desk() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

pub(crate) fn submission(n: u8) -> SubmissionId {
    SubmissionId([n; 16])
}

pub(crate) fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).unwrap()
}

pub(crate) fn lane() -> Lane {
    let owner = Owner {
        submission: submission(1),
        token: Token([7; 16]),
        producer: ProducerId::new("worker").unwrap(),
        lease_until: Timestamp(31_000),
        pause: everstep_machine::identity::DurationMs(1_500),
    };
    let (next, epoch, stamp) = (AdmissionSequence(2), Epoch(3), Timestamp(1_000));
    let tenant = Some(TenantId::new("shop").unwrap());
    Lane { conversation: desk(), tenant, next, epoch, owner: Some(owner), stamp }
}

pub(crate) fn tail() -> Tail {
    let (content, chain) = (Digest([1; 32]), Digest([2; 32]));
    Tail { epoch: Epoch(3), next_sequence: Sequence(300), content, chain }
}

pub(crate) fn intent() -> ResolutionIntent {
    let (resolution, principal) = (Resolution::NeverStarted, PrincipalId::new("bob").unwrap());
    ResolutionIntent { resolution: Arc::new(resolution), principal, reason: "looked".into() }
}

pub(crate) fn mark(state: MarkState) -> Mark {
    let doubt = Doubt { call: ToolCallId([9; 16]), start: Epoch(2) };
    Mark { doubt, since: Timestamp(900), state }
}

pub(crate) fn abort() -> AbortIntent {
    AbortIntent { principal: PrincipalId::new("ada").unwrap(), reason: "enough".into() }
}

pub(crate) fn settled() -> Phase {
    let (digest, outcome) = (Digest([3; 32]), Outcome::Aborted);
    Phase::Settled(Settled {
        digest,
        outcome,
        given_up: false,
        epoch: Epoch(3),
        at: Timestamp(950),
    })
}

pub(crate) fn given_up() -> Phase {
    let (digest, outcome) = (Digest([3; 32]), Outcome::Failed);
    Phase::Settled(Settled { digest, outcome, given_up: true, epoch: Epoch(3), at: Timestamp(950) })
}

/// What tries another one again and is itself tried again.
pub(crate) fn chain() -> Chain {
    let AbortIntent { principal, reason } = abort();
    let (successor, position) = (submission(9), AdmissionSequence(9));
    let intent = RetryIntent { principal, reason };
    let retried = Some(Retried { intent, successor, position, at: Timestamp(960) });
    Chain { retry_of: Some(submission(8)), retried }
}

pub(crate) fn row(n: u8, phase: Phase) -> Row {
    let admission = Admission {
        submission: submission(n),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new("key").unwrap(),
        agent: AgentId::new("clerk").unwrap(),
        payload: Digest([4; 32]),
        input: text("hello"),
        allowance: everstep_machine::agent::Allowance::default(),
        steers: None,
    };
    Row {
        admission: Arc::new(admission),
        sequence: AdmissionSequence(n.into()),
        admitted_at: Timestamp(800),
        claims: 0,
        fruitless: Vec::new(),
        phase,
        abort: None,
        marks: Vec::new(),
        approvals: Vec::new(),
        chain: Chain::default(),
        compat: Compat::default(),
    }
}

/// What a run is bound to.
pub(crate) fn bound() -> Bound {
    let digest = Digest([0xb0; 32]);
    Bound { definition: digest, model: digest, tools: digest }
}

/// A batch of one input, as a log at `epoch` would commit it.
pub(crate) fn stored(n: u8, first: u64, epoch: u64, previous: Digest) -> StoredBatch {
    let input = InputRecorded {
        submission: submission(n),
        principal: PrincipalId::new("ada").unwrap(),
        run: RunId([n; 16]),
        input: text("hello"),
        kind: everstep_machine::record::InputKind::First { bound: bound() },
        at: everstep_machine::identity::Timestamp(1_000),
        allowance: everstep_machine::agent::Allowance::default(),
    };
    let batch = Batch::new(&desk(), vec![Record::InputRecorded(input)]).unwrap();
    let envelope = Envelope {
        conversation: desk(),
        first_sequence: Sequence(first),
        epoch: Epoch(epoch),
        producer: ProducerId::new("worker").unwrap(),
        committed_at: Timestamp(1_000),
        previous,
    };
    StoredBatch::commit(envelope, batch)
}
