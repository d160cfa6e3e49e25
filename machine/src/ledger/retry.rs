//! How a submission that was given up is tried again (DUR-018).

use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use super::input::Admission;
use crate::identity::{AdmissionSequence, IdempotencyKey, PrincipalId, SubmissionId, Timestamp};

/// Somebody wants a submission that was given up to be tried again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RetryIntent {
    /// Who.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

/// That a submission was tried again: the first intent, which stands, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Retried {
    /// Who wanted it, and why (SEC-07).
    pub intent: RetryIntent,
    /// The submission that tries the same again.
    pub successor: SubmissionId,
    /// Its place in the lane.
    pub position: AdmissionSequence,
    /// When.
    pub at: Timestamp,
}

/// How a submission hangs together with others that try the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chain {
    /// The submission that this one tries again.
    pub retry_of: Option<SubmissionId>,
    /// What tries this one again: only what was given up is.
    pub retried: Option<Retried>,
}

impl Admission {
    /// The same once more, in a run of its own. It belongs to whoever submitted it first, under a name of its own: the
    /// same however often somebody asks for it.
    #[must_use]
    pub fn again(&self) -> Self {
        Self {
            submission: SubmissionId::retry_of(self.submission),
            key: IdempotencyKey::retry_of(self.submission),
            payload: Self::payload_of(&self.agent, &self.input, &self.allowance, None),
            steers: None,
            ..self.clone()
        }
    }
}
