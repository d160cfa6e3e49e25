//! What a machine can ask of the world, and where the world may break while it obeys.
//!
//! Every effect has a kind with a stable name and a class; the class alone fixes the phases in
//! which a process may crash. The list of [`Failpoint`]s is computed from the kinds, which are
//! closed enums: nobody keeps it by hand, and a simulator can prove that it visited all of it
//! (DUR-019).

mod clearance;
mod external;
mod failpoint;
mod kind;

pub use clearance::{
    ApprovalAnswer, ApprovalQuestion, Asker, Clearance, Clearances, Proposed, Subject,
};
pub use external::{
    Answer, Authorization, CheckSubject, Doubted, External, Fitting, Invocation, Onward,
    Reconciliation, Wanting,
};
pub use failpoint::{Failpoint, FailpointError};
pub use kind::{CrashPhase, EffectClass, EffectKind, ExternalKind, LedgerKind};

#[cfg(test)]
mod tests;
