//! How a submission can end, and the proof that it canonically has.

use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use super::codec::{CodecError, encode_records};
use super::{Record, SubmissionSettled};
use crate::agent::{Diagnostic, Dimension};
use crate::digest::Digest;
use crate::identity::{Sequence, SubmissionId};
use crate::json::CanonicalJson;
use crate::limits::IDENTIFIER_CHARS;

/// Which finish a completed run had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FinishKind {
    /// The model answered without calls.
    ModelStop,
    /// The model answered as its output contract wants it (RUN-025).
    Completed,
    /// A budget was used up, and this is the model's final answer (RUN-011).
    BudgetExhausted(Dimension),
}

/// A policy limit that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PolicyLimit {
    /// The run has used up one of its budgets.
    Budget(Dimension),
    /// Too many calls in a row failed (RUN-029).
    RepeatedFailures,
    /// Too many owners in a row died without getting it anywhere (DUR-018).
    Attempts,
}

impl PolicyLimit {
    /// The tags that only a policy limit gives.
    const TAGS: [&'static str; 3] = ["BudgetExceeded", "RepeatedFailures", "Poison"];

    /// The tag of the diagnostic that goes with the limit.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Budget(_) => Self::TAGS[0],
            Self::RepeatedFailures => Self::TAGS[1],
            Self::Attempts => Self::TAGS[2],
        }
    }

    /// Whether a tag is one that only a policy limit gives.
    #[must_use]
    pub fn owns(tag: &str) -> bool {
        Self::TAGS.contains(&tag)
    }
}

/// How a submission ended. Exactly one of these shapes; anything else fails to decode.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Settlement {
    /// It has an answer.
    Completed {
        /// What the run answered.
        output: CanonicalJson,
        /// Why it finished.
        finish: FinishKind,
        /// The application's word for the outcome; only where no budget was used up (RUN-026).
        disposition: Option<Arc<str>>,
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
    /// It was answered in the run of another submission, together with it (RUN-013).
    Joined {
        /// The submission that began the run, whose settlement has the answer.
        host: SubmissionId,
    },
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
    #[error("a limit stands exactly beside its own policy tag")]
    LimitWithoutTag,
    /// The diagnostic is over its bounds.
    #[error("the diagnostic is over its bounds")]
    Diagnostic,
    /// A disposition beside a budget that was used up, or one that is over its bounds.
    #[error("a disposition stands only beside an ordinary finish, and is short")]
    Disposition,
    /// An answer, but no run that gave it.
    #[error("a completed submission has a run")]
    CompletedWithoutRun,
}

impl Settlement {
    /// Which of the three shapes this is.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Completed { .. } | Self::Joined { .. } => Outcome::Completed,
            Self::Failed { .. } => Outcome::Failed,
            Self::Aborted => Outcome::Aborted,
        }
    }

    /// Whether the submission was given up, because its owners kept dying (DUR-018).
    #[must_use]
    pub const fn is_given_up(&self) -> bool {
        matches!(self, Self::Failed { limit: Some(PolicyLimit::Attempts), .. })
    }

    /// How a submission ends that has joined the run which ends so: it shares the outcome, and a
    /// failure byte for byte.
    #[must_use]
    pub fn of_joined(&self, host: SubmissionId) -> Self {
        match self {
            Self::Completed { .. } | Self::Joined { .. } => Self::Joined { host },
            Self::Failed { diagnostic, limit } => {
                Self::Failed { diagnostic: diagnostic.clone(), limit: *limit }
            }
            Self::Aborted => Self::Aborted,
        }
    }

    /// Whether the parts agree; asked of everything that is decoded.
    ///
    /// # Errors
    /// The limit and the tag disagree, or the diagnostic is over its bounds.
    pub fn check(&self) -> Result<(), SettlementError> {
        match self {
            Self::Aborted | Self::Joined { .. } => Ok(()),
            Self::Completed { finish, disposition, .. } => {
                let ordinary = !matches!(finish, FinishKind::BudgetExhausted(_));
                match disposition {
                    Some(word) if !ordinary || word.len() > IDENTIFIER_CHARS => {
                        Err(SettlementError::Disposition)
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Self::Failed { diagnostic, limit } => {
                diagnostic.check().map_err(|_| SettlementError::Diagnostic)?;
                let agree = match limit {
                    Some(limit) => limit.tag() == diagnostic.tag(),
                    None => !PolicyLimit::owns(diagnostic.tag()),
                };
                if agree { Ok(()) } else { Err(SettlementError::LimitWithoutTag) }
            }
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
    given_up: bool,
}

impl CanonicalSettlement {
    pub(crate) const fn new(
        submission: SubmissionId,
        sequence: Sequence,
        digest: Digest,
        settlement: &Settlement,
    ) -> Self {
        let (outcome, given_up) = (settlement.outcome(), settlement.is_given_up());
        Self { submission, sequence, digest, outcome, given_up }
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

    /// Whether it was given up.
    #[must_use]
    pub const fn is_given_up(&self) -> bool {
        self.given_up
    }
}
