//! What a run has used up, counted by the judge itself: from the records alone, and with none of
//! the engine's own counting.

use everstep_machine::agent::{
    AgentPolicy, Allowance, Dimension, OnExhaustion, RejectionReason, ToolOutcome, Usage,
    UsageReporting,
};
use everstep_machine::identity::{
    DurationMs, Epoch, RunId, SubmissionId, Timestamp, ToolCallId, Turn,
};
use everstep_machine::record::{
    CompactionCreated, FinishKind, InputRecorded, ModelInterrupted, ModelResponded, PolicyLimit,
    Settlement, ToolSettled,
};

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) submission: SubmissionId,
    input: InputRecorded,
    limits: Allowance,
    turns: Vec<TurnAccount>,
    calls: u64,
    tokens: u64,
    cost_micros: u64,
    /// The last epoch that opened the way to a question, or recorded what became of one.
    opened: Epoch,
    /// What became of the last question that was asked since by that epoch or a later one.
    asked: Asked,
    /// Owners of its row that have not let go of it.
    owners: Vec<Epoch>,
}

/// What is known of a question that has no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nobody asked.
    Nothing,
    /// It was asked, and has used nothing: it has not arrived, or the provider turned it away.
    InVain,
    /// It was asked, and has used something.
    Something,
}

/// One turn of it.
#[derive(Clone, Debug)]
struct TurnAccount {
    turn: Turn,
    /// The budget that was used up before it was asked for: it is the final answer.
    last: Option<Dimension>,
    /// Whether a budget forbids its calls to start.
    barred: bool,
    calls: Vec<(ToolCallId, Verdict)>,
}

/// What a call says about the plan that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Open,
    Good,
    Bad,
    /// It was turned down for what another one did, or for a budget.
    Silent,
}

impl Account {
    pub(super) fn open(input: &InputRecorded, policy: &AgentPolicy, epoch: Epoch) -> Self {
        let (own, given) = (policy.allowance, input.allowance);
        Self {
            submission: input.submission,
            input: input.clone(),
            limits: Allowance {
                turns: least(own.turns, given.turns),
                tool_calls: least(own.tool_calls, given.tool_calls),
                tokens: least(own.tokens, given.tokens),
                cost_micros: least(own.cost_micros, given.cost_micros),
                duration: least(own.duration, given.duration),
            },
            turns: Vec::new(),
            calls: 0,
            tokens: 0,
            cost_micros: 0,
            opened: epoch,
            asked: Asked::Nothing,
            owners: vec![epoch],
        }
    }

    pub(super) const fn run(&self) -> RunId {
        self.input.run
    }

    /// An epoch has recorded something that only its own question can follow.
    pub(super) const fn opened(&mut self, epoch: Epoch) {
        (self.opened, self.asked) = (epoch, Asked::Nothing);
    }

    /// The model is asked for the run. What an owner asks that was superseded before is paid for.
    pub(super) fn asks(&mut self, epoch: Epoch, asked: Asked) {
        if epoch >= self.opened && self.asked != Asked::Something {
            self.asked = asked;
        }
    }

    /// Somebody owns its row.
    pub(super) fn claimed(&mut self, epoch: Epoch) {
        self.owners.push(epoch);
    }

    /// An owner of its row lets go of it, and has nothing out.
    pub(super) fn let_go(&mut self, epoch: Epoch) {
        self.owners.retain(|owner| *owner != epoch);
    }

    /// Whether a question was asked that nothing is recorded of.
    pub(super) fn owes(&self) -> bool {
        self.asked == Asked::Something
    }

    /// A question came to nothing. Whether anybody can have asked it: somebody did, or an owner that
    /// could have has died.
    pub(super) fn lost(&mut self, it: &ModelInterrupted) -> bool {
        let died = |owner: &Epoch| self.opened <= *owner && *owner < it.epoch;
        let may_be = self.asked != Asked::Nothing || self.owners.iter().any(died);
        self.tokens += it.lost_tokens;
        self.cost_micros += it.lost_cost_micros;
        self.opened(it.epoch);
        may_be
    }

    pub(super) fn compacted(&mut self, it: &CompactionCreated) {
        self.spend(it.usage.unwrap_or_default());
    }

    fn spend(&mut self, usage: Usage) {
        self.tokens += usage.input_tokens + usage.output_tokens;
        self.cost_micros += usage.cost_micros;
    }

