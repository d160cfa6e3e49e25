//! A file, an agent that calls its one tool once, and hosts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::admission::{self, AdmissionMachine, Call};
use everstep_machine::agent::{
    AgentDefinition, Allowance, Binding, ExecutionClass, FinishReason, ModelFault, ModelRequest,
    ModelResponse, ResponsePart, ToolCall, ToolDefinition, Usage,
};
use everstep_machine::contract::Machine as _;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, IdempotencyKey, PrincipalId, ProducerId, Sequence,
    SubmissionId, TenantId, ToolName, Turn,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{AbortIntent, Command};
use everstep_machine::record::Record;
use everstep_machine::store::{LogPage, Pipeline, Shared, Store as _, StoreCommand};
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, Clearance, Config, Host, LookOut, Model, NoReconciler, Parts,
    Ports, ScanFailed, Toolkit, Tools,
};
use everstep_sqlite::{Options, SqliteReader, SqliteStore};

/// Longer than any test.
pub(crate) const NEVER: Duration = Duration::from_secs(3_600);
/// So that nobody waits for it.
pub(crate) const OFTEN: Duration = Duration::from_millis(10);

const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with a database, and everybody who works on it.
pub(crate) struct Desk {
    file: PathBuf,
    /// Removes the folder, if it is this one's.
    _home: Option<tempfile::TempDir>,
    hosts: AtomicUsize,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let desk = Self::at(&home.path().join("db"));
        let desk = Self { _home: Some(home), ..desk };
        drop(desk.store());
        desk
    }

    /// The same on a file of somebody else.
    pub(crate) fn at(file: &Path) -> Self {
        Self { file: file.to_owned(), _home: None, hosts: AtomicUsize::new(0) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(Options::new(&self.file).busy(PATIENCE)).unwrap()
    }

    pub(crate) fn reader(&self) -> SqliteReader {
        SqliteReader::open(&self.file, PATIENCE).unwrap()
    }

    pub(crate) fn host(&self, tools: Tools, slots: usize, glance: Duration) -> Host {
        self.host_on(self.store(), ports(tools), |config| Config { slots, glance, ..config })
    }

    /// A host on a store of one's own, that leaves a dead owner's lane alone for a minute.
    pub(crate) fn host_on(
        &self,
        store: impl Shared + Send + 'static,
        ports: Ports,
        config: impl FnOnce(Config) -> Config,
    ) -> Host {
        self.host_with(store, self.lookout(), ports, config)
    }

    /// The same with a look-out of one's own.
    pub(crate) fn host_with(
        &self,
        store: impl Shared + Send + 'static,
        lookout: impl LookOut,
        ports: Ports,
        config: impl FnOnce(Config) -> Config,
    ) -> Host {
        let number = self.hosts.fetch_add(1, Ordering::Relaxed);
        let producer = ProducerId::new(&format!("host {number}")).unwrap();
        let lease = DurationMs(60_000);
        let config = config(Config { lease, ..Config::new(producer) });
        Host::start(store, lookout, ports, config).unwrap()
    }

    /// Looks at every lane.
    pub(crate) fn lookout(&self) -> impl LookOut + use<> {
        let reader = self.reader();
        move |after: Option<&ConversationId>| {
            reader.findings(after, 8).map_err(|why| ScanFailed(why.to_string()))
        }
    }

    /// What stands beside the database.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.file.parent().unwrap()).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// The first page of a lane's log, which is all of it.
    pub(crate) fn page(&self, name: &str) -> LogPage {
        self.reader().log_page(&lane(name), Sequence(0)).unwrap()
    }

    /// Every record of a lane.
    pub(crate) fn records(&self, name: &str) -> Vec<Record> {
        let page = self.page(name);
        page.batches.iter().flat_map(|batch| batch.batch().records().to_vec()).collect()
    }
}

/// How many records are such.
pub(crate) fn count(records: &[Record], wanted: fn(&Record) -> bool) -> usize {
    records.iter().filter(|record| wanted(record)).count()
}

/// A model that calls the tool once, and nobody who objects.
pub(crate) fn ports(tools: Tools) -> Ports {
    Ports {
        model: Arc::new(Once),
        tools: Arc::new(tools),
        clearance: Clearance::default(),
        approver: Arc::new(everstep_runtime::NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(Clerk(binding())),
    }
}

/// The same with the tools of a toolkit, which its agent declares.
pub(crate) fn served(toolkit: Toolkit) -> Ports {
    let bindings = Arc::new(Clerk(binding_of(&toolkit)));
    Ports { tools: Arc::new(toolkit), bindings, ..ports(Tools::default()) }
}

/// An agent with these tools, and its model.
pub(crate) fn binding_of(toolkit: &Toolkit) -> Arc<Binding> {
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::new(id, "You pay.", toolkit.definitions(), 4).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"once") })
}

struct Clerk(Arc<Binding>);

impl Bindings for Clerk {
    fn agents(&self) -> Vec<Arc<Binding>> {
        vec![Arc::clone(&self.0)]
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        Some(Arc::clone(&self.0))
    }
}

/// Calls the tool once, and then answers.
struct Once;

impl Model for Once {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        Box::pin(async move {
            let (part, finish) = if request.turn == Turn(0) {
                let parameters = CanonicalJson::parse(b"{\"amount\":4}").unwrap();
                let call = ToolCall { label: "call".into(), tool: pay(), parameters };
                (ResponsePart::Call(call), FinishReason::ToolCalls)
            } else {
                (ResponsePart::Text("done".into()), FinishReason::Stop)
            };
            let usage = Some(Usage::default());
            let response = ModelResponse { parts: vec![part], finish, usage };
            parts.send_whole(&response).await.expect("the host waits for it");
            Ok(())
        })
    }
}

fn binding() -> Arc<Binding> {
    let class = ExecutionClass::Ordinary;
    let tool = ToolDefinition::new(pay(), class);
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::new(id, "You refund.", vec![tool], 4).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"once") })
}

pub(crate) fn pay() -> ToolName {
    ToolName::new("pay").unwrap()
}

pub(crate) fn lane(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

pub(crate) fn principal() -> PrincipalId {
    PrincipalId::new("ada").unwrap()
}

pub(crate) fn call(conversation: &str, key: &str) -> Call {
    Call {
        conversation: lane(conversation),
        principal: principal(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        input: CanonicalJson::string("refund this, please").unwrap(),
        allowance: Allowance::default(),
        steers: None,
        binding: binding(),
        producer: ProducerId::new("door").unwrap(),
    }
}

/// Accepts a call without any host.
pub(crate) fn admitted(store: &mut SqliteStore, call: Call) -> SubmissionId {
    let submission = call.submission();
    let mut step = AdmissionMachine::step(admission::State::new(call), admission::Input::Started);
    while let Some(admission::Effect::Store(pipeline)) = step.effects.pop() {
        let answer = store.execute(&pipeline);
        step = AdmissionMachine::step(step.state, admission::Input::Stored(answer));
    }
    submission
}

pub(crate) fn is_claim(command: &StoreCommand) -> bool {
    matches!(command, StoreCommand::Ledger(Command::Claim(_)))
}

/// Somebody wants a submission of the lane `a` to end.
pub(crate) fn abort(submission: SubmissionId) -> Pipeline {
    let intent = AbortIntent { principal: principal(), reason: "changed my mind".into() };
    let command = StoreCommand::Ledger(Command::Abort { submission, intent });
    Pipeline { lane: lane("a"), commands: vec![command] }
}
