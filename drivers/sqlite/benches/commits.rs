//! What a commit costs: pipelines beside bare SQLite transactions of the same number of pages, on
//! the same file system, in the same run.
//!
//! `cargo bench -p everstep-sqlite [-- FOLDER]`; without a folder, the one for temporary files.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_machine::admission::{self, AdmissionMachine, Call};
use everstep_machine::agent::{
    AgentDefinition, Allowance, Binding, FinishReason, ModelResponse, ResponsePart, Usage,
};
use everstep_machine::attempt::{self, Attempt, End, Setup};
use everstep_machine::contract::Machine;
use everstep_machine::conversation::{self, Tail};
use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, External};
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, IdempotencyKey, PrincipalId, ProducerId, RunId, Sequence,
    SubmissionId, TenantId, Token,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{Batch, InputRecorded, Record};
use everstep_machine::store::{Pipeline, Reply, Store, StoreCommand};
use everstep_sqlite::{CommitMode, Options, SqliteStore};
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Measured operations of each kind.
const COUNT: u32 = 500;
/// Operations whose pages are counted: few enough that the log is not started anew.
const SAMPLE: u32 = 60;

fn main() {
    let folder = std::env::args().skip(1).find(|it| !it.starts_with('-'));
    let folder = folder.map_or_else(std::env::temp_dir, PathBuf::from);
    let bench = Bench { folder: tempfile::TempDir::new_in(folder).expect("a folder to write in") };
    println!(
        "{:<44} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "", "per s", "p50 µs", "p99 µs", "commits", "pages"
    );
    for mode in CommitMode::ALL {
        let pages = bench.admissions(*mode, 64);
        if *mode == CommitMode::Fused {
            bench.bare("bare transaction of as many pages", pages.round() as u64);
        }
        bench.submissions(*mode, 64);
    }
    bench.submissions(CommitMode::Fused, 1);
    bench.bare("bare transaction of one page", 1);
    bench.depths();
}

/// Where the databases are.
struct Bench {
    folder: tempfile::TempDir,
}

/// How long each operation took.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn of(count: u32, mut act: impl FnMut(u32)) -> Self {
        let timed = |n| {
            let began = Instant::now();
            act(n);
            began.elapsed()
        };
        Self((0..count).map(timed).collect())
    }

    fn print(mut self, name: &str, commits: f64, pages: Option<f64>) {
        let all: Duration = self.0.iter().sum();
        self.0.sort_unstable();
        let at = |percent: usize| self.0[(self.0.len() - 1) * percent / 100].as_micros();
        let pages = pages.map_or_else(String::new, |pages| format!("{pages:.1}"));
        let rate = self.0.len() as f64 / all.as_secs_f64();
        println!("{name:<44} {rate:>9.0} {:>9} {:>9} {commits:>8.2} {pages:>8}", at(50), at(99));
    }
}

impl Bench {
    fn fresh(&self) -> PathBuf {
        let count = fs::read_dir(self.folder.path()).expect("a folder").count();
        self.folder.path().join(format!("{count}.db"))
    }

    fn store(&self, mode: CommitMode) -> (SqliteStore, PathBuf) {
        let file = self.fresh();
        let store = SqliteStore::open(Options::new(&file).mode(mode)).expect("a new database");
        (store, file)
    }

    /// Admissions into existing conversations. Returns the pages that one writes.
    fn admissions(&self, mode: CommitMode, lanes: u32) -> f64 {
        let (mut store, file) = self.store(mode);
        (0..lanes).for_each(|n| admit(&mut store, n, lanes));
        // Closing it leaves an empty log.
        drop(store);
        let mut store = SqliteStore::open(Options::new(&file).mode(mode)).expect("it was there");
        let mut next = lanes..;
        let mut one = |store: &mut SqliteStore| admit(store, next.next().expect("a key"), lanes);
        (0..SAMPLE).for_each(|_| one(&mut store));
        let pages = pages_in_log(&file) / f64::from(SAMPLE);
        let before = store.counters().commits;
        let times = Times::of(COUNT, |_| one(&mut store));
        let commits = (store.counters().commits - before) as f64 / f64::from(COUNT);
        times.print(&format!("admission, {mode}, {lanes} lanes"), commits, Some(pages));
        pages
    }

