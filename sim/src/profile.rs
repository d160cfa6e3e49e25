//! How a store commits a pipeline.

use std::fmt;
use std::str::FromStr;

/// What one commit of the store covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// One command: a crash between two commands leaves the first one done.
    Weak,
    /// The whole pipeline: a crash inside leaves nothing, a refusal keeps the commands before it.
    Strong,
}

/// A text names no profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a store profile is weak or strong")]
pub struct ProfileError;

impl Profile {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Weak, Self::Strong];

    /// The name on a command line and in a trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Strong => "strong",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        Self::ALL.iter().copied().find(|profile| profile.name() == text).ok_or(ProfileError)
    }
}
