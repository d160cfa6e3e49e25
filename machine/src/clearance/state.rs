//! What is granted, what the host wants to be asked about, and what is being asked.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Said;
use crate::agent::{Entries, Judgement, RejectionReason, ToolDefinition};
use crate::approval::{self, Layers, Metadata, Origin, Ruling};
use crate::authority::{self, Action, Decision, Outcome};
use crate::digest::{Digest, Hasher};
use crate::effect::{ApprovalQuestion, Asker, Clearance, Clearances, Proposed};
use crate::identity::{ApprovalId, PrincipalId, TenantId};

/// The clearance of a host. Nothing that has to be granted is, until it is told so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) authority: authority::State,
    pub(super) approval: approval::State,
    /// The host's layer.
    pub(super) policy: Entries,
    /// What was said of the requests that are allowed for a session.
    pub(super) allowed: BTreeMap<ApprovalId, Said>,
    /// What is asked and has no answer.
    pub(super) open: BTreeMap<ApprovalId, ApprovalQuestion>,
}

impl State {
    /// What is said of calls as things are now, before anybody is asked.
    #[must_use]
    pub fn clear(&self, asker: &Asker, calls: &[Proposed]) -> Clearances {
        let said = calls.iter().map(|it| (it.call, self.say(asker, it)));
        Clearances { policy: self.version(asker), calls: said.collect::<Vec<_>>() }
    }

    /// Whether an action may be done now, whatever was said of it before (SEC-02).
    #[must_use]
    pub fn may(&self, action: &Action) -> Decision {
        self.authority.evaluate(action)
    }

    /// Whether somebody gets anything done in a tenant.
    #[must_use]
    pub fn admits(&self, tenant: &TenantId, principal: &PrincipalId) -> bool {
        self.authority.admits(tenant, principal)
    }

    /// What all layers say about a tool of an agent: which of them decides, and what.
    #[must_use]
    pub fn ruling(&self, asker: &Asker, tool: &ToolDefinition) -> Ruling {
        let layers = Layers {
            core: asker.binding.definition.policy().approval.entries.clone(),
            global: self.policy.clone(),
            component: Entries::default(),
            metadata: Metadata {
                origin: Origin::Authored,
                judgement: tool.approval,
                risk: tool.risk,
                capability: tool.capability.clone(),
            },
            guard: None,
        };
        Ruling::of(&layers, &tool.name)
    }

    /// Questions that wait for somebody.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.approval.questions()
    }

    /// What is granted.
    #[must_use]
    pub const fn authority(&self) -> &authority::State {
        &self.authority
    }

    fn say(&self, asker: &Asker, it: &Proposed) -> Clearance {
        let denied = match &it.action {
            Some(action) => match self.may(action).outcome {
                Outcome::Allowed { .. } => None,
                Outcome::Denied(denial) => Some(denial.layer()),
            },
            None => (!self.admits(&asker.tenant, &asker.principal))
                .then_some(authority::Layer::Membership),
        };
        if let Some(layer) = denied {
            return Clearance::Refused(RejectionReason::NotGranted(layer));
        }
        let Some(tool) = asker.binding.definition.tool(&it.tool) else {
            return Clearance::Refused(RejectionReason::NotGranted(authority::Layer::Definition));
        };
        let Ruling { judgement, risk, rule } = self.ruling(asker, tool);
        match judgement {
            Judgement::Auto => Clearance::Auto,
            Judgement::Prompt => Clearance::Prompt { risk, rule },
            Judgement::Deny => Clearance::Refused(RejectionReason::PolicyDenied(rule.layer)),
        }
    }

    /// The version of the policy that an approval counts for (AUTH-13).
    pub(super) fn version(&self, asker: &Asker) -> Digest {
        let agents = asker.binding.definition.approval_digest();
        if self.policy == Entries::default() {
            return agents;
        }
        let hosts = self.policy.digest();
        Hasher::new("everstep/approval-policies").bytes(&agents.0).bytes(&hosts.0).digest()
    }
}
