//! What the registry says about a tool, and what an agent's file may make of it.

use crate::agent::{Judgement, Risk};
use crate::authority::CapabilityKey;

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// From the host itself: its metadata gets stricter only (AUTH-07).
    BuiltIn,
    /// From the agent's author, who may say what it is.
    Authored,
    /// From a remote server that the agent's author has named.
    Remote,
}

/// What the registry says about a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// Where it comes from.
    pub origin: Origin,
    /// Whether somebody is asked.
    pub judgement: Judgement,
    /// How much harm a call can do.
    pub risk: Risk,
    /// What a call takes; none if it takes nothing that has to be granted.
    pub capability: Option<CapabilityKey>,
}

/// What an agent's file says instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Override {
    /// Whether somebody is asked.
    pub judgement: Option<Judgement>,
    /// How much harm a call can do.
    pub risk: Option<Risk>,
    /// What a call takes.
    pub capability: Option<CapabilityKey>,
}

/// What would make a tool of the host less strict than it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Loosens {
    /// Fewer would be asked.
    #[error("the approval policy of a built-in tool can only become stricter")]
    Judgement,
    /// It would count for less harmful.
    #[error("the risk of a built-in tool can only become higher")]
    Risk,
    /// It would take another capability, perhaps one that is granted already.
    #[error("a built-in tool keeps its capability")]
    Capability,
}

impl Metadata {
    /// The metadata with what a file says instead (AUTH-07).
    ///
    /// # Errors
    /// The tool is the host's own and would become less strict: what was said is refused whole.
    pub fn overridden(&self, by: &Override) -> Result<Self, Loosens> {
        let said = Self {
            origin: self.origin,
            judgement: by.judgement.unwrap_or(self.judgement),
            risk: by.risk.unwrap_or(self.risk),
            capability: by.capability.clone().or_else(|| self.capability.clone()),
        };
        match self.origin {
            Origin::Authored | Origin::Remote => Ok(said),
            Origin::BuiltIn if said.judgement < self.judgement => Err(Loosens::Judgement),
            Origin::BuiltIn if said.risk < self.risk => Err(Loosens::Risk),
            Origin::BuiltIn if said.capability != self.capability => Err(Loosens::Capability),
            Origin::BuiltIn => Ok(said),
        }
    }
}
