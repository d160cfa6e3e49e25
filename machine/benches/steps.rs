//! What one step of each machine costs: a small table of nanoseconds.
//!
//! One submission with an ordinary tool is played to its end on a store in memory, and every step
//! on the way is recorded: the state before it and its input. Then the recorded steps are taken
//! again and again, in batches whose states are cloned before the clock starts and dropped after
//! it has stopped. A figure is the median over the batches.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_machine::agent::{
    AgentDefinition, Allowance, Binding, ExecutionClass, FinishReason, ModelRequest, ModelResponse,
    ResponsePart, ToolCall, ToolDefinition, ToolOutcome, Usage,
};
use everstep_machine::attempt::{self, Attempt, Setup};
use everstep_machine::conversation::{self, Conversation, Tail};
use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, Authorization, External, Reconciliation};
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, Epoch, IdempotencyKey, PrincipalId, ProducerId, RunId,
    SubmissionId, TenantId, Timestamp, Token, ToolName,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{self, Ledger, Row};
use everstep_machine::projection::Projection;
use everstep_machine::record::{
    Batch, Doubt, FinishKind, InputKind, InputRecorded, Record, Settlement, StoredBatch,
    SubmissionSettled,
};
use everstep_machine::recovery::{Evidence, OwnKnowledge, classify};
use everstep_machine::run::{self, Run};
use everstep_machine::store::{LaneView, LogPage, Pipeline, Replies, Reply, StoreCommand};
use everstep_machine::{Machine, admission};

const BATCHES: usize = 41;
const STEPS_A_BATCH: usize = 500;
/// Settled submissions before the one that is measured, in the deep rows of the table.
const DEEP: u64 = 1_000;

fn main() {
    let recording = Recording::of(&[]);
    println!("{:<34}{:>7}{:>12}", "machine", "steps", "ns/step");
    let slice = |(slice, stamped)| Ledger::step(slice, stamped);
    row("ledger", &recording.ledger, slice);
    let log = |(slice, stamped)| Conversation::step(slice, stamped);
    row("conversation", &recording.conversation, log);
    let (own, bound) = (OwnKnowledge::default(), binding().bound());
    let decide = |(row, fold): (Row, Projection)| {
        classify(&Evidence::gather(&row, &[], &fold, &own, &bound, Timestamp(0)))
    };
    row("recovery", &recording.evidence, decide);
    row("run", &run_steps(&recording), |(state, input)| Run::step(state, input));
    row("attempt", &recording.attempt, |(state, input)| Attempt::step(state, input));
    let deep = Recording::of(&history(DEEP));
    let name = |machine: &str| format!("{machine}, {DEEP} submissions deep");
    row(&name("run"), &run_steps(&deep), |(state, input)| Run::step(state, input));
    let (_reading, working) = deep.attempt.split_at(deep.first_act);
    row(&name("attempt"), working, |(state, input)| Attempt::step(state, input));
}

/// Takes the recorded steps in batches and prints the median.
fn row<I: Clone, O>(name: &str, recorded: &[I], step: impl Fn(I) -> O) {
    let batch = || {
        let inputs: Vec<I> = recorded.iter().cycle().take(STEPS_A_BATCH).cloned().collect();
        let mut outputs = Vec::with_capacity(inputs.len());
        let begun = Instant::now();
        for input in inputs {
            outputs.push(black_box(step(black_box(input))));
        }
        begun.elapsed()
    };
    let mut batches: Vec<Duration> = (0..BATCHES).map(|_| batch()).collect();
    batches.sort_unstable();
    let ns = batches[BATCHES / 2].as_nanos() / STEPS_A_BATCH as u128;
    println!("{name:<34}{:>7}{ns:>12}", recorded.len());
}

fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).expect("a short text")
}

fn lane() -> ConversationId {
    ConversationId::new("main").expect("a name")
}

fn binding() -> Arc<Binding> {
    let name = ToolName::new("pay").expect("a name");
    let tool = ToolDefinition::new(name, ExecutionClass::Ordinary);
    let id = AgentId::new("desk").expect("a name");
    let definition = AgentDefinition::new(id, "You refund.", vec![tool], 4).expect("a definition");
    Arc::new(Binding { definition, model: Digest::of("bench/model", b"scripted") })
}

fn call(key: &str) -> admission::Call {
    admission::Call {
        conversation: lane(),
        principal: PrincipalId::new("ada").expect("a name"),
        tenant: TenantId::new("shop").expect("a name"),
        key: IdempotencyKey::new(key).expect("a name"),
        input: text("refund my order, please"),
        allowance: Allowance::default(),
        steers: None,
        binding: binding(),
        producer: ProducerId::new("front").expect("a name"),
    }
}

