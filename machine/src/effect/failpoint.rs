//! Failpoints: a kind of effect and a phase.

use core::fmt;
use core::str::FromStr;

use super::kind::{CrashPhase, EffectKind};

/// A place where a process may crash: `name/phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Failpoint {
    /// Which effect.
    pub effect: EffectKind,
    /// Relative to it.
    pub phase: CrashPhase,
}

impl Failpoint {
    /// The failpoint of a phase of an effect.
    #[must_use]
    pub const fn new(effect: EffectKind, phase: CrashPhase) -> Self {
        Self { effect, phase }
    }

    /// Every failpoint there is, computed from the kinds and classes of effects.
    pub fn all() -> impl Iterator<Item = Self> {
        EffectKind::all().flat_map(|effect| {
            effect.class().phases().iter().map(move |phase| Self { effect, phase: *phase })
        })
    }
}

impl fmt::Display for Failpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.effect.name(), self.phase.name())
    }
}

/// Why a text names no failpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailpointError {
    /// There is no slash between name and phase.
    #[error("a failpoint is written name/phase")]
    NoPhase,
    /// No effect has this name.
    #[error("no effect has this name")]
    UnknownEffect,
    /// An effect of this class has no such phase.
    #[error("the effect has no such phase")]
    UnknownPhase,
}

impl FromStr for Failpoint {
    type Err = FailpointError;

    fn from_str(text: &str) -> Result<Self, FailpointError> {
        let (name, phase) = text.rsplit_once('/').ok_or(FailpointError::NoPhase)?;
        let effect = EffectKind::all()
            .find(|kind| kind.name() == name)
            .ok_or(FailpointError::UnknownEffect)?;
        let phases = effect.class().phases().iter();
        phases
            .copied()
            .find(|candidate| candidate.name() == phase)
            .map(|phase| Self { effect, phase })
            .ok_or(FailpointError::UnknownPhase)
    }
}
