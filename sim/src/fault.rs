//! What can go wrong at a moment of a world.

use std::fmt;
use std::str::FromStr;

/// Something that an explorer injects at a moment, before the moment passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The process dies: all its tasks and everything volatile are lost. It restarts at once.
    Crash,
    /// Only while an external effect is under way: it happens outside, then the process dies.
    CrashDone,
    /// The process freezes until it is woken: to everybody else it looks dead, which it is not.
    Pause,
    /// The message between process and store is lost, on its way there (`before`) or back
    /// (`after`).
    Lose,
    /// The paused process of the lowest index goes on exactly where it stopped.
    Wake,
    /// A client asks for an abort now.
    Abort,
    /// A client says something to a run now.
    Steer,
    /// What was granted is taken back now.
    Revoke,
}

/// A text names no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no fault has this name")]
pub struct FaultError;

impl Fault {
    /// Every fault.
    pub const ALL: &'static [Self] = &[
        Self::Crash,
        Self::CrashDone,
        Self::Pause,
        Self::Lose,
        Self::Wake,
        Self::Abort,
        Self::Steer,
        Self::Revoke,
    ];

    /// The name in a schedule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::CrashDone => "crash-done",
            Self::Pause => "pause",
            Self::Lose => "lose",
            Self::Wake => "wake",
            Self::Abort => "abort",
            Self::Steer => "steer",
            Self::Revoke => "revoke",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        Self::ALL.iter().copied().find(|fault| fault.name() == text).ok_or(FaultError)
    }
}

/// A set of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaultSet(u8);

impl FaultSet {
    /// Adds a fault.
    #[must_use]
    pub const fn with(self, fault: Fault) -> Self {
        Self(self.0 | fault.bit())
    }

    /// Adds a fault under a condition.
    #[must_use]
    pub const fn with_if(self, condition: bool, fault: Fault) -> Self {
        if condition { self.with(fault) } else { self }
    }

    /// Whether the fault is in the set.
    #[must_use]
    pub const fn contains(self, fault: Fault) -> bool {
        self.0 & fault.bit() != 0
    }

    /// The faults of the set, in the order of [`Fault::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.iter().copied().filter(move |fault| self.contains(*fault))
    }
}
