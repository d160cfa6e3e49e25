//! The one boundary function: what comes next, from the fold alone.

use alloc::format;
use alloc::vec::Vec;

use super::budget::{Used, failures_in_a_row};
use super::failure::{budget, failed, repeated_failures};
use crate::agent::{
    AgentDefinition, Allowance, Dimension, FailureMode, OnDenial, OnExhaustion, RejectionReason,
    ToolChoice, ToolOutcome, Verdict,
};
use crate::authority::CapabilityKey;
use crate::identity::{ToolCallId, Turn};
use crate::projection::{ApprovalView, CallView, RunView, TurnView};
use crate::record::{FinishKind, Settlement};

/// What comes next in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the model for this turn: every declared call has its result.
    AskModel(Turn, ToolChoice),
    /// These calls of the last response have no result.
    RunCalls(Vec<ToolCallId>),
    /// The last response is the answer.
    Answer(FinishKind),
    /// The run has failed.
    Fail(Settlement),
}

/// What a run may do: its agent, and how much less it may use than the agent's policy allows.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The agent.
    pub agent: &'a AgentDefinition,
    /// What this run may use up.
    pub allowance: Allowance,
    /// Whether its time is over.
    pub expired: bool,
}

/// What comes next. A live and a resumed run ask the same function, so they cannot differ.
#[must_use]
pub fn next(run: &RunView, terms: &Terms<'_>) -> Next {
    if terms.expired {
        return Next::Fail(budget(Dimension::Duration));
    }
    let unsettled: Vec<ToolCallId> = run.unsettled_calls().map(|call| call.id).collect();
    if !unsettled.is_empty() {
        return Next::RunCalls(unsettled);
    }
    let used = Used::by(run, terms.agent.policy().usage);
    if let Some(last) = run.turns.last() {
        if let Some(settlement) = ended_by(run, last, terms, &used) {
            return Next::Fail(settlement);
        }
        if !awaits_response(run) {
            return Next::Answer(finish(run, terms));
        }
    }
    // Questions that came to nothing cost money too (BU-07).
    if used.is_too_expensive(&terms.allowance) {
        return Next::Fail(budget(Dimension::Cost));
    }
    match used.exhausted(&terms.allowance) {
        None => Next::AskModel(run.next_turn(), ToolChoice::Allowed),
        Some(dimension) => match terms.agent.policy().on_exhaustion {
            OnExhaustion::FinalAnswer if constraint(run, terms).is_none() => {
                Next::AskModel(run.next_turn(), ToolChoice::Forbidden)
            }
            OnExhaustion::FinalAnswer | OnExhaustion::Fail => Next::Fail(budget(dimension)),
        },
    }
}

/// Whether nothing but a response can follow: every call has its result, and the last response,
/// if there is one, is not the answer.
pub(super) fn awaits_response(run: &RunView) -> bool {
    let is_answered = run.turns.last().is_some_and(|last| last.calls.is_empty());
    run.unsettled_calls().next().is_none() && (!is_answered || has_news(run))
}

/// Whether something was said that no response has seen.
fn has_news(run: &RunView) -> bool {
    run.late_inputs.last().is_some_and(|input| input.before == run.next_turn())
}

/// The budget that had forbidden tools when the last response was asked for.
fn constraint(run: &RunView, terms: &Terms<'_>) -> Option<Dimension> {
    Used::before_last(run, terms.agent.policy().usage)?.exhausted(&terms.allowance)
}

fn finish(run: &RunView, terms: &Terms<'_>) -> FinishKind {
    match (constraint(run, terms), &terms.agent.policy().output) {
        (Some(dimension), _) => FinishKind::BudgetExhausted(dimension),
        (None, Some(_)) => FinishKind::Completed,
        (None, None) => FinishKind::ModelStop,
    }
}

/// What ends a run although the model would go on.
fn ended_by(run: &RunView, last: &TurnView, terms: &Terms<'_>, used: &Used) -> Option<Settlement> {
    let policy = terms.agent.policy();
    if policy.on_denial == OnDenial::FailRun
        && let Some(denied) = last.calls.iter().find_map(|call| denied(terms.agent, call))
    {
        return Some(denied);
    }
    if let Some(failure) = last.calls.iter().find_map(|call| {
        let tool = terms.agent.tool(&call.tool)?;
        match (tool.failure, call.outcome.as_deref()?) {
            (FailureMode::Error, ToolOutcome::Failure(why) | ToolOutcome::Defect(why)) => {
                Some(failed(why.tag(), why.message()))
            }
            _ => None,
        }
    }) {
        return Some(failure);
    }
    if policy.repeated_failures > 0 && failures_in_a_row(run) >= policy.repeated_failures {
        return Some(repeated_failures(policy.repeated_failures));
    }
    used.is_too_expensive(&terms.allowance).then(|| budget(Dimension::Cost))
}

/// The end of a run of which a call was denied: it names the tool, and what denied it.
fn denied(agent: &AgentDefinition, call: &CallView) -> Option<Settlement> {
    let ToolOutcome::Rejected(reason) = call.outcome.as_deref()? else { return None };
    let tool = &call.tool;
    let (tag, message) = match reason {
        RejectionReason::NotAuthorized => {
            ("PolicyDenied", format!("the host does not authorize a call of `{tool}`"))
        }
        RejectionReason::NotApproved => {
            let no = |it: &&ApprovalView| it.verdict == Some(Verdict::Denied);
            let message = match call.approvals.iter().rfind(no) {
                Some(it) => {
                    let request = it.request.request;
                    format!("a call of `{tool}` was not approved: request {request}")
                }
                None => format!("a call of `{tool}` was not approved by anybody"),
            };
            ("ApprovalDenied", message)
        }
        RejectionReason::NotGranted(layer) => {
            let capability = agent.tool(tool).and_then(|tool| tool.capability.as_ref());
            let takes = capability.map_or("a capability", CapabilityKey::as_str);
            let message = format!("`{tool}` takes `{takes}`, which {layer} does not grant");
            ("PolicyDenied", message)
        }
        RejectionReason::PolicyDenied(layer) => {
            ("PolicyDenied", format!("{layer} denies calls of `{tool}`"))
        }
        RejectionReason::BatchRefused | RejectionReason::OverBudget => return None,
    };
    Some(failed(tag, &message))
}
