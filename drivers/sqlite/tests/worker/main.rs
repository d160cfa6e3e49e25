//! A process with the store in it, for the tests that need several, or one with fewer rights.
//!
//! `submit PATH LANE COUNT` admits submissions one by one and prints how many were accepted;
//! `open PATH` opens the file for writing and prints `open`, or why not; `read PATH` the same for
//! reading; `fill PATH LANE` submits until the store says no and prints how many were accepted
//! and what it said; `verify PATH LANE` checks everything and prints how many rows there are;
//! `hold PATH LANE` opens the file, and a reader of it, and submits once for every line that it is
//! given, printing it back; `crowd PATH` submits to eight lanes at the same time, without end, and
//! prints each place that was accepted; `glance PATH` opens the file as somebody else would, reads, and closes.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::admission::{AdmissionMachine, Call, Effect, Input, State};
use everstep_machine::agent::{AgentDefinition, Allowance, Binding};
use everstep_machine::contract::Machine;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AgentId, ConversationId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::store::Pipeline;
use everstep_sqlite::{Options, SqliteReader, SqliteStore, StoreError};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["submit", path, lane, count] => submit(path, lane, count.parse().expect("a number")),
        ["fill", path, lane] => fill(path, lane),
        ["open", path] => say(SqliteStore::open(options(path)).map(drop)),
        ["read", path] => say(SqliteReader::open(path.as_ref(), PATIENCE).map(drop)),
        ["verify", path, lane] => verify(path, lane),
        ["hold", path, lane] => hold(path, lane),
        ["glance", path] => glance(path),
        ["crowd", path] => crowd(path),
        _ => panic!(
            "hold PATH LANE | crowd or glance PATH | submit PATH LANE COUNT | fill or verify PATH LANE | open or read PATH"
        ),
    }
}

const PATIENCE: Duration = Duration::from_secs(5);

fn options(path: &str) -> Options {
    Options::new(path).busy(PATIENCE)
}

fn say<E: std::fmt::Debug + std::fmt::Display>(opened: Result<(), E>) -> ExitCode {
    match opened {
        Ok(()) => {
            println!("open");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error:?}\n{error}");
            ExitCode::FAILURE
        }
    }
}

fn submit(path: &str, lane: &str, count: u32) -> ExitCode {
    let mut store = SqliteStore::open(options(path)).expect("the file opens");
    for n in 0..count {
        accept(&mut store, call(lane, &n.to_string())).expect("accepted");
    }
    println!("{count}");
    ExitCode::SUCCESS
}

fn fill(path: &str, lane: &str) -> ExitCode {
    let mut store = SqliteStore::open(options(path)).expect("the file opens");
    for n in 0..100_000 {
        if let Err(error) = accept(&mut store, call(lane, &n.to_string())) {
            println!("{n}\n{error:?}\n{error}");
            return ExitCode::SUCCESS;
        }
    }
    ExitCode::FAILURE
}

fn hold(path: &str, lane: &str) -> ExitCode {
    let mut store = SqliteStore::open(options(path)).expect("the file opens");
    for line in std::io::stdin().lines() {
        let line = line.expect("a line");
        accept(&mut store, call(lane, &line)).expect("accepted");
        let reader = store.reader().expect("the file opens again");
        reader.data_version().expect("it is read");
        println!("{line}");
    }
    ExitCode::SUCCESS
}

fn crowd(path: &str) -> ExitCode {
    let mut store = SqliteStore::open(options(path)).expect("the file opens");
    for place in 0.. {
        let lanes: Vec<String> = (0..8).map(|n| format!("lane-{n}")).collect();
        let pipelines: Vec<Pipeline> = lanes.iter().map(|lane| admission(lane, place)).collect();
        let mut lanes = lanes.iter();
        store.perform_all(&pipelines, |answer| {
            answer.expect("accepted");
            println!("{} {place}", lanes.next().expect("one answer for each"));
        });
    }
    ExitCode::FAILURE
}

/// How an admission begins, and ends if nothing is in its way.
fn admission(lane: &str, place: u64) -> Pipeline {
    let state = State::new(call(lane, &place.to_string()));
    match AdmissionMachine::step(state, Input::Started).effects.pop() {
        Some(Effect::Store(pipeline)) => pipeline,
        other => panic!("an admission begins at the store, not with {other:?}"),
    }
}

fn glance(path: &str) -> ExitCode {
    let other = rusqlite::Connection::open(path).expect("the file opens");
    let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let count = other.query_row("SELECT count(*) FROM ledger_row", (), count).expect("a count");
    other.close().expect("it closes");
    println!("{count}");
    ExitCode::SUCCESS
}

fn verify(path: &str, lane: &str) -> ExitCode {
    let lane = ConversationId::new(lane).expect("a name");
    let reader = match SqliteReader::open(path.as_ref(), PATIENCE) {
        Ok(reader) => reader,
        Err(error) => return say(Err::<(), _>(error)),
    };
    match reader.verify(&lane) {
        Ok(verified) => {
            println!("{} rows", verified.rows);
            ExitCode::SUCCESS
        }
        Err(error) => say(Err::<(), _>(error)),
    }
}

/// Drives one admission to its receipt.
fn accept(store: &mut SqliteStore, call: Call) -> Result<(), StoreError> {
    let mut step = AdmissionMachine::step(State::new(call), Input::Started);
    loop {
        match step.effects.pop() {
            Some(Effect::Store(pipeline)) => {
                let answer = store.perform(&pipeline)?;
                step = AdmissionMachine::step(step.state, Input::Stored(Ok(answer)));
            }
            Some(Effect::Accept(_)) => return Ok(()),
            other => panic!("not accepted: {other:?}"),
        }
    }
}

fn call(lane: &str, key: &str) -> Call {
    let id = AgentId::new("clerk").expect("a name");
    let definition = AgentDefinition::new(id, "You refund.", vec![], 4).expect("a definition");
    let model = Digest::of("test/model", b"scripted");
    Call {
        conversation: ConversationId::new(lane).expect("a name"),
        principal: PrincipalId::new("ada").expect("a name"),
        tenant: TenantId::new("shop").expect("a name"),
        key: IdempotencyKey::new(key).expect("a name"),
        input: CanonicalJson::string(&"refund this, please ".repeat(50)).expect("a text"),
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::new(Binding { definition, model }),
        producer: ProducerId::new(&format!("process {}", std::process::id())).expect("a name"),
    }
}
