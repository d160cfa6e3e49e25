//! Approval as an agent declares it, and what is said about a call.

use serde::{Deserialize, Serialize};

use alloc::collections::BTreeMap;

use super::judgement::Judgement;
use super::tool::Risk;
use crate::authority::Pattern;
use crate::digest::Digest;
use crate::identity::{DurationMs, PrincipalId, ToolName};

/// Whether a call may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// It may.
    Approved,
    /// It may not.
    Denied,
}

/// One layer of the policy of approvals, as it is configured (AUTH-06, AUTH-08).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entries {
    /// By the tool that is called.
    pub tools: BTreeMap<ToolName, Judgement>,
    /// By the capability that the call takes.
    pub capabilities: BTreeMap<Pattern, Judgement>,
    /// By the risk of the call: exactly this one.
    pub risks: BTreeMap<Risk, Judgement>,
    /// If none of the others matches.
    pub default: Option<Judgement>,
}

impl Entries {
    /// Equal for equal layers only.
    ///
    /// # Panics
    /// Never: it fits into memory.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let bytes = postcard::to_allocvec(self);
        Digest::of("everstep/approval-entries", &bytes.expect("ID-03: plain data is encoded"))
    }
}

/// What people have to say about a call that they are asked about, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// How long a request stands, from when the row is suspended; none means for ever.
    pub expiry: Option<DurationMs>,
    /// What a request that nobody decided in time comes to. A denial, unless somebody wants
    /// otherwise.
    pub on_expiry: Verdict,
    /// Who alone may decide; none means anybody who may act on the submission.
    pub approver: Option<PrincipalId>,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { expiry: None, on_expiry: Verdict::Denied, approver: None }
    }
}

/// Which calls people are asked about, and on what terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalPolicy {
    /// The agent's own layer: what it says of calls. It takes nothing back that a tool says of itself
    /// or that the host says.
    pub entries: Entries,
    /// The terms.
    pub terms: ApprovalTerms,
}
