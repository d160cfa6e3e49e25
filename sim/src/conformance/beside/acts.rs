//! The command that an act is in a state.

use std::sync::Arc;

use everstep_machine::agent::{Diagnostic, Kept, Resolution, ToolOutcome};
use everstep_machine::agent_state::{
    Address, Caller, Command, Owner, Put, Reply, Scope, Value, Whose, WriteClass,
};
use everstep_machine::conversation;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    ConversationId, DurationMs, Epoch, Revision, RunId, SessionId, StateKey, SubmissionId, Token,
    ToolCallId, ToolName,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{self, Claim, InputMarker, Ownership, Phase};
use everstep_machine::limits::{SESSION_CONVERSATIONS, SESSION_METADATA_BYTES, STATE_VALUE_BYTES};
use everstep_machine::record::{
    Batch, Doubt, Record, ToolPrepared, ToolResolved, ToolSettled, ToolUnknown,
};
use everstep_machine::session::{self, Draft, Metadata, Patch};
use everstep_machine::store::{Pipeline, StoreCommand};

use super::script::{Act, Follows, How, Point, Text};
use super::trial::Asked;
use super::{Beside as _, Everything};
use crate::conformance::acts::{Ending, Fact};
use crate::conformance::facts;

const PLAIN: &str = "ARC-09: the name is short and plain";

/// How much of a large result its record shows.
const SHOWN_BYTES: usize = 16;

/// Whoever works on the one lane, and what it has to remember.
#[derive(Clone, Default)]
pub(super) struct Actor {
    tokens: u8,
    doubts: Vec<(u8, SubmissionId, Doubt)>,
}

/// The lane.
pub(super) fn lane() -> ConversationId {
    facts::lane(0)
}

/// Whose values there are.
pub(super) fn owner() -> Owner {
    Owner { tenant: facts::tenant(false), agent: facts::agent("clerk") }
}

pub(super) fn session(name: u8) -> SessionId {
    SessionId::new(if name == 0 { "first" } else { "second" }).expect(PLAIN)
}

fn key(key: u8) -> StateKey {
    StateKey::new(&format!("k{key}")).expect(PLAIN)
}

/// A pipeline, made command by command in the state that those before it lead to.
struct Maker {
    memory: Everything,
    commands: Vec<StoreCommand>,
}

impl Maker {
    fn push(&mut self, command: StoreCommand) {
        let _refused_or_not = self.memory.one(&lane(), &command);
        self.commands.push(command);
    }

    fn ledger(&mut self, command: ledger::Command) {
        self.push(StoreCommand::Ledger(command));
    }

    fn append(&mut self, record: Record) -> Option<()> {
        let tail = self.memory.shelf(&lane()).tail()?;
        let batch = Arc::new(Batch::new(&lane(), vec![record]).ok()?);
        let (epoch, producer, expected) = (tail.epoch, facts::producer(), tail.reference());
        let append = conversation::Command::Append { epoch, producer, expected, batch };
        self.push(StoreCommand::Conversation(append));
        Some(())
    }

    fn claim(&mut self, submission: SubmissionId, token: Token) {
        let expected = self.memory.shelf(&lane()).lane().epoch;
        let (producer, lease) = (facts::producer(), DurationMs(30_000));
        let productive = None;
        self.ledger(ledger::Command::Claim(Claim {
            submission,
            expected,
            token,
            producer,
            lease,
            productive,
        }));
    }

    fn fence(&mut self) -> Option<()> {
        let shelf = self.memory.shelf(&lane());
        let (epoch, expected) = (shelf.lane().epoch, shelf.tail()?.reference());
        self.push(StoreCommand::Conversation(conversation::Command::Fence { epoch, expected }));
        Some(())
    }
}

