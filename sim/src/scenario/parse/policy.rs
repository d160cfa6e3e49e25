//! An agent, and how its runs may go.

use std::sync::Arc;

use everstep_machine::agent::{
    AgentPolicy, ApprovalPolicy, ApprovalTerms, ContextPolicy, DispositionRule, ModelRetry,
    UsageReporting,
};
use everstep_machine::identity::{DurationMs, PrincipalId};
use everstep_machine::limits::CONTEXT_KEEP_TOKENS;

use super::parts::allowance;
use super::{Row, texts};
use crate::scenario::bounds::DEFAULT_MAX_TURNS;
use crate::scenario::check::{name, pointer, schema};
use crate::scenario::draft::{Checked, Located, Said};
use crate::scenario::fault::Fault;
use crate::scenario::words::{DENIALS, EXHAUSTIONS, JOINS, VERDICTS};

/// An agent as a file says it.
pub(in crate::scenario) struct Agent {
    pub(in crate::scenario) id: Said,
    pub(in crate::scenario) instructions: Said,
    pub(in crate::scenario) max_turns: Located<u64>,
    pub(in crate::scenario) policy: Located<AgentPolicy>,
}

pub(in crate::scenario) fn agent(root: &Row<'_, '_>) -> Checked<Agent> {
    let agent = root.row("agent");
    let agent = agent.as_ref().unwrap_or(root);
    Ok(Agent {
        id: agent.need("id", "[agent]")?,
        instructions: agent.need("instructions", "[agent]")?,
        max_turns: agent.whole_or("max_turns", u64::from(DEFAULT_MAX_TURNS)),
        policy: match agent.row("policy") {
            None => Located::new(AgentPolicy::default(), agent.site()),
            Some(row) => Located::new(policy(&row)?, policy_site(&row)),
        },
    })
}

/// What is wrong with the numbers of a policy is wrong with its context.
fn policy_site(row: &Row<'_, '_>) -> crate::scenario::draft::Site {
    row.row("context").map_or_else(|| row.site(), |context| context.site())
}

fn approval(row: &Row<'_, '_>) -> Checked<ApprovalPolicy> {
    let usual = ApprovalTerms::default();
    let approver = row.text("approver");
    let terms = ApprovalTerms {
        expiry: row.whole("expiry_ms").map(|span| DurationMs(span.value)),
        on_expiry: row.word_or("on_expiry", &VERDICTS, usual.on_expiry),
        approver: approver.map(|said| name("approver", &said, PrincipalId::new)).transpose()?,
    };
    // What it says of calls stands in a table of its own.
    Ok(ApprovalPolicy { terms, ..ApprovalPolicy::default() })
}

/// The numbers have passed the grammar.
fn policy(row: &Row<'_, '_>) -> Checked<AgentPolicy> {
    let usual = AgentPolicy::default();
    let number = |row: &Row<'_, '_>, key: &str, usual: u64| row.whole_or(key, usual).value;
    let count = |row: &Row<'_, '_>, key: &str, usual: u32| {
        u32::try_from(number(row, key, usual.into())).unwrap_or(usual)
    };
    Ok(AgentPolicy {
        allowance: allowance(row),
        on_exhaustion: row.word_or("on_exhaustion", &EXHAUSTIONS, usual.on_exhaustion),
        repeated_failures: count(row, "repeated_failures", usual.repeated_failures),
        on_denial: row.word_or("on_denial", &DENIALS, usual.on_denial),
        approval: row.row("approval").map(|row| approval(&row)).transpose()?.unwrap_or_default(),
        parallel_calls: count(row, "parallel_calls", usual.parallel_calls),
        retry: row.row("retry").map_or(usual.retry, |row| ModelRetry {
            retries: count(&row, "retries", usual.retry.retries),
            first: DurationMs(number(&row, "first_ms", usual.retry.first.0)),
            longest: DurationMs(number(&row, "longest_ms", usual.retry.longest.0)),
        }),
        model_timeout: DurationMs(number(row, "model_timeout_ms", usual.model_timeout.0)),
        usage: match row.whole("unreported_tokens") {
            Some(tokens) => UsageReporting::Unreported { tokens: tokens.value },
            None => UsageReporting::Reported,
        },
        context: row.row("context").map(|row| context(&row)).transpose()?,
        output: row.json("output")?.map(|said| schema("output", &said)).transpose()?,
        disposition: row.row("disposition").map(|row| disposition(&row)).transpose()?,
        status_note: row.flag("status_note") == Some(true),
        joins: row.word_or("joins", &JOINS, usual.joins),
    })
}

fn context(row: &Row<'_, '_>) -> Checked<ContextPolicy> {
    let limit = row.whole_or("limit_tokens", 1).value;
    let kept = row.whole("keep_tokens");
    let keep = kept.as_ref().map_or(CONTEXT_KEEP_TOKENS, |it| it.value);
    if keep >= limit {
        let site = kept.map_or_else(|| row.site(), |it| it.site);
        return Err(site.fault(Fault::KeepsTooMuch { keep, limit }));
    }
    Ok(ContextPolicy { limit_tokens: limit, keep_tokens: keep })
}

fn disposition(row: &Row<'_, '_>) -> Checked<DispositionRule> {
    let at = pointer("at", &row.need("at", "[agent.policy.disposition]")?)?;
    let allowed: Vec<_> = texts(row.items("allowed")).map(|said| Arc::from(said.value)).collect();
    if allowed.is_empty() {
        return Err(row.site().fault(Fault::NoDisposition));
    }
    Ok(DispositionRule { at, allowed })
}
