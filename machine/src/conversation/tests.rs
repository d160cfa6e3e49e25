//! A log in memory, as small as a store can be, on which every test checks the machine's
//! contract with each command: it writes nothing but what the machine returns.

mod append;
mod epochs;
mod sequences;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::contract::{Machine, Step};
use crate::digest::Digest;
use crate::identity::{
    AgentId, ConversationId, Epoch, PrincipalId, ProducerId, RunId, Sequence, SubmissionId,
    TenantId, Timestamp,
};
use crate::json::CanonicalJson;
use crate::record::{Batch, ConversationCreated, InputRecorded, Record, StoredBatch};

fn desk() -> ConversationId {
    ConversationId::new("desk").unwrap()
}

fn producer() -> ProducerId {
    ProducerId::new("worker-1").unwrap()
}

fn submission(n: u8) -> SubmissionId {
    SubmissionId([n; 16])
}

/// The input of submission `n`. Its record id names the submission only, so another text is
/// other content under the same ids.
fn input(n: u8, text: &str) -> Record {
    Record::InputRecorded(InputRecorded {
        submission: submission(n),
        principal: PrincipalId::new("ada").unwrap(),
        run: RunId::derive(submission(n)),
        input: CanonicalJson::string(text).unwrap(),
        kind: crate::record::InputKind::First { bound: crate::testkit::binding().bound() },
        at: Timestamp(1_000),
        allowance: crate::agent::Allowance::default(),
    })
}

fn creation(conversation: &ConversationId, agent: &str) -> Record {
    Record::ConversationCreated(ConversationCreated {
        conversation: conversation.clone(),
        tenant: TenantId::new("house").unwrap(),
        agent: AgentId::new(agent).unwrap(),
        definition: Digest::of("test", b"definition"),
        model: Digest::of("test", b"model"),
        tools: Digest::of("test", b"tools"),
    })
}

fn batch(records: Vec<Record>) -> Arc<Batch> {
    Arc::new(Batch::new(&desk(), records).unwrap())
}

fn inputs(numbers: &[u8]) -> Arc<Batch> {
    batch(numbers.iter().map(|n| input(*n, "hello")).collect())
}

fn materialize(epoch: u64, created: Arc<Batch>) -> Command {
    Command::Materialize { epoch: Epoch(epoch), producer: producer(), created }
}

fn created() -> Arc<Batch> {
    batch(Vec::from([creation(&desk(), "clerk")]))
}

fn fence(epoch: u64, expected: TailRef) -> Command {
    Command::Fence { epoch: Epoch(epoch), expected }
}

fn append(epoch: u64, expected: TailRef, batch: Arc<Batch>) -> Command {
    Command::Append { epoch: Epoch(epoch), producer: producer(), expected, batch }
}

/// A whole log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Log {
    tail: Option<Tail>,
    batches: Vec<StoredBatch>,
    now: Timestamp,
}

impl Log {
    fn absent() -> Self {
        Self { tail: None, batches: Vec::new(), now: Timestamp(1_000) }
    }

    /// A log with its first batch, at epoch 0.
    fn created() -> Self {
        let mut log = Self::absent();
        log.send(materialize(0, created())).unwrap();
        log
    }

    /// A log that a claim raised to `epoch`.
    fn at(epoch: u64) -> Self {
        let mut log = Self::created();
        log.send(fence(epoch, log.end())).unwrap();
        log
    }

    fn tail(&self) -> Tail {
        self.tail.unwrap()
    }

    fn end(&self) -> TailRef {
        self.tail().reference()
    }

    /// Appends at the tail.
    fn push(&mut self, epoch: u64, batch: Arc<Batch>) -> Result<Reply, Refusal> {
        let end = self.end();
        self.send(append(epoch, end, batch))
    }

    fn slice(&self, footprint: &Footprint) -> Slice {
        let there = self.batches.iter().find(|stored| Some(stored.batch().id()) == footprint.batch);
        let held = self.batches.iter().flat_map(|stored| stored.batch().record_ids());
        Slice {
            conversation: desk(),
            tail: self.tail,
            committed: there.map(|stored| Committed {
                batch: stored.batch().id(),
                epoch: stored.envelope().epoch,
                content: stored.batch().content(),
            }),
            used: held.filter(|id| footprint.records.contains(id)).copied().collect(),
        }
    }

    /// Steps the machine over the command's footprint, checks the shape of its effects, and
    /// writes exactly the changes.
    fn send(&mut self, command: Command) -> Result<Reply, Refusal> {
        let before = self.slice(&command.footprint());
        let stamped = Stamped { command, now: self.now };
        let Step { state, mut effects } = Conversation::step(before.clone(), stamped);
        let answer = effects.pop().expect("a step answers");
        let mut predicted = before.clone();
        for effect in effects {
            let Effect::Change(change) = effect else { panic!("{effect:?} before the answer") };
            predicted.apply(&change);
            self.write(change);
        }
        assert_eq!(state, predicted, "a slice changes only by its changes");
        match answer {
            Effect::Reply(reply) => Ok(reply),
            Effect::Refuse(refusal) => {
                assert_eq!(state, before, "a refusal changes nothing");
                Err(refusal)
            }
            Effect::Change(change) => panic!("{change:?} instead of an answer"),
        }
    }

    fn write(&mut self, change: Change) {
        match change {
            Change::Raise(epoch) => self.tail = self.tail.map(|tail| Tail { epoch, ..tail }),
            Change::Commit(stored) => {
                self.tail = Some(Tail {
                    epoch: self.tail.map_or(stored.envelope().epoch, |tail| tail.epoch),
                    next_sequence: stored.next_sequence(),
                    content: stored.batch().content(),
                    chain: stored.chain(),
                });
                self.batches.push(*stored);
            }
        }
    }

    /// Sends again what was accepted, and checks that nothing changes.
    fn again(&mut self, command: Command) -> Result<Reply, Refusal> {
        let before = self.clone();
        let answer = self.send(command);
        assert_eq!(before, *self, "a repeated command changes nothing");
        answer
    }

    /// Walks the whole chain.
    fn verify(&self) {
        let (mut sequence, mut previous, mut epoch) = (Sequence(0), Digest::ZERO, Epoch(0));
        for stored in &self.batches {
            let envelope = stored.envelope();
            assert_eq!((envelope.first_sequence, envelope.previous), (sequence, previous));
            assert!(epoch <= envelope.epoch, "epochs never fall");
            assert_eq!(StoredBatch::decode(&stored.encode()).as_ref(), Ok(stored));
            (sequence, previous, epoch) = (stored.next_sequence(), stored.chain(), envelope.epoch);
        }
        if let Some(tail) = self.tail {
            assert_eq!((tail.next_sequence, tail.chain), (sequence, previous));
            assert!(epoch <= tail.epoch);
        }
    }
}

#[test]
#[should_panic(expected = "DUR-006")]
fn dur_006_a_change_cannot_lower_the_epoch() {
    let log = Log::at(3);
    log.slice(&Footprint::default()).apply(&Change::Raise(Epoch(2)));
}

#[test]
#[should_panic(expected = "DUR-006")]
fn dur_006_a_change_cannot_raise_a_log_that_does_not_exist() {
    Log::absent().slice(&Footprint::default()).apply(&Change::Raise(Epoch(2)));
}

#[test]
#[should_panic(expected = "STORE-004")]
fn store_004_a_change_cannot_commit_twice() {
    let mut log = Log::at(1);
    log.push(1, inputs(&[1])).unwrap();
    let last = log.batches.last().unwrap().clone();
    log.slice(&Footprint::default()).apply(&Change::Commit(Box::new(last)));
}