    /// A response. Says what is wrong with its being there, if something is.
    pub(super) fn responded(
        &mut self,
        it: &ModelResponded,
        calls: impl Iterator<Item = ToolCallId>,
        policy: &AgentPolicy,
    ) -> Result<(), &'static str> {
        let last = self.spent();
        let is_second = self.turns.iter().any(|turn| turn.last.is_some());
        self.calls += it.response.calls().count() as u64;
        self.calls += it.response.provider_calls().count() as u64;
        match (it.response.usage, policy.usage) {
            (Some(usage), _) => self.spend(usage),
            (None, UsageReporting::Unreported { tokens }) => self.tokens += tokens,
            (None, UsageReporting::Reported) => return Err("it does not say what it used"),
        }
        let calls: Vec<_> = calls.map(|call| (call, Verdict::Open)).collect();
        let calls_tools = !calls.is_empty();
        let barred = last.is_some() || self.over().is_some() || self.is_too_expensive();
        self.turns.push(TurnAccount { turn: it.turn, last, barred, calls });
        match last {
            Some(_) if is_second => Err("it is a second final answer"),
            Some(_) if calls_tools => Err("it calls tools in a final answer"),
            Some(_) if policy.on_exhaustion == OnExhaustion::Fail => {
                Err("the run was to fail, not to give a final answer")
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn settled(&mut self, it: &ToolSettled) {
        let verdict = match &*it.outcome {
            ToolOutcome::Success(_) | ToolOutcome::Truncated(_) | ToolOutcome::Kept(_) => {
                Verdict::Good
            }
            ToolOutcome::Rejected(RejectionReason::BatchRefused | RejectionReason::OverBudget) => {
                Verdict::Silent
            }
            ToolOutcome::Rejected(
                RejectionReason::NotAuthorized
                | RejectionReason::NotApproved
                | RejectionReason::NotGranted(_)
                | RejectionReason::PolicyDenied(_),
            )
            | ToolOutcome::Failure(_)
            | ToolOutcome::InvalidInput(_)
            | ToolOutcome::Defect(_) => Verdict::Bad,
        };
        let calls = self.turns.iter_mut().flat_map(|turn| &mut turn.calls);
        calls.filter(|(call, _)| *call == it.call).for_each(|call| call.1 = verdict);
    }

    /// Whether a budget forbids the calls of a turn to start.
    pub(super) fn bars(&self, turn: Turn) -> bool {
        self.turns.iter().any(|it| it.turn == turn && it.barred)
    }

    /// The budget for which no ordinary turn may follow: the first of turns, calls, tokens.
    fn spent(&self) -> Option<Dimension> {
        let turns = self.turns.len() as u64;
        let out_of_turns = self.limits.turns.is_some_and(|limit| turns >= u64::from(limit));
        if out_of_turns { Some(Dimension::Turns) } else { self.over() }
    }

    fn over(&self) -> Option<Dimension> {
        if self.limits.tool_calls.is_some_and(|limit| self.calls > u64::from(limit)) {
            return Some(Dimension::ToolCalls);
        }
        self.limits.tokens.filter(|limit| self.tokens > *limit).map(|_| Dimension::Tokens)
    }

    fn is_too_expensive(&self) -> bool {
        self.limits.cost_micros.is_some_and(|limit| self.cost_micros > limit)
    }

    fn is_late(&self, now: Timestamp) -> bool {
        self.limits.duration.is_some_and(|DurationMs(span)| now.0 >= self.input.at.0 + span)
    }

    /// Calls that failed since the last one that did not, in declaration order.
    fn bad_in_a_row(&self) -> u32 {
        let calls = self.turns.iter().flat_map(|turn| &turn.calls).map(|(_, verdict)| *verdict);
        calls.fold(0, |row, verdict| match verdict {
            Verdict::Good => 0,
            Verdict::Bad => row + 1,
            Verdict::Silent | Verdict::Open => row,
        })
    }

    /// Holds the end of the run, written at `now`, to what was counted (RUN-011, RUN-027, RUN-029).
    pub(super) fn closes_with(
        &self,
        settlement: &Settlement,
        now: Timestamp,
        policy: &AgentPolicy,
    ) -> Result<(), String> {
        let claim = match settlement {
            Settlement::Aborted
            | Settlement::Joined { .. }
            | Settlement::Failed { limit: None, .. } => return Ok(()),
            Settlement::Completed { finish, .. } => return self.finishes_with(*finish, policy),
            Settlement::Failed { limit: Some(limit), .. } => *limit,
        };
        let answered = self.turns.iter().any(|turn| turn.last.is_some());
        let no_answer = policy.on_exhaustion == OnExhaustion::Fail || answered;
        let holds = match claim {
            PolicyLimit::RepeatedFailures => {
                policy.repeated_failures > 0 && self.bad_in_a_row() >= policy.repeated_failures
            }
            // Of deaths the log knows nothing: they are counted where claims are seen.
            PolicyLimit::Attempts => true,
            PolicyLimit::Budget(Dimension::Cost) => self.is_too_expensive(),
            PolicyLimit::Budget(Dimension::Duration) => self.is_late(now),
            PolicyLimit::Budget(dimension) => no_answer && self.spent() == Some(dimension),
        };
        if holds { Ok(()) } else { Err(format!("{claim:?} ended it, by its log {self:?}")) }
    }

    fn finishes_with(&self, finish: FinishKind, policy: &AgentPolicy) -> Result<(), String> {
        let last = self.turns.last().and_then(|turn| turn.last);
        let expected = match (last, &policy.output) {
            (Some(dimension), _) => FinishKind::BudgetExhausted(dimension),
            (None, Some(_)) => FinishKind::Completed,
            (None, None) => FinishKind::ModelStop,
        };
        if finish != expected {
            return Err(format!("it finished by {finish:?}, by its log by {expected:?}"));
        }
        if self.is_too_expensive() {
            return Err("it is completed and was too expensive".to_owned());
        }
        Ok(())
    }
}

fn least<T: Ord>(own: Option<T>, given: Option<T>) -> Option<T> {
    own.into_iter().chain(given).min()
}
