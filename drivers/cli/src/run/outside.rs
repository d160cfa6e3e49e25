//! The outside of an agent file: a scripted model, tools that append to files, and who is asked.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
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
    Approver, Authorizer, BoxFuture, Model, Parts, Reconciler, Tools, blocking, pause,
};
use everstep_sim::scenario::{AgentFile, AgentTool, Says, TurnScript};

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

    fn answer(&self, turn: Turn) -> Result<ModelResponse, ModelFault> {
        let script = scripted(&self.file, turn)
            .ok_or_else(|| ModelFault::Protocol(Diagnostic::cut("NoScript", "no turn is left")))?;
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
            // A stream that nobody wants any more is nobody's fault.
            let _ = parts.send_whole(&answer?).await;
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
pub(super) fn tools(file: &AgentFile) -> Tools {
    file.tools.iter().fold(Tools::default(), |tools, tool| {
        let tool = Arc::new(tool.clone());
        let name = tool.definition.name.clone();
        tools.with(name, move |invocation| handle(Arc::clone(&tool), invocation))
    })
}

async fn handle(tool: Arc<AgentTool>, invocation: Invocation) -> ToolOutcome {
    if tool.latency.0 > 0 {
        pause(Duration::from_millis(tool.latency.0)).await;
    }
    let Some(path) = tool.append.clone() else { return tool.outcome.clone() };
    match blocking(move || append(Path::new(&path), &invocation)).await {
        Ok(()) => tool.outcome.clone(),
        // The kind only: what the system says may hold more than may be stored.
        Err(why) => ToolOutcome::Failure(Diagnostic::cut("AppendFailed", &why.kind().to_string())),
    }
}

/// Appends one line, and returns when it is on disk. Under one lock with looking whether the line
/// is there, for a tool whose calls may be repeated.
fn append(path: &Path, invocation: &Invocation) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    file.lock()?;
    if invocation.class == ExecutionClass::Idempotent && is_there(&mut file, invocation.call)? {
        return Ok(());
    }
    let line = format!("{} {}\n", invocation.call, invocation.parameters.as_str());
    file.write_all(line.as_bytes())?;
    file.sync_data()
}

/// Whether a line begins with the call's id.
fn is_there(file: &mut File, call: ToolCallId) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let id = format!("{call} ");
    Ok(text.split(|byte| *byte == b'\n').any(|line| line.starts_with(id.as_bytes())))
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
