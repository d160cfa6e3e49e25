//! What is submitted, and the name that the same line gives it again.

use std::path::Path;
use std::sync::Arc;

use everstep_machine::admission::Call;
use everstep_machine::agent::{Allowance, Binding};
use everstep_machine::authority;
use everstep_machine::clearance::{Clearances, Input, State};
use everstep_machine::contract::Machine as _;
use everstep_machine::digest::{Digest, Hasher};
use everstep_machine::identity::{
    ConversationId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
};
use everstep_runtime::Clearance;
use everstep_sim::scenario::{AgentFile, AgentSource, Fault};

use super::input::input;
use crate::args::Run;
use crate::exit::{Complaint, Exit};

/// An agent file, read, with what identifies it.
pub(crate) struct Agent {
    pub(crate) file: Arc<AgentFile>,
    pub(crate) binding: Arc<Binding>,
    digest: Digest,
}

/// Reads an agent file.
pub(crate) fn agent(path: &Path) -> Result<Agent, Complaint> {
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
pub(super) fn call(args: &Run, agent: &Agent, said: &str) -> Result<Call, Complaint> {
    let input = input(args.as_json, said)?;
    let name = Hasher::new("everstep/run-command")
        .bytes(&agent.digest.0)
        .bytes(input.as_str().as_bytes())
        .bytes(args.key.as_deref().unwrap_or_default().as_bytes())
        .digest()
        .to_string();
    let named = "ID-01: a name of the host's own is short and plain";
    Ok(Call {
        conversation: ConversationId::new(&format!("run-{}", &name[..32])).expect(named),
        principal: principal(),
        tenant: tenant(),
        key: IdempotencyKey::new(&name).expect(named),
        input,
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::clone(&agent.binding),
        producer: producer(),
    })
}

/// Who runs agents on this machine.
pub(crate) fn principal() -> PrincipalId {
    PrincipalId::new("local").expect("ID-01: a name of the host's own is short and plain")
}

/// Whose data it is.
pub(crate) fn tenant() -> TenantId {
    TenantId::new("default").expect("ID-01: a name of the host's own is short and plain")
}

/// What an agent may do: what its file grants to whoever runs it. A file that says nothing of grants
/// grants nothing, and then no tool takes anything unless it says so (AUTH-01).
pub(super) fn clearance(file: &AgentFile) -> Clearance {
    match &file.authority.grants {
        Some(grants) => Clearance::of(&tenant(), &principal(), grants.clone()),
        None => Clearance::default(),
    }
}

/// The same for who only looks.
pub(crate) fn granted(file: &AgentFile) -> State {
    let Some(policy) = file.authority.grants.clone() else { return State::default() };
    let inputs = [
        authority::Input::Joined { tenant: tenant(), principal: principal() },
        authority::Input::PolicyLaidDown { tenant: tenant(), policy },
    ];
    let tell = |state, input| Clearances::step(state, Input::Authority(input)).state;
    inputs.into_iter().fold(State::default(), tell)
}

/// The name of this process.
pub(super) fn producer() -> ProducerId {
    let name = format!("everstep run, process {}", std::process::id());
    ProducerId::new(&name).expect("ID-01: a name of the host's own is short and plain")
}
