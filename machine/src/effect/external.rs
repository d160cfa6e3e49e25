//! Effects of the outside, and its answers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::clearance::{ApprovalAnswer, ApprovalQuestion, Asker, Clearances, Proposed};
use super::kind::ExternalKind;
use crate::agent::{
    Diagnostic, ExecutionClass, LostResponse, ModelRequest, ModelResponse, Purpose, Resolution,
    Schema, StepOutput, ToolOutcome,
};
use crate::authority::Action;
use crate::clearance;
use crate::identity::{AgentId, Epoch, GroupName, RunId, ToolCallId, ToolName, Turn};
use crate::json::CanonicalJson;
use crate::record::Doubt;

/// A tool is run once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Invocation {
    /// The call; it is also the key under which an idempotent tool may run again.
    pub call: ToolCallId,
    /// The epoch of this start: whoever tombstoned the call below a higher one refuses it.
    pub epoch: Epoch,
    /// Which tool.
    pub tool: ToolName,
    /// Of which run.
    pub run: RunId,
    /// Of which agent.
    pub agent: AgentId,
    /// In which group of tools, if it is in one: calls of a group share permits.
    pub group: Option<GroupName>,
    /// What may be done on doubt.
    pub class: ExecutionClass,
    /// Complete, decoded parameters.
    pub parameters: CanonicalJson,
    /// The steps of the call that are recorded, in order; none unless the class is durable. Their
    /// bodies are not run again (DUR-010).
    pub steps: Vec<Arc<StepOutput>>,
    /// What has to be granted while it begins, and while it goes on with a step; none if nothing has
    /// (AUTH-15).
    pub action: Option<Arc<Action>>,
}

/// A durable call whose step is recorded goes on, up to its next step or its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Onward {
    /// Of which run.
    pub run: RunId,
    /// Which start of which call.
    pub start: Doubt,
    /// Which step is recorded: how many stand before it.
    pub recorded: u32,
    /// What has to be granted while it goes on; none if nothing has (AUTH-15).
    pub action: Option<Arc<Action>>,
}

/// A start that a reconciler is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Doubted {
    /// Which start of which call.
    pub doubt: Doubt,
    /// Of which tool.
    pub tool: ToolName,
    /// The epoch that asks. Who answers "never started" tombstones the call below it.
    pub asking: Epoch,
}

/// A value that has to fit a schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fitting {
    /// The schema.
    pub schema: Schema,
    /// The value.
    pub value: CanonicalJson,
}

/// What values are checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckSubject {
    /// The parameters of a response's calls, in declaration order.
    Parameters,
    /// The final answer.
    Output,
    /// What a person says that the call of this start has returned.
    Resolution(Doubt),
}

/// A call that wants to start, and in which group of tools it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wanting {
    /// Which call.
    pub call: ToolCallId,
    /// In which group of tools, if it is in one: calls of a group share permits.
    pub group: Option<GroupName>,
}

/// Something only the outside can do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum External {
    /// Ask a model.
    CallModel(Arc<ModelRequest>),
    /// Check values against schemas: a computation, answered at once.
    Check {
        /// The run that asks.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// What the values are.
        subject: CheckSubject,
        /// Each with its schema.
        values: Vec<Fitting>,
    },
    /// Ask the host's authority and its policy about calls, before anybody is asked about them
    /// (AUTH-15). Answered from what the host knows now, and asked again on every resume.
    Clear {
        /// The run that asks.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// For whom it acts.
        asker: Asker,
        /// The calls, in declaration order.
        calls: Vec<Proposed>,
    },
    /// Ask an approver about calls, each by itself.
    Approve {
        /// The run that asks.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// For whom it acts.
        asker: Asker,
        /// The calls, in declaration order.
        questions: Arc<[ApprovalQuestion]>,
    },
    /// Ask the host whether these calls may be prepared (RUN-028).
    Authorize {
        /// The run that asks.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// The calls, in declaration order.
        calls: Vec<ToolCallId>,
    },
    /// Ask for the permits that all runs of a host share (RUN-009). Each call may be answered by
    /// itself, whenever there is room for it. Nothing of a call that waits has begun. The question
    /// names every call of the run that wants to start: what others were granted goes back.
    Permits {
        /// The run that asks.
        run: RunId,
        /// Of which agent.
        agent: AgentId,
        /// The calls, in declaration order.
        calls: Vec<Wanting>,
    },
    /// Run a tool.
    InvokeTool(Invocation),
    /// Let the handler of a durable call go on.
    NextStep(Onward),
    /// Ask what became of a start.
    Reconcile(Doubted),
}

