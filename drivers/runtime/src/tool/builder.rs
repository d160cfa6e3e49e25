//! A tool, as it is written down.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{
    Diagnostic, ExecutionClass, FailureMode, Judgement, Pointer, RetryClass, Risk, Schema,
    ToolDefinition,
};
use everstep_machine::effect::{Doubted, Reconciliation};
use everstep_machine::identity::{DurationMs, GroupName, ToolName};
use everstep_machine::json::{CanonicalJson, JsonError};
use everstep_machine::limits::TOOL_RESULT_BYTES;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::ToolContext;
use super::derive::{Direction, schema_of};
use super::failed::{Failed, HandlerError};
use super::fault::ToolFault;
use super::handler::{Handler, Reconcile, raw, stepped, typed};
use crate::steps::{StepError, Steps};

/// A tool: its definition and its handler.
///
/// ```
/// use everstep_runtime::{Tool, ToolContext, Toolkit};
/// use everstep_machine::agent::{ExecutionClass, Risk};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Refund {
///     order: String,
///     cents: u32,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// enum RefundError {
///     NoSuchOrder,
/// }
///
/// let refund = Tool::new("refund", |refund: Refund, _: ToolContext| async move {
///     if refund.order.is_empty() { Err(RefundError::NoSuchOrder) } else { Ok(refund.cents) }
/// })
/// .description("Gives money back.")
/// .class(ExecutionClass::Ordinary)
/// .risk(Risk::High)
/// .resource("/order");
/// let toolkit = Toolkit::new([refund])?;
/// assert_eq!(toolkit.definitions().len(), 1);
/// # Ok::<(), everstep_runtime::ToolkitError>(())
/// ```
///
/// What is wrong with it is said by name when it becomes part of a [`super::Toolkit`].
pub struct Tool {
    pub(super) name: String,
    pub(super) declared: Result<ToolDefinition, ToolFault>,
    pub(super) handler: Handler,
    /// Whether its handler is made of steps.
    is_stepped: bool,
    pub(super) reconcile: Option<Reconcile>,
}

