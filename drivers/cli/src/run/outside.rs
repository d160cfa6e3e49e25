//! The outside of an agent file: a scripted model, tools that append to files, and who is asked.

use std::collections::BTreeMap;
use std::fs::File;
use std::future::pending;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everstep_machine::agent::{
    AgentDefinition, Diagnostic, ExecutionClass, ModelFault, ModelRequest, ModelResponse,
    Resolution, ToolOutcome, Verdict,
};
use everstep_machine::effect::{
    ApprovalQuestion, Authorization, Doubted, Invocation, Reconciliation,
};
use everstep_machine::identity::{RunId, ToolCallId, ToolName, Turn};
use everstep_machine::response::StreamPart;
use everstep_runtime::{
    AllowAll, Approver, Authorizer, Bindings, BoxFuture, Decision, Ended, Handlers, Live, Model,
    NoApprover, NoReconciler, Parts, Ports, Reconciler, ToolkitError, blocking, in_time, pause,
};
use everstep_schema::Checker;
use everstep_sim::scenario::{AgentFile, AgentTool, ApproverFile, FaultScript, Says, TurnScript};

use crate::exit::Complaint;
use crate::output;

use super::append::{Line, NotAppended, append, is_there};
use super::named::clearance;
use super::service::service;
use super::steps;

/// Everybody outside, as the file says, who work on one lane.
pub(super) fn ports(
    file: &Arc<AgentFile>,
    approver: Arc<dyn Approver>,
    bindings: impl Bindings + 'static,
) -> Ports {
    let can_prove = file.tools.iter().any(|tool| tool.definition.reconciles);
    Ports {
        model: Arc::new(Scripted::new(Arc::clone(file))),
        tools: Arc::new(FileTools::new(Arc::clone(file))),
        clearance: clearance(file),
        approver,
        authorizer: if file.denied.is_empty() {
            Arc::new(AllowAll)
        } else {
            Arc::new(Denials(Arc::clone(file)))
        },
        reconciler: if can_prove {
            Arc::new(Files { file: Arc::clone(file), checker: Checker::default() })
        } else {
            Arc::new(NoReconciler)
        },
        bindings: Arc::new(bindings),
    }
}

/// Who is asked, as the file says.
///
/// # Errors
/// The file names a service that cannot be asked.
pub(super) fn approver(said: &ApproverFile) -> Result<Arc<dyn Approver>, Complaint> {
    Ok(match said {
        ApproverFile::Nobody => Arc::new(NoApprover),
        ApproverFile::Said { denied, people } => {
            Arc::new(Approvals { denied: denied.clone(), people: people.clone() })
        }
        ApproverFile::Service(named) => Arc::new(service(named)?),
    })
}

/// A model that says what the file says. Beyond its script it repeats the last turn.
struct Scripted {
    file: Arc<AgentFile>,
    /// How many faults of each turn were met in this process.
    met: Mutex<BTreeMap<Turn, usize>>,
}

impl Scripted {
    fn new(file: Arc<AgentFile>) -> Self {
        Self { file, met: Mutex::default() }
    }

    fn answer(&self, turn: Turn) -> Result<ModelResponse, FaultScript> {
        let none = || {
            let fault = ModelFault::Protocol(Diagnostic::cut("NoScript", "no turn is left"));
            FaultScript { fault, is_silent: false, used: None }
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
                Err(FaultScript { fault, is_silent, used }) => {
                    if let Some(used) = used {
                        for part in [StreamPart::Start, StreamPart::Usage(used)] {
                            if parts.send(part).await.is_err() {
                                break;
                            }
                        }
                    }
                    if is_silent {
                        // The host's patience ends.
                        pending::<()>().await;
                    }
                    return Err(fault);
                }
            }
            Ok(())
        })
    }
}

fn scripted(file: &AgentFile, turn: Turn) -> Option<&TurnScript> {
    file.turns.get(turn.0 as usize).or(file.turns.last())
}

/// An authorizer that turns down the tools that the file names.
struct Denials(Arc<AgentFile>);

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

/// An approver that does what the file says: it denies calls of some tools, leaves those of others
/// to people, and approves the rest.
struct Approvals {
    denied: Vec<ToolName>,
    people: Vec<ToolName>,
}

