//! Tools, written in Rust.

use everstep_machine::agent::{
    ExecutionClass, FailureMode, Judgement, RetryClass, Risk, ToolOutcome,
};

use super::{failure, said};
use crate::scenario::Silence;
use crate::scenario::draft::{Located, Reaction, StepPart, Tool, Traits};
use crate::scenario::function::{Called, Function};

impl Tool {
    #[track_caller]
    fn new(name: &str, class: ExecutionClass) -> Self {
        Self {
            name: said(name),
            class,
            reconciles: false,
            latency_ms: Located::here(0),
            silent_starts: Located::here(0),
            silence: Silence::Done,
            deadly_starts: Located::here(0),
            passing_failures: Located::here(0),
            steps: Vec::new(),
            later_steps: Vec::new(),
            reaction: Reaction::Result(said("null")),
            traits: Traits::default(),
        }
    }

    /// A tool without effects.
    #[track_caller]
    #[must_use]
    pub fn readonly(name: &str) -> Self {
        Self::new(name, ExecutionClass::Readonly)
    }

    /// A tool that may run again under the same key.
    #[track_caller]
    #[must_use]
    pub fn idempotent(name: &str) -> Self {
        Self::new(name, ExecutionClass::Idempotent)
    }

    /// A tool that never runs again on doubt.
    #[track_caller]
    #[must_use]
    pub fn ordinary(name: &str) -> Self {
        Self::new(name, ExecutionClass::Ordinary)
    }

    /// A tool made of steps; each that is recorded does not run again.
    #[track_caller]
    #[must_use]
    pub fn durable(name: &str) -> Self {
        Self::new(name, ExecutionClass::Durable)
    }

    /// One more step of a durable tool, in its version 1, and what it gives, as JSON text.
    #[track_caller]
    #[must_use]
    pub fn step(mut self, name: &str, gives: &str) -> Self {
        let (name, result) = (said(name), said(gives));
        self.steps.push(StepPart { name, version: Located::here(1), result });
        self
    }

    /// The same of starts after the first one of a call, as if the tool had been changed under it.
    #[track_caller]
    #[must_use]
    pub fn later_step(mut self, name: &str, gives: &str) -> Self {
        let (name, result) = (said(name), said(gives));
        self.later_steps.push(StepPart { name, version: Located::here(1), result });
        self
    }

    /// A reconciler answers truthfully what became of a start.
    #[must_use]
    pub fn reconciled(self) -> Self {
        Self { reconciles: true, ..self }
    }

    /// How long a call takes, in milliseconds.
    #[track_caller]
    #[must_use]
    pub fn latency_ms(self, latency: u64) -> Self {
        Self { latency_ms: Located::here(latency), ..self }
    }

    /// The first so many starts of each call give no answer, ever, whether they did their work or
    /// not.
    #[track_caller]
    #[must_use]
    pub fn silent(self, starts: u64, silence: Silence) -> Self {
        Self { silent_starts: Located::here(starts), silence, ..self }
    }

    /// The first so many starts of each call kill the process that made them, their work done.
    #[track_caller]
    #[must_use]
    pub fn deadly(self, starts: u64) -> Self {
        Self { deadly_starts: Located::here(starts), ..self }
    }

    /// The first so many tries of each call fail for a passing reason and without any effect. A host
    /// tries again by itself only where the tool says so, see [`Tool::retry`].
    #[track_caller]
    #[must_use]
    pub fn passing_failures(self, tries: u64) -> Self {
        Self { passing_failures: Located::here(tries), ..self }
    }

    /// What it returns, as JSON text.
    #[track_caller]
    #[must_use]
    pub fn returns(self, json: &str) -> Self {
        Self { reaction: Reaction::Result(said(json)), ..self }
    }

    /// It fails.
    #[track_caller]
    #[must_use]
    pub fn fails(self, tag: &str, message: &str) -> Self {
        Self { reaction: Reaction::Failure(failure(tag, message)), ..self }
    }

