//! Kinds of effects, their names and their classes.

use crate::record::BatchKind;

/// How the world performs an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectClass {
    /// The store commits it or does not.
    Durable,
    /// The outside does it, or may have done it.
    External,
    /// The store is read.
    Read,
    /// Deterministic and answered at once, the same in every world.
    Compute,
    /// May be dropped, doubled or delayed without harm.
    Volatile,
}

/// When, relative to an effect, a process crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrashPhase {
    /// The effect has not happened.
    Before,
    /// It may or may not have happened.
    During,
    /// It has happened; the answer is lost.
    After,
}

impl CrashPhase {
    /// The name in a failpoint.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::During => "during",
            Self::After => "after",
        }
    }
}

impl EffectClass {
    /// The phases in which a process may crash.
    #[must_use]
    pub const fn phases(self) -> &'static [CrashPhase] {
        match self {
            Self::Durable | Self::Read => &[CrashPhase::Before, CrashPhase::After],
            Self::External => &[CrashPhase::Before, CrashPhase::During, CrashPhase::After],
            Self::Compute | Self::Volatile => &[],
        }
    }
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $kind:ident => $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$each])* $kind,)* }

        impl $name {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $text),* }
            }
        }
    };
}

kinds! {
    /// Kinds of ledger commands.
    LedgerKind {
        /// Accept a submission.
        Admit => "ledger.admit",
        /// Accept a submission that is meant for a run.
        Steer => "ledger.steer",
        /// Make it ready.
        Ready => "ledger.ready",
        /// Own the lane.
        Claim => "ledger.claim",
        /// Own it for longer.
        Renew => "ledger.renew",
        /// Own it no longer.
        Release => "ledger.release",
        /// The input is canonical.
        MarkInput => "ledger.mark_input",
        /// Take another row into the run.
        Join => "ledger.join",
        /// Its input is canonical.
        MarkJoined => "ledger.mark_joined",
        /// Its input did not become canonical.
        RevertJoin => "ledger.revert_join",
        /// Its settlement is canonical.
        SettleJoined => "ledger.settle_joined",
        /// Somebody wants it to end.
        Abort => "ledger.abort",
        /// Starts are in doubt.
        MarkUnknown => "ledger.mark_unknown",
        /// Somebody closes a doubt.
        Resolve => "ledger.resolve",
        /// Resolutions are canonical.
        CoverUnknown => "ledger.cover_unknown",
        /// Requests for approval are canonical.
        Suspend => "ledger.suspend",
        /// Somebody decides a request.
        Decide => "ledger.decide",
        /// The time of requests is over.
        Expire => "ledger.expire",
        /// Decisions are canonical.
        CoverApprovals => "ledger.cover_approvals",
        /// Somebody has it tried again.
        Retry => "ledger.retry",
        /// Somebody has another binding than the run.
        Incompatible => "ledger.incompatible",
        /// Somebody wants the run to go on under another binding.
        Rebind => "ledger.rebind",
        /// The run's binding is at hand.
        CoverIncompatible => "ledger.cover_incompatible",
        /// Fix the settlement.
        Reserve => "ledger.reserve",
        /// The settlement is canonical.
        Finalize => "ledger.finalize",
    }
}

kinds! {
    /// Kinds of external effects.
    ExternalKind {
        /// Ask a model.
        CallModel => "model.call",
        /// Check values against schemas.
        Check => "schema.check",
        /// Ask authority and policy.
        Clear => "authority.clear",
        /// Ask an approver.
        Approve => "approver.approve",
        /// Ask the host's authorizer.
        Authorize => "authorizer.authorize",
        /// Ask for permits.
        Permits => "permits.ask",
        /// Run a tool.
        InvokeTool => "tool.invoke",
        /// Go on behind a step that is recorded.
        NextStep => "tool.next_step",
        /// Ask what became of a start.
        Reconcile => "tool.reconcile",
    }
}

impl ExternalKind {
    /// How the world performs it.
    #[must_use]
    pub const fn class(self) -> EffectClass {
        match self {
            Self::Check => EffectClass::Compute,
            Self::Clear | Self::Permits => EffectClass::Volatile,
            Self::CallModel
            | Self::Approve
            | Self::Authorize
            | Self::InvokeTool
            | Self::NextStep
            | Self::Reconcile => EffectClass::External,
        }
    }
}

/// The kind of an effect that a process can crash at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// A ledger command.
    Ledger(LedgerKind),
    /// Make sure a log exists.
    Materialize,
    /// Raise a log to an epoch.
    Fence,
    /// Append a batch.
    Append(BatchKind),
    /// Read a lane.
    ReadLane,
    /// Read a page of a log.
    ReadLog,
    /// Ask the outside.
    External(ExternalKind),
}

impl EffectKind {
    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        let ledger = LedgerKind::ALL.iter().map(|kind| Self::Ledger(*kind));
        let log = [Self::Materialize, Self::Fence, Self::ReadLane, Self::ReadLog];
        let appends = BatchKind::ALL.iter().map(|kind| Self::Append(*kind));
        let outside = ExternalKind::ALL.iter().map(|kind| Self::External(*kind));
        ledger.chain(log).chain(appends).chain(outside)
    }

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ledger(kind) => kind.name(),
            Self::Materialize => "conversation.materialize",
            Self::Fence => "conversation.fence",
            Self::Append(kind) => kind.effect_name(),
            Self::ReadLane => "ledger.read",
            Self::ReadLog => "conversation.read",
            Self::External(kind) => kind.name(),
        }
    }

    /// How the world performs it.
    #[must_use]
    pub const fn class(self) -> EffectClass {
        match self {
            Self::Ledger(_) | Self::Materialize | Self::Fence | Self::Append(_) => {
                EffectClass::Durable
            }
            Self::ReadLane | Self::ReadLog => EffectClass::Read,
            Self::External(kind) => kind.class(),
        }
    }
}