    /// Submissions without tools, from call to settlement, one after the other.
    fn submissions(&self, mode: CommitMode, lanes: u32) {
        let (mut store, _) = self.store(mode);
        let count = if lanes == 1 { COUNT / 10 } else { COUNT };
        let before = store.counters().commits;
        let times = Times::of(count, |n| {
            admit(&mut store, n, lanes);
            work(&mut store, n, lanes);
        });
        let commits = (store.counters().commits - before) as f64 / f64::from(count);
        times.print(&format!("settled submission, {mode}, {lanes} lanes"), commits, None);
    }

    /// One append to a log that holds so many records already.
    fn depths(&self) {
        let (mut store, _) = self.store(CommitMode::Fused);
        admit(&mut store, 0, 1);
        let mut log = Log::begin(&store, lane(0, 1));
        for depth in [100, 1_000, 10_000] {
            while log.tail.next_sequence.0 < depth {
                log.append(&mut store, (depth - log.tail.next_sequence.0).min(250));
            }
            let times = Times::of(COUNT / 5, |_| log.append(&mut store, 1));
            times.print(&format!("append at record {depth}"), 1.0, None);
        }
    }

    /// Transactions of SQLite alone, as durable and of as many pages.
    fn bare(&self, name: &str, pages: u64) {
        let file = self.fresh();
        let connection = Connection::open(&file).expect("a new database");
        let wal = "PRAGMA journal_mode = wal; PRAGMA synchronous = FULL";
        connection.execute_batch(wal).expect("a write-ahead log");
        let create = "CREATE TABLE bare (k INTEGER PRIMARY KEY, v BLOB)";
        connection.execute_batch(create).expect("a table");
        // Rows of which two do not fit a page: as many pages as rows.
        let blob = |n: u32| vec![n.to_le_bytes()[0]; 2_500];
        for k in 0..pages {
            let insert = "INSERT INTO bare VALUES (?1, ?2)";
            connection.execute(insert, (k, blob(0))).expect("written");
        }
        let one = |n: u32| {
            let behavior = TransactionBehavior::Immediate;
            let transaction = Transaction::new_unchecked(&connection, behavior).expect("begun");
            let mut put =
                transaction.prepare_cached("UPDATE bare SET v = ?1").expect("a statement");
            put.execute([blob(n + 1)]).expect("written");
            drop(put);
            transaction.commit().expect("committed");
        };
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        connection.query_row(checkpoint, (), |_| Ok(())).expect("an empty log");
        (0..SAMPLE).for_each(one);
        let pages = pages_in_log(&file) / f64::from(SAMPLE);
        Times::of(COUNT, one).print(name, 1.0, Some(pages));
    }
}

/// A producer of one log.
struct Log {
    lane: ConversationId,
    tail: Tail,
}

impl Log {
    fn begin(store: &SqliteStore, lane: ConversationId) -> Self {
        let reader = store.reader().expect("it is there");
        let tail = reader.log_page(&lane, Sequence(0)).expect("a page").tail;
        Self { lane, tail: tail.expect("an admission begins a log") }
    }

