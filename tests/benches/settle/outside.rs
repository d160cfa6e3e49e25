//! Everybody outside, who answers at once; and the look-out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{
    AgentDefinition, Binding, ExecutionClass, FinishReason, ModelFault, ModelRequest,
    ModelResponse, ResponsePart, ToolCall, ToolDefinition, ToolOutcome, Usage,
};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{AgentId, ConversationId, ToolName, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, Clearance, LookOut, Model, NoApprover, NoReconciler, Parts,
    Ports, ScanFailed, Tools,
};
use everstep_sqlite::SqliteReader;

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
    fn agents(&self) -> Vec<Arc<Binding>> {
        vec![Arc::clone(&self.0)]
    }

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
        clearance: Clearance::default(),
        approver: Arc::new(NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(EveryLane(binding(tool))),
    }
}

/// Looks at every lane of a file.
pub(crate) fn every_lane(file: &Path) -> impl LookOut {
    let reader = SqliteReader::open(file, PATIENCE).expect("it is there");
    move |after: Option<&ConversationId>| {
        reader.findings(after, 64).map_err(|why| ScanFailed(why.to_string()))
    }
}
