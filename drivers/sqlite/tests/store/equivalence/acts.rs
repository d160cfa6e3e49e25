//! What actors of a script do, chosen without knowing the state.

use std::sync::Arc;

use everstep_machine::agent::{Diagnostic, Resolution};
use everstep_machine::conversation::{self, TailRef};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, Epoch, IdempotencyKey, PrincipalId, ProducerId, RunId,
    Sequence, SubmissionId, TenantId, Token, ToolCallId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{
    self, AbortIntent, Admission, Claim, Command, Footprint, Ownership, Reserved, ResolutionIntent,
    RetryIntent,
};
use everstep_machine::record::{
    Batch, CanonicalSettlement, ConversationCreated, Doubt, FinishKind, InputRecorded, Outcome,
    Record, RecoveryDecided, Settlement, SubmissionSettled,
};
use everstep_machine::store::{Reply, StoreCommand, Target};
use proptest::prelude::*;

use crate::support::{Shelf, conversation};

/// How an owner's command proves itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    /// How many claims ago it was won; 0 is the newest.
    age: usize,
    /// Whether its token is another one.
    token: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Verb {
    Renew(u64),
    Release,
    MarkInput,
    MarkUnknown(Vec<u8>),
    Cover(Vec<u8>),
    Reserve(Outcome),
    Finalize(Outcome),
}

/// What one record of an append is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fact {
    Input(u8),
    Settled(u8, Outcome),
    Recovery(u8, u8),
    Creation,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Admit(u8, &'static str),
    Materialize {
        skew: i64,
        agent: &'static str,
    },
    Ready(u8),
    /// A row, or the one that a reader would choose; how many epochs ago it was read; a token
    /// that was used before.
    Claim {
        row: Option<u8>,
        behind: u64,
        reuse: Option<u8>,
    },
    Fence {
        skew: i64,
        tail: usize,
    },
    Append {
        skew: i64,
        tail: usize,
        facts: Vec<Fact>,
    },
    Own(Proof, Verb),
    Abort(u8, &'static str),
    Resolve(u8, u8, bool),
    Retry(u8, &'static str),
    ReadLane(Option<u8>),
    ReadLog(u64),
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![4 => Just(Outcome::Completed), 1 => Just(Outcome::Failed), 1 => Just(Outcome::Aborted)]
}

fn verb() -> impl Strategy<Value = Verb> {
    let doubts = || prop::collection::vec(0..3_u8, 0..3);
    prop_oneof![
        2 => (0..90_000_u64).prop_map(Verb::Renew),
        1 => Just(Verb::Release),
        4 => Just(Verb::MarkInput),
        2 => doubts().prop_map(Verb::MarkUnknown),
        3 => doubts().prop_map(Verb::Cover),
        4 => outcome().prop_map(Verb::Reserve),
        5 => outcome().prop_map(Verb::Finalize),
    ]
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![
        6 => (0..24_u8).prop_map(Fact::Input),
        3 => (0..4_u8, outcome()).prop_map(|(n, how)| Fact::Settled(n, how)),
        3 => (0..4_u8, 0..6_u8).prop_map(|(n, epoch)| Fact::Recovery(n, epoch)),
        1 => Just(Fact::Creation),
    ]
}

pub(super) fn act() -> impl Strategy<Value = Act> {
    let row = || prop_oneof![6 => 0..4_u8, 1 => RETRIES..RETRIES + 4];
    let skew = || prop_oneof![5 => Just(0_i64), 1 => -2..3_i64];
    let tail = || prop_oneof![5 => Just(0_usize), 1 => 0..4_usize];
    let proof = (prop_oneof![5 => Just(0_usize), 1 => 0..4_usize], prop::bool::weighted(0.08))
        .prop_map(|(age, token)| Proof { age, token });
    let text = prop_oneof![5 => Just("hello"), 1 => Just("other")];
    let agent = prop_oneof![4 => Just("clerk"), 1 => Just("chef")];
    let facts = prop::collection::vec(fact(), 1..4);
    let behind = prop_oneof![6 => Just(0_u64), 1 => 0..3_u64];
    prop_oneof![
        // No client can name what tries another one again.
        3 => (0..4_u8, text).prop_map(|(row, text)| Act::Admit(row, text)),
        2 => (skew(), agent).prop_map(|(skew, agent)| Act::Materialize { skew, agent }),
        2 => row().prop_map(Act::Ready),
        6 => (prop::option::weighted(0.2, row()), behind, prop::option::weighted(0.1, 1..6_u8))
            .prop_map(|(row, behind, reuse)| Act::Claim { row, behind, reuse }),
        4 => (skew(), tail()).prop_map(|(skew, tail)| Act::Fence { skew, tail }),
        8 => (skew(), tail(), facts)
            .prop_map(|(skew, tail, facts)| Act::Append { skew, tail, facts }),
        14 => (proof, verb()).prop_map(|(proof, verb)| Act::Own(proof, verb)),
        1 => (row(), prop_oneof![Just("ada"), Just("bob")])
            .prop_map(|(row, who)| Act::Abort(row, who)),
        2 => (row(), 0..3_u8, any::<bool>())
            .prop_map(|(row, doubt, how)| Act::Resolve(row, doubt, how)),
        3 => (row(), prop_oneof![Just("ada"), Just("bob")])
            .prop_map(|(row, who)| Act::Retry(row, who)),
        2 => prop::option::of(row()).prop_map(Act::ReadLane),
        2 => (0..12_u64).prop_map(Act::ReadLog),
    ]
}

/// What the actors of a lane remember.
pub(super) struct Seen {
    lane: ConversationId,
    /// Every claim that was ever won, the newest first.
    claims: Vec<Ownership>,
    /// Every tail that was ever told, the newest first.
    tails: Vec<TailRef>,
    fresh: u8,
}

pub(super) fn lane_of(lane: u8) -> ConversationId {
    conversation(["desk", "shop"][usize::from(lane)])
}

/// What is added to a submission's number for the one that tries it again.
const RETRIES: u8 = 100;

fn submission(lane: &ConversationId, n: u8) -> SubmissionId {
    if let Some(dead) = n.checked_sub(RETRIES) {
        return SubmissionId::retry_of(submission(lane, dead));
    }
    let key = IdempotencyKey::new(&n.to_string()).unwrap();
    SubmissionId::derive(lane, &PrincipalId::new("ada").unwrap(), &key)
}

fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).unwrap()
}