impl External {
    /// What a host that has room for everything answers to a question for permits; none for any
    /// other question.
    #[must_use]
    pub fn permitted(&self) -> Option<Answer> {
        let Self::Permits { run, calls, .. } = self else { return None };
        let calls = calls.iter().map(|it| it.call).collect();
        Some(Answer::Permitted { run: *run, calls })
    }

    /// What a host in which nothing is granted, and which has no policy of its own, answers to a
    /// question about calls; none for any other question.
    #[must_use]
    pub fn cleared(&self) -> Option<Answer> {
        let Self::Clear { run, turn, asker, calls } = self else { return None };
        let said = clearance::State::default().clear(asker, calls);
        Some(Answer::Cleared { run: *run, turn: *turn, said })
    }

    /// The kind of this effect.
    #[must_use]
    pub const fn kind(&self) -> ExternalKind {
        match self {
            Self::CallModel(_) => ExternalKind::CallModel,
            Self::Check { .. } => ExternalKind::Check,
            Self::Clear { .. } => ExternalKind::Clear,
            Self::Approve { .. } => ExternalKind::Approve,
            Self::Authorize { .. } => ExternalKind::Authorize,
            Self::Permits { .. } => ExternalKind::Permits,
            Self::InvokeTool(_) => ExternalKind::InvokeTool,
            Self::NextStep(_) => ExternalKind::NextStep,
            Self::Reconcile(_) => ExternalKind::Reconcile,
        }
    }
}

/// What the host's authorizer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Authorization {
    /// The calls may be prepared.
    Allowed,
    /// They may not: the run fails.
    Denied,
}

/// What a reconciler says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reconciliation {
    /// It can prove what became of the start.
    Proven(Resolution),
    /// It cannot: the outcome is unknown.
    Unprovable,
}

/// What the outside answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A model answered, or failed to.
    Model {
        /// The run that asked.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// What it was asked for.
        purpose: Purpose,
        /// The response.
        response: Result<Arc<ModelResponse>, LostResponse>,
    },
    /// Values were checked.
    Checked {
        /// The run that asked.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// What the values are.
        subject: CheckSubject,
        /// For each value, why it does not fit; none if it does.
        verdicts: Vec<Option<Diagnostic>>,
    },
    /// Authority and policy have spoken.
    Cleared {
        /// The run that asked.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// What they say.
        said: Clearances,
    },
    /// An approver answered.
    Approver {
        /// The run that asked.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// What it was asked.
        questions: Arc<[ApprovalQuestion]>,
        /// About the calls that it decides.
        answers: Vec<ApprovalAnswer>,
    },
    /// The authorizer answered.
    Authorizer {
        /// The run that asked.
        run: RunId,
        /// Its turn.
        turn: Turn,
        /// Whether the calls may be prepared.
        authorization: Authorization,
    },
    /// Calls have their permits, and hold them until they have ended.
    Permitted {
        /// The run that asked.
        run: RunId,
        /// The calls.
        calls: Vec<ToolCallId>,
    },
    /// A tool returned.
    Tool {
        /// Which start of which call.
        start: Doubt,
        /// How the call ended.
        outcome: Arc<ToolOutcome>,
    },
    /// A step of a durable call has succeeded. Its handler waits for [`External::NextStep`] and does
    /// nothing until then.
    Step {
        /// Which start of which call.
        start: Doubt,
        /// How many steps of the call stand before it.
        ordinal: u32,
        /// Which step, and what it gave.
        output: Arc<StepOutput>,
    },
    /// A start has no answer and will have none: it may have happened, and it may still happen.
    /// That is no outcome (DUR-017): the classifier finds out, or marks a doubt.
    Unsure {
        /// Which start of which call.
        start: Doubt,
    },
    /// A reconciler answered.
    Reconciler {
        /// Which start of which call.
        doubt: Doubt,
        /// What it can prove.
        reconciliation: Reconciliation,
    },
}

impl Answer {
    /// The start of a call that this says something about: it has ended, or rests, or nobody knows.
    #[must_use]
    pub const fn start(&self) -> Option<Doubt> {
        match self {
            Self::Tool { start, .. } | Self::Step { start, .. } | Self::Unsure { start } => {
                Some(*start)
            }
            Self::Model { .. }
            | Self::Checked { .. }
            | Self::Cleared { .. }
            | Self::Approver { .. }
            | Self::Authorizer { .. }
            | Self::Permitted { .. }
            | Self::Reconciler { .. } => None,
        }
    }
}
