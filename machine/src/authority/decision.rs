//! What is asked of authority, and what it says.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{CapabilityKey, ComponentPath, Grant, Lacking, Need, Resource, Rights, Scope, Source};
use crate::digest::Digest;
use crate::identity::{PrincipalId, TenantId};

/// The most that a child may ever do, fixed when it is established.
///
/// What a policy grants later does not widen it, and what it takes back is gone all the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ceiling {
    target: Digest,
    rights: Rights,
}

impl Ceiling {
    /// The ceiling of a child of the definition `target`: what is granted now ([`Policy::rights`]),
    /// cut with what its declaration may delegate at most and with what the target requires.
    ///
    /// [`Policy::rights`]: super::Policy::rights
    #[must_use]
    pub fn new(target: Digest, granted: &Rights, delegable: &Rights, required: &Rights) -> Self {
        Self { target, rights: granted.meet(delegable).meet(required) }
    }

    /// The definition that it was made for.
    #[must_use]
    pub const fn target(&self) -> Digest {
        self.target
    }

    /// What it allows.
    #[must_use]
    pub const fn rights(&self) -> &Rights {
        &self.rights
    }
}

/// For whom an agent acts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Standpoint {
    /// For its principal.
    Root,
    /// For a parent: no more than its ceiling allows and its definition requires.
    Child {
        /// The most that it may do.
        ceiling: Arc<Ceiling>,
        /// What its definition says that it needs.
        required: Rights,
    },
    /// A child whose ceiling could not be found.
    Unresolved,
}

/// Something that is about to be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// In whose data.
    pub tenant: TenantId,
    /// For whom.
    pub principal: PrincipalId,
    /// The digest of the definition that acts; none if it could not be resolved.
    pub definition: Option<Digest>,
    /// For whom the agent acts.
    pub standpoint: Standpoint,
    /// What it takes.
    pub capability: CapabilityKey,
    /// What that is needed for.
    pub need: Need,
    /// The component that acts, if it is one.
    pub component: Option<ComponentPath>,
    /// What that component declares.
    pub declared: BTreeSet<Grant>,
    /// What it is done to, normalized.
    pub resource: Option<Resource>,
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Layer {
    /// The definition that acts.
    Definition,
    /// Who is a member of the tenant.
    Membership,
    /// The tenant's policy.
    Policy,
    /// The child's ceiling.
    Ceiling,
    /// What the child's definition requires.
    Requirement,
    /// What the action is done to.
    Resource,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Definition => "the definition",
            Self::Membership => "the membership of the tenant",
            Self::Policy => "the tenant's policy",
            Self::Ceiling => "the child's ceiling",
            Self::Requirement => "the child's definition",
            Self::Resource => "what is granted of its resources",
        })
    }
}

/// Why something may not be done. It says which layer and never what else there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Denial {
    /// It is not known which definition acts.
    NoDefinition,
    /// The child's ceiling is not known.
    NoCeiling,
    /// The ceiling was made for another definition.
    OtherDefinition,
    /// The principal is no member of the tenant, or not any more.
    NotAMember,
    /// The tenant has no policy.
    NoPolicy,
    /// Nobody has granted the capability who could.
    NotGranted(Lacking),
    /// The child's ceiling does not have it.
    AboveCeiling,
    /// The child's definition does not say that it needs it.
    NotRequired,
    /// It is granted, but not on this resource.
    OtherResource,
}

impl Denial {
    /// Which layer has denied.
    #[must_use]
    pub const fn layer(self) -> Layer {
        match self {
            Self::NoDefinition => Layer::Definition,
            Self::NotAMember => Layer::Membership,
            Self::NoPolicy | Self::NotGranted(_) => Layer::Policy,
            Self::NoCeiling | Self::OtherDefinition | Self::AboveCeiling => Layer::Ceiling,
            Self::NotRequired => Layer::Requirement,
            Self::OtherResource => Layer::Resource,
        }
    }
}

/// Whether something may be done now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It may.
    Allowed {
        /// Who has granted it.
        source: Source,
        /// What the host's guards confine it to.
        scope: Scope,
    },
    /// It may not.
    Denied(Denial),
}

/// A decision as it is kept for audit (SEC-02). It holds no parameters and no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// In whose data.
    pub tenant: TenantId,
    /// For whom.
    pub principal: PrincipalId,
    /// What was asked for.
    pub capability: CapabilityKey,
    /// The digest of the policy that was asked; none if there was none.
    pub policy: Option<Digest>,
    /// What came of it.
    pub outcome: Outcome,
}

impl Decision {
    /// Whether it may be done.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self.outcome, Outcome::Allowed { .. })
    }

    /// Which layer decided: the first that denied, or the policy that granted.
    #[must_use]
    pub const fn layer(&self) -> Layer {
        match self.outcome {
            Outcome::Allowed { .. } => Layer::Policy,
            Outcome::Denied(denial) => denial.layer(),
        }
    }
}
