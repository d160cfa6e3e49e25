//! What the guard says about a command.

use serde::{Deserialize, Serialize};

use crate::agent::Risk;

/// What becomes of a command. Ordered: the worst wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It may run without anybody being asked.
    Allow,
    /// A person is asked.
    Prompt,
    /// It ends here: nobody is asked.
    Block,
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// One command that only reads, spelled out.
    ReadOnly,
    /// There is no command.
    Empty,
    /// More than one command, or words that steer several.
    Compound,
    /// Something is written to or read from where an arrow points.
    Redirection,
    /// The shell would put something else in its place.
    Expansion,
    /// A quote or a bracket is not closed.
    Unbalanced,
    /// The environment of the command is changed.
    Environment,
    /// It makes another program run what it is given: a shell, an interpreter, `env`, `xargs`.
    Wrapper,
    /// It runs a file of the workspace.
    ProjectCode,
    /// It holds letters beyond ASCII, which may look like others.
    LookAlike,
    /// It reads outside of the workspace, or what is likely to be secret.
    Sensitive,
    /// It is not known to only read.
    NotReadOnly,
    /// It holds characters that nobody sees and that change what is shown.
    Hidden,
    /// It is longer than anybody reads.
    TooLong,
    /// Commands within commands, or functions, deeper or more than anybody follows.
    TooDeep,
    /// It destroys a whole system, home or disk.
    Destroys,
    /// It stops the machine or all of its processes.
    Stops,
}

/// A verdict, why, and whether it is known what would run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Judged {
    /// What becomes of the command.
    pub verdict: Verdict,
    /// What decided, first found of equally bad ones.
    pub reason: Reason,
    /// Whether the text says what runs. Where it does not, an approval holds once (GR-05).
    pub is_resolved: bool,
}

impl Judged {
    pub(super) const fn of(reason: Reason) -> Self {
        Self { verdict: reason.verdict(), reason, is_resolved: reason.is_resolved() }
    }

    /// The risk that goes with the verdict: low for what only reads, high for everything else.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        match self.verdict {
            Verdict::Allow => Risk::Low,
            Verdict::Prompt | Verdict::Block => Risk::High,
        }
    }

    /// The worse of both; resolved only if both are.
    #[must_use]
    pub(super) fn worse(self, other: Self) -> Self {
        let worst = if other.verdict > self.verdict { other } else { self };
        Self { is_resolved: self.is_resolved && other.is_resolved, ..worst }
    }
}

impl Reason {
    const fn verdict(self) -> Verdict {
        match self {
            Self::ReadOnly => Verdict::Allow,
            Self::Hidden | Self::TooLong | Self::TooDeep | Self::Destroys | Self::Stops => {
                Verdict::Block
            }
            Self::Empty
            | Self::Compound
            | Self::Redirection
            | Self::Expansion
            | Self::Unbalanced
            | Self::Environment
            | Self::Wrapper
            | Self::ProjectCode
            | Self::LookAlike
            | Self::Sensitive
            | Self::NotReadOnly => Verdict::Prompt,
        }
    }

    const fn is_resolved(self) -> bool {
        match self {
            Self::ReadOnly
            | Self::Compound
            | Self::Redirection
            | Self::ProjectCode
            | Self::Sensitive
            | Self::NotReadOnly => true,
            Self::Empty
            | Self::Expansion
            | Self::Unbalanced
            | Self::Environment
            | Self::Wrapper
            | Self::LookAlike
            | Self::Hidden
            | Self::TooLong
            | Self::TooDeep
            | Self::Destroys
            | Self::Stops => false,
        }
    }
}