impl Actor {
    /// What is asked for; none where the act has no meaning.
    pub(super) fn ask(&mut self, act: Act, memory: &Everything) -> Option<Asked> {
        match act {
            Act::Begin
            | Act::TakeOver
            | Act::LetGo
            | Act::ClaimOnly
            | Act::Start(_)
            | Act::End(..)
            | Act::Doubt(_)
            | Act::Resolve(_)
            | Act::Settle => {
                let mut maker = Maker { memory: memory.clone(), commands: Vec::new() };
                self.pipeline(act, &mut maker)?;
                Some(Asked::Pipeline(Pipeline { lane: lane(), commands: maker.commands }))
            }
            Act::Get { call, ago, whose, key } => {
                let caller = caller(memory, call, ago)?;
                Some(Asked::State(Command::Get { caller, whose, key: self::key(key) }))
            }
            Act::Put { call, ago, class, key, follows, text } => {
                let caller = caller(memory, call, ago)?;
                let key = self::key(key);
                let whose = match class {
                    WriteClass::RunLocal => Whose::Run,
                    _ => Whose::Agent,
                };
                let get = Command::Get { caller: caller.clone(), whose, key: key.clone() };
                let there = match memory.clone().ask_state(&get) {
                    Ok(Ok(Reply::Read(found))) => found.map(|it| it.revision),
                    _ => None,
                };
                let put =
                    Put { key, class, expected: expected(follows, there), value: value(text) };
                Some(Asked::State(Command::Put { caller, put }))
            }
            Act::Set { class, key, follows, text } => {
                let address = Address { scope: Scope::Agent(owner()), key: self::key(key) };
                let slot = memory.clone().slot(&address).unwrap_or_default();
                let expected = expected(follows, slot.current.map(|it| it.revision));
                let put = Put { key: address.key, class, expected, value: value(text) };
                Some(Asked::State(Command::Set { owner: owner(), put }))
            }
            Act::Create { .. } | Act::Update { .. } | Act::Delete { .. } => {
                Some(Asked::Session(of_session(act, memory)?))
            }
        }
    }

    fn token(&mut self) -> Token {
        self.tokens = self.tokens.wrapping_add(1);
        Token([self.tokens; 16])
    }

    fn pipeline(&mut self, act: Act, maker: &mut Maker) -> Option<()> {
        if let Act::Begin = act {
            return self.begin(maker);
        }
        if let Act::Resolve(call) = act {
            let (_, submission, doubt) = *self.doubts.iter().rev().find(|(of, ..)| *of == call)?;
            return maker.append(Record::ToolResolved(ToolResolved {
                submission,
                doubt,
                resolution: Arc::new(Resolution::NeverStarted),
                principal: facts::principal("bob"),
                reason: "looked".into(),
            }));
        }
        let (row, owner) = owned(&maker.memory)?;
        let submission = owner.submission;
        let call_id = |number| call(row, number);
        match act {
            Act::TakeOver | Act::ClaimOnly => {
                maker.ledger(ledger::Command::Release { owner });
                maker.claim(submission, self.token());
                if let Act::TakeOver = act { maker.fence() } else { Some(()) }
            }
            Act::LetGo => {
                maker.ledger(ledger::Command::Release { owner });
                Some(())
            }
            Act::Start(number) => maker.append(Record::ToolPrepared(ToolPrepared {
                submission,
                call: call_id(number),
                epoch: owner.epoch,
                tool: ToolName::new("keep").expect(PLAIN),
                parameters: Digest::ZERO,
            })),
            Act::End(number, how) => maker.append(Record::ToolSettled(ToolSettled {
                submission,
                call: call_id(number),
                outcome: Arc::new(outcome(how)),
            })),
            Act::Doubt(number) => {
                let doubt = Doubt { call: call_id(number), start: owner.epoch };
                self.doubts.push((number, submission, doubt));
                maker.append(Record::ToolUnknown(ToolUnknown { submission, doubt }))
            }
            Act::Settle => {
                let reserved = facts::reserved(submission, Ending::Completed);
                maker.ledger(ledger::Command::Reserve { owner, reserved });
                maker.append(facts::record(&lane(), Fact::Settled(row, Ending::Completed)))?;
                let settlement = facts::canonical(&lane(), submission, Ending::Completed)?;
                maker.ledger(ledger::Command::Finalize { owner, settlement });
                Some(())
            }
            _ => None,
        }
    }

    /// Whatever is missing until a submission runs.
    fn begin(&mut self, maker: &mut Maker) -> Option<()> {
        let row = open(&maker.memory);
        if maker.memory.clone().shelf(&lane()).rows().len() == usize::from(row) {
            let admission = facts::admission(&lane(), row, "hello", None, facts::From::Own);
            maker.ledger(ledger::Command::Admit(admission));
        }
        if maker.memory.shelf(&lane()).tail().is_none() {
            let created = Batch::new(&lane(), vec![facts::creation(&lane(), "clerk")]).ok()?;
            maker.push(StoreCommand::Conversation(conversation::Command::Materialize {
                epoch: Epoch(0),
                producer: facts::producer(),
                created: Arc::new(created),
            }));
        }
        let submission = facts::submission(&lane(), row);
        let phase = |maker: &mut Maker| {
            let rows = maker.memory.shelf(&lane()).rows();
            rows.get(usize::from(row)).map(|row| row.phase.clone())
        };
        if phase(maker) == Some(Phase::Admitted) {
            maker.ledger(ledger::Command::Ready { submission });
        }
        if maker.memory.shelf(&lane()).lane().owner.is_none() {
            maker.claim(submission, self.token());
            maker.fence()?;
        }
        let input = facts::record(&lane(), Fact::Input(row));
        let log = maker.memory.shelf(&lane()).log();
        if !log.iter().any(|stored| stored.batch().record_ids().contains(&input.id())) {
            maker.append(input)?;
        }
        if phase(maker) == Some(Phase::Running(InputMarker::Missing)) {
            let (_, owner) = owned(&maker.memory)?;
            maker.ledger(ledger::Command::MarkInput { owner });
        }
        (!maker.commands.is_empty()).then_some(())
    }
}

