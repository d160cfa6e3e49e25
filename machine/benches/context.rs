//! What a turn costs in a conversation of 100 to 100 000 records: a curve that has to be flat.
//!
//! A turn here is a response with one call, its authorization, its result, and the request for
//! the next turn. It is taken in an agent that never makes context smaller and in one that
//! estimates its context before every request. What bounds it are the run's own turns: the
//! messages of the runs before it are shared and their size is known, so nothing on the way looks
//! at them. A figure is the median over samples of eight turns each.
//!
//! The last column is the one thing that does look at the whole conversation: making it smaller.
//! It happens at most twice a turn, and only beyond the agent's limit; what it leaves is short.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_machine::Machine;
use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Allowance, Binding, ContextPolicy, ExecutionClass, FinishReason,
    ModelResponse, Purpose, ResponsePart, ToolCall, ToolDefinition, ToolOutcome, Usage,
};
use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, Authorization, External};
use everstep_machine::identity::{
    AgentId, ConversationId, Epoch, IdempotencyKey, PrincipalId, RunId, Sequence, SubmissionId,
    TenantId, Timestamp, ToolCallId, ToolName, Turn,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::RUN_TURNS;
use everstep_machine::projection::Projection;
use everstep_machine::record::{
    Batch, Compaction, CompactionCreated, ConversationCreated, Doubt, FinishKind, InputKind,
    InputRecorded, ModelResponded, Record, Settlement, SubmissionSettled, ToolSettled,
};
use everstep_machine::run::{Effect, Input, Run, State};

const LENGTHS: [usize; 4] = [100, 1_000, 10_000, 100_000];
const SAMPLES: usize = 31;
const TURNS: u32 = 8;
/// Records of one settled submission.
const RECORDS: usize = 5;
/// A limit that no conversation here reaches.
const WIDE: ContextPolicy = ContextPolicy::new(1_000_000_000);

fn main() {
    println!(
        "{:>9}{:>12}{:>18}{:>24}{:>20}",
        "records", "shown bytes", "ns/turn", "ns/turn, estimating", "us/compaction"
    );
    for length in LENGTHS {
        let fold = conversation(length);
        let begun = |context| {
            let binding = binding(context);
            let state = State::new(binding, lane(), last().0, Epoch(1), fold.clone());
            Run::step(state, Input::Resumed { now: Timestamp(1_000) }).state
        };
        let turns = |state: State| median(|| sample(state.clone())) / TURNS;
        let (plain, estimating) = (turns(begun(None)), turns(begun(Some(WIDE))));
        let compaction = median(|| compaction(&fold));
        println!(
            "{length:>9}{:>12}{:>18}{:>24}{:>20}",
            fold.transcript().bytes(),
            plain.as_nanos(),
            estimating.as_nanos(),
            compaction.as_micros()
        );
    }
}

fn median(mut sample: impl FnMut() -> Duration) -> Duration {
    let mut samples: Vec<Duration> = (0..SAMPLES).map(|_| sample()).collect();
    samples.sort_unstable();
    samples[SAMPLES / 2]
}

/// Eight turns of a run, one after the other.
fn sample(mut state: State) -> Duration {
    let inputs: Vec<Input> = (0..TURNS).flat_map(turn).collect();
    let begun = Instant::now();
    let mut asked = 0;
    for input in inputs {
        let step = Run::step(state, input);
        state = step.state;
        let is_request = |it: &&Effect| matches!(it, Effect::External(External::CallModel(_)));
        asked += black_box(&step.effects).iter().filter(is_request).count();
    }
    let elapsed = begun.elapsed();
    assert_eq!(asked, TURNS as usize, "every turn leads to the next request");
    elapsed
}

/// What the outside answers in one turn.
fn turn(turn: u32) -> [Input; 3] {
    let (run, turn) = (last().1, Turn(turn));
    let call = ToolCallId::derive(run, turn, 0);
    let response = Ok(Arc::new(calls()));
    let (purpose, authorization) = (Purpose::Respond, Authorization::Allowed);
    let start = Doubt { call, start: Epoch(1) };
    [
        Answer::Model { run, turn, purpose, response },
        Answer::Authorizer { run, turn, authorization },
        Answer::Tool { start, outcome: Arc::new(result()) },
    ]
    .map(Input::Answered)
}

/// A summary of everything becomes canonical.
fn compaction(fold: &Projection) -> Duration {
    let record = Record::CompactionCreated(CompactionCreated {
        submission: last().0,
        turn: Turn(0),
        through: Sequence(fold.next_sequence().0 - 2),
        compaction: Compaction::Summarized("They asked for refunds.".into()),
        usage: None,
    });
    let (mut fold, batch) = (fold.clone(), batch(record));
    let begun = Instant::now();
    fold.apply(Epoch(1), black_box(&batch)).expect("it covers earlier runs");
    begun.elapsed()
}

/// A conversation of about so many records, and the input of the run that is measured.
fn conversation(records: usize) -> Projection {
    let mut fold = Projection::default();
    let mut tell = |record| fold.apply(Epoch(1), &batch(record)).expect("the records fit");
    tell(created());
    for number in 0..records / RECORDS {
        submission(&number.to_string()).into_iter().for_each(&mut tell);
    }
    let (submission, run) = last();
    tell(input(submission, run));
    fold
}

fn created() -> Record {
    Record::ConversationCreated(ConversationCreated {
        conversation: lane(),
        tenant: TenantId::new("shop").expect("a name"),
        agent: AgentId::new("desk").expect("a name"),
        definition: Digest::ZERO,
        model: Digest::ZERO,
        tools: Digest::ZERO,
    })
}

/// The records of one settled submission.
fn submission(key: &str) -> [Record; RECORDS] {
    let (submission, run) = named(key);
    let responded = |turn, response| {
        let (turn, response) = (Turn(turn), Arc::new(response));
        Record::ModelResponded(ModelResponded { submission, turn, response })
    };
    let (call, outcome) = (ToolCallId::derive(run, Turn(0), 0), Arc::new(result()));
    let settlement = Settlement::Completed {
        output: text("it is on its way"),
        finish: FinishKind::ModelStop,
        disposition: None,
    };
    [
        input(submission, run),
        responded(0, calls()),
        Record::ToolSettled(ToolSettled { submission, call, outcome }),
        responded(1, words()),
        Record::SubmissionSettled(SubmissionSettled { submission, run: Some(run), settlement }),
    ]
}

fn input(submission: SubmissionId, run: RunId) -> Record {
    Record::InputRecorded(InputRecorded {
        submission,
        principal: principal(),
        run,
        input: text("refund my order, please"),
        kind: InputKind::First { bound: binding(None).bound() },
        at: Timestamp(1_000),
        allowance: Allowance::default(),
    })
}

/// A provider that has counted the request.
fn used() -> Option<Usage> {
    Some(Usage { input_tokens: 1_000, output_tokens: 20, ..Usage::default() })
}

fn calls() -> ModelResponse {
    let tool = ToolName::new("look").expect("a name");
    let call = ToolCall { label: "1".into(), tool, parameters: text("order 7") };
    let parts = vec![ResponsePart::Call(call)];
    ModelResponse { parts, finish: FinishReason::ToolCalls, usage: used() }
}

fn words() -> ModelResponse {
    let parts = vec![ResponsePart::Text("it is on its way".into())];
    ModelResponse { parts, finish: FinishReason::Stop, usage: used() }
}

fn result() -> ToolOutcome {
    ToolOutcome::Success(text("order 7 left the warehouse on Monday"))
}

fn batch(record: Record) -> Batch {
    Batch::new(&lane(), vec![record]).expect("a batch")
}

fn text(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).expect("a short text")
}

fn lane() -> ConversationId {
    ConversationId::new("main").expect("a name")
}

fn principal() -> PrincipalId {
    PrincipalId::new("ada").expect("a name")
}

fn named(key: &str) -> (SubmissionId, RunId) {
    let key = IdempotencyKey::new(key).expect("a name");
    let submission = SubmissionId::derive(&lane(), &principal(), &key);
    (submission, RunId::derive(submission))
}

/// The submission that is measured.
fn last() -> (SubmissionId, RunId) {
    named("last")
}

fn binding(context: Option<ContextPolicy>) -> Arc<Binding> {
    let name = ToolName::new("look").expect("a name");
    let tools = vec![ToolDefinition::new(name, ExecutionClass::Readonly)];
    let allowance = Allowance { turns: Some(RUN_TURNS), ..Allowance::default() };
    let policy = AgentPolicy { allowance, context, ..AgentPolicy::default() };
    let id = AgentId::new("desk").expect("a name");
    let definition = AgentDefinition::with_policy(id, "You refund.", tools, policy);
    let definition = definition.expect("a definition");
    Arc::new(Binding { definition, model: Digest::of("bench/model", b"scripted") })
}
