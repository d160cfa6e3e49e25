//! How a submission can end, and the proof that it canonically has.

use serde::{Deserialize, Serialize};

use super::codec::{CodecError, encode_records};
use super::{Record, SubmissionSettled};
use crate::agent::Diagnostic;
use crate::digest::Digest;
use crate::identity::{Sequence, SubmissionId};
use crate::json::CanonicalJson;

/// Which finish a completed run had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FinishKind {
    /// The model answered without calls.
    ModelStop,
}

/// A policy limit that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PolicyLimit {
    /// The run may take no further turn.
    Turns,
}

impl PolicyLimit {
    /// The policy tag of the diagnostic that goes with the limit.
    pub const TAG: &'static str = "BudgetExceeded";
}

/// How a submission ended. Exactly one of three shapes; anything else fails to decode.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Settlement {
    /// It has an answer.
    Completed {
        /// What the run answered.
        output: CanonicalJson,
        /// Why it finished.
        finish: FinishKind,
    },
    /// It failed, and says why.
    Failed {
        /// Survives byte for byte (DUR-011).
        diagnostic: Diagnostic,
        /// Present exactly when the tag is a policy tag.
        limit: Option<PolicyLimit>,
    },
    /// It was aborted. Carries nothing.
    Aborted,
}

/// Which of the three shapes a settlement has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It has an answer.
    Completed,
    /// It failed.
    Failed,
    /// It was aborted.
    Aborted,
}

/// Why a settlement's parts contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettlementError {
    /// A policy tag without its limit, or a limit without a policy tag.
    #[error("a limit stands exactly beside the policy tag {}", PolicyLimit::TAG)]
    LimitWithoutTag,
    /// The diagnostic is over its bounds.
    #[error("the diagnostic is over its bounds")]
    Diagnostic,
    /// An answer, but no run that gave it.
    #[error("a completed submission has a run")]
    CompletedWithoutRun,
}

impl Settlement {
    /// Which of the three shapes this is.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Completed { .. } => Outcome::Completed,
            Self::Failed { .. } => Outcome::Failed,
            Self::Aborted => Outcome::Aborted,
        }
    }

    /// Whether the parts agree; asked of everything that is decoded.
    ///
    /// # Errors
    /// The limit and the tag disagree, or the diagnostic is over its bounds.
    pub fn check(&self) -> Result<(), SettlementError> {
        let Self::Failed { diagnostic, limit } = self else { return Ok(()) };
        diagnostic.check().map_err(|_| SettlementError::Diagnostic)?;
        if limit.is_some() == (diagnostic.tag() == PolicyLimit::TAG) {
            Ok(())
        } else {
            Err(SettlementError::LimitWithoutTag)
        }
    }
}

impl SubmissionSettled {
    /// Whether the parts agree; asked of everything that is encoded or decoded.
    ///
    /// # Errors
    /// The settlement contradicts itself, or is an answer without a run.
    pub fn check(&self) -> Result<(), SettlementError> {
        self.settlement.check()?;
        match (self.settlement.outcome(), self.run) {
            (Outcome::Completed, None) => Err(SettlementError::CompletedWithoutRun),
            (Outcome::Completed, Some(_)) | (Outcome::Failed | Outcome::Aborted, _) => Ok(()),
        }
    }

    /// Digest of the exact encoded record: what a reservation fixes and a finalization compares.
    ///
    /// # Errors
    /// The settlement's parts contradict each other.
    pub fn digest(&self) -> Result<Digest, CodecError> {
        let bytes = encode_records(&[Record::SubmissionSettled(self.clone())])?;
        Ok(Digest::of("everstep/settlement", &bytes))
    }
}

/// Proof that a settlement is canonical: only the fold over a log can make one, and
/// finalization asks for it by type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CanonicalSettlement {
    submission: SubmissionId,
    sequence: Sequence,
    digest: Digest,
    outcome: Outcome,
}

impl CanonicalSettlement {
    pub(crate) const fn new(
        submission: SubmissionId,
        sequence: Sequence,
        digest: Digest,
        outcome: Outcome,
    ) -> Self {
        Self { submission, sequence, digest, outcome }
    }

    /// Which submission ended.
    #[must_use]
    pub const fn submission(&self) -> SubmissionId {
        self.submission
    }

    /// Where in the log.
    #[must_use]
    pub const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Digest of the exact encoded record.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }
}
