//! What is wrong with the steps of a handler, and what a call comes to because of it.

use crate::agent::{Diagnostic, NamedStep};
use crate::identity::{NameError, StepName};
use crate::limits::{CALL_STEPS, STEP_OUTPUT_BYTES};

/// What is wrong with what a handler asks for. Positions count from 0 and are said from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepFault {
    /// Another step, or another version of it, is recorded where this one is asked for.
    #[error(
        "step {} is recorded as {expected}, and the handler asks for {found}", .ordinal + 1
    )]
    Differs {
        /// How many steps stand before it.
        ordinal: u32,
        /// What is recorded.
        expected: NamedStep,
        /// What is asked for.
        found: NamedStep,
    },
    /// The handler has ended and has not asked for a step that is recorded.
    #[error(
        "step {} is recorded as {expected}, and the handler has ended without it", .ordinal + 1
    )]
    Ended {
        /// How many steps stand before it.
        ordinal: u32,
        /// What is recorded.
        expected: NamedStep,
    },
    /// What a recorded step gave is not what the handler takes.
    #[error("step {} is recorded as {step}, and what it gave is not of the handler's type", .ordinal + 1)]
    Mistyped {
        /// How many steps stand before it.
        ordinal: u32,
        /// Which step.
        step: NamedStep,
    },
    /// The name of a step is none.
    #[error("the name of a step is none: {why}")]
    Unnamed {
        /// Why not.
        why: NameError,
    },
    /// The call is not one of a durable tool: nobody records its steps.
    #[error("`{name}` is asked for, and the tool is not durable: it has no steps")]
    NotDurable {
        /// Which step is asked for.
        name: StepName,
    },
    /// Two steps of one call have one name.
    #[error("`{name}` names two steps of one call")]
    Twice {
        /// The name.
        name: StepName,
    },
    /// A step is asked for while the body of another one runs.
    #[error("step `{found}` is asked for while step `{running}` runs: steps follow each other")]
    AtOnce {
        /// Which step runs.
        running: StepName,
        /// Which one is asked for.
        found: StepName,
    },
    /// The call has [`CALL_STEPS`] steps already.
    #[error("{step} is one step more than the {CALL_STEPS} that a call may have")]
    TooMany {
        /// Which step is asked for.
        step: NamedStep,
    },
    /// What a step gave is no JSON value, or does not read back.
    #[error("{step} gave what cannot be kept: no JSON of it reads back")]
    Unkept {
        /// Which step.
        step: NamedStep,
    },
    /// What a step gave is over [`STEP_OUTPUT_BYTES`].
    #[error("{step} gave {bytes} bytes; at most {STEP_OUTPUT_BYTES} are kept, and kept whole")]
    TooLarge {
        /// Which step.
        step: NamedStep,
        /// How many bytes it gave.
        bytes: usize,
    },
}

impl StepFault {
    /// The stable tag of the call's defect. Steps that are not those of the record are incompatible,
    /// whatever else they would be on their own.
    #[must_use]
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Differs { .. } | Self::Ended { .. } | Self::Mistyped { .. } => {
                "StepsIncompatible"
            }
            Self::Unnamed { .. } => "StepUnnamed",
            Self::NotDurable { .. } => "NotDurable",
            Self::Unkept { .. } => "StepOutputInvalid",
            Self::Twice { .. } => "StepTwice",
            Self::AtOnce { .. } => "StepsAtOnce",
            Self::TooMany { .. } => "TooManySteps",
            Self::TooLarge { .. } => "StepOutputTooLarge",
        }
    }

    /// The fault in words, for the record: the call's outcome is a defect.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::cut(self.tag(), &alloc::format!("{self}"))
    }
}
