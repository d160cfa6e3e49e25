//! A lane in memory, as small as a store can be, on which every test checks the machine's
//! contract with each command: it loads a footprint and writes nothing but what comes back.

mod admission;
mod approvals;
mod compat;
mod invariants;
mod joining;
mod ownership;
mod patience;
mod phases;
mod progress;
mod queue;
mod rebuild;
mod reconstruction;
mod retry;
mod sequences;
mod settlement;
mod unknown;

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::agent::{Diagnostic, Resolution};
use crate::contract::{Machine, Step};
use crate::identity::{
    AdmissionSequence, AgentId, ConversationId, DurationMs, Epoch, IdempotencyKey, PrincipalId,
    ProducerId, RunId, Sequence, SubmissionId, TenantId, Timestamp, Token, ToolCallId,
};
use crate::json::CanonicalJson;
use crate::record::{
    CanonicalSettlement, Doubt, FinishKind, Outcome, PolicyLimit, Settlement, SubmissionSettled,
};

/// When tests begin: some time in 2027.
const START: u64 = 1_800_000_000_000;
const LEASE: DurationMs = DurationMs(30_000);
const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

fn desk() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

fn principal(name: &str) -> PrincipalId {
    PrincipalId::new(name).unwrap()
}

/// What is added to a submission's number for the one that tries it again.
const RETRIES: u8 = 100;

/// Submission `n` of ada.
fn submission(n: u8) -> SubmissionId {
    if let Some(dead) = n.checked_sub(RETRIES) {
        return SubmissionId::retry_of(submission(dead));
    }
    let key = IdempotencyKey::new(&n.to_string()).unwrap();
    SubmissionId::derive(&desk(), &principal("ada"), &key)
}

fn admission(n: u8, text: &str) -> Arc<Admission> {
    let input = CanonicalJson::string(text).unwrap();
    let (agent, allowance) = (AgentId::new("clerk").unwrap(), crate::agent::Allowance::default());
    Arc::new(Admission {
        submission: submission(n),
        principal: principal("ada"),
        tenant: TenantId::new("house").unwrap(),
        key: IdempotencyKey::new(&n.to_string()).unwrap(),
        payload: Admission::payload_of(&agent, &input, &allowance, None),
        agent,
        input,
        allowance,
        steers: None,
    })
}

fn token(n: u8) -> Token {
    Token([n; 16])
}

fn doubt(n: u8) -> Doubt {
    Doubt { call: ToolCallId([n; 16]), start: Epoch(1) }
}

fn abort(who: &str) -> AbortIntent {
    AbortIntent { principal: principal(who), reason: Arc::from("enough") }
}

fn intent(resolution: Resolution) -> ResolutionIntent {
    let reason = Arc::from("looked it up");
    ResolutionIntent { resolution: Arc::new(resolution), principal: principal("eve"), reason }
}

/// The settlement of submission `n`: `text` makes completions and failures differ.
fn settled(n: u8, outcome: Outcome, text: &str) -> Reserved {
    let settlement = match outcome {
        Outcome::Completed => Settlement::Completed {
            output: CanonicalJson::string(text).unwrap(),
            finish: FinishKind::ModelStop,
            disposition: None,
        },
        Outcome::Failed => {
            Settlement::Failed { diagnostic: Diagnostic::cut("Test", text), limit: None }
        }
        Outcome::Aborted => Settlement::Aborted,
    };
    let submission = submission(n);
    let run = (outcome != Outcome::Aborted).then(|| RunId::derive(submission));
    Reserved::new(SubmissionSettled { submission, run, settlement }).unwrap()
}

/// The settlement of a submission that was given up.
fn poison(n: u8) -> Reserved {
    let limit = PolicyLimit::Attempts;
    let diagnostic = Diagnostic::cut(limit.tag(), "it kills");
    let settlement = Settlement::Failed { diagnostic, limit: Some(limit) };
    let (submission, run) = (submission(n), Some(RunId::derive(submission(n))));
    Reserved::new(SubmissionSettled { submission, run, settlement }).unwrap()
}

fn completed(n: u8) -> Reserved {
    settled(n, Outcome::Completed, "done")
}

fn aborted(n: u8) -> Reserved {
    settled(n, Outcome::Aborted, "")
}

fn canonical(reserved: &Reserved) -> CanonicalSettlement {
    let record = &reserved.record;
    CanonicalSettlement::new(record.submission, Sequence(7), reserved.digest, &record.settlement)
}

/// A whole lane and its store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bench {
    lane: Lane,
    rows: Vec<Arc<Row>>,
    now: Timestamp,
}

impl Bench {
    fn new() -> Self {
        Self { lane: Lane::new(desk()), rows: Vec::new(), now: Timestamp(START) }
    }

    /// A lane with these submissions, ready in this order.
    fn ready(numbers: &[u8]) -> Self {
        let mut bench = Self::new();
        for n in numbers {
            bench.send(Command::Admit(admission(*n, "hello"))).unwrap();
            bench.send(Command::Ready { submission: submission(*n) }).unwrap();
        }
        bench
    }

