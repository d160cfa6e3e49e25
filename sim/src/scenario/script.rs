//! What a checked scenario holds.

use std::sync::Arc;

use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Allowance, Diagnostic, FinishReason, ModelFault, ModelResponse,
    ProviderResult, Reasoning, Resolution, ResponsePart, StepOutput, ToolCall, ToolDefinition,
    ToolOutcome, Usage,
};
use everstep_machine::authority::Grant;
use everstep_machine::effect::Failpoint;
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, GroupName, IdempotencyKey, PrincipalId, TenantId, ToolName,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::RUN_TURNS;
use everstep_machine::record::{FinishKind, Outcome, PolicyLimit};

use super::Function;

/// The agent of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentScript {
    /// Its id.
    pub id: AgentId,
    /// What it is told to be.
    pub instructions: String,
    /// How its runs may go.
    pub policy: AgentPolicy,
}

impl AgentScript {
    /// The most turns one run may take.
    #[must_use]
    pub fn max_turns(&self) -> u32 {
        self.policy.allowance.turns.unwrap_or(RUN_TURNS)
    }

    /// The agent with its tools.
    ///
    /// # Panics
    /// When the script was not checked: two tools of one name, say.
    #[must_use]
    pub fn definition(&self, tools: Vec<ToolDefinition>) -> AgentDefinition {
        let (id, policy) = (self.id.clone(), self.policy.clone());
        AgentDefinition::with_policy(id, &self.instructions, tools, policy)
            .expect("CAP-001: a checked script holds a sound agent")
    }
}

/// What an agent becomes while its runs are under way: a worker that starts again after a crash has
/// it, and the others have what they had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionScript {
    /// What the agent is told to be then.
    pub instructions: String,
    /// Whether the operator has runs go on under it that are bound to what it was.
    pub rebinds: bool,
    /// Whether the week after which such a run ends passes while somebody is held up, too.
    pub outlasts_pauses: bool,
}

/// What is taken back while runs are under way, at any moment and once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevocationScript {
    /// One of the tenant's defaults.
    Grant(Grant),
    /// That somebody belongs to the tenant.
    Principal(PrincipalId),
}

/// A tool and what its outside does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolScript {
    /// What it declares; a reconciler answers for it truthfully, from what happened.
    pub definition: ToolDefinition,
    /// How long a run of it takes.
    pub latency: DurationMs,
    /// How many starts of each call give no answer, ever: the first ones.
    pub silent_starts: u32,
    /// Whether such a start does its work.
    pub silence: Silence,
    /// How many starts of each call kill the process that made them: the first ones.
    pub deadly_starts: u32,
    /// How many tries of each call fail for a passing reason and without any effect: the first ones.
    pub passing_failures: u32,
    /// What a durable one is made of, with what each step gives, every time.
    pub steps: Vec<StepOutput>,
    /// What it is made of from the second start of a call on, if that is something else.
    pub later_steps: Option<Vec<StepOutput>>,
    /// What it returns, every time.
    pub outcome: ToolOutcome,
    /// What says instead how each call ends, if something does.
    pub function: Option<Function>,
}

/// What a start that gives no answer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Its work.
    Done,
    /// Nothing.
    Undone,
}

/// One turn of a model's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnScript {
    /// What the first who ask for it meet, one each, before it says what it says.
    pub faults: Vec<FaultScript>,
    /// What it says.
    pub says: Says,
}

/// What a turn says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// The model answers.
    Answer(AnswerScript),
    /// The model fails, whoever asks.
    Fault(FaultScript),
}

/// Why a model gives no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultScript {
    /// What whoever asks is told.
    pub fault: ModelFault,
    /// Whether nothing at all comes, until the time for an answer is over.
    pub is_silent: bool,
    /// What the stream had said to be used before it broke; none if it had not said (BU-07).
    pub used: Option<Usage>,
}

impl TurnScript {
    /// What it calls.
    #[must_use]
    pub fn calls(&self) -> &[CallScript] {
        match &self.says {
            Says::Answer(answer) => &answer.calls,
            Says::Fault(_) => &[],
        }
    }
}

/// A response of a model's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerScript {
    /// What it thinks first, if anything.
    pub reasoning: Option<String>,
    /// What it says, if anything.
    pub text: Option<String>,
    /// What its provider calls by itself before that (RUN-030).
    pub provider_calls: Vec<ProviderCallScript>,
    /// What it calls; no calls end the run.
    pub calls: Vec<CallScript>,
    /// What it says that it used.
    pub usage: Option<Usage>,
}

/// What a response uses unless its script says otherwise.
pub const USUAL_USAGE: Usage = Usage {
    input_tokens: 10,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 5,
    cost_micros: 0,
};

impl AnswerScript {
    /// The response. Labels start anew with every response: an engine that takes them for ids is
    /// found out.
    #[must_use]
    pub fn response(&self) -> ModelResponse {
        let thinks = self.reasoning.iter().map(|text| {
            let text = Arc::from(text.as_str());
            ResponsePart::Reasoning(Reasoning { text, signature: None, redacted: false })
        });
        let words = self.text.iter().map(|text| ResponsePart::Text(Arc::from(text.as_str())));
        let calls = self.calls.iter().enumerate().map(|(index, call)| {
            ResponsePart::Call(ToolCall {
                label: Arc::from(format!("call_{index}")),
                tool: call.tool.clone(),
                parameters: call.parameters.clone(),
            })
        });
        let finish =
            if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let provider = self.provider_calls.iter().enumerate().flat_map(|(at, it)| it.parts(at));
        let parts = thinks.chain(provider).chain(words).chain(calls).collect();
        ModelResponse { parts, finish, usage: self.usage }
    }
}

