//! Planted defects: rules that a world breaks on purpose, so that its oracles have something to
//! find.
//!
//! Each lives in the store or the outside around the machines, never in a machine. A world with
//! a defect in which no oracle fires proves that the oracle, or the exploration, is blind.

use std::fmt;
use std::str::FromStr;

/// A rule that the world breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Defect {
    /// An append is told "already there" whoever committed its batch: a paused predecessor takes
    /// its successor's work for its own.
    ReplayAcrossFence,
    /// Who says that a call never started does not keep it from starting later.
    NeverStartedWithoutTombstone,
    /// A resolution closes every doubt of its call, later ones too.
    ResolutionsByCallAlone,
    /// A log is fenced whatever was appended since its new owner read it.
    FenceWithoutTail,
    /// The store takes an owner's word for being the owner still.
    NoEpochCheck,
    /// No request that reaches a model advertises a tool.
    ToolsHidden,
    /// A model is shown nothing but the last message.
    MessagesHidden,
    /// A model is not told what its answer has to look like, nor how much of its budget is used.
    ContractHidden,
    /// Whatever is checked against a schema is said to fit.
    ChecksSkipped,
    /// A host says of a call that gave no answer that it failed.
    SilenceCalledFailure,
    /// A host makes an ordinary call that gave no answer again by itself.
    SilenceRepeated,
    /// Whoever looks what was said to a run is not shown it.
    SteeringHidden,
    /// The store forgets which owners of a submission have died.
    DeathsForgotten,
    /// The store forgets what was tried again.
    RetriesForgotten,
    /// A host gives a durable handler that is entered again nothing of what is recorded.
    StepsForgotten,
    /// A host takes a definition that was changed for the one before.
    RevisionHidden,
    /// A host starts every call of a group at once, whatever places the group has.
    PlacesForgotten,
    /// A host never tries a call again that had no effect, whatever its tool says.
    TriesForgotten,
    /// A host leaves older turns out and shows no summary of them.
    SummaryForgotten,
    /// A host is not told what is granted no more.
    RevocationUnheard,
    /// A host looks at what is granted when a batch is declared, and not when its calls begin.
    DoorUnwatched,
    /// What is kept beside a log says something else than the log came to, under a sound seal and the
    /// log's own digests.
    CheckpointLies,
}

/// A text names no defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no planted defect has this name")]
pub struct DefectError;

impl Defect {
    /// Every defect.
    pub const ALL: &'static [Self] = &[
        Self::ReplayAcrossFence,
        Self::NeverStartedWithoutTombstone,
        Self::ResolutionsByCallAlone,
        Self::FenceWithoutTail,
        Self::NoEpochCheck,
        Self::ToolsHidden,
        Self::MessagesHidden,
        Self::ContractHidden,
        Self::ChecksSkipped,
        Self::SilenceCalledFailure,
        Self::SilenceRepeated,
        Self::SteeringHidden,
        Self::DeathsForgotten,
        Self::RetriesForgotten,
        Self::StepsForgotten,
        Self::RevisionHidden,
        Self::PlacesForgotten,
        Self::TriesForgotten,
        Self::SummaryForgotten,
        Self::RevocationUnheard,
        Self::DoorUnwatched,
        Self::CheckpointLies,
    ];

    /// The name on a command line and in a trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReplayAcrossFence => "replay-across-fence",
            Self::NeverStartedWithoutTombstone => "never-started-without-tombstone",
            Self::ResolutionsByCallAlone => "resolutions-by-call-alone",
            Self::FenceWithoutTail => "fence-without-tail",
            Self::NoEpochCheck => "no-epoch-check",
            Self::ToolsHidden => "tools-hidden",
            Self::MessagesHidden => "messages-hidden",
            Self::ContractHidden => "contract-hidden",
            Self::ChecksSkipped => "checks-skipped",
            Self::SilenceCalledFailure => "silence-called-failure",
            Self::SilenceRepeated => "silence-repeated",
            Self::SteeringHidden => "steering-hidden",
            Self::DeathsForgotten => "deaths-forgotten",
            Self::RetriesForgotten => "retries-forgotten",
            Self::StepsForgotten => "steps-forgotten",
            Self::RevisionHidden => "revision-hidden",
            Self::PlacesForgotten => "places-forgotten",
            Self::TriesForgotten => "tries-forgotten",
            Self::SummaryForgotten => "summary-forgotten",
            Self::RevocationUnheard => "revocation-unheard",
            Self::DoorUnwatched => "door-unwatched",
            Self::CheckpointLies => "checkpoint-lies",
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Defect {
    type Err = DefectError;

    fn from_str(text: &str) -> Result<Self, DefectError> {
        Self::ALL.iter().copied().find(|defect| defect.name() == text).ok_or(DefectError)
    }
}
