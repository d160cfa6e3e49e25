//! The steps of a durable call: what a handler may ask for each time it is entered (DUR-010).
//!
//! A handler is entered anew with every start of its call. It asks for its steps one after the
//! other, by name and version. What is recorded is given back to it and its body is not run; behind
//! the last recorded step bodies run, and each that succeeds is recorded before the handler goes on.
//!
//! ```text
//! ask -- recorded, same name and version --> Asked::Recorded          the next one may be asked for
//!  |---- recorded, another one ------------> StepFault::Differs
//!  +---- not recorded ---------------------> Asked::Run -- succeeded --> recorded
//!                                                 \----- abandoned ----> the same one may be asked for
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | DUR-010: a step is recorded once | [`follows`], asked by an [`Entry`], by a run and by the fold |
//! | no recorded step is skipped, repeated or taken for another one | [`Entry::ask`], [`Entry::end`] |
//! | steps follow each other: one body at a time | [`Entry::ask`] |
//! | a fault is final: nothing is asked for behind it | every method of [`Entry`] |
//!
//! A body may run more than once. Who dies while it runs, or before its success is recorded, has
//! left nothing: the next start runs it again, under the same [`StepKey`].
//!
//! Deliberately absent: IO, bodies, time.
//!
//! [`StepKey`]: crate::identity::StepKey

mod entry;
mod fault;

use alloc::vec::Vec;

pub use entry::{Asked, Entry};
pub use fault::StepFault;

use crate::agent::{NamedStep, StepOutput};
use crate::limits::{CALL_STEPS, STEP_OUTPUT_BYTES};

/// Whether a step may be the next one behind those that are recorded.
///
/// # Errors
/// The call has as many steps as it may have, one of them has this name, or what it gave is over its
/// bound.
pub fn follows<'a>(
    recorded: impl IntoIterator<Item = &'a StepOutput>,
    output: &StepOutput,
) -> Result<(), StepFault> {
    let recorded: Vec<&StepOutput> = recorded.into_iter().collect();
    may_follow(&recorded, &output.step)?;
    let bytes = output.output.as_str().len();
    if bytes > STEP_OUTPUT_BYTES {
        return Err(StepFault::TooLarge { step: output.step.clone(), bytes });
    }
    Ok(())
}

/// The same of a step that has not run.
fn may_follow(recorded: &[&StepOutput], step: &NamedStep) -> Result<(), StepFault> {
    if recorded.iter().any(|before| before.step.name == step.name) {
        return Err(StepFault::Twice { name: step.name.clone() });
    }
    if recorded.len() >= CALL_STEPS {
        return Err(StepFault::TooMany { step: step.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
