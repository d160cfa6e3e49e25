//! What authority leads to.

use super::{Decision, Ticket};
use crate::identity::{PrincipalId, TenantId};

/// What the host is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Answer whoever asked, and keep the decision for audit. It holds for this action and now.
    Answer {
        /// Who asked.
        ticket: Ticket,
        /// What was decided.
        decision: Decision,
    },
    /// Tell the approvals that a principal is revoked ([`crate::approval::Input::Revoked`]).
    Forget {
        /// In which tenant.
        tenant: TenantId,
        /// Who.
        principal: PrincipalId,
    },
}
