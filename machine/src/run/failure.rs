//! How a run fails, in words.

use crate::agent::{Diagnostic, Dimension, ModelFault};
use crate::ledger::Mismatch;
use crate::limits::{FRUITLESS_CLAIMS, INCOMPATIBLE_MS};
use crate::record::{PolicyLimit, Settlement};

/// The tag of a run whose request is longer than the model's context, whoever the provider is.
const CONTEXT_LENGTH: &str = "ContextLength";

/// A failure that no policy limit explains. Whoever brings the tag may use any word, but a
/// policy's tag is only a policy's to give.
pub(super) fn failed(tag: &str, message: &str) -> Settlement {
    let tag = if PolicyLimit::owns(tag) { "Failed" } else { tag };
    Settlement::Failed { diagnostic: Diagnostic::cut(tag, message), limit: None }
}

/// The end of a run that has used up one of its budgets (RUN-011).
pub(super) fn budget(dimension: Dimension) -> Settlement {
    let message = alloc::format!("the run has used up its {}", dimension.name());
    limited(PolicyLimit::Budget(dimension), &message)
}

/// The end of a run whose calls keep failing (RUN-029).
pub(super) fn repeated_failures(limit: u32) -> Settlement {
    limited(PolicyLimit::RepeatedFailures, &alloc::format!("{limit} calls in a row have failed"))
}

/// The end of a submission whose owners keep dying (DUR-018).
pub(crate) fn poison() -> Settlement {
    let message =
        alloc::format!("{FRUITLESS_CLAIMS} attempts in a row ended without getting anywhere");
    limited(PolicyLimit::Attempts, &message)
}

/// The end of a run for whose binding nobody has come in time (DUR-014).
pub(crate) fn incompatible(mismatch: &Mismatch) -> Settlement {
    let days = INCOMPATIBLE_MS / (24 * 60 * 60 * 1_000);
    failed("Incompatible", &alloc::format!("{mismatch}; nobody has come with it for {days} days"))
}

fn limited(limit: PolicyLimit, message: &str) -> Settlement {
    Settlement::Failed { diagnostic: Diagnostic::cut(limit.tag(), message), limit: Some(limit) }
}

/// The end of a run whose model gives no response.
pub(super) fn fault(fault: &ModelFault) -> Settlement {
    let diagnostic = fault.diagnostic();
    let tag = match fault {
        ModelFault::ContextLength(_) => CONTEXT_LENGTH,
        ModelFault::Unavailable(_)
        | ModelFault::Protocol(_)
        | ModelFault::RateLimited { .. }
        | ModelFault::Refused(_) => diagnostic.tag(),
    };
    let tag = if PolicyLimit::owns(tag) { "ModelFault" } else { tag };
    failed(tag, diagnostic.message())
}

/// The end of a run whose request is too long, and of which nothing could be left out (RUN-024).
pub(super) fn no_summary() -> Settlement {
    let message = "the request is longer than the model's context, and no summary of what is old \
                   could be made";
    failed(CONTEXT_LENGTH, message)
}