fn doubt(n: u8) -> Doubt {
    Doubt { call: ToolCallId([n / 2; 16]), start: Epoch((n % 2).into()) }
}

impl Seen {
    pub(super) fn new(lane: u8) -> Self {
        let nothing = TailRef { next_sequence: Sequence(0), content: Digest::ZERO };
        Self { lane: lane_of(lane), claims: Vec::new(), tails: vec![nothing], fresh: 10 }
    }

    /// Remembers what an answer tells.
    pub(super) fn learn(&mut self, command: &StoreCommand, reply: &Reply) {
        match (command, reply) {
            (
                StoreCommand::Ledger(Command::Claim(claim)),
                Reply::Ledger(ledger::Reply::Claimed(epoch)),
            ) => {
                let Claim { submission, token, .. } = *claim;
                self.claims.insert(0, Ownership { submission, token, epoch: *epoch });
            }
            (
                _,
                Reply::Conversation(
                    conversation::Reply::Materialized(tail)
                    | conversation::Reply::Exists(tail)
                    | conversation::Reply::Fenced(tail)
                    | conversation::Reply::Appended(tail),
                ),
            ) => self.tails.insert(0, tail.reference()),
            _ => {}
        }
    }

    /// The command for an act in this state; none for an owner's before there was an owner.
    pub(super) fn command(&mut self, act: &Act, shelf: &Shelf) -> Option<StoreCommand> {
        let of = |n: u8| submission(&self.lane, n);
        let command = match act {
            Act::Admit(n, text) => Command::Admit(Arc::new(self.admission(*n, text))),
            Act::Ready(n) => Command::Ready { submission: of(*n) },
            Act::Claim { row, behind, reuse } => self.claim(shelf, *row, *behind, *reuse),
            Act::Own(proof, verb) => self.own(*proof, verb)?,
            Act::Abort(n, who) => {
                let principal = PrincipalId::new(who).unwrap();
                let intent = AbortIntent { principal, reason: "enough".into() };
                Command::Abort { submission: of(*n), intent }
            }
            Act::Resolve(n, d, how) => {
                let how = if *how { Resolution::NeverStarted } else { Resolution::SafeToRepeat };
                let (resolution, principal) = (Arc::new(how), PrincipalId::new("bob").unwrap());
                let intent = ResolutionIntent { resolution, principal, reason: "looked".into() };
                Command::Resolve { submission: of(*n), doubt: doubt(*d), intent }
            }
            Act::Retry(n, who) => {
                let principal = PrincipalId::new(who).unwrap();
                let intent = RetryIntent { principal, reason: "mended".into() };
                Command::Retry { submission: of(*n), intent }
            }
            Act::ReadLane(None) => return Some(StoreCommand::ReadLane(Target::Claimable)),
            Act::ReadLane(Some(n)) => {
                return Some(StoreCommand::ReadLane(Target::Submission(of(*n))));
            }
            Act::ReadLog(from) => return Some(StoreCommand::ReadLog { from: Sequence(*from) }),
            Act::Materialize { .. } | Act::Fence { .. } | Act::Append { .. } => {
                return Some(StoreCommand::Conversation(self.of_log(act, shelf)?));
            }
        };
        Some(StoreCommand::Ledger(command))
    }

