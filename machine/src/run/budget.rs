//! What a run has used up, and what may follow. Everything is counted from the fold, so no crash
//! and no second attempt starts a count again.

use alloc::vec::Vec;

use crate::agent::{
    Allowance, Dimension, Gauge, ModelResponse, RejectionReason, ToolOutcome, UsageReporting,
};
use crate::identity::{DurationMs, Timestamp};
use crate::projection::{Overhead, RunView, TurnView};

/// What a run has used up so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    turns: u64,
    tool_calls: u64,
    tokens: u64,
    cost_micros: u64,
}

impl Used {
    /// By all turns of a run and on the way to the next one.
    pub(super) fn by(run: &RunView, reporting: UsageReporting) -> Self {
        Self::default().turns(&run.turns, reporting).way(run.overhead)
    }

    /// When the last response was asked for.
    pub(super) fn before_last(run: &RunView, reporting: UsageReporting) -> Option<Self> {
        let (last, earlier) = run.turns.split_last()?;
        Some(Self::default().turns(earlier, reporting).way(last.overhead))
    }

    fn turns(self, turns: &[TurnView], reporting: UsageReporting) -> Self {
        turns
            .iter()
            .fold(self, |used, turn| used.way(turn.overhead).response(&turn.response, reporting))
    }

    /// And by one more response.
    pub(super) fn response(self, response: &ModelResponse, reporting: UsageReporting) -> Self {
        let calls = response.calls().chain(response.provider_calls()).count() as u64;
        let (tokens, cost) = match (response.usage, reporting) {
            (Some(usage), _) => (usage.tokens(), usage.cost_micros),
            (None, UsageReporting::Unreported { tokens }) => (tokens, 0),
            (None, UsageReporting::Reported) => (0, 0),
        };
        Self {
            turns: self.turns + 1,
            tool_calls: self.tool_calls + calls,
            tokens: self.tokens.saturating_add(tokens),
            cost_micros: self.cost_micros.saturating_add(cost),
        }
    }

    fn way(self, overhead: Overhead) -> Self {
        let tokens = self.tokens.saturating_add(overhead.tokens);
        let cost_micros = self.cost_micros.saturating_add(overhead.cost_micros);
        Self { tokens, cost_micros, ..self }
    }

    /// The dimension for which no ordinary turn may follow. Exactly at the cap is not over it.
    pub(super) fn exhausted(&self, allowance: &Allowance) -> Option<Dimension> {
        let turns = allowance.turns.is_some_and(|limit| self.turns >= u64::from(limit));
        if turns { Some(Dimension::Turns) } else { self.over(allowance) }
    }

    /// The dimension for which calls that are declared by now may not run.
    pub(super) fn over(&self, allowance: &Allowance) -> Option<Dimension> {
        let calls = allowance.tool_calls.is_some_and(|limit| self.tool_calls > u64::from(limit));
        let tokens = allowance.tokens.is_some_and(|limit| self.tokens > limit);
        match (calls, tokens) {
            (true, _) => Some(Dimension::ToolCalls),
            (false, true) => Some(Dimension::Tokens),
            (false, false) => None,
        }
    }

    /// Whether so much money is spent that the run ends at once.
    pub(super) fn is_too_expensive(&self, allowance: &Allowance) -> bool {
        allowance.cost_micros.is_some_and(|limit| self.cost_micros > limit)
    }

    /// How much is used of every dimension that has a limit; of time as it stood at `now`.
    pub(super) fn gauges(&self, allowance: &Allowance, elapsed: DurationMs) -> Vec<Gauge> {
        let limits = [
            (Dimension::Turns, self.turns, allowance.turns.map(u64::from)),
            (Dimension::ToolCalls, self.tool_calls, allowance.tool_calls.map(u64::from)),
            (Dimension::Tokens, self.tokens, allowance.tokens),
            (Dimension::Cost, self.cost_micros, allowance.cost_micros),
            (Dimension::Duration, elapsed.0, allowance.duration.map(|it| it.0)),
        ];
        let gauge = |(dimension, used, limit): (_, _, Option<u64>)| {
            limit.map(|limit| Gauge { dimension, used, limit })
        };
        limits.into_iter().filter_map(gauge).collect()
    }
}

/// When a run's time is over (RUN-027).
pub(super) fn deadline(run: &RunView, allowance: &Allowance) -> Option<Timestamp> {
    allowance.duration.map(|span| run.input.at.after(span))
}

/// How many calls have failed in a row, in declaration order over all turns (RUN-029). A call
/// that was turned down for what another one did, or for a budget, says nothing about the plan.
pub(super) fn failures_in_a_row(run: &RunView) -> u32 {
    let outcomes = run.turns.iter().flat_map(|turn| &turn.calls);
    let outcomes = outcomes.filter_map(|call| call.outcome.as_deref());
    outcomes.fold(0, |row, outcome| match outcome {
        ToolOutcome::Rejected(RejectionReason::BatchRefused | RejectionReason::OverBudget) => row,
        outcome if outcome.is_failure() => row + 1,
        _ => 0,
    })
}