    /// A lane whose only submission is claimed, with token 1 and epoch 1.
    fn claimed() -> (Self, Ownership) {
        let mut bench = Self::ready(&[1]);
        let owner = bench.claim(1, 1).unwrap();
        (bench, owner)
    }

    /// A lane whose only submission is claimed and has its input.
    fn running() -> (Self, Ownership) {
        let (mut bench, owner) = Self::claimed();
        bench.send(Command::MarkInput { owner }).unwrap();
        (bench, owner)
    }

    /// A running submission with these doubts.
    fn unknown(doubts: &[u8]) -> (Self, Ownership) {
        let (mut bench, owner) = Self::running();
        let doubts = doubts.iter().map(|n| doubt(*n)).collect();
        bench.send(Command::MarkUnknown { owner, doubts }).unwrap();
        (bench, owner)
    }

    /// A submission that completed.
    fn settled() -> (Self, Ownership) {
        let (mut bench, owner) = Self::running();
        bench.finish(owner, &completed(1));
        (bench, owner)
    }

    fn finish(&mut self, owner: Ownership, reserved: &Reserved) {
        self.send(Command::Reserve { owner, reserved: reserved.clone() }).unwrap();
        let settlement = canonical(reserved);
        let finalized = self.send(Command::Finalize { owner, settlement });
        assert_eq!(finalized, Ok(Reply::Finalized));
    }

    fn claim_command(&self, n: u8, with: u8) -> Command {
        Command::Claim(Claim {
            submission: submission(n),
            expected: self.lane.epoch,
            token: token(with),
            producer: ProducerId::new("worker-1").unwrap(),
            lease: LEASE,
            productive: None,
        })
    }

    fn claim(&mut self, n: u8, with: u8) -> Result<Ownership, Refusal> {
        match self.send(self.claim_command(n, with))? {
            Reply::Claimed(epoch) => {
                Ok(Ownership { submission: submission(n), token: token(with), epoch })
            }
            other => panic!("{other:?} to a claim"),
        }
    }

    fn abort(&mut self, n: u8, who: &str) -> Result<Reply, Refusal> {
        self.send(Command::Abort { submission: submission(n), intent: abort(who) })
    }

    fn resolve(&mut self, n: u8, resolution: Resolution) -> Result<Reply, Refusal> {
        let (doubt, intent) = (doubt(n), intent(resolution));
        self.send(Command::Resolve { submission: submission(1), doubt, intent })
    }

    /// Lets the lease run out.
    fn expire(&mut self) {
        let until = self.lane.owner.as_ref().expect("a lease").held_until();
        self.now = self.now.max(until);
    }

    fn row(&self, n: u8) -> &Row {
        self.rows.iter().find(|row| row.admission.submission == submission(n)).unwrap()
    }

    fn slice(&self, footprint: Footprint) -> Slice {
        // Backwards: a store need not hold its rows in any order.
        let rows = footprint.select(self.rows.iter().rev());
        Slice { lane: self.lane.clone(), rows }
    }

    fn candidate(&self) -> Option<SubmissionId> {
        let slice = self.slice(Footprint::Candidates(None));
        candidate(&slice, self.now).map(|row| row.admission.submission)
    }

    fn wakes_at(&self) -> Option<Timestamp> {
        wakes_at(&self.slice(Footprint::Candidates(None)))
    }

    /// Steps the machine over the command's footprint, checks the shape of its effects, and
    /// writes exactly the changes.
    fn send(&mut self, command: Command) -> Result<Reply, Refusal> {
        let before = self.slice(command.footprint());
        let stamped = Stamped { command, now: self.now };
        let Step { state, mut effects } = Ledger::step(before.clone(), stamped);
        let answer = effects.pop().expect("a step answers");
        let mut predicted = before.clone();
        for effect in &effects {
            let Effect::Change(change) = effect else { panic!("{effect:?} before the answer") };
            predicted.apply(change);
            self.write(change);
        }
        assert_eq!(state, predicted, "a slice changes only by its changes");
        match answer {
            Effect::Reply(reply) => {
                let stamp = if effects.is_empty() { before.lane.stamp } else { self.time() };
                assert_eq!(self.lane.stamp, stamp, "the stamp moves exactly with a change");
                Ok(reply)
            }
            Effect::Refuse(refusal) => {
                assert_eq!(state, before, "a refusal changes nothing");
                Err(refusal)
            }
            Effect::Change(change) => panic!("{change:?} instead of an answer"),
        }
    }

    fn time(&self) -> Timestamp {
        self.lane.time(self.now)
    }

    fn write(&mut self, change: &Change) {
        match change {
            Change::Lane(lane) => self.lane = lane.clone(),
            Change::Row(row) => {
                self.rows.retain(|held| held.admission.submission != row.admission.submission);
                self.rows.push(Arc::clone(row));
                self.rows.sort_by_key(|row| row.sequence);
            }
        }
    }

    /// Sends again what was sent before, and checks that nothing changes.
    fn again(&mut self, command: Command) -> Result<Reply, Refusal> {
        let before = self.clone();
        let answer = self.send(command);
        assert_eq!(before, *self, "a repeated command changes nothing");
        answer
    }
}