    fn append(&mut self, store: &mut SqliteStore, records: u64) {
        let from = self.tail.next_sequence.0;
        let record = |n: u64| {
            Record::InputRecorded(InputRecorded {
                submission: SubmissionId(u128::from(n).to_be_bytes()),
                principal: PrincipalId::new("ada").expect("a name"),
                run: RunId([1; 16]),
                input: CanonicalJson::string("refund this, please").expect("a text"),
                kind: everstep_machine::record::InputKind::First { bound: binding().bound() },
                at: everstep_machine::identity::Timestamp(1_000),
                allowance: everstep_machine::agent::Allowance::default(),
            })
        };
        let records = (from..from + records).map(record).collect();
        let append = conversation::Command::Append {
            epoch: self.tail.epoch,
            producer: ProducerId::new("worker").expect("a name"),
            expected: self.tail.reference(),
            batch: Arc::new(Batch::new(&self.lane, records).expect("a batch")),
        };
        let commands = vec![StoreCommand::Conversation(append)];
        let pipeline = Pipeline { lane: self.lane.clone(), commands };
        match store.perform(&pipeline).expect("appended")[..] {
            [Reply::Conversation(conversation::Reply::Appended(tail))] => self.tail = tail,
            ref other => panic!("not appended: {other:?}"),
        }
    }
}

fn pages_in_log(file: &Path) -> f64 {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    fs::metadata(name).map_or(0.0, |it| it.len().saturating_sub(32) as f64 / (4_096.0 + 24.0))
}

fn binding() -> Arc<Binding> {
    let id = AgentId::new("clerk").expect("a name");
    let definition = AgentDefinition::new(id, "You refund.", vec![], 4).expect("a definition");
    Arc::new(Binding { definition, model: Digest::of("bench/model", b"scripted") })
}

fn lane(n: u32, lanes: u32) -> ConversationId {
    ConversationId::new(&format!("conversation {}", n % lanes)).expect("a name")
}

fn admit(store: &mut SqliteStore, n: u32, lanes: u32) {
    let call = Call {
        conversation: lane(n, lanes),
        principal: PrincipalId::new("ada").expect("a name"),
        tenant: TenantId::new("shop").expect("a name"),
        key: IdempotencyKey::new(&n.to_string()).expect("a name"),
        input: CanonicalJson::string("refund this, please").expect("a text"),
        allowance: Allowance::default(),
        steers: None,
        binding: binding(),
        producer: ProducerId::new("front").expect("a name"),
    };
    let state = admission::State::new(call);
    let mut step = AdmissionMachine::step(state, admission::Input::Started);
    while let Some(admission::Effect::Store(pipeline)) = step.effects.pop() {
        let answer = store.perform(&pipeline).expect("stored");
        step = AdmissionMachine::step(step.state, admission::Input::Stored(Ok(answer)));
    }
}

fn work(store: &mut SqliteStore, n: u32, lanes: u32) {
    let setup = Setup {
        lane: lane(n, lanes),
        producer: ProducerId::new("worker").expect("a name"),
        binding: binding(),
        lease: DurationMs(30_000),
        renewal: DurationMs(10_000),
        watched: false,
    };
    let token = Token(u128::from(n).to_be_bytes());
    let mut step = Attempt::step(attempt::State::new(setup), attempt::Input::Started { token });
    let mut queue = VecDeque::from(step.effects);
    while let Some(effect) = queue.pop_front() {
        let input = match effect {
            attempt::Effect::Store(pipeline) => attempt::Input::Stored(store.execute(&pipeline)),
            attempt::Effect::External(external) => attempt::Input::Answered(answer(external)),
            attempt::Effect::End(end) => {
                assert_eq!(end, End::Settled);
                return;
            }
            attempt::Effect::CallOff
            | attempt::Effect::CancelExternals
            | attempt::Effect::ScheduleRenewal { .. }
            | attempt::Effect::Schedule { .. }
            | attempt::Effect::Tell { .. } => continue,
        };
        step = Attempt::step(step.state, input);
        queue.extend(step.effects);
    }
    panic!("the attempt waits for nothing");
}

fn answer(external: External) -> Answer {
    match external {
        External::CallModel(request) => Answer::Model {
            run: request.run,
            turn: request.turn,
            purpose: request.purpose,
            response: Ok(Arc::new(ModelResponse {
                parts: vec![ResponsePart::Text("done".into())],
                finish: FinishReason::Stop,
                usage: Some(Usage::default()),
            })),
        },
        other => panic!("nobody asked for {other:?}"),
    }
}
