//! How a command ends.

use std::fmt;

/// What the exit code says. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: everything holds.
    Holds,
    /// 1: a safety property was broken.
    Safety,
    /// 2: the command, or a file it was given, is wrong.
    Usage,
    /// 3: the environment failed: a file is missing, a folder cannot be written.
    Environment,
    /// 4: a bound was met before the work was done, or somebody has to say something first, or what
    /// was not to be there is listed.
    Budget,
    /// 5: nothing is broken, but a failpoint or something that sometimes happens never came up.
    Vacuous,
    /// 6: the same schedule gave two results.
    Nondeterminism,
    /// 7: something accepted never settles.
    Liveness,
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Safety => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::Budget => 4,
            Self::Vacuous => 5,
            Self::Nondeterminism => 6,
            Self::Liveness => 7,
        }
    }
}

/// A command that came to no verdict: what to say, and how to end.
#[derive(Clone, Debug)]
pub(crate) struct Complaint {
    /// How the command ends.
    pub(crate) exit: Exit,
    /// Without `error: ` in front, or with it where it is rendered already.
    pub(crate) text: String,
}

impl Complaint {
    /// A complaint.
    pub(crate) fn new(exit: Exit, text: impl fmt::Display) -> Self {
        Self { exit, text: text.to_string() }
    }
}

/// What a command gives back.
pub(crate) type Outcome = Result<Exit, Complaint>;