impl Tool {
    /// A tool from an async function: it is given decoded parameters and returns a result, or the
    /// failure that it declares. Class, risk and everything else begin as
    /// [`ToolDefinition::new`] has them, with the class [`ExecutionClass::Ordinary`].
    ///
    /// The three types say what is accepted: their JSON Schemas are derived. A failure is recorded
    /// under the name of its variant, or of its type, with its JSON as the message.
    #[must_use]
    pub fn new<P, S, E, F>(
        name: &str,
        handler: impl Fn(P, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema,
        S: Serialize + JsonSchema,
        E: HandlerError,
        F: Future<Output = Result<S, E>> + Send + 'static,
    {
        let declared = declared::<P, S, E::Failure>(name, ExecutionClass::Ordinary);
        let handler = typed(handler);
        Self { name: name.to_owned(), declared, handler, is_stepped: false, reconcile: None }
    }

    /// A durable tool from an async function that does its work in [`Steps`], and nothing with an
    /// effect beside them: it is entered again after a crash, and a step that is recorded is given
    /// back and does not run again (DUR-010). Types, failures and everything else are as in
    /// [`Tool::new`]; the class is [`ExecutionClass::Durable`] and stays so.
    ///
    /// ```
    /// use everstep_runtime::{NoFailure, StepError, Steps, Tool, ToolContext, Toolkit};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Trip {
    ///     to: String,
    /// }
    ///
    /// let book = Tool::durable("book", |trip: Trip, steps: Steps, _: ToolContext| async move {
    ///     let seat: u32 = steps
    ///         .run("reserve", 1, async |key| {
    ///             // The key is the same however often this runs: whoever reserves can tell.
    ///             Ok(format!("{}/{key}", trip.to).len() as u32)
    ///         })
    ///         .await?;
    ///     let ticket: String = steps.run("issue", 1, async |_| Ok(format!("seat {seat}"))).await?;
    ///     Ok::<_, StepError<NoFailure>>(ticket)
    /// });
    /// assert_eq!(Toolkit::new([book])?.definitions().len(), 1);
    /// # Ok::<(), everstep_runtime::ToolkitError>(())
    /// ```
    #[must_use]
    pub fn durable<P, S, E, F>(
        name: &str,
        handler: impl Fn(P, Steps, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema,
        S: Serialize + JsonSchema,
        E: HandlerError,
        F: Future<Output = Result<S, StepError<E>>> + Send + 'static,
    {
        let declared = declared::<P, S, E::Failure>(name, ExecutionClass::Durable);
        let handler = stepped(handler);
        Self { name: name.to_owned(), declared, handler, is_stepped: true, reconcile: None }
    }

    /// A tool that is described elsewhere: its definition carries JSON Schemas, and its handler
    /// takes and gives canonical JSON. Both are checked against those schemas.
    #[must_use]
    pub fn dynamic<F>(
        definition: ToolDefinition,
        handler: impl Fn(CanonicalJson, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CanonicalJson, Failed<Diagnostic>>> + Send + 'static,
    {
        let name = definition.name.as_str().to_owned();
        let (declared, handler) = (Ok(definition), raw(handler));
        Self { name, declared, handler, is_stepped: false, reconcile: None }.checked()
    }

    /// What it does, in words for the model.
    #[must_use]
    pub fn description(self, words: &str) -> Self {
        self.with(|it| it.description = Arc::from(words))
    }

    /// What may be done with a call whose outcome is not known. A tool is durable exactly when it
    /// was made by [`Tool::durable`].
    #[must_use]
    pub fn class(self, class: ExecutionClass) -> Self {
        self.with(|it| it.class = class).checked()
    }

    /// How much harm it can do.
    #[must_use]
    pub fn risk(self, risk: Risk) -> Self {
        self.with(|it| it.risk = risk)
    }

    /// Where in the parameters the resource that it acts on is named, as a JSON pointer.
    #[must_use]
    pub fn resource(self, place: &str) -> Self {
        self.with_place(place, |it, place| it.resource = Some(place))
    }

    /// The group whose permits its calls share.
    #[must_use]
    pub fn group(mut self, name: &str) -> Self {
        let group = GroupName::new(name);
        let group = group.map_err(|why| ToolFault::Group { text: name.to_owned(), why });
        self.declared =
            self.declared.and_then(|it| Ok(ToolDefinition { group: Some(group?), ..it }));
        self
    }

    /// How long a call may take, all its tries together; in whole milliseconds, at least one.
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.with(|it| it.timeout = DurationMs(millis)).checked()
    }

    /// Whether it is tried again when its handler says that nothing happened.
    #[must_use]
    pub fn retry(self, class: RetryClass) -> Self {
        self.with(|it| it.retry = class)
    }

    /// Bytes of a result that its record shows, at most [`TOOL_RESULT_BYTES`].
    #[must_use]
    pub fn result_bytes(self, most: u32) -> Self {
        self.with(|it| it.result_bytes = most).checked()
    }

    /// A place in parameters, results and failures that nobody is shown, as a JSON pointer.
    #[must_use]
    pub fn redact(self, place: &str) -> Self {
        self.with_place(place, |it, place| it.redact.push(place))
    }

    /// What a declared failure does to the run.
    #[must_use]
    pub fn failure(self, mode: FailureMode) -> Self {
        self.with(|it| it.failure = mode)
    }

    /// Whether a person is asked first.
    #[must_use]
    pub fn approval(self, rule: Judgement) -> Self {
        self.with(|it| it.approval = rule)
    }

    /// Who can be asked what became of a start. "Never started" may be said only by who keeps the
    /// call from starting under any epoch below [`Doubted::asking`] from now on.
    #[must_use]
    pub fn reconciler<F>(self, ask: impl Fn(Doubted) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Reconciliation> + Send + 'static,
    {
        let reconcile: Reconcile = Arc::new(move |doubted| Box::pin(ask(doubted)));
        let tool = self.with(|it| it.reconciles = true);
        Self { reconcile: Some(reconcile), ..tool }
    }

    fn with(mut self, change: impl FnOnce(&mut ToolDefinition)) -> Self {
        // A tool that is wrong already says so later; only the first fault counts.
        if let Ok(definition) = &mut self.declared {
            change(definition);
        }
        self
    }

    fn with_place(mut self, text: &str, change: impl FnOnce(&mut ToolDefinition, Pointer)) -> Self {
        match Pointer::new(text) {
            Ok(place) => return self.with(|it| change(it, place)),
            Err(why) => {
                let fault = ToolFault::Place { text: text.to_owned(), why };
                self.declared = self.declared.and(Err(fault));
            }
        }
        self
    }

    /// Whether the numbers of the definition are within their bounds.
    fn checked(mut self) -> Self {
        let is_stepped = self.is_stepped;
        self.declared = self.declared.and_then(|it| match &it {
            ToolDefinition { class, .. } if (*class == ExecutionClass::Durable) != is_stepped => {
                Err(ToolFault::Steps(*class))
            }
            ToolDefinition { timeout: DurationMs(0), .. } => Err(ToolFault::NoTime),
            ToolDefinition { result_bytes, .. } if *result_bytes > TOOL_RESULT_BYTES => {
                Err(ToolFault::ResultBytes(*result_bytes))
            }
            _ => Ok(it),
        });
        self
    }
}

/// What types and name declare.
fn declared<P: JsonSchema, S: JsonSchema, E: JsonSchema>(
    name: &str,
    class: ExecutionClass,
) -> Result<ToolDefinition, ToolFault> {
    let parameters = derived("parameters", schema_of::<P>(Direction::In));
    let success = derived("result", schema_of::<S>(Direction::Out));
    let fails_with = derived("failure", schema_of::<E>(Direction::Out));
    let definition = ToolDefinition::new(ToolName::new(name).map_err(ToolFault::Name)?, class);
    let (parameters, success, fails_with) = (parameters?, success?, fails_with?);
    Ok(ToolDefinition { parameters, success, fails_with, ..definition })
}

fn derived(of: &'static str, schema: Result<Schema, JsonError>) -> Result<Schema, ToolFault> {
    schema.map_err(|why| ToolFault::Underivable { of, why })
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("declared", &self.declared).finish_non_exhaustive()
    }
}
