//! What a run is bound to: the digests of what decides how it goes on.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::definition::Binding;
use crate::digest::Digest;

/// What a run is bound to from its first input on. Which build of a host serves it does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bound {
    /// Digest of the Agent Definition, its policy included.
    pub definition: Digest,
    /// Digest of the model.
    pub model: Digest,
    /// Digest of the tools.
    pub tools: Digest,
}

/// One part of what a run is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoundPart {
    /// Instructions and policy.
    Definition,
    /// The model.
    Model,
    /// The tools.
    Tools,
}

impl BoundPart {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::Definition, Self::Model, Self::Tools];

    /// The name in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Model => "model",
            Self::Tools => "tools",
        }
    }
}

impl fmt::Display for BoundPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Bound {
    /// The digest of one part.
    #[must_use]
    pub const fn part(&self, part: BoundPart) -> Digest {
        match part {
            BoundPart::Definition => self.definition,
            BoundPart::Model => self.model,
            BoundPart::Tools => self.tools,
        }
    }

    /// The parts in which it differs from another one.
    pub fn differences(&self, other: &Self) -> impl Iterator<Item = BoundPart> {
        let differs = |part: &BoundPart| self.part(*part) != other.part(*part);
        BoundPart::ALL.into_iter().filter(differs)
    }
}

impl Binding {
    /// What a run of this agent and model is bound to.
    #[must_use]
    pub fn bound(&self) -> Bound {
        Bound {
            definition: self.definition.definition_digest(),
            model: self.model,
            tools: self.definition.tools_digest(),
        }
    }
}

#[cfg(test)]
mod tests;
