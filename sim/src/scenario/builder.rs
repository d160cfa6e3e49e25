//! Scenarios written in Rust: the same parts as in a file, the same checks, and an error that
//! names the line of the call.

use everstep_machine::agent::{ExecutionClass, Resolution};
use everstep_machine::effect::Failpoint;
use everstep_machine::record::Outcome;

use super::bounds::{DEFAULT_MAX_TURNS, DEFAULT_WORKERS};
use super::draft::{
    Abort, Answer, Call, Failure, Located, ModelFailure, Reaction, Reply, ScenarioBuilder, Site,
    Submission, Tool, Turn,
};
use super::error::{Place, ScenarioError};
use super::words::{EVERY_MOMENT, FaultKind};
use super::{Scenario, check};

impl Scenario {
    /// Starts a scenario of this name: an agent called `agent`, two workers, nothing to do.
    ///
    /// ```
    /// use everstep_sim::scenario::{Scenario, Submission, Tool, Turn};
    ///
    /// let scenario = Scenario::builder("charge")
    ///     .tool(Tool::ordinary("charge").returns(r#"{ "receipt": 7 }"#))
    ///     .turn(Turn::calls("charge", r#"{ "cents": 100 }"#))
    ///     .turn(Turn::says("Charged."))
    ///     .submission(Submission::new("first"))
    ///     .build()?;
    /// assert_eq!(scenario.submissions[0].turns.len(), 2);
    /// # Ok::<(), everstep_sim::scenario::ScenarioError>(())
    /// ```
    #[track_caller]
    pub fn builder(name: &str) -> ScenarioBuilder {
        ScenarioBuilder {
            name: name.to_owned(),
            about: said(name),
            workers: Located::here(DEFAULT_WORKERS as u64),
            agent: said("agent"),
            instructions: said(""),
            max_turns: Located::here(u64::from(DEFAULT_MAX_TURNS)),
            tools: Vec::new(),
            denied: Vec::new(),
            turns: Vec::new(),
            submissions: Vec::new(),
            aborts: Vec::new(),
            answers: Vec::new(),
        }
    }
}

#[track_caller]
fn said(text: &str) -> Located<String> {
    Located::here(text.to_owned())
}

#[track_caller]
fn failure(tag: &str, message: &str) -> Failure {
    Failure { tag: said(tag), message: said(message) }
}

impl ScenarioBuilder {
    /// What it is about, in a sentence; without it the name.
    #[track_caller]
    pub fn about(self, about: &str) -> Self {
        Self { about: said(about), ..self }
    }

    /// The agent's id and what it is told to be.
    #[track_caller]
    pub fn agent(self, id: &str, instructions: &str) -> Self {
        Self { agent: said(id), instructions: said(instructions), ..self }
    }

    /// The most turns one run may take, 1 to 64.
    #[track_caller]
    pub fn max_turns(self, turns: u32) -> Self {
        Self { max_turns: Located::here(u64::from(turns)), ..self }
    }

    /// Worker processes, 1 to 8.
    #[track_caller]
    pub fn workers(self, workers: usize) -> Self {
        Self { workers: Located::here(workers as u64), ..self }
    }

    /// One more tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// The host's authorizer turns down calls of this tool.
    #[track_caller]
    pub fn deny(mut self, tool: &str) -> Self {
        self.denied.push(said(tool));
        self
    }

    /// One more turn of the model, in every run whose submission has no turns of its own.
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// One more submission.
    pub fn submission(mut self, submission: Submission) -> Self {
        self.submissions.push(submission);
        self
    }

    /// One more abort.
    pub fn abort(mut self, abort: Abort) -> Self {
        self.aborts.push(abort);
        self
    }

    /// How operators resolve the unknown calls of this tool.
    #[track_caller]
    pub fn resolution(mut self, tool: &str, resolution: &Resolution) -> Self {
        let reply = match resolution {
            Resolution::Completed(result) => Reply::Completed(Some(said(result.as_str()))),
            Resolution::Failed(diagnostic) => {
                Reply::Failed(Some(failure(diagnostic.tag(), diagnostic.message())))
            }
            Resolution::NeverStarted => Reply::NeverStarted,
            Resolution::SafeToRepeat => Reply::SafeToRepeat,
        };
        self.answers.push(Answer { tool: said(tool), reply });
        self
    }

    /// Checks the parts against each other.
    ///
    /// # Errors
    /// What a scenario file with these parts would be refused for; the place is the call that
    /// brought the part in.
    pub fn build(self) -> Result<Scenario, ScenarioError> {
        let path = self.name.clone();
        check::scenario(self).map_err(|spotted| match spotted.site {
            Site::Rust(at) => ScenarioError::new(spotted.fault, Place::Rust(at)),
            Site::Text(_) => ScenarioError::new(spotted.fault, Place::File { path }),
        })
    }
}

impl Tool {
    #[track_caller]
    fn new(name: &str, class: ExecutionClass) -> Self {
        Self {
            name: said(name),
            class,
            reconciles: false,
            latency_ms: Located::here(0),
            reaction: Reaction::Result(said("null")),
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
}

impl Turn {
    #[track_caller]
    fn new() -> Self {
        Self { site: said("").site, text: None, calls: Vec::new(), fault: None }
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
        let fault = ModelFailure { kind, failure: failure(tag, message) };
        Self { fault: Some(fault), ..Self::new() }
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

impl Submission {
    /// A submission of this name with the input `{}`.
    #[track_caller]
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: said(name),
            conversation: said("main"),
            principal: said("client"),
            tenant: said("default"),
            key: said(name),
            input: said("{}"),
            turns: Vec::new(),
            expect: Vec::new(),
        }
    }

    /// The conversation.
    #[track_caller]
    #[must_use]
    pub fn conversation(self, conversation: &str) -> Self {
        Self { conversation: said(conversation), ..self }
    }

    /// Who submits.
    #[track_caller]
    #[must_use]
    pub fn principal(self, principal: &str) -> Self {
        Self { principal: said(principal), ..self }
    }

    /// Whose data it is.
    #[track_caller]
    #[must_use]
    pub fn tenant(self, tenant: &str) -> Self {
        Self { tenant: said(tenant), ..self }
    }

    /// The idempotency key.
    #[track_caller]
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { key: said(key), ..self }
    }

    /// The input, as JSON text.
    #[track_caller]
    #[must_use]
    pub fn input(self, json: &str) -> Self {
        Self { input: said(json), ..self }
    }

    /// One more turn of the model in this run.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// One more way in which it may settle; without any it may settle in every way.
    #[track_caller]
    #[must_use]
    pub fn expect(mut self, outcome: Outcome) -> Self {
        self.expect.push(Located::here(outcome));
        self
    }
}

impl Abort {
    /// An abort of this submission, by `client`.
    #[track_caller]
    #[must_use]
    pub fn of(submission: &str) -> Self {
        Self {
            submission: said(submission),
            at: said(EVERY_MOMENT),
            principal: said("client"),
            reason: said("no longer wanted"),
        }
    }

    /// When the n-th occurrence (from 1) of this failpoint is reached.
    #[track_caller]
    #[must_use]
    pub fn at(self, failpoint: Failpoint, occurrence: u32) -> Self {
        Self { at: said(&format!("{failpoint}@{occurrence}")), ..self }
    }

    /// By whom.
    #[track_caller]
    #[must_use]
    pub fn by(self, principal: &str) -> Self {
        Self { principal: said(principal), ..self }
    }

    /// Why.
    #[track_caller]
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        Self { reason: said(reason), ..self }
    }
}
