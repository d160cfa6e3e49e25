//! Revisions, written in Rust.

use super::said;
use crate::scenario::draft::Revision;

impl Revision {
    /// The agent is told to be this instead.
    #[track_caller]
    #[must_use]
    pub fn to(instructions: &str) -> Self {
        Self { instructions: said(instructions), rebinds: false, outlasts_pauses: false }
    }

    /// The operator has runs go on under it that are bound to what the agent was.
    #[must_use]
    pub fn rebinding(self) -> Self {
        Self { rebinds: true, ..self }
    }

    /// The week after which a run ends that nobody can go on with passes while somebody is held up,
    /// too: who wakes then wakes behind it.
    #[must_use]
    pub fn outlasting_pauses(self) -> Self {
        Self { outlasts_pauses: true, ..self }
    }
}