    fn admission(&self, n: u8, input: &str) -> Admission {
        Admission {
            submission: submission(&self.lane, n),
            principal: PrincipalId::new("ada").unwrap(),
            tenant: TenantId::new("shop").unwrap(),
            key: IdempotencyKey::new(&n.to_string()).unwrap(),
            agent: AgentId::new("clerk").unwrap(),
            payload: Digest::of("test/payload", input.as_bytes()),
            allowance: everstep_machine::agent::Allowance::default(),
            steers: None,
            input: text(input),
        }
    }

    fn claim(&mut self, shelf: &Shelf, row: Option<u8>, behind: u64, reuse: Option<u8>) -> Command {
        let slice = shelf.slice(Footprint::Candidates(None));
        let late = everstep_machine::identity::Timestamp(u64::MAX);
        let found = ledger::candidate(&slice, late).map(|row| row.admission.submission);
        self.fresh = self.fresh.wrapping_add(1);
        Command::Claim(Claim {
            submission: row
                .map(|n| submission(&self.lane, n))
                .or(found)
                .unwrap_or_else(|| submission(&self.lane, 0)),
            expected: Epoch(shelf.lane.epoch.0.saturating_sub(behind)),
            token: Token([reuse.unwrap_or(self.fresh); 16]),
            producer: ProducerId::new("worker").unwrap(),
            lease: DurationMs(30_000),
            productive: None,
        })
    }

    fn own(&self, proof: Proof, verb: &Verb) -> Option<Command> {
        let mut owner = *self.claims.get(proof.age)?;
        if proof.token {
            owner.token = Token([200; 16]);
        }
        let doubts = |numbers: &[u8]| numbers.iter().map(|n| doubt(*n)).collect();
        Some(match verb {
            Verb::Renew(lease) => Command::Renew { owner, lease: DurationMs(*lease) },
            Verb::Release => Command::Release { owner },
            Verb::MarkInput => Command::MarkInput { owner },
            Verb::MarkUnknown(numbers) => Command::MarkUnknown { owner, doubts: doubts(numbers) },
            Verb::Cover(numbers) => Command::CoverUnknown { owner, doubts: doubts(numbers) },
            Verb::Reserve(outcome) => {
                let reserved = Reserved::new(settled(owner.submission, *outcome)).unwrap();
                Command::Reserve { owner, reserved }
            }
            Verb::Finalize(outcome) => {
                let settlement = canonical(owner.submission, *outcome);
                Command::Finalize { owner, settlement }
            }
        })
    }

