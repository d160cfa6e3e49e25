//! `everstep run`: one durable submission on one file.
//!
//! What is submitted is named by what was asked: the bytes of the agent file and of its script, the
//! input and the key. So the same line, typed again after whatever happened, finds the submission
//! it began and carries on, or prints how it ended; it never begins a second one.
//!
//! A signal that asks the process to end stops the host at the next boundary; a second one ends the
//! process at once. Neither loses anything: both are a crash that was announced.

mod append;
pub(crate) mod input;
mod lane;
mod later;
pub(crate) mod named;
mod outside;
mod progress;
mod report;
mod service;
mod steps;
mod terminal;
mod trouble;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::identity::{ConversationId, DurationMs, SubmissionId};
use everstep_machine::record::Record;
use everstep_runtime::{
    Config, Failpoints, Host, HostError, Interrupts, Standing, StartError, block_on,
};
use everstep_sim::scenario::AgentFile;
use everstep_sqlite::{Options, SqliteStore};

use crate::args::Run;
use crate::database;
use crate::exit::{Complaint, Exit, Outcome};
use crate::output;
use crate::submissions::find;
use lane::{OneAgent, OwnLane};
use named::{agent, call, producer};
use report::Report;
use terminal::Terminal;
use trouble::{Told, Trouble, failed};

/// How long one sending of a pipeline waits while another process holds the lock. The host sends
/// several times before it gives up.
const LOCKED: Duration = Duration::from_secs(2);

/// Runs the command.
pub(crate) fn run(args: &Run) -> Outcome {
    carried_on(args).map_err(|Complaint { exit, text }| match exit {
        // 1 is for what is settled. A file that does not verify says nothing of that.
        Exit::Safety => Complaint::new(Exit::Environment, text),
        _ => Complaint { exit, text },
    })
}

fn carried_on(args: &Run) -> Outcome {
    let agent = agent(&args.agent)?;
    apart(&agent.file, &args.db)?;
    let mut approver = outside::approver(&agent.file.approver)?;
    let call = args.input.as_deref().map(|said| call(args, &agent, said)).transpose()?;
    let failpoints = Failpoints::from_env().map_err(|why| Complaint::new(Exit::Usage, why))?;
    let options = Options::new(&args.db).mode(args.commit).busy(LOCKED).create(call.is_some());
    let mut store = SqliteStore::open(options).map_err(|why| database::unopened(&why))?;
    let points = failpoints.clone();
    store.on_failpoint(move |failpoint| points.pass(failpoint));
    let reader = database::reader(&args.db)?;
    let trouble = Trouble::default();
    let store = Told { store, trouble: trouble.clone() };
    let (lane, submission) = match (&call, &args.resume) {
        (Some(call), _) => (call.conversation.clone(), call.submission()),
        (None, resumed) => {
            let (_, (lane, row)) = find(&args.db, resumed.as_deref().unwrap_or_default())?;
            (lane, row.admission.submission)
        }
    };
    if !args.no_input {
        approver = Terminal::behind(approver);
    }
    let ports = outside::ports(&agent.file, approver, OneAgent::new(&lane, &agent.binding));
    let lookout = OwnLane::new(reader, lane.clone());
    let config = Config {
        slots: 1,
        lease: DurationMs(args.lease_ms),
        renewal: DurationMs(args.lease_ms / 3),
        failpoints,
        ..Config::new(producer())
    };
    let report = block_on(async {
        let mut interrupts = Interrupts::listen().map_err(no_signals)?;
        let host = Host::start(store, lookout, ports, config).map_err(not_started)?;
        host.on_event(progress::watcher());
        let answer = async {
            if let Some(call) = call {
                host.submit(call).await?;
            }
            let (last, standing) = ended(&host, &lane, submission).await?;
            let later = match &standing {
                Standing::Settled(_) => later::answered(&host, &args.db, &lane, last).await,
                // What waits behind it waits for the same people.
                Standing::Unknown(_) | Standing::Suspended(_) | Standing::Incompatible(_) => {
                    Vec::new()
                }
            };
            Ok((last, standing, later))
        };
        let Some(answer) = interrupts.unless(answer).await else {
            stopped(host, interrupts).await;
            // It may have settled meanwhile; what cannot be read is told by the same line again.
            return Ok(settled(args, &lane, submission).ok().flatten());
        };
        let answer = answer.map_err(|error| failed(error, &trouble, &args.db));
        // While the store is open: whoever only looks leaves files beside one that is closed.
        let report = answer.and_then(|(last, standing, later)| {
            Ok(Report::of(args, &lane, last, standing)?.with(later))
        });
        // A signal cuts that short.
        let _ = interrupts.unless(host.stop()).await;
        report.map(Some)
    });
    match report.map_err(|why| not_started(why.into()))?? {
        Some(report) => report.print(),
        None => {
            output::note(STOPPED);
            Ok(Exit::Budget)
        }
    }
}

/// How a submission stands in the end, or what tries it again because somebody wanted that, and which
/// of them it is.
async fn ended(
    host: &Host,
    lane: &ConversationId,
    submission: SubmissionId,
) -> Result<(SubmissionId, Standing), HostError> {
    let mut last = submission;
    loop {
        let standing = host.wait(lane, last).await?;
        // What was said of its doubts is recorded too; how it ended is known either way.
        let _ = host.rest(lane, last).await;
        match &host.row(lane, last).await?.chain.retried {
            Some(retried) => last = retried.successor,
            None => return Ok((last, standing)),
        }
    }
}

/// No tool appends to the database or to what SQLite keeps beside it.
fn apart(agent: &AgentFile, db: &Path) -> Result<(), Complaint> {
    let whole = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        std::fs::canonicalize(&path).unwrap_or(path)
    };
    let beside = |ending: &str| {
        let mut name = whole(db).into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let taken = ["", "-wal", "-shm", "-journal"].map(beside);
    for tool in &agent.tools {
        if let Some(append) = &tool.append
            && taken.contains(&whole(Path::new(append)))
        {
            let name = &tool.definition.name;
            let why = format!("the tool {name} appends to {append}, which is the database's");
            return Err(Complaint::new(Exit::Usage, format!("{why}\nhelp: name another file")));
        }
    }
    Ok(())
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

/// How a submission ended whose host has stopped, if it has. The store is open meanwhile, since
/// whoever only looks leaves files beside one that is closed.
fn settled<'a>(
    args: &'a Run,
    lane: &'a ConversationId,
    submission: SubmissionId,
) -> Result<Option<Report<'a>>, Complaint> {
    let options = Options::new(&args.db).create(false);
    let store = SqliteStore::open(options).map_err(|why| database::unopened(&why))?;
    let reader = database::reader(&args.db)?;
    let last = database::last_of_chain(&reader, lane, submission).map_err(database::unread)?;
    let submission = last.map_or(submission, |row| row.admission.submission);
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
    let standing = settled.map(Standing::Settled);
    let report = standing.map(|it| Report::of(args, lane, submission, it)).transpose();
    drop(reader);
    drop(store);
    report
}

fn not_started(why: StartError) -> Complaint {
    Complaint::new(Exit::Environment, why.to_string())
}

fn no_signals(why: std::io::Error) -> Complaint {
    Complaint::new(Exit::Environment, format!("no signals: {why}"))
}
