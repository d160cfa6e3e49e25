//! `everstep run`: one durable submission on one file.
//!
//! What is submitted is named by what was asked: the bytes of the agent file and of its script, the
//! input and the key. So the same line, typed again after whatever happened, finds the submission
//! it began and carries on, or prints how it ended; it never begins a second one.
//!
//! A signal that asks the process to end stops the host at the next boundary; a second one ends the
//! process at once. Neither loses anything: both are a crash that was announced.

mod lane;
mod outside;
mod progress;
mod report;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everstep_machine::admission::Call;
use everstep_machine::agent::{Allowance, Binding};
use everstep_machine::digest::{Digest, Hasher};
use everstep_machine::effect::EffectClass;
use everstep_machine::identity::{
    ConversationId, DurationMs, IdempotencyKey, PrincipalId, ProducerId, SubmissionId, TenantId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::JSON_BYTES;
use everstep_machine::record::{Record, SubmissionSettled};
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreFault};
use everstep_runtime::{
    AllowAll, Config, Failpoints, Host, HostError, Interrupts, NoApprover, NoReconciler, Ports,
    Standing, block_on,
};
use everstep_sim::scenario::{AgentFile, AgentSource, Fault};
use everstep_sqlite::{Options, SqliteStore, StoreError};

use crate::args::Run;
use crate::database;
use crate::exit::{Complaint, Exit, Outcome};
use crate::output;
use lane::OwnLane;
use report::Report;

/// How long one sending of a pipeline waits while another process holds the lock. The host sends
/// several times before it gives up.
const LOCKED: Duration = Duration::from_secs(2);

/// Runs the command.
pub(crate) fn run(args: &Run) -> Outcome {
    let agent = agent(&args.agent)?;
    let call = call(args, &agent)?;
    let failpoints = Failpoints::from_env().map_err(|why| Complaint::new(Exit::Usage, why))?;
    let options = Options::new(&args.db).mode(args.commit).busy(LOCKED);
    let mut store = SqliteStore::open(options).map_err(|why| database::unopened(&why))?;
    let points = failpoints.clone();
    store.on_failpoint(move |failpoint| points.pass(failpoint));
    let reader = database::reader(&args.db)?;
    let trouble = Trouble::default();
    let store = Told { store, trouble: trouble.clone() };
    let (lane, submission) = (call.conversation.clone(), call.submission());
    let ports = ports(&agent, &call);
    let lookout = OwnLane::new(reader, lane.clone(), submission);
    let config = Config {
        slots: 1,
        lease: DurationMs(args.lease_ms),
        renewal: DurationMs(args.lease_ms / 3),
        failpoints,
        ..Config::new(call.producer.clone())
    };
    let report = block_on(async {
        let mut interrupts = Interrupts::listen().map_err(no_signals)?;
        let host = Host::start(store, lookout, ports, config).map_err(no_threads)?;
        host.on_event(progress::watcher());
        let answer = async {
            host.submit(call).await?;
            let standing = host.wait(&lane, submission).await?;
            // What was said of its doubts is recorded too; how it ended is known either way.
            let _ = host.rest(&lane, submission).await;
            Ok(standing)
        };
        let Some(answer) = interrupts.unless(answer).await else {
            stopped(host, interrupts).await;
            // It may have settled meanwhile; what cannot be read is told by the same line again.
            let settled = settled(args, &lane, submission).ok().flatten();
            let standing = settled.map(Standing::Settled);
            return standing.map(|it| Report::of(args, &lane, submission, it)).transpose();
        };
        let answer = answer.map_err(|error| failed(error, &trouble));
        // While the store is open: whoever only looks leaves files beside one that is closed.
        let report = answer.and_then(|standing| Report::of(args, &lane, submission, standing));
        // A signal cuts that short.
        let _ = interrupts.unless(host.stop()).await;
        report.map(Some)
    });
    match report.map_err(no_threads)?? {
        Some(report) => report.print(),
        None => {
            output::note(STOPPED);
            Ok(Exit::Budget)
        }
    }
}

const STOPPED: &str = "stopped; the same line carries on";

/// Stops the host because somebody has asked the process to end. Being asked twice means at once:
/// handlers that block are not waited for.
async fn stopped(host: Host, mut interrupts: Interrupts) {
    if interrupts.unless(host.stop()).await.is_none() {
        output::note(STOPPED);
        std::process::exit(i32::from(Exit::Budget.code()));
    }
}

/// The settlement of a submission whose host has stopped, if there is one. The store is open
/// meanwhile, since whoever only looks leaves files beside one that is closed.
fn settled(
    args: &Run,
    lane: &ConversationId,
    submission: SubmissionId,
) -> Result<Option<Arc<SubmissionSettled>>, Complaint> {
    let options = Options::new(&args.db).create(false);
    let store = SqliteStore::open(options).map_err(|why| database::unopened(&why))?;
    let reader = database::reader(&args.db)?;
    let mut settled = None;
    database::batches(&reader, lane, |batch| {
        for record in batch.batch().records() {
            if let Record::SubmissionSettled(it) = record
                && it.submission == submission
            {
                settled = Some(Arc::new(it.clone()));
            }
        }
        Ok(())
    })?;
    drop(reader);
    drop(store);
    Ok(settled)
}

/// An agent file, read, with what identifies it.
struct Agent {
    file: Arc<AgentFile>,
    binding: Arc<Binding>,
    digest: Digest,
}