impl Approver for Approvals {
    fn approve(
        &self,
        _run: RunId,
        _turn: Turn,
        questions: Vec<ApprovalQuestion>,
    ) -> BoxFuture<Vec<Decision>> {
        let decided = questions.into_iter().filter(|it| !self.people.contains(&it.tool));
        let answers = decided.map(|question| {
            let is_denied = self.denied.contains(&question.tool);
            let verdict = if is_denied { Verdict::Denied } else { Verdict::Approved };
            Decision::by_policy(&question, verdict)
        });
        let answers = answers.collect();
        Box::pin(async move { answers })
    }
}

/// The handlers of the file's tools. None runs for longer than its definition says, and what does
/// not fit what it declares is a defect of the call (CAP-004).
struct FileTools {
    file: Arc<AgentFile>,
    checker: Checker,
}

impl FileTools {
    fn new(file: Arc<AgentFile>) -> Self {
        Self { file, checker: Checker::default() }
    }
}

impl Handlers for FileTools {
    fn invoke(&self, invocation: Invocation, live: Live) -> BoxFuture<Ended> {
        let tool = self.file.tool(&invocation.tool).cloned();
        let checker = self.checker.clone();
        Box::pin(async move {
            match tool {
                Some(tool) => {
                    let (definition, steps) = (tool.definition.clone(), live.steps());
                    let work = async {
                        let ended = match definition.class {
                            ExecutionClass::Durable => {
                                steps::handle(tool, invocation.clone(), steps).await
                            }
                            ExecutionClass::Readonly
                            | ExecutionClass::Idempotent
                            | ExecutionClass::Ordinary => handle(tool, invocation.clone()).await,
                        };
                        match ended {
                            Ended::Outcome(said) => {
                                Ended::Outcome(checker.outcome(&definition, said))
                            }
                            Ended::Unsure(why) => Ended::Unsure(why),
                        }
                    };
                    in_time(&definition, &invocation, live, work).await
                }
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

    /// The file makes the agent and its handlers: one has what the other declares.
    fn serves(&self, _: &AgentDefinition) -> Result<(), ToolkitError> {
        Ok(())
    }
}

async fn handle(tool: AgentTool, invocation: Invocation) -> Ended {
    if tool.latency.0 > 0 {
        pause(Duration::from_millis(tool.latency.0)).await;
    }
    let Some(path) = tool.append else { return Ended::Outcome(tool.outcome) };
    // The kind only: what the system says may hold more than may be stored.
    let failed = |why: io::Error| Diagnostic::cut("AppendFailed", &why.kind().to_string());
    let (name, place) = (tool.definition.name, path.clone());
    // The model is told that the call failed, and may say what it likes: a person sees it here.
    let told = |why: io::Error| {
        output::note(&format!("{name}: nothing is appended to {place}: {why}"));
        failed(why)
    };
    let line = Line::of_call(&invocation);
    match blocking(move || append(Path::new(&path), &line)).await {
        Ok(()) => Ended::Outcome(tool.outcome),
        Err(NotAppended::Untouched(why)) => Ended::Outcome(ToolOutcome::Failure(told(why))),
        Err(NotAppended::Unsure(why)) => Ended::Unsure(failed(why)),
    }
}

/// A reconciler that looks into the file a tool appends to. What is there has happened; of what is
/// not there it can prove nothing, since a process that is paused may still write it.
struct Files {
    file: Arc<AgentFile>,
    checker: Checker,
}

impl Reconciler for Files {
    fn reconcile(&self, doubted: Doubted) -> BoxFuture<Reconciliation> {
        let tool = self.file.tool(&doubted.tool).filter(|tool| tool.definition.reconciles).cloned();
        let checker = self.checker.clone();
        Box::pin(async move {
            let Some(AgentTool { definition, append: Some(path), outcome, .. }) = tool else {
                return Reconciliation::Unprovable;
            };
            let there = blocking(move || {
                let call = doubted.doubt.call.to_string();
                File::open(path).and_then(|mut file| is_there(&mut file, &call))
            });
            match (there.await, outcome) {
                (Ok(true), ToolOutcome::Success(result)) => {
                    let found = Resolution::Completed(result);
                    Reconciliation::Proven(checker.resolution(&definition, found))
                }
                _ => Reconciliation::Unprovable,
            }
        })
    }

    fn reconciles(&self, tool: &ToolName) -> bool {
        self.file.tool(tool).is_some_and(|tool| tool.definition.reconciles)
    }
}
