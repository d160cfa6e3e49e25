//! Approval as an agent declares it, and what is said about a call.

use serde::{Deserialize, Serialize};

use crate::identity::{DurationMs, PrincipalId};

/// Whether a call may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// It may.
    Approved,
    /// It may not.
    Denied,
}

/// What people have to say about calls, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalPolicy {
    /// How long a request stands, from when the row is suspended; none means for ever.
    pub expiry: Option<DurationMs>,
    /// What a request that nobody decided in time comes to. A denial, unless somebody wants
    /// otherwise.
    pub on_expiry: Verdict,
    /// Who alone may decide; none means anybody who may act on the submission.
    pub approver: Option<PrincipalId>,
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self { expiry: None, on_expiry: Verdict::Denied, approver: None }
    }
}
