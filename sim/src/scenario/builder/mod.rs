//! Scenarios written in Rust: the same parts as in a file, the same checks, and an error that
//! names the line of the call.

mod retry;
mod revision;
mod submission;
mod tool;
mod turn;

use everstep_machine::agent::{AgentPolicy, Resolution};

use super::bounds::{DEFAULT_MAX_TURNS, DEFAULT_WORKERS};
use super::draft::{
    Abort, Answer, Compactor, Failure, Group, Located, Reply, Retry, Revision, Rule,
    ScenarioBuilder, Site, Submission, Tool, Turn,
};
use super::error::{Place, ScenarioError};
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
            checkpoints: false,
            agent: said("agent"),
            instructions: said(""),
            max_turns: Located::here(u64::from(DEFAULT_MAX_TURNS)),
            policy: Located::here(AgentPolicy::default()),
            revision: None,
            tools: Vec::new(),
            denied: Vec::new(),
            disapproved: Vec::new(),
            people: Vec::new(),
            is_layered: false,
            rules: None,
            compactor: None,
            groups: Vec::new(),
            turns: Vec::new(),
            submissions: Vec::new(),
            aborts: Vec::new(),
            retries: Vec::new(),
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

    /// How a run may go. Of its turns, only [`ScenarioBuilder::max_turns`] decides.
    #[track_caller]
    pub fn policy(self, policy: AgentPolicy) -> Self {
        Self { policy: Located::here(policy), ..self }
    }

    /// What the agent becomes for workers that start again.
    pub fn revision(self, revision: Revision) -> Self {
        Self { revision: Some(revision), ..self }
    }

    /// Hosts remember what they have folded of a log, and keep it beside the log.
    pub fn checkpoints(self) -> Self {
        Self { checkpoints: true, ..self }
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

    /// Whoever is asked turns down calls of this tool, which has to ask; those of others are
    /// approved.
    #[track_caller]
    pub fn disapprove(mut self, tool: &str) -> Self {
        self.disapproved.push(said(tool));
        self
    }

    /// An approver leaves calls of this tool, which has to ask, to people: the submission is
    /// suspended until the operator decides.
    #[track_caller]
    pub fn leave_to_people(mut self, tool: &str) -> Self {
        self.people.push(said(tool));
        self
    }

    /// The host shows the model this summary instead of everything but the newest turns, of which it
    /// keeps so many, at least one.
    #[track_caller]
    pub fn compactor(mut self, summary: &str, keep: u64) -> Self {
        self.compactor = Some(Compactor { summary: said(summary), keep: Located::here(keep) });
        self
    }

    /// A host runs at most so many calls of the tools of this group at once.
    #[track_caller]
    pub fn group(mut self, name: &str, places: u64) -> Self {
        self.groups.push(Group { name: said(name), places: Located::here(places) });
        self
    }

    /// One more rule of the model, which goes by what it is shown from now on and has no turns.
    #[track_caller]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.get_or_insert(Located::here(Vec::new())).value.push(rule);
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

    /// One more submission that is tried again once it was given up.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retries.push(retry);
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
