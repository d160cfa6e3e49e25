//! What a host's authority and its policy of approvals are asked about calls, and what they say.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::agent::{ApprovalTerms, Binding, RejectionReason, Risk, ToolDefinition, Verdict};
use crate::approval::Rule;
use crate::authority::{Action, CapabilityKey, ComponentPath, Need, Resource, Standpoint};
use crate::digest::Digest;
use crate::identity::{ApprovalId, ConversationId, PrincipalId, TenantId, ToolCallId, ToolName};
use crate::json::CanonicalJson;
use crate::record::Resolver;

/// For whom a run acts, and as what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asker {
    /// In whose data.
    pub tenant: TenantId,
    /// For whom.
    pub principal: PrincipalId,
    /// In which conversation.
    pub conversation: ConversationId,
    /// The agent.
    pub binding: Arc<Binding>,
}

/// A call that wants to start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proposed {
    /// Which call.
    pub call: ToolCallId,
    /// Of which tool.
    pub tool: ToolName,
    /// What has to be granted for it; none if nothing has.
    pub action: Option<Arc<Action>>,
}

/// What is said of one call before anybody is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clearance {
    /// It goes ahead: nobody is asked.
    Auto,
    /// Somebody is asked first.
    Prompt {
        /// How much harm it can do.
        risk: Risk,
        /// What wants that.
        rule: Rule,
    },
    /// It does not happen.
    Refused(RejectionReason),
}

/// What is said of several calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clearances {
    /// The version of the policy that says so: an approval counts for one version (AUTH-13).
    pub policy: Digest,
    /// Of each call. One that nothing is said of is refused.
    pub calls: Vec<(ToolCallId, Clearance)>,
}

/// A call that an approver is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApprovalQuestion {
    /// The request, under which people can decide later.
    pub request: ApprovalId,
    /// Which call.
    pub call: ToolCallId,
    /// Of which tool.
    pub tool: ToolName,
    /// What it takes, if that has to be granted.
    pub capability: Option<CapabilityKey>,
    /// How much harm it can do.
    pub risk: Risk,
    /// What wants somebody to be asked.
    pub rule: Rule,
    /// The version of the policy that wants it.
    pub policy: Digest,
    /// Digest of exactly these parameters: an answer about others is none.
    pub digest: Digest,
    /// What it is done to, if its tool says where that stands and nobody is kept from seeing it.
    pub target: Subject,
    /// The parameters, without what nobody is shown.
    pub preview: CanonicalJson,
    /// How many calls of the batch are the same in every respect: all of them are answered with it,
    /// unless an answer may hold for one alone (AUTH-11).
    pub stands_for: u32,
    /// Until when people may decide it, what it comes to then, and who alone may.
    pub terms: ApprovalTerms,
}

/// What a call is done to, as far as its tool says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Its tool does not say.
    Unsaid,
    /// This.
    Named(Resource),
    /// Something that is no normal name of a resource: an answer about it counts once.
    Unresolved,
}

/// What an approver says at once about one call. A call that it says nothing about is left to
/// people.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApprovalAnswer {
    /// Which call.
    pub call: ToolCallId,
    /// The digest of the parameters that it was asked about.
    pub digest: Digest,
    /// Whether the call may start.
    pub verdict: Verdict,
    /// Who or what says so.
    pub by: Resolver,
    /// Why: at most [`crate::limits::TEXT_BYTES`] of it are kept.
    pub reason: Arc<str>,
}

impl Asker {
    /// What has to be granted for a call of a tool, if anything has. `definition` is the digest of
    /// the agent that the run is bound to.
    #[must_use]
    pub fn action(
        &self,
        tool: &ToolDefinition,
        definition: Digest,
        resource: Option<Resource>,
    ) -> Option<Arc<Action>> {
        let capability = tool.capability.clone()?;
        Some(Arc::new(Action {
            tenant: self.tenant.clone(),
            principal: self.principal.clone(),
            definition: Some(definition),
            standpoint: Standpoint::Root,
            capability,
            need: Need::Registry,
            component: ComponentPath::new(&format!("agent/tools/{}", tool.name)).ok(),
            declared: BTreeSet::new(),
            resource,
        }))
    }
}

impl ApprovalQuestion {
    /// Whether an answer may hold for more than this one call: never for a secret, for anything
    /// critical, or for what nobody has seen yet (AUTH-04, AUTH-10).
    #[must_use]
    pub fn may_hold_for_session(&self) -> bool {
        let takes_secret = self.capability.as_ref().is_some_and(CapabilityKey::is_secret);
        let is_seen = self.target != Subject::Unresolved;
        is_seen && self.risk < Risk::Critical && !takes_secret
    }

    /// Whether somebody may decide it.
    #[must_use]
    pub fn is_for(&self, who: &Resolver) -> bool {
        match (who, &self.terms.approver) {
            (Resolver::Person(who), Some(only)) => who == only,
            (Resolver::Person(_), None)
            | (
                Resolver::Session { .. } | Resolver::Policy | Resolver::Expiry | Resolver::Abort,
                _,
            ) => true,
        }
    }

    /// What a policy answers at once.
    #[must_use]
    pub fn at_once(&self, verdict: Verdict) -> ApprovalAnswer {
        self.answered(verdict, Resolver::Policy, Arc::from("decided at once"))
    }

    /// What somebody answers.
    #[must_use]
    pub fn answered(&self, verdict: Verdict, by: Resolver, reason: Arc<str>) -> ApprovalAnswer {
        ApprovalAnswer { call: self.call, digest: self.digest, verdict, by, reason }
    }
}
