//! Who belongs where, and what is granted there.

use alloc::collections::{BTreeMap, BTreeSet};

use super::{Action, Decision, Denial, Outcome, Policy, Scope, Source, Standpoint};
use crate::identity::{PrincipalId, TenantId};

/// The authority of a host: nobody belongs anywhere, and nothing is granted, until it is told so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) members: BTreeSet<(TenantId, PrincipalId)>,
    pub(super) policies: BTreeMap<TenantId, Policy>,
    /// Whoever was shut out and has not joined again.
    pub(super) revoked: BTreeSet<(TenantId, PrincipalId)>,
    /// Tenants that have, or had, a policy.
    pub(super) governed: BTreeSet<TenantId>,
}

impl State {
    /// A tenant's policy.
    #[must_use]
    pub fn policy(&self, tenant: &TenantId) -> Option<&Policy> {
        self.policies.get(tenant)
    }

    /// Whether a principal belongs to a tenant.
    #[must_use]
    pub fn is_member(&self, tenant: &TenantId, principal: &PrincipalId) -> bool {
        self.members.contains(&(tenant.clone(), principal.clone()))
    }

    /// Whether somebody gets anything done in a tenant at all. One that has had a policy lets its
    /// members in and nobody else, and nobody if that was withdrawn; whoever was revoked stays out.
    #[must_use]
    pub fn admits(&self, tenant: &TenantId, principal: &PrincipalId) -> bool {
        if self.revoked.contains(&(tenant.clone(), principal.clone())) {
            return false;
        }
        let is_governed = self.governed.contains(tenant);
        !is_governed || self.policies.contains_key(tenant) && self.is_member(tenant, principal)
    }

    /// Whether an action may be done as things are now (SEC-02). What was decided before counts for
    /// nothing.
    #[must_use]
    pub fn evaluate(&self, action: &Action) -> Decision {
        let outcome = match self.intersection(action) {
            Ok((source, scope)) => Outcome::Allowed { source, scope },
            Err(denial) => Outcome::Denied(denial),
        };
        Decision {
            tenant: action.tenant.clone(),
            principal: action.principal.clone(),
            capability: action.capability.clone(),
            policy: self.policies.get(&action.tenant).map(Policy::digest),
            outcome,
        }
    }

    /// Everything has to agree; whatever is absent or unknown does not.
    fn intersection(&self, action: &Action) -> Result<(Source, Scope), Denial> {
        let definition = action.definition.ok_or(Denial::NoDefinition)?;
        if !self.members.contains(&(action.tenant.clone(), action.principal.clone())) {
            return Err(Denial::NotAMember);
        }
        let policy = self.policies.get(&action.tenant).ok_or(Denial::NoPolicy)?;
        let (key, component) = (&action.capability, action.component.as_ref());
        let granted = policy
            .source(key, action.need, component, &action.declared)
            .map_err(Denial::NotGranted)?;
        match &action.standpoint {
            Standpoint::Root => Ok(granted),
            Standpoint::Unresolved => Err(Denial::NoCeiling),
            Standpoint::Child { ceiling, .. } if ceiling.target() != definition => {
                Err(Denial::OtherDefinition)
            }
            Standpoint::Child { ceiling, .. } if !ceiling.rights().names(key) => {
                Err(Denial::AboveCeiling)
            }
            Standpoint::Child { required, .. } if !required.names(key) => Err(Denial::NotRequired),
            Standpoint::Child { ceiling, required } => {
                let rights = ceiling.rights().meet(required);
                let reaches = rights.allow(key, action.resource.as_ref());
                if reaches { Ok(granted) } else { Err(Denial::OtherResource) }
            }
        }
    }
}