/// What the outside answers: the tool is called in the first turn, and the second one ends.
fn answer(external: &External) -> Answer {
    match external {
        External::CallModel(request) => {
            let response = Ok(Arc::new(respond(request)));
            let (run, turn, purpose) = (request.run, request.turn, request.purpose);
            Answer::Model { run, turn, purpose, response }
        }
        External::Authorize { run, turn, .. } => {
            let authorization = Authorization::Allowed;
            Answer::Authorizer { run: *run, turn: *turn, authorization }
        }
        External::Check { .. } | External::Approve { .. } | External::NextStep(_) => {
            unreachable!("the agent has no schemas and no steps, and nobody is asked")
        }
        External::Clear { .. } => external.cleared().expect("a question about calls"),
        External::Permits { run, calls, .. } => {
            Answer::Permitted { run: *run, calls: calls.iter().map(|it| it.call).collect() }
        }
        External::InvokeTool(it) => Answer::Tool {
            start: Doubt { call: it.call, start: it.epoch },
            outcome: Arc::new(ToolOutcome::Success(text("paid"))),
        },
        External::Reconcile(it) => {
            let reconciliation = Reconciliation::Unprovable;
            Answer::Reconciler { doubt: it.doubt, reconciliation }
        }
    }
}

fn respond(request: &ModelRequest) -> ModelResponse {
    let (part, finish) = if request.turn.0 == 0 {
        let tool = ToolName::new("pay").expect("a name");
        let call = ToolCall { label: "1".into(), tool, parameters: text("order 7") };
        (ResponsePart::Call(call), FinishReason::ToolCalls)
    } else {
        (ResponsePart::Text("it is on its way".into()), FinishReason::Stop)
    };
    ModelResponse { parts: vec![part], finish, usage: Some(Usage::default()) }
}

/// The batches of this many settled submissions.
fn history(submissions: u64) -> Vec<Batch> {
    let settled = |n: u64| {
        let key = IdempotencyKey::new(&format!("before {n}")).expect("a name");
        let principal = PrincipalId::new("ada").expect("a name");
        let submission = SubmissionId::derive(&lane(), &principal, &key);
        let run = RunId::derive(submission);
        let input = InputRecorded {
            submission,
            principal,
            run,
            input: text("hello"),
            kind: InputKind::First { bound: binding().bound() },
            at: Timestamp(1_000),
            allowance: Allowance::default(),
        };
        let settlement = Settlement::Completed {
            output: text("done"),
            finish: FinishKind::ModelStop,
            disposition: None,
        };
        let settled = SubmissionSettled { submission, run: Some(run), settlement };
        [Record::InputRecorded(input), Record::SubmissionSettled(settled)]
    };
    let batches = (0..submissions).flat_map(settled);
    batches.map(|record| Batch::new(&lane(), vec![record]).expect("a batch")).collect()
}

/// Every step of one submission: the state before it and its input.
#[derive(Default)]
struct Recording {
    ledger: Vec<(ledger::Slice, ledger::Stamped)>,
    conversation: Vec<(conversation::Slice, conversation::Stamped)>,
    evidence: Vec<(Row, Projection)>,
    attempt: Vec<(attempt::State, attempt::Input)>,
    /// The first step of the attempt after the one that read the log and acted on it.
    first_act: usize,
    rows: Vec<Arc<Row>>,
    lane: Option<ledger::Lane>,
    tail: Option<Tail>,
    log: Vec<Arc<StoredBatch>>,
}

impl Recording {
    fn of(history: &[Batch]) -> Self {
        let mut it = Self { lane: Some(ledger::Lane::new(lane())), ..Self::default() };
        it.admit();
        for batch in history {
            let expected = it.tail.expect("a log").reference();
            let (epoch, producer) = (Epoch(0), call("1").producer);
            let batch = Arc::new(batch.clone());
            it.log(conversation::Command::Append { epoch, producer, expected, batch });
        }
        it.work();
        it
    }

    fn admit(&mut self) {
        let state = admission::State::new(call("1"));
        let step = admission::AdmissionMachine::step(state, admission::Input::Started);
        for effect in step.effects {
            if let admission::Effect::Store(pipeline) = effect {
                self.execute(&pipeline);
            }
        }
    }

