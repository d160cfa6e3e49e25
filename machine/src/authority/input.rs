//! What authority is told and asked.

use alloc::boxed::Box;

use super::{Action, ComponentPath, Grant, Policy};
use crate::identity::{PrincipalId, TenantId};

/// Who asks. The host numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A principal belongs to a tenant now.
    Joined {
        /// The tenant.
        tenant: TenantId,
        /// The principal.
        principal: PrincipalId,
    },
    /// A principal does not belong to a tenant any more.
    Revoked {
        /// The tenant.
        tenant: TenantId,
        /// The principal.
        principal: PrincipalId,
    },
    /// A tenant has a policy, instead of any that it had.
    PolicyLaidDown {
        /// The tenant.
        tenant: TenantId,
        /// The policy.
        policy: Policy,
    },
    /// A tenant has no policy: nothing is allowed in it.
    PolicyWithdrawn {
        /// The tenant.
        tenant: TenantId,
    },
    /// One grant is taken back.
    GrantRevoked {
        /// The tenant.
        tenant: TenantId,
        /// The component on whose path it was granted; none if it was a default.
        component: Option<ComponentPath>,
        /// The grant.
        grant: Grant,
    },
    /// Something is about to be done.
    Asked {
        /// Who asks.
        ticket: Ticket,
        /// What.
        action: Box<Action>,
    },
}
