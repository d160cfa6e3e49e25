//! What an admission asks for.

use crate::identity::{AdmissionSequence, SubmissionId};
use crate::store::{Pipeline, Refusal};

/// Proof that a submission is accepted: it will be settled, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receipt {
    /// The accepted submission.
    pub submission: SubmissionId,
    /// Its place in the lane.
    pub position: AdmissionSequence,
}

/// Why nothing was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Rejection {
    /// The store refuses the call.
    #[error("the submission was not accepted: {0}")]
    Refused(Refusal),
    /// The store is corrupt or answers with something else than it was asked.
    #[error("the store cannot be trusted")]
    Corrupt,
}

/// What the world is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Execute this pipeline and answer with [`super::Input::Stored`].
    Store(Pipeline),
    /// Answer the client.
    Accept(Receipt),
    /// Answer the client that nothing was accepted.
    Reject(Rejection),
}
