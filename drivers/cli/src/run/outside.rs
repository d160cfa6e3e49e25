//! The outside of an agent file: a scripted model, tools that append to files, and who is asked.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::future::pending;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everstep_machine::agent::{
    Diagnostic, ExecutionClass, ModelFault, ModelRequest, ModelResponse, Resolution, ToolOutcome,
};
use everstep_machine::effect::{
    ApprovalAnswer, ApprovalQuestion, Authorization, Doubted, Invocation, Reconciliation,
};
use everstep_machine::identity::{RunId, ToolCallId, ToolName, Turn};
use everstep_runtime::{
    Approver, Authorizer, BoxFuture, Ended, Handlers, Live, Model, Parts, Reconciler, blocking,
    pause,
};
use everstep_schema::Checker;
use everstep_sim::scenario::{AgentFile, AgentTool, FaultScript, Says, TurnScript};

/// A model that says what the file says. Beyond its script it repeats the last turn.
pub(super) struct Scripted {
    file: Arc<AgentFile>,
    /// How many faults of each turn were met in this process.
    met: Mutex<BTreeMap<Turn, usize>>,
}

impl Scripted {
    pub(super) fn new(file: Arc<AgentFile>) -> Self {
        Self { file, met: Mutex::default() }
    }

    fn answer(&self, turn: Turn) -> Result<ModelResponse, FaultScript> {
        let none = || {
            let fault = ModelFault::Protocol(Diagnostic::cut("NoScript", "no turn is left"));
            FaultScript { fault, is_silent: false }
        };
        let script = scripted(&self.file, turn).ok_or_else(none)?;
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let met = met.entry(turn).or_default();
        if let Some(fault) = script.faults.get(*met) {
            *met += 1;
            return Err(fault.clone());
        }
        match &script.says {
            Says::Answer(answer) => Ok(answer.response()),
            Says::Fault(fault) => Err(fault.clone()),
        }
    }
}

impl Model for Scripted {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let answer = self.answer(request.turn);
        Box::pin(async move {
            match answer {
                // A stream that nobody wants any more is nobody's fault.
                Ok(response) => drop(parts.send_whole(&response).await),
                // The host's patience ends.
                Err(FaultScript { is_silent: true, .. }) => pending().await,
                Err(FaultScript { fault, .. }) => return Err(fault),
            }
            Ok(())
        })
    }
}

fn scripted(file: &AgentFile, turn: Turn) -> Option<&TurnScript> {
    file.turns.get(turn.0 as usize).or(file.turns.last())
}

/// An authorizer that turns down the tools that the file names.
pub(super) struct Denials(pub(super) Arc<AgentFile>);

impl Authorizer for Denials {
    fn authorize(
        &self,
        run: RunId,
        turn: Turn,
        calls: Vec<ToolCallId>,
    ) -> BoxFuture<Authorization> {
        let declared = scripted(&self.0, turn).map(TurnScript::calls).unwrap_or_default();
        let ids = declared.iter().enumerate();
        let allowed: Vec<ToolCallId> = ids
            .filter(|(_, call)| !self.0.denied.contains(&call.tool))
            .map(|(index, _)| ToolCallId::derive(run, turn, index))
            .collect();
        let all = calls.iter().all(|call| allowed.contains(call));
        let answer = if all { Authorization::Allowed } else { Authorization::Denied };
        Box::pin(async move { answer })
    }
}

/// An approver that approves everything but calls of the tools that the file names.
pub(super) struct Approvals(pub(super) Vec<ToolName>);

impl Approver for Approvals {
    fn approve(
        &self,
        _run: RunId,
        _turn: Turn,
        questions: Vec<ApprovalQuestion>,
    ) -> BoxFuture<Vec<ApprovalAnswer>> {
        let answers = questions.into_iter().map(|question| ApprovalAnswer {
            call: question.call,
            digest: question.digest,
            approved: !self.0.contains(&question.tool),
        });
        let answers = answers.collect();
        Box::pin(async move { answers })
    }
}

/// The handlers of the file's tools.
pub(super) struct FileTools {
    file: Arc<AgentFile>,
    checker: Checker,
}