/// One call of a model's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallScript {
    /// Which tool; need not be declared, since models name what they like.
    pub tool: ToolName,
    /// With what.
    pub parameters: CanonicalJson,
}

/// A call that a provider makes by itself: no handler of the agent's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderCallScript {
    /// Which tool of the provider's.
    pub tool: ToolName,
    /// With what.
    pub parameters: CanonicalJson,
    /// What came of it.
    pub result: CanonicalJson,
    /// Whether the provider says that it failed.
    pub failed: bool,
}

impl ProviderCallScript {
    fn parts(&self, at: usize) -> [ResponsePart; 2] {
        let label: Arc<str> = Arc::from(format!("provider_{at}"));
        let (tool, parameters) = (self.tool.clone(), self.parameters.clone());
        let (result, failed) = (self.result.clone(), self.failed);
        [
            ResponsePart::ProviderCall(ToolCall { label: label.clone(), tool, parameters }),
            ResponsePart::ProviderResult(ProviderResult { label, result, failed }),
        ]
    }
}

/// One submission of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionScript {
    /// Its name in the scenario.
    pub name: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// Who submits.
    pub principal: PrincipalId,
    /// Whose data it is.
    pub tenant: TenantId,
    /// The idempotency key.
    pub key: IdempotencyKey,
    /// The input.
    pub input: CanonicalJson,
    /// What the model does in its run, turn by turn. A turn beyond the script repeats the last.
    /// Empty where the model is a live one.
    pub turns: Vec<TurnScript>,
    /// How much less than its agent's policy allows the run may use.
    pub allowance: Allowance,
    /// Whose run it is meant for, and when it is said; none for a submission of its own.
    pub steers: Option<SteeringScript>,
    /// How it may end; empty means any way.
    pub expect: Vec<Outcome>,
    /// What else is known of how it ends.
    pub exactly: Exactly,
}

/// What a settlement has to say, each part where its outcome has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exactly {
    /// Why a completed one finished.
    pub finish: Option<FinishKind>,
    /// The answer of a completed one.
    pub output: Option<CanonicalJson>,
    /// The disposition of a completed one.
    pub disposition: Option<String>,
    /// The tag of a failed one.
    pub tag: Option<String>,
    /// The limit that ended a failed one.
    pub limit: Option<PolicyLimit>,
}

/// The host's own way to make smaller what a model is shown: everything but the newest turns is
/// covered by one summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactorScript {
    /// The summary.
    pub summary: String,
    /// How many turns stay as they are, at least 1.
    pub keep: usize,
}

/// A group of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupScript {
    /// Its name.
    pub name: GroupName,
    /// How many of its calls one host runs at once (RUN-009).
    pub places: usize,
}

/// When somebody does what may be done at any time: asks for an abort, or says something to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// At every moment, one schedule each.
    Every,
    /// When the n-th occurrence (from 1) of this failpoint is reached.
    At(Failpoint, u32),
}

/// That a submission is said to the run of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteeringScript {
    /// Position of the other one in [`super::Scenario::submissions`].
    pub host: usize,
    /// When, while the run takes it.
    pub moment: Occasion,
}

/// One abort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbortScript {
    /// Position in [`super::Scenario::submissions`].
    pub submission: usize,
    /// When.
    pub moment: Occasion,
    /// By whom.
    pub principal: PrincipalId,
    /// Why.
    pub reason: String,
}

/// What an operator has tried again once it was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryScript {
    /// Position in [`super::Scenario::submissions`]. The second script with one position is about
    /// what the first one had tried again, and so on.
    pub submission: usize,
    /// How many people ask for it, one after the other.
    pub people: u32,
    /// Who asks for it; whoever else does is called the same, with a number.
    pub principal: PrincipalId,
    /// Why.
    pub reason: String,
    /// What the model does in the run that tries it again, as in a submission.
    pub turns: Vec<TurnScript>,
    /// How that may end; empty means any way.
    pub expect: Vec<Outcome>,
}

/// What an operator answers when a tool's outcome stays unknown.
///
/// An operator looks before answering: `NeverStarted` is said only of what has not happened, and
/// tombstones the call; what has happened is answered with [`fallback`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolutionScript {
    /// Which tool.
    pub tool: ToolName,
    /// How the first unknown of it is resolved, and each later one.
    pub resolution: Resolution,
}

/// What an honest operator falls back to, given how the call ended, when the scripted answer would
/// be a lie.
#[must_use]
pub fn fallback(outcome: &ToolOutcome) -> Resolution {
    match outcome {
        ToolOutcome::Success(result) => Resolution::Completed(result.clone()),
        ToolOutcome::Failure(diagnostic)
        | ToolOutcome::InvalidInput(diagnostic)
        | ToolOutcome::Defect(diagnostic) => Resolution::Failed(diagnostic.clone()),
        ToolOutcome::Rejected(_) => Resolution::Failed(Diagnostic::cut("Rejected", "rejected")),
        ToolOutcome::Truncated(_) | ToolOutcome::Kept(_) => {
            Resolution::Failed(Diagnostic::cut("Truncated", "cut"))
        }
    }
}
