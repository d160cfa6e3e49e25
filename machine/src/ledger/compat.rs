//! What a row knows of owners whose binding is not the one that its run is bound to.

use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::agent::Bound;
use crate::identity::{DurationMs, PrincipalId, ProducerId, Sequence, Timestamp};
use crate::limits::INCOMPATIBLE_MS;

/// A run and a binding that is not its own, part by part (case CR-09).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mismatch {
    /// Where in the log it stands what the run is bound to.
    pub at: Sequence,
    /// What the run is bound to.
    pub expected: Bound,
    /// What somebody came with.
    pub found: Bound,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, expected, found } = self;
        write!(f, "record {at} binds the run to")?;
        for (index, part) in expected.differences(found).enumerate() {
            let (expected, found) = (Short(expected.part(part)), Short(found.part(part)));
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {part} {expected}, found is {found}")?;
        }
        Ok(())
    }
}

/// The beginning of a digest, which tells two of them apart for whoever reads it.
struct Short(crate::digest::Digest);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::digest::hex(f, &self.0.0[..6])
    }
}

/// That nobody who came could go on with a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Incompatible {
    /// What the run wants, and what the last who came had.
    pub mismatch: Mismatch,
    /// Who that was.
    pub by: ProducerId,
    /// Since when: nobody whose binding fits has come since.
    pub since: Timestamp,
}

impl Incompatible {
    /// From when on whoever comes ends the run instead of waiting (DUR-014).
    #[must_use]
    pub const fn over_at(&self) -> Timestamp {
        self.since.after(DurationMs(INCOMPATIBLE_MS))
    }
}

/// Somebody wants a run to go on under another binding than its own. It names both, so it cannot be
/// about anything that its author has not seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RebindIntent {
    /// Where in the log the binding stands that is to be replaced.
    pub replaces: Sequence,
    /// By which.
    pub to: Bound,
    /// Who.
    pub principal: PrincipalId,
    /// Why.
    pub reason: Arc<str>,
}

impl RebindIntent {
    /// Whether it lets whoever came with this go on.
    #[must_use]
    pub fn allows(&self, mismatch: &Mismatch) -> bool {
        (self.replaces, self.to) == (mismatch.at, mismatch.found)
    }
}

/// What a row knows of bindings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Compat {
    /// That nobody who came could go on.
    pub incompatible: Option<Incompatible>,
    /// What somebody wants done about it: the last word. It stays behind its rebinding, so that a
    /// late repetition is answered as the first time.
    pub rebind: Option<RebindIntent>,
}

impl Compat {
    /// Whether exactly this is known.
    #[must_use]
    pub fn knows(&self, mismatch: &Mismatch) -> bool {
        self.incompatible.as_ref().is_some_and(|it| it.mismatch == *mismatch)
    }

    /// Whether nobody who fits this run has come for as long as a run waits for it.
    #[must_use]
    pub fn is_over(&self, mismatch: &Mismatch, now: Timestamp) -> bool {
        self.incompatible.as_ref().is_some_and(|it| {
            let is_of_it =
                (it.mismatch.at, it.mismatch.expected) == (mismatch.at, mismatch.expected);
            is_of_it && it.over_at() <= now
        })
    }

    /// What is left of it when the row ends: nobody has to come any more.
    #[must_use]
    pub fn ended(&self) -> Self {
        Self { incompatible: None, rebind: self.rebind.clone() }
    }

    /// Until when somebody with this binding has nothing to do about the row, as far as it says.
    #[must_use]
    pub fn waits_until(&self, bound: &Bound) -> Option<Timestamp> {
        let known = self.incompatible.as_ref().filter(|it| it.mismatch.found == *bound)?;
        let is_allowed = self.rebind.as_ref().is_some_and(|it| it.allows(&known.mismatch));
        (!is_allowed).then(|| known.over_at())
    }
}
