//! Turns of a model's script and rules of a live model, written in Rust.

use everstep_machine::agent::{Dimension, Usage};

use super::{failure, said};
use crate::scenario::USUAL_USAGE;
use crate::scenario::draft::{Call, Located, ModelFailure, ProviderCall, Rule, Turn};
use crate::scenario::words::FaultKind;

#[track_caller]
fn model_failure(kind: FaultKind, tag: &str, message: &str) -> ModelFailure {
    ModelFailure { kind, failure: failure(tag, message), retry_after_ms: None, used: None }
}

impl Turn {
    #[track_caller]
    fn new() -> Self {
        Self {
            site: said("").site,
            reasoning: None,
            text: None,
            provider_calls: Vec::new(),
            calls: Vec::new(),
            usage: Some(USUAL_USAGE),
            fault: None,
            faults: Vec::new(),
        }
    }

    /// The model says something.
    #[track_caller]
    #[must_use]
    pub fn says(text: &str) -> Self {
        Self { text: Some(said(text)), ..Self::new() }
    }

    /// The model calls a tool, with parameters as JSON text.
    #[track_caller]
    #[must_use]
    pub fn calls(tool: &str, json: &str) -> Self {
        Self::new().and_calls(tool, json)
    }

    /// The model calls a tool that the agent does not have.
    #[track_caller]
    #[must_use]
    pub fn calls_undeclared(tool: &str, json: &str) -> Self {
        Self::new().and_calls_undeclared(tool, json)
    }

    /// The provider cannot be asked.
    #[track_caller]
    #[must_use]
    pub fn unavailable(tag: &str, message: &str) -> Self {
        Self::faulty(FaultKind::Unavailable, tag, message)
    }

    /// What comes back is no response.
    #[track_caller]
    #[must_use]
    pub fn protocol(tag: &str, message: &str) -> Self {
        Self::faulty(FaultKind::Protocol, tag, message)
    }

    #[track_caller]
    fn faulty(kind: FaultKind, tag: &str, message: &str) -> Self {
        Self { fault: Some(model_failure(kind, tag, message)), ..Self::new() }
    }

    /// The provider refuses the request, which is longer than the model's context.
    #[track_caller]
    #[must_use]
    pub fn too_long(tag: &str, message: &str) -> Self {
        Self::faulty(FaultKind::ContextLength, tag, message)
    }

    /// The provider refuses the request, and would refuse it again.
    #[track_caller]
    #[must_use]
    pub fn refused(tag: &str, message: &str) -> Self {
        Self::faulty(FaultKind::Refused, tag, message)
    }

    /// Before it says anything it thinks this.
    #[track_caller]
    #[must_use]
    pub fn thinking(self, reasoning: &str) -> Self {
        Self { reasoning: Some(said(reasoning)), ..self }
    }

    /// Before it says anything its provider calls a tool by itself, with parameters and result as
    /// JSON text.
    #[track_caller]
    #[must_use]
    pub fn after_provider_call(mut self, tool: &str, parameters: &str, result: &str) -> Self {
        let (tool, parameters, result) = (said(tool), said(parameters), said(result));
        self.provider_calls.push(ProviderCall { tool, parameters, result, failed: false });
        self
    }

    /// It says that it used this; none means that it does not say.
    #[must_use]
    pub fn using(self, usage: impl Into<Option<Usage>>) -> Self {
        Self { usage: usage.into(), ..self }
    }

    /// One more who asks for it first finds that the provider cannot be asked.
    #[track_caller]
    #[must_use]
    pub fn after_unavailable(mut self, tag: &str, message: &str) -> Self {
        self.faults.push(model_failure(FaultKind::Unavailable, tag, message));
        self
    }

    /// One more who asks for it first hears nothing until the time for an answer is over.
    #[track_caller]
    #[must_use]
    pub fn after_silence(mut self, tag: &str, message: &str) -> Self {
        self.faults.push(model_failure(FaultKind::Silent, tag, message));
        self
    }

    /// One more who asks for it first is told to come back after so many milliseconds.
    #[track_caller]
    #[must_use]
    pub fn after_rate_limit(mut self, tag: &str, message: &str, retry_after_ms: u64) -> Self {
        let retry_after_ms = Some(Located::here(retry_after_ms));
        let fault = model_failure(FaultKind::RateLimited, tag, message);
        self.faults.push(ModelFailure { retry_after_ms, ..fault });
        self
    }

    /// One more who asks for it first is told that the request is too long.
    #[track_caller]
    #[must_use]
    pub fn after_too_long(mut self, tag: &str, message: &str) -> Self {
        self.faults.push(model_failure(FaultKind::ContextLength, tag, message));
        self
    }

    /// In the same batch it calls this as well.
    #[track_caller]
    #[must_use]
    pub fn and_calls(self, tool: &str, json: &str) -> Self {
        let call = Call { tool: said(tool), parameters: said(json), undeclared: false };
        self.with(call)
    }

    /// In the same batch it calls this as well, which the agent does not have.
    #[track_caller]
    #[must_use]
    pub fn and_calls_undeclared(self, tool: &str, json: &str) -> Self {
        let call = Call { tool: said(tool), parameters: said(json), undeclared: true };
        self.with(call)
    }

    fn with(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }
}

impl Rule {
    #[track_caller]
    fn new() -> Self {
        Self { site: Some(said("").site), ..Self::default() }
    }

    /// It says this, whatever it is shown.
    #[track_caller]
    #[must_use]
    pub fn says(text: &str) -> Self {
        Self { text: Some(said(text)), ..Self::new() }
    }

    /// It calls this tool, whatever it is shown.
    #[track_caller]
    #[must_use]
    pub fn calls(tool: &str) -> Self {
        Self { calls: vec![said(tool)], ..Self::new() }
    }

    /// In the same batch it calls this as well.
    #[track_caller]
    #[must_use]
    pub fn and_calls(mut self, tool: &str) -> Self {
        self.calls.push(said(tool));
        self
    }

    /// Only if the agent's instructions contain this.
    #[track_caller]
    #[must_use]
    pub fn if_instructed(self, text: &str) -> Self {
        Self { instructions_contain: Some(said(text)), ..self }
    }

    /// Only if some message contains this.
    #[track_caller]
    #[must_use]
    pub fn if_shown(self, text: &str) -> Self {
        Self { shows: Some(said(text)), ..self }
    }

    /// Only if the last input contains this.
    #[track_caller]
    #[must_use]
    pub fn if_asked(self, text: &str) -> Self {
        Self { last_user_contains: Some(said(text)), ..self }
    }

    /// Only if the last batch of results has one of this tool.
    #[track_caller]
    #[must_use]
    pub fn after_result_of(self, tool: &str) -> Self {
        Self { tool_result_of: Some(said(tool)), ..self }
    }

    /// Only if a result of the last batch contains this.
    #[track_caller]
    #[must_use]
    pub fn if_result_shows(self, text: &str) -> Self {
        Self { result_contains: Some(said(text)), ..self }
    }

    /// Only if calling tools is forbidden, or only if it is not.
    #[must_use]
    pub fn if_tools_forbidden(self, forbidden: bool) -> Self {
        Self { tools_forbidden: Some(forbidden), ..self }
    }

    /// Only if an answer of a certain form is wanted, or only if not.
    #[must_use]
    pub fn if_output_wanted(self, wanted: bool) -> Self {
        Self { output_wanted: Some(wanted), ..self }
    }

    /// Only if the status note tells of this.
    #[must_use]
    pub fn if_status_shows(self, dimension: Dimension) -> Self {
        Self { status_shows: Some(dimension), ..self }
    }
}
