//! What is submitted, and the name that the same line gives it again.

use std::path::Path;
use std::sync::Arc;

use everstep_machine::admission::Call;
use everstep_machine::agent::{Allowance, Binding};
use everstep_machine::digest::{Digest, Hasher};
use everstep_machine::identity::{
    ConversationId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
};
use everstep_sim::scenario::{AgentFile, AgentSource, AuthorityFile, Fault};

use super::input::input;
use crate::args::Run;
use crate::exit::{Complaint, Exit};

/// An agent file, read, with what identifies it.
pub(super) struct Agent {
    pub(super) file: Arc<AgentFile>,
    pub(super) binding: Arc<Binding>,
    digest: Digest,
}

/// Reads an agent file.
pub(super) fn agent(path: &Path) -> Result<Agent, Complaint> {
    let (file, source) = AgentFile::read(path).map_err(|error| {
        let absent =
            matches!(error.fault(), Fault::Missing { .. } | Fault::Folder | Fault::Unreadable(_));
        Complaint::new(if absent { Exit::Environment } else { Exit::Usage }, error)
    })?;
    if file.authority != AuthorityFile::default() {
        let why = "`capabilities`, `approval` and `tool_metadata` are not kept to yet: a run would do \
                   what they forbid";
        let help = "take them out, and say with `approval` of a tool, `[approver]` and \
                    `[authorizer]` who is asked and what is turned down";
        let place = path.display();
        return Err(Complaint::new(Exit::Usage, format!("{place}: {why}\nhelp: {help}")));
    }
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
        principal: PrincipalId::new("local").expect(named),
        tenant: TenantId::new("default").expect(named),
        key: IdempotencyKey::new(&name).expect(named),
        input,
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::clone(&agent.binding),
        producer: producer(),
    })
}

/// The name of this process.
pub(super) fn producer() -> ProducerId {
    let name = format!("everstep run, process {}", std::process::id());
    ProducerId::new(&name).expect("ID-01: a name of the host's own is short and plain")
}
