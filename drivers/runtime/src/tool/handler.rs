//! A handler, whatever its types.

use std::future::{Future, ready};
use std::sync::Arc;

use everstep_machine::agent::{Diagnostic, ToolDefinition, ToolOutcome};
use everstep_machine::effect::{Doubted, Reconciliation};
use everstep_machine::json::CanonicalJson;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::codec::{decode, encode_failure, encode_success};
use super::context::ToolContext;
use super::failed::{Failed, HandlerError};
use crate::ports::BoxFuture;
use crate::steps::{StepError, Steps};

/// How one try went.
pub(super) struct Tried {
    pub(super) outcome: ToolOutcome,
    /// The whole failure that it declares, if its outcome does not hold all of it.
    pub(super) declared: Option<CanonicalJson>,
    /// The handler says that nothing happened, and that the reason may pass.
    pub(super) had_no_effect: bool,
}

impl From<ToolOutcome> for Tried {
    fn from(outcome: ToolOutcome) -> Self {
        Self { outcome, declared: None, had_no_effect: false }
    }
}

/// Makes one try.
pub(super) type Handler = Arc<
    dyn Fn(&Arc<ToolDefinition>, &CanonicalJson, ToolContext) -> BoxFuture<Tried> + Send + Sync,
>;

/// Finds out what became of a start.
pub(super) type Reconcile = Arc<dyn Fn(Doubted) -> BoxFuture<Reconciliation> + Send + Sync>;

/// A handler with types: decodes, calls, encodes.
pub(super) fn typed<P, S, E, F>(
    handler: impl Fn(P, ToolContext) -> F + Send + Sync + 'static,
) -> Handler
where
    P: DeserializeOwned,
    S: Serialize,
    E: HandlerError,
    F: Future<Output = Result<S, E>> + Send + 'static,
{
    Arc::new(move |tool, parameters, context| {
        let parameters = match decode(parameters, &tool.redact) {
            Ok(parameters) => parameters,
            Err(outcome) => return Box::pin(ready(outcome.into())),
        };
        let (work, tool) = (handler(parameters, context), Arc::clone(tool));
        Box::pin(async move {
            match work.await {
                Ok(result) => encode_success(&result, &tool).into(),
                Err(error) => failed(error.into_failed(), |it| encode_failure(&it, &tool.redact)),
            }
        })
    })
}

/// A handler with types that is made of steps.
pub(super) fn stepped<P, S, E, F>(
    handler: impl Fn(P, Steps, ToolContext) -> F + Send + Sync + 'static,
) -> Handler
where
    P: DeserializeOwned,
    S: Serialize,
    E: HandlerError,
    F: Future<Output = Result<S, StepError<E>>> + Send + 'static,
{
    Arc::new(move |tool, parameters, context| {
        let parameters = match decode(parameters, &tool.redact) {
            Ok(parameters) => parameters,
            Err(outcome) => return Box::pin(ready(outcome.into())),
        };
        let (work, tool) = (handler(parameters, context.steps(), context), Arc::clone(tool));
        Box::pin(async move {
            match work.await {
                Ok(result) => encode_success(&result, &tool).into(),
                Err(StepError::Failed(error)) => {
                    failed(error.into_failed(), |it| encode_failure(&it, &tool.redact))
                }
                Err(StepError::Fault(fault)) => ToolOutcome::Defect(fault.diagnostic()).into(),
                Err(StepError::Stopped) => {
                    let words = "a step was asked for, and the call had ended";
                    ToolOutcome::Defect(Diagnostic::cut("Stopped", words)).into()
                }
            }
        })
    })
}

/// A handler of canonical JSON.
pub(super) fn raw<F>(
    handler: impl Fn(CanonicalJson, ToolContext) -> F + Send + Sync + 'static,
) -> Handler
where
    F: Future<Output = Result<CanonicalJson, Failed<Diagnostic>>> + Send + 'static,
{
    Arc::new(move |_, parameters, context| {
        let work = handler(parameters.clone(), context);
        Box::pin(async move {
            match work.await {
                Ok(result) => ToolOutcome::Success(result).into(),
                Err(error) => failed(error, |it| (ToolOutcome::Failure(it), None)),
            }
        })
    })
}

fn failed<E>(
    failed: Failed<E>,
    encode: impl FnOnce(E) -> (ToolOutcome, Option<CanonicalJson>),
) -> Tried {
    let (failure, had_no_effect) = match failed {
        Failed::HadNoEffect(failure) => (failure, true),
        Failed::Lasting(failure) => (failure, false),
    };
    let (outcome, declared) = encode(failure);
    Tried { outcome, declared, had_no_effect }
}
