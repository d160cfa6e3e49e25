//! A host's own say in what a model is shown: it reaches the model, and nothing that is canonical.

use std::sync::{Arc, Mutex};

use everstep_machine::admission::Call;
use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Allowance, Binding, CompactionArtifact, Diagnostic,
    ExecutionClass, FinishReason, Message, ModelFault, ModelRequest, ModelResponse, ResponsePart,
    Schema, SummaryMessage, SummaryRole, ToolCall, ToolDefinition, ToolOutcome, Usage,
    source_digest,
};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AgentId, CompactorVersion, ConversationId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
    ToolName, Turn,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::permits::Limits;
use everstep_machine::record::Settlement;
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, Clearance, Compactor, ContextSnapshot, End, Ephemeral, How,
    Model, NoApprover, NoReconciler, Parts, Ports, Prepared, Tools, block_on,
};

/// A model that calls `work` once, answers as its contract wants, and remembers its requests.
#[derive(Default)]
struct Script(Mutex<Vec<Arc<ModelRequest>>>);

impl Model for Script {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let turn = request.turn;
        self.0.lock().unwrap().push(request);
        Box::pin(async move {
            let parameters = CanonicalJson::parse(b"{}").unwrap();
            let call = ToolCall { label: "1".into(), tool: work(), parameters };
            let (part, finish) = match turn {
                Turn(0) => (ResponsePart::Call(call), FinishReason::ToolCalls),
                _ => (ResponsePart::Text("{\"done\":true}".into()), FinishReason::Stop),
            };
            let usage = Some(Usage::default());
            let response = ModelResponse { parts: vec![part], finish, usage };
            let _ = parts.send_whole(&response).await;
            Ok(())
        })
    }
}

/// Brings a summary of the input along from the second turn on, as told.
struct Host(fn(&ContextSnapshot) -> Result<Option<CompactionArtifact>, Diagnostic>);

impl Compactor for Host {
    fn compact(
        &self,
        snapshot: ContextSnapshot,
    ) -> BoxFuture<Result<Option<CompactionArtifact>, Diagnostic>> {
        let said = if snapshot.turn == Turn(0) { Ok(None) } else { (self.0)(&snapshot) };
        Box::pin(async { said })
    }
}

/// A summary of the first message.
fn of_the_input(snapshot: &ContextSnapshot) -> CompactionArtifact {
    let (at, _) = snapshot.messages.entries().next().expect("there is an input");
    CompactionArtifact {
        covers_from: *at,
        covers_through: *at,
        summary: SummaryMessage { role: SummaryRole::System, text: "They want work.".into() },
        retained_facts: Vec::new(),
        token_estimate: 4,
        source_digest: source_digest(&snapshot.messages, *at, *at),
        compactor_version: CompactorVersion::new("test/1").unwrap(),
    }
}

struct NoLane;

impl Bindings for NoLane {
    fn agents(&self) -> Vec<Arc<Binding>> {
        Vec::new()
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        None
    }
}

fn work() -> ToolName {
    ToolName::new("work").unwrap()
}

fn call() -> Call {
    let output = Schema::parse(br#"{"type":"object"}"#).unwrap();
    let policy = AgentPolicy { output: Some(output), status_note: true, ..AgentPolicy::default() };
    let tool = ToolDefinition::new(work(), ExecutionClass::Readonly);
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::with_policy(id, "Work.", vec![tool], policy).unwrap();
    Call {
        conversation: ConversationId::new("here").unwrap(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new("1").unwrap(),
        input: CanonicalJson::string("a secret plan").unwrap(),
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::new(Binding { definition, model: Digest::of("test/model", b"1") }),
        producer: ProducerId::new("here").unwrap(),
    }
}

/// How a run ends, and what its model was asked.
fn run(host: Option<Host>) -> (End, Vec<Arc<ModelRequest>>) {
    let script = Arc::new(Script::default());
    let model: Arc<dyn Model> = match host {
        Some(host) => Arc::new(Prepared::new(script.clone(), Arc::new(host))),
        None => script.clone(),
    };
    let done = |_| async { ToolOutcome::Success(CanonicalJson::string("done").unwrap()) };
    let ports = Ports {
        model,
        tools: Arc::new(Tools::default().with(work(), done)),
        clearance: Clearance::default(),
        approver: Arc::new(NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(NoLane),
    };
    let limits = Limits { agent: 8, group: 8, groups: Default::default(), host: 8 };
    let ended =
        block_on(async { Ephemeral::start(&call(), ports, limits, |_| {}).unwrap().ended().await });
    let asked = script.0.lock().unwrap().clone();
    (ended.unwrap(), asked)
}

#[test]
fn cap_007_run_025_what_a_host_prepares_is_shown_and_touches_nothing_canonical() {
    let (plain, asked) = run(None);
    let (prepared, shown) = run(Some(Host(|snapshot| Ok(Some(of_the_input(snapshot))))));
    assert_eq!(prepared, plain, "the same end and the same history, byte by byte");
    assert!(matches!(prepared.how, How::Settled(Settlement::Completed { .. })));
    assert_eq!((asked.len(), shown.len()), (2, 2));
    let first = |request: &ModelRequest| request.messages.iter().next().cloned();
    let summary = Message::Summary("They want work.".into());
    assert_eq!(first(&shown[1]), Some(summary));
    assert_ne!(first(&asked[1]), first(&shown[1]));
    assert!(shown[1].messages.iter().skip(1).eq(asked[1].messages.iter().skip(1)));
    // The contract and the note are there whatever was prepared, and in no message.
    for request in &shown {
        assert!(request.output.is_some());
        assert_eq!(request.status, asked[request.turn.0 as usize].status);
    }
    assert_eq!(shown[1].messages.len(), 3);
}

#[test]
fn cap_007_a_summary_that_does_not_hold_what_it_promises_fails_the_run_by_name() {
    let moved = Host(|snapshot| {
        let source_digest = Digest::of("test/other", b"1");
        Ok(Some(CompactionArtifact { source_digest, ..of_the_input(snapshot) }))
    });
    let refuses = Host(|_| Err(Diagnostic::cut("CompactorDown", "no summary can be had")));
    for (host, tag) in [(moved, "CompactionInvalid"), (refuses, "CompactorDown")] {
        let (ended, asked) = run(Some(host));
        let How::Settled(Settlement::Failed { diagnostic, .. }) = ended.how else {
            panic!("{tag}: {:?}", ended.how)
        };
        assert_eq!((diagnostic.tag(), asked.len()), (tag, 1), "the model is not asked");
    }
}
