//! What exactly is to be done, and its fingerprint.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::agent::Risk;
use crate::authority::{CapabilityKey, Resource};
use crate::digest::Digest;
use crate::identity::{AgentId, ToolName};
use crate::json::{CanonicalJson, JsonError};

/// What is to be done: whatever of it differs is another deed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Deed {
    /// By which agent.
    pub agent: AgentId,
    /// In which revision of its definition.
    pub revision: Digest,
    /// Under which grants: the digest of all that the agent may do.
    pub snapshot: Digest,
    /// With which tool.
    pub tool: ToolName,
    /// Taking which capability, if it takes one.
    pub capability: Option<CapabilityKey>,
    /// The action, normalized.
    pub action: CanonicalJson,
    /// What it is done to, normalized, in the action's order.
    pub targets: Vec<Resource>,
    /// The digest of the policy in force.
    pub policy: Digest,
}

/// The digest of a deed and of its risk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub Digest);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Deed {
    /// The fingerprint: SHA-256 of the canonical JSON of the deed and its risk (AUTH-10).
    ///
    /// # Errors
    /// A name of the deed is longer than JSON texts may be; then nothing can be remembered about it.
    pub fn fingerprint(&self, risk: Risk) -> Result<Fingerprint, JsonError> {
        let text = self.spelled(risk)?;
        Ok(Fingerprint(Digest::of("everstep/deed", text.as_bytes())))
    }

    /// The canonical JSON text: members in the order of their names.
    pub(super) fn spelled(&self, risk: Risk) -> Result<String, JsonError> {
        let mut targets = String::new();
        for target in &self.targets {
            targets.push_str(if targets.is_empty() { "" } else { "," });
            targets.push_str(CanonicalJson::string(target.as_str())?.as_str());
        }
        let mut text = String::new();
        let agent = CanonicalJson::string(self.agent.as_str())?;
        let capability = match &self.capability {
            Some(capability) => CanonicalJson::string(capability.as_str())?,
            None => CanonicalJson::null(),
        };
        let tool = CanonicalJson::string(self.tool.as_str())?;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{{\"action\":{action},\"agent\":{agent},\"capability\":{capability},\
             \"policy\":\"{policy}\",\"revision\":\"{revision}\",\"risk\":\"{risk}\",\
             \"snapshot\":\"{snapshot}\",\"targets\":[{targets}],\"tool\":{tool}}}",
            action = self.action.as_str(),
            agent = agent.as_str(),
            capability = capability.as_str(),
            policy = self.policy,
            revision = self.revision,
            risk = word(risk),
            snapshot = self.snapshot,
            tool = tool.as_str(),
        );
        Ok(text)
    }
}

const fn word(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}