    fn of_log(&self, act: &Act, shelf: &Shelf) -> Option<conversation::Command> {
        let seen = |index: usize| self.tails[index.min(self.tails.len() - 1)];
        let expected = |age: usize| match (age, shelf.tail) {
            (0, Some(tail)) => tail.reference(),
            (age, _) => seen(age),
        };
        let producer = ProducerId::new("worker").unwrap();
        let current = shelf.tail.map_or(0, |tail| tail.epoch.0);
        Some(match act {
            Act::Materialize { skew, agent } => {
                let epoch = Epoch(current.saturating_add_signed(*skew));
                let created = self.batch(vec![self.creation(agent)])?;
                conversation::Command::Materialize { epoch, producer, created }
            }
            Act::Fence { skew, tail } => {
                let epoch = Epoch(shelf.lane.epoch.0.saturating_add_signed(*skew));
                conversation::Command::Fence { epoch, expected: expected(*tail) }
            }
            Act::Append { skew, tail, facts } => {
                let epoch = Epoch(current.saturating_add_signed(*skew));
                let batch = self.batch(facts.iter().map(|fact| self.record(*fact)).collect())?;
                let expected = expected(*tail);
                conversation::Command::Append { epoch, producer, expected, batch }
            }
            _ => return None,
        })
    }

    fn batch(&self, records: Vec<Record>) -> Option<Arc<Batch>> {
        Batch::new(&self.lane, records).ok().map(Arc::new)
    }

    fn creation(&self, agent: &str) -> Record {
        let digest = Digest::of("test/agent", agent.as_bytes());
        Record::ConversationCreated(ConversationCreated {
            conversation: self.lane.clone(),
            tenant: TenantId::new("shop").unwrap(),
            agent: AgentId::new(agent).unwrap(),
            definition: digest,
            model: digest,
            tools: digest,
        })
    }

    fn record(&self, fact: Fact) -> Record {
        let of = |n: u8| submission(&self.lane, n);
        match fact {
            Fact::Input(n) => Record::InputRecorded(InputRecorded {
                submission: of(n),
                principal: PrincipalId::new("ada").unwrap(),
                run: RunId::derive(of(n)),
                input: text("hello"),
                kind: everstep_machine::record::InputKind::First,
                at: everstep_machine::identity::Timestamp(1_000),
                allowance: everstep_machine::agent::Allowance::default(),
            }),
            Fact::Settled(n, outcome) => Record::SubmissionSettled(settled(of(n), outcome)),
            Fact::Recovery(n, epoch) => Record::RecoveryDecided(RecoveryDecided {
                submission: of(n),
                epoch: Epoch(epoch.into()),
                row: 16,
            }),
            Fact::Creation => self.creation("clerk"),
        }
    }
}

fn settled(submission: SubmissionId, outcome: Outcome) -> SubmissionSettled {
    let settlement = match outcome {
        Outcome::Completed => Settlement::Completed {
            output: text("done"),
            finish: FinishKind::ModelStop,
            disposition: None,
        },
        Outcome::Failed => {
            Settlement::Failed { diagnostic: Diagnostic::cut("Broken", "it broke"), limit: None }
        }
        Outcome::Aborted => Settlement::Aborted,
    };
    SubmissionSettled { submission, run: Some(RunId::derive(submission)), settlement }
}

/// A proof as a fold would make it; only a fold can, so this one is made of its bytes. What failed
/// was given up.
fn canonical(submission: SubmissionId, outcome: Outcome) -> CanonicalSettlement {
    let digest = settled(submission, outcome).digest().unwrap();
    let bytes = postcard::to_allocvec(&(
        submission,
        Sequence(3),
        digest,
        outcome,
        outcome == Outcome::Failed,
    ))
    .unwrap();
    postcard::from_bytes(&bytes).unwrap()
}