    /// A function says how each call ends, from the call alone: the same call ends the same way
    /// whenever it is asked. A function that does not keep to that breaks the property
    /// [`Handlers`](crate::oracle::Property::Handlers); one that panics, or that says what the tool
    /// does not declare, has broken, and its call ends as a defect.
    ///
    /// ```
    /// use everstep_machine::agent::{Diagnostic, ToolOutcome};
    /// use everstep_machine::json::CanonicalJson;
    /// use everstep_sim::scenario::{Scenario, Submission, Tool, Turn};
    ///
    /// let charge = Tool::ordinary("charge").handled_by(|call| {
    ///     if call.parameters.as_str().contains("-") {
    ///         return ToolOutcome::Failure(Diagnostic::cut("Negative", "nothing to charge"));
    ///     }
    ///     let receipt = format!(r#"{{ "charged": {} }}"#, call.parameters.as_str());
    ///     ToolOutcome::Success(CanonicalJson::parse(receipt.as_bytes()).unwrap())
    /// });
    /// let scenario = Scenario::builder("charge")
    ///     .tool(charge)
    ///     .turn(Turn::calls("charge", r#"{ "cents": 100 }"#))
    ///     .turn(Turn::says("Charged."))
    ///     .submission(Submission::new("first"))
    ///     .build()?;
    /// assert!(scenario.tools[0].function.is_some());
    /// # Ok::<(), everstep_sim::scenario::ScenarioError>(())
    /// ```
    #[must_use]
    pub fn handled_by(
        self,
        function: impl Fn(&Called<'_>) -> ToolOutcome + Send + Sync + 'static,
    ) -> Self {
        Self { reaction: Reaction::Function(Function::new(function)), ..self }
    }

    /// What it does, for the model.
    #[track_caller]
    #[must_use]
    pub fn described(mut self, description: &str) -> Self {
        self.traits.description = Some(said(description));
        self
    }

    /// A JSON Schema of its parameters, as text.
    #[track_caller]
    #[must_use]
    pub fn takes(mut self, schema: &str) -> Self {
        self.traits.parameters = Some(said(schema));
        self
    }

    /// A JSON Schema of its result, as text.
    #[track_caller]
    #[must_use]
    pub fn gives(mut self, schema: &str) -> Self {
        self.traits.success = Some(said(schema));
        self
    }

    /// A JSON Schema of the message of its failure, as text.
    #[track_caller]
    #[must_use]
    pub fn declares_failure(mut self, schema: &str) -> Self {
        self.traits.fails_with = Some(said(schema));
        self
    }

    /// An approver is asked about each call.
    #[must_use]
    pub fn asks(mut self) -> Self {
        self.traits.approval = Some(Judgement::Prompt);
        self
    }

    /// Its failures fail the run.
    #[must_use]
    pub fn fails_the_run(mut self) -> Self {
        self.traits.failure = Some(FailureMode::Error);
        self
    }

    /// Bytes of its results that are kept, at most a megabyte.
    #[track_caller]
    #[must_use]
    pub fn result_bytes(mut self, bytes: u64) -> Self {
        self.traits.result_bytes = Some(Located::here(bytes));
        self
    }

    /// One more place, as a JSON pointer, that nobody is shown.
    #[track_caller]
    #[must_use]
    pub fn redacts(mut self, place: &str) -> Self {
        self.traits.redact.push(said(place));
        self
    }

    /// How much harm it can do.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.traits.risk = Some(risk);
        self
    }

    /// Where in the parameters, as a JSON pointer, it is said what it acts on.
    #[track_caller]
    #[must_use]
    pub fn acts_on(mut self, place: &str) -> Self {
        self.traits.resource = Some(said(place));
        self
    }

    /// The group with which it shares places of the host.
    #[track_caller]
    #[must_use]
    pub fn group(mut self, group: &str) -> Self {
        self.traits.group = Some(said(group));
        self
    }

    /// How long a host lets it run, in milliseconds.
    #[track_caller]
    #[must_use]
    pub fn timeout_ms(mut self, timeout: u64) -> Self {
        self.traits.timeout_ms = Some(Located::here(timeout));
        self
    }

    /// Whether a host makes a call again that had no effect.
    #[must_use]
    pub fn retry(mut self, retry: RetryClass) -> Self {
        self.traits.retry = Some(retry);
        self
    }
}
