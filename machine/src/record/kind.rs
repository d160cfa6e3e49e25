//! Kinds of batches: a closed set, from which the failpoints of appends are computed.

use super::{InputKind, Record};

macro_rules! batch_kinds {
    ($($(#[$doc:meta])* $kind:ident => $name:literal),* $(,)?) => {
        /// What a batch is about: the kind of its first record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BatchKind { $($(#[$doc])* $kind,)* }

        impl BatchKind {
            /// Every kind, in the order of a run.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The name of the append's effect.
            #[must_use]
            pub const fn effect_name(self) -> &'static str {
                match self { $(Self::$kind => concat!("conversation.append:", $name)),* }
            }
        }
    };
}

batch_kinds! {
    /// An input became canonical.
    InputRecorded => "InputRecorded",
    /// Steering became canonical in a run.
    InputSteered => "InputSteered",
    /// A submission that waited became canonical in a run.
    InputJoined => "InputJoined",
    /// An attempt took over.
    RecoveryDecided => "RecoveryDecided",
    /// A question of the model came to nothing.
    ModelInterrupted => "ModelInterrupted",
    /// The model answered without calls.
    ModelResponded => "ModelResponded",
    /// The model answered with calls.
    CallsDeclared => "CallsDeclared",
    /// Somebody has to say whether calls may start.
    ApprovalRequested => "ApprovalRequested",
    /// Requests were decided.
    ApprovalDecided => "ApprovalDecided",
    /// Calls are about to start.
    ToolPrepared => "ToolPrepared",
    /// A step of a call has succeeded.
    StepRecorded => "StepRecorded",
    /// Calls ended.
    ToolSettled => "ToolSettled",
    /// Starts are in doubt.
    ToolUnknown => "ToolUnknown",
    /// Doubts were closed.
    ToolResolved => "ToolResolved",
    /// An abort was asked for.
    AbortRequested => "AbortRequested",
    /// A run goes on under another binding.
    RunRebound => "RunRebound",
    /// The submission ended.
    SubmissionSettled => "SubmissionSettled",
    /// Context was made smaller.
    CompactionCreated => "CompactionCreated",
}

impl BatchKind {
    /// The kind of a batch with this first record; none for the record that only a
    /// materialization writes.
    #[must_use]
    pub fn of(first: &Record) -> Option<Self> {
        Some(match first {
            Record::ConversationCreated(_) => return None,
            Record::InputRecorded(input) => match input.kind {
                InputKind::First { .. } => Self::InputRecorded,
                InputKind::Steering { .. } => Self::InputSteered,
                InputKind::FollowUp { .. } => Self::InputJoined,
            },
            Record::ModelResponded(answer) if answer.response.calls().next().is_some() => {
                Self::CallsDeclared
            }
            Record::ModelResponded(_) => Self::ModelResponded,
            Record::ModelInterrupted(_) => Self::ModelInterrupted,
            Record::ToolPrepared(_) => Self::ToolPrepared,
            Record::StepRecorded(_) => Self::StepRecorded,
            Record::ToolSettled(_) => Self::ToolSettled,
            Record::ToolUnknown(_) => Self::ToolUnknown,
            Record::ToolResolved(_) => Self::ToolResolved,
            Record::AbortRequested(_) => Self::AbortRequested,
            Record::RecoveryDecided(_) => Self::RecoveryDecided,
            Record::RunRebound(_) => Self::RunRebound,
            Record::SubmissionSettled(_) => Self::SubmissionSettled,
            Record::CompactionCreated(_) => Self::CompactionCreated,
            Record::ApprovalRequested(_) => Self::ApprovalRequested,
            Record::ApprovalDecided(_) => Self::ApprovalDecided,
        })
    }
}
