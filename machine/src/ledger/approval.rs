//! What a row knows of the requests for approval that it waits for.

use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::Verdict;
use crate::identity::{ApprovalId, DurationMs, PrincipalId, Timestamp};
use crate::limits::TEXT_BYTES;
use crate::record::ApprovalRequested;

/// How, by whom and why a request is decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DecisionIntent {
    /// Whether the call may start.
    pub verdict: Verdict,
    /// By whom.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

impl DecisionIntent {
    /// Whether it fits a canonical record: what does not could never be acted on.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.reason.len() <= TEXT_BYTES
    }
}

/// How far a request is decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ApprovalState {
    /// Nobody has said anything.
    Open,
    /// Somebody has; the owner must make it canonical.
    Intended(DecisionIntent),
    /// Nobody has, in time, and nobody can any more.
    Expired,
    /// It is canonical. Kept, so that a late repetition is answered as the first time; nobody's
    /// intent if nobody had spoken.
    Closed(Option<DecisionIntent>),
}

/// What an owner suspends its row for: a canonical request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Suspension {
    /// The request.
    pub request: ApprovalId,
    /// How long it stands from now.
    pub expiry: Option<DurationMs>,
    /// Who alone may decide it.
    pub approver: Option<PrincipalId>,
}

impl Suspension {
    /// What a row has to know of a canonical request.
    #[must_use]
    pub fn of(requested: &ApprovalRequested) -> Self {
        Self {
            request: requested.request,
            expiry: requested.terms.expiry,
            approver: requested.terms.approver.clone(),
        }
    }
}

/// A request that the row was suspended for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalMark {
    /// The request.
    pub request: ApprovalId,
    /// Since when.
    pub since: Timestamp,
    /// When it expires, by the store's time.
    pub expires_at: Option<Timestamp>,
    /// Who alone may decide it.
    pub approver: Option<PrincipalId>,
    /// How far it is decided.
    pub state: ApprovalState,
}

impl ApprovalMark {
    /// Whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether nobody has said anything.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, ApprovalState::Open)
    }

    /// Whether the decision is canonical.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, ApprovalState::Closed(_))
    }
}
