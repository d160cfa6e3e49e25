//! Everybody outside, who answers at once; and the look-out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{
    AgentDefinition, Binding, ExecutionClass, FinishReason, ModelFault, ModelRequest,
    ModelResponse, ResponsePart, ToolCall, ToolDefinition, ToolOutcome, Usage,
};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{AgentId, ConversationId, DurationMs, ToolName, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::scheduler::Findings;
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, LookOut, Model, NoApprover, NoReconciler, Parts, Ports,
    ScanFailed, Tools,
};
use everstep_sqlite::{Clock as _, SqliteReader, WallClock};

/// How long a reading may wait.
const PATIENCE: Duration = Duration::from_secs(5);

fn pay() -> ToolName {
    ToolName::new("pay").expect("a name")
}

/// What the model says at last.
pub(crate) fn answer() -> ModelResponse {
    let parts = vec![ResponsePart::Text("It is refunded.".into())];
    ModelResponse { parts, finish: FinishReason::Stop, usage: Some(Usage::default()) }
}

fn call() -> ModelResponse {
    let parameters = CanonicalJson::parse(br#"{"order":17}"#).expect("an object");
    let call = ToolCall { label: "call_0".into(), tool: pay(), parameters };
    let parts = vec![ResponsePart::Call(call)];
    ModelResponse { parts, finish: FinishReason::ToolCalls, usage: Some(Usage::default()) }
}

/// An agent, with one ordinary tool or none.
pub(crate) fn binding(tool: bool) -> Arc<Binding> {
    let tools = tool.then(|| ToolDefinition::new(pay(), ExecutionClass::Ordinary));
    let id = AgentId::new("clerk").expect("a name");
    let tools = tools.into_iter().collect();
    let definition = AgentDefinition::new(id, "You refund.", tools, 4).expect("a definition");
    Arc::new(Binding { definition, model: Digest::of("bench/model", b"scripted") })
}

/// Calls the tool first if there is one, and then answers.
struct Scripted {
    tool: bool,
}

impl Model for Scripted {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let calls = self.tool && request.turn == Turn(0);
        Box::pin(async move {
            // A run that is gone wants no answer.
            let _ = parts.send_whole(&if calls { call() } else { answer() }).await;
            Ok(())
        })
    }
}

struct EveryLane(Arc<Binding>);

impl Bindings for EveryLane {
    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        Some(Arc::clone(&self.0))
    }
}

/// The ports of a host that works for an agent with one tool or none.
pub(crate) fn ports(tool: bool) -> Ports {
    let paid =
        |_| async { ToolOutcome::Success(CanonicalJson::string("receipt").expect("a text")) };
    Ports {
        model: Arc::new(Scripted { tool }),
        tools: Arc::new(Tools::default().with(pay(), paid)),
        approver: Arc::new(NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(EveryLane(binding(tool))),
    }
}

/// Looks at every lane of a file.
pub(crate) struct EveryWork {
    reader: SqliteReader,
    version: Option<i64>,
}

impl EveryWork {
    pub(crate) fn new(file: &Path) -> Self {
        let reader = SqliteReader::open(file, PATIENCE).expect("it is there");
        Self { reader, version: None }
    }
}

impl LookOut for EveryWork {
    fn scan(&mut self, after: Option<&ConversationId>) -> Result<Findings, ScanFailed> {
        let now = WallClock.now();
        let scan = self.reader.scan(now, after, 64).map_err(|why| ScanFailed(why.to_string()))?;
        Ok(Findings {
            claimable: scan.claimable.into_iter().map(|(lane, _)| lane).collect(),
            wakes_in: scan.wakes_at.map(|at| DurationMs(at.0.saturating_sub(now.0))),
            after: scan.after,
        })
    }

    fn has_changed(&mut self) -> bool {
        let Ok(version) = self.reader.data_version() else { return false };
        self.version.replace(version) != Some(version)
    }
}
