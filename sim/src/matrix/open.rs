//! Rows whose capability is not built yet.
//!
//! An open row has no failpoint. Once an effect is given to one of the open rows it must move to
//! [`super::Row`], which has no room for marks: so a mark cannot outlive its capability, and the
//! words below tell a test when it would.

use std::fmt;

/// What is still to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Delegation to subagents.
    Subagents,
}

impl Capability {
    /// Every capability that rows wait for.
    pub const ALL: &'static [Self] = &[Self::Subagents];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Subagents => "subagents",
        }
    }

    /// Words in the names of effects by which its being built shows.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Subagents => &["subagent", "lineage", "child", "parent", "delegat"],
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A row that waits for its capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRow {
    /// The stable id.
    pub id: &'static str,
    /// At which point the crash strikes.
    pub title: &'static str,
    /// What it waits for.
    pub capability: Capability,
}

macro_rules! open {
    ($($id:literal $capability:ident $title:literal,)*) => {
        &[$(OpenRow { id: $id, title: $title, capability: Capability::$capability }),*]
    };
}

/// Every open row, in order.
#[must_use]
pub const fn open_rows() -> &'static [OpenRow] {
    open![
        "S-01" Subagents "before the parent reserves a budget",
        "S-02" Subagents "reserved, child not requested",
        "S-03" Subagents "requested, child not admitted",
        "S-04" Subagents "admission of the child in doubt",
        "S-05" Subagents "child admitted, not ready",
        "S-06" Subagents "child ready, start not recorded by the parent",
        "S-07" Subagents "start recorded, parent not yet waiting",
        "S-08" Subagents "while the child's model answers",
        "S-09" Subagents "while an ordinary tool of the child runs",
        "S-10" Subagents "parent's abort canonical, child not aborted",
        "S-11" Subagents "child's abort canonical, parent not marked",
        "S-12" Subagents "child ends while it is aborted",
        "S-13" Subagents "child settled, parent has not seen it",
        "S-14" Subagents "result computed, join not recorded",
        "S-15" Subagents "join recorded, budget not being released",
        "S-16" Subagents "budget being released, not released",
        "S-17" Subagents "budget released, parent has not gone on",
        "S-18" Subagents "workers of parent and child stop together",
        "S-19" Subagents "parent replaced during reservation, release or join",
        "S-20" Subagents "a replaced parent wakes",
    ]
}