fn agent(path: &Path) -> Result<Agent, Complaint> {
    let (file, source) = AgentFile::read(path).map_err(|error| {
        let absent =
            matches!(error.fault(), Fault::Missing { .. } | Fault::Folder | Fault::Unreadable(_));
        Complaint::new(if absent { Exit::Environment } else { Exit::Usage }, error)
    })?;
    let tools = file.tools.iter().map(|tool| tool.definition.clone()).collect();
    let definition = file.agent.definition(tools);
    let digest = digest(&source);
    Ok(Agent {
        file: Arc::new(file),
        binding: Arc::new(Binding { definition, model: digest }),
        digest,
    })
}

/// What identifies an agent: every byte of the files that describe it.
fn digest(source: &AgentSource) -> Digest {
    match &source.script {
        None => Digest::of("everstep/agent-file", &source.agent),
        Some(script) => {
            Hasher::new("everstep/agent-and-script").bytes(&source.agent).bytes(script).digest()
        }
    }
}

/// What is submitted, under a name that the same line gives it again.
fn call(args: &Run, agent: &Agent) -> Result<Call, Complaint> {
    let input = input(args)?;
    let name = Hasher::new("everstep/run-command")
        .bytes(&agent.digest.0)
        .bytes(input.as_str().as_bytes())
        .bytes(args.key.as_deref().unwrap_or_default().as_bytes())
        .digest()
        .to_string();
    let named = "ID-01: a name of the host's own is short and plain";
    Ok(Call {
        conversation: ConversationId::new(&format!("run-{}", &name[..32])).expect(named),
        principal: PrincipalId::new("local").expect(named),
        tenant: TenantId::new("default").expect(named),
        key: IdempotencyKey::new(&name).expect(named),
        input,
        allowance: Allowance::default(),
        binding: Arc::clone(&agent.binding),
        producer: ProducerId::new(&format!("everstep run, process {}", std::process::id()))
            .expect(named),
    })
}

/// The input: a text, or with `--as-json` a JSON value; `@FILE` takes it from a file.
fn input(args: &Run) -> Result<CanonicalJson, Complaint> {
    let (name, bytes) = match args.input.strip_prefix('@') {
        None => ("the input".to_owned(), args.input.clone().into_bytes()),
        Some(path) => (path.to_owned(), bounded(path)?),
    };
    let usage = |why: &dyn std::fmt::Display| Complaint::new(Exit::Usage, format!("{name}: {why}"));
    if bytes.len() > JSON_BYTES {
        return Err(usage(&format!("an input has at most {JSON_BYTES} bytes")));
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|why| usage(&format!("byte {} is not UTF-8", why.valid_up_to())))?;
    let json = if args.as_json {
        CanonicalJson::parse(text.as_bytes())
    } else {
        CanonicalJson::string(text)
    };
    json.map_err(|why| usage(&why))
}

/// What a file holds, and not a byte more than shows that it is too large.
fn bounded(path: &str) -> Result<Vec<u8>, Complaint> {
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(JSON_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(why) => Err(Complaint::new(Exit::Environment, format!("{path}: {why}"))),
    }
}

fn ports(agent: &Agent, call: &Call) -> Ports {
    let file = &agent.file;
    let can_prove = file.tools.iter().any(|tool| tool.definition.reconciles);
    Ports {
        model: Arc::new(outside::Scripted::new(Arc::clone(file))),
        tools: Arc::new(outside::FileTools::new(Arc::clone(file))),
        approver: match &file.disapproved {
            Some(denied) => Arc::new(outside::Approvals(denied.clone())),
            None => Arc::new(NoApprover),
        },
        authorizer: if file.denied.is_empty() {
            Arc::new(AllowAll)
        } else {
            Arc::new(outside::Denials(Arc::clone(file)))
        },
        reconciler: if can_prove {
            Arc::new(outside::Files(Arc::clone(file)))
        } else {
            Arc::new(NoReconciler)
        },
        bindings: Arc::new(lane::OneAgent::new(&call.conversation, &agent.binding)),
    }
}

/// What the store said last when it did not do what it was told, until it does.
#[derive(Clone, Debug, Default)]
struct Trouble(Arc<Mutex<Option<Words>>>);

/// Words about a pipeline that failed.
#[derive(Debug)]
struct Words {
    /// Whether it was to write: a reading that succeeds does not end that.
    writes: bool,
    text: String,
}

/// A store that remembers its trouble in words.
struct Told {
    store: SqliteStore,
    trouble: Trouble,
}

impl Store for Told {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let classes = pipeline.commands.iter().map(|command| command.kind().class());
        let writes = classes.into_iter().any(|class| class == EffectClass::Durable);
        let result = self.store.perform(pipeline);
        let mut last = self.trouble.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &result {
            Ok(_) | Err(StoreError::Refused { .. }) => {
                last.take_if(|last| writes || !last.writes);
            }
            Err(error) => *last = Some(Words { writes, text: error.to_string() }),
        }
        result.map_err(|error| error.fault())
    }
}

impl Shared for Told {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}

fn failed(error: HostError, trouble: &Trouble) -> Complaint {
    let last = || trouble.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let text = match error {
        HostError::StoreUnsure | HostError::Store(_) => last().map(|last| last.text),
        HostError::Rejected(_)
        | HostError::StoreGone
        | HostError::Stopped
        | HostError::NoSuchSubmission
        | HostError::Quarantined(_) => None,
    };
    let text = text.unwrap_or_else(|| error.to_string());
    let again = "nothing that was accepted is lost: run the same line again once that is repaired";
    Complaint::new(Exit::Environment, format!("{text}\nhelp: {again}"))
}

fn no_threads(why: std::io::Error) -> Complaint {
    Complaint::new(Exit::Environment, format!("no threads: {why}"))
}

fn no_signals(why: std::io::Error) -> Complaint {
    Complaint::new(Exit::Environment, format!("no signals: {why}"))
}