impl FileTools {
    pub(super) fn new(file: Arc<AgentFile>) -> Self {
        Self { file, checker: Checker::default() }
    }
}

impl Handlers for FileTools {
    fn invoke(&self, invocation: Invocation, _: Live) -> BoxFuture<Ended> {
        let tool = self.file.tool(&invocation.tool).cloned();
        Box::pin(async move {
            match tool {
                Some(tool) => handle(tool, invocation).await,
                None => {
                    let why = Diagnostic::cut("NoHandler", "the agent file has no such tool");
                    Ended::Outcome(ToolOutcome::Defect(why))
                }
            }
        })
    }

    fn checker(&self) -> &Checker {
        &self.checker
    }
}

async fn handle(tool: AgentTool, invocation: Invocation) -> Ended {
    if tool.latency.0 > 0 {
        pause(Duration::from_millis(tool.latency.0)).await;
    }
    let Some(path) = tool.append else { return Ended::Outcome(tool.outcome) };
    // The kind only: what the system says may hold more than may be stored.
    let failed = |why: io::Error| Diagnostic::cut("AppendFailed", &why.kind().to_string());
    match blocking(move || append(Path::new(&path), &invocation)).await {
        Ok(()) => Ended::Outcome(tool.outcome),
        Err(NotAppended::Untouched(why)) => Ended::Outcome(ToolOutcome::Failure(failed(why))),
        Err(NotAppended::Unsure(why)) => Ended::Unsure(failed(why)),
    }
}

/// Why a line is not known to be on disk.
enum NotAppended {
    /// The file is as it was.
    Untouched(io::Error),
    /// The line, or a part of it, may be there.
    Unsure(io::Error),
}

/// Appends one line, and returns when it is on disk. Under one lock with looking whether the line
/// is there, for a tool whose calls may be repeated, and with taking back what was written of it
/// if not all of it could be.
fn append(path: &Path, invocation: &Invocation) -> Result<(), NotAppended> {
    let (mut file, length, begins) = prepared(path, invocation).map_err(NotAppended::Untouched)?;
    let Some(begins) = begins else { return Ok(()) };
    let line = format!("{begins}{} {}\n", invocation.call, invocation.parameters.as_str());
    let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
    written.map_err(|why| match file.set_len(length).and_then(|()| file.sync_data()) {
        Ok(()) => NotAppended::Untouched(why),
        Err(_) => NotAppended::Unsure(why),
    })
}

/// The file under its lock, its length, and what a new line begins with: nothing, or the end of
/// the line before, which somebody has left open. None if the line is there and need not be again.
fn prepared(path: &Path, invocation: &Invocation) -> io::Result<(File, u64, Option<&'static str>)> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    file.lock()?;
    let length = file.seek(SeekFrom::End(0))?;
    if invocation.class == ExecutionClass::Idempotent && is_there(&mut file, invocation.call)? {
        return Ok((file, length, None));
    }
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begins = if last == [b'\n'] { "" } else { "\n" };
    Ok((file, length, Some(begins)))
}

/// Whether a whole line begins with the call's id.
fn is_there(file: &mut File, call: ToolCallId) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let id = format!("{call} ");
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.any(|line| line.ends_with(b"\n") && line.starts_with(id.as_bytes())))
}

/// A reconciler that looks into the file a tool appends to. What is there has happened; of what is
/// not there it can prove nothing, since a process that is paused may still write it.
pub(super) struct Files(pub(super) Arc<AgentFile>);

impl Reconciler for Files {
    fn reconcile(&self, doubted: Doubted) -> BoxFuture<Reconciliation> {
        let tool = self.0.tool(&doubted.tool).filter(|tool| tool.definition.reconciles).cloned();
        Box::pin(async move {
            let Some(AgentTool { append: Some(path), outcome, .. }) = tool else {
                return Reconciliation::Unprovable;
            };
            let there = blocking(move || {
                File::open(path).and_then(|mut file| is_there(&mut file, doubted.doubt.call))
            });
            match (there.await, outcome) {
                (Ok(true), ToolOutcome::Success(result)) => {
                    Reconciliation::Proven(Resolution::Completed(result))
                }
                _ => Reconciliation::Unprovable,
            }
        })
    }
}