/// The first row that is not settled, or the next one.
fn open(memory: &Everything) -> u8 {
    let mut memory = memory.clone();
    let rows = memory.shelf(&lane()).rows();
    let done = rows.iter().take_while(|row| matches!(row.phase, Phase::Settled(_))).count();
    u8::try_from(done).unwrap_or(u8::MAX)
}

/// The row that is worked on, and the claim.
fn owned(memory: &Everything) -> Option<(u8, Ownership)> {
    let mut memory = memory.clone();
    let lane = memory.shelf(&lane()).lane();
    let owner = lane.owner.as_ref()?;
    let (submission, token, epoch) = (owner.submission, owner.token, lane.epoch);
    Some((open(&memory), Ownership { submission, token, epoch }))
}

/// A call of the row that is worked on, or of the first one.
fn caller(memory: &Everything, number: u8, ago: u64) -> Option<Caller> {
    let row = open(memory);
    let mut memory = memory.clone();
    let epoch = memory.shelf(&lane()).lane().epoch;
    let run = RunId::derive(facts::submission(&lane(), row));
    let start = Epoch(epoch.0.checked_sub(ago)?);
    Some(Caller { lane: lane(), run, call: call(row, number), start })
}

fn call(row: u8, number: u8) -> ToolCallId {
    ToolCallId([row.wrapping_mul(2).wrapping_add(number); 16])
}

fn outcome(how: How) -> ToolOutcome {
    match how {
        How::Well => ToolOutcome::Success(facts::text("done")),
        How::Badly => ToolOutcome::Failure(Diagnostic::cut("Broken", "it broke")),
        How::Large => ToolOutcome::Kept(Kept::of(&long(100), SHOWN_BYTES)),
    }
}

fn long(bytes: usize) -> CanonicalJson {
    facts::text(&"x".repeat(bytes))
}

fn expected(follows: Follows, there: Option<Revision>) -> Option<Revision> {
    match follows {
        Follows::What => there,
        Follows::Nothing => None,
        Follows::Older => Some(Revision(0)),
    }
}

fn value(text: Text) -> Option<Value> {
    let json = match text {
        Text::Short(number) => facts::text(&number.to_string()),
        Text::TooLong => long(STATE_VALUE_BYTES),
        Text::Removal => return None,
    };
    Some(Value { version: 1, json })
}

fn of_session(act: Act, memory: &Everything) -> Option<session::Command> {
    let mut memory = memory.clone();
    let mut revision = |name: u8, stale: bool| {
        let there = memory.session(&session(name)).ok().flatten().map(|it| it.revision);
        if stale { Revision(0) } else { there.unwrap_or(Revision(1)) }
    };
    let place = |number: u8| ConversationId::new(&format!("c{number}")).expect(PLAIN);
    let metadata = |bytes| Metadata { version: 1, json: long(bytes) };
    Some(match act {
        Act::Create { name, point } => {
            let Point::One(at) = point else { return None };
            let (tenant, metadata) = (facts::tenant(false), metadata(3));
            let draft = Draft { tenant, metadata, conversations: vec![place(at)] };
            session::Command::Create { id: session(name), draft }
        }
        Act::Update { name, stale, point } => {
            let most = u8::try_from(SESSION_CONVERSATIONS).unwrap_or(u8::MAX);
            let mut patch = Patch::default();
            match point {
                Point::One(at) => patch.add = vec![place(at)],
                Point::Away(at) => patch.remove = vec![place(at)],
                Point::Twice => patch.add = vec![place(0), place(0)],
                Point::TooMany => patch.add = (0..=most).map(place).collect(),
                Point::TooMuch => patch.metadata = Some(metadata(SESSION_METADATA_BYTES)),
            }
            session::Command::Update { id: session(name), expected: revision(name, stale), patch }
        }
        Act::Delete { name, stale } => {
            session::Command::Delete { id: session(name), expected: revision(name, stale) }
        }
        _ => return None,
    })
}