    fn work(&mut self) {
        let setup = Setup {
            lane: lane(),
            producer: ProducerId::new("worker").expect("a name"),
            binding: binding(),
            lease: DurationMs(30_000),
            renewal: DurationMs(10_000),
            watched: false,
        };
        let mut state = attempt::State::new(setup);
        let mut inputs = vec![attempt::Input::Started { token: Token([1; 16]) }];
        while let Some(input) = inputs.pop() {
            self.attempt.push((state.clone(), input.clone()));
            let step = Attempt::step(state, input);
            state = step.state;
            if self.evidence.is_empty() {
                self.first_act = self.attempt.len();
            }
            if let (Some(row), Some(fold)) = (state.predicted_row(), state.projection()) {
                self.evidence.push((row.clone(), fold.clone()));
            }
            for effect in step.effects {
                match effect {
                    attempt::Effect::Store(pipeline) => {
                        inputs.insert(0, attempt::Input::Stored(Ok(self.execute(&pipeline))));
                    }
                    attempt::Effect::External(external) => {
                        inputs.insert(0, attempt::Input::Answered(answer(&external)));
                    }
                    attempt::Effect::CallOff
                    | attempt::Effect::CancelExternals
                    | attempt::Effect::ScheduleRenewal { .. }
                    | attempt::Effect::Schedule { .. }
                    | attempt::Effect::Tell { .. } => {}
                    attempt::Effect::End(end) => assert_eq!(end, attempt::End::Settled),
                }
            }
        }
    }

    fn execute(&mut self, pipeline: &Pipeline) -> Replies {
        pipeline.commands.iter().map(|command| self.one(command)).collect()
    }

    fn one(&mut self, command: &StoreCommand) -> Reply {
        let now = Timestamp(1_000);
        match command {
            StoreCommand::Ledger(command) => Reply::Ledger(self.row(command.clone())),
            StoreCommand::Conversation(command) => Reply::Conversation(self.log(command.clone())),
            StoreCommand::ReadLane(_) => {
                let lane = self.lane.clone().expect("a lane");
                Reply::Lane(LaneView {
                    lane,
                    row: self.rows.first().cloned(),
                    beside: Vec::new(),
                    now,
                })
            }
            StoreCommand::ReadLog { .. } => {
                Reply::Log(LogPage { tail: self.tail, batches: self.log.clone() })
            }
        }
    }

    fn row(&mut self, command: ledger::Command) -> ledger::Reply {
        let lane = self.lane.clone().expect("a lane");
        let rows = command.footprint().select(self.rows.iter());
        let before =
            (ledger::Slice { lane, rows }, ledger::Stamped { command, now: Timestamp(1_000) });
        self.ledger.push(before.clone());
        let step = Ledger::step(before.0, before.1);
        for effect in step.effects {
            match effect {
                ledger::Effect::Change(ledger::Change::Lane(lane)) => self.lane = Some(lane),
                ledger::Effect::Change(ledger::Change::Row(row)) => self.rows = vec![row],
                ledger::Effect::Reply(reply) => return reply,
                ledger::Effect::Refuse(refusal) => panic!("{refusal}"),
            }
        }
        unreachable!("a ledger answers every command")
    }

    fn log(&mut self, command: conversation::Command) -> conversation::Reply {
        let slice = conversation::Slice::new(lane(), self.tail);
        let stamped = conversation::Stamped { command, now: Timestamp(1_000) };
        self.conversation.push((slice.clone(), stamped.clone()));
        let step = Conversation::step(slice, stamped);
        self.tail = step.state.tail;
        for effect in step.effects {
            match effect {
                conversation::Effect::Change(conversation::Change::Commit(batch)) => {
                    self.log.push(Arc::from(batch));
                }
                conversation::Effect::Change(conversation::Change::Raise(_)) => {}
                conversation::Effect::Reply(reply) => return reply,
                conversation::Effect::Refuse(refusal) => panic!("{refusal}"),
            }
        }
        unreachable!("a log answers every command")
    }
}

/// The steps of the run by itself, from its input to its settlement.
fn run_steps(recording: &Recording) -> Vec<(run::State, run::Input)> {
    let has_input = |(_, fold): &&(Row, Projection)| {
        fold.submission(call("1").submission()).is_some_and(|view| view.run.is_some())
    };
    let (_, fold) = recording.evidence.iter().find(has_input).expect("the input is canonical");
    let submission = call("1").submission();
    let mut state = run::State::new(binding(), lane(), submission, Epoch(1), fold.clone());
    let mut inputs = vec![run::Input::Resumed { now: Timestamp(1_000) }];
    let mut steps = Vec::new();
    while let Some(input) = inputs.pop() {
        steps.push((state.clone(), input.clone()));
        let step = Run::step(state, input);
        state = step.state;
        for effect in step.effects {
            if let run::Effect::External(external) = effect {
                inputs.push(run::Input::Answered(answer(&external)));
            }
        }
    }
    steps
}
