//! A record with all its fields, under names that are part of the interface.

use everstep_machine::agent::{
    Allowance, Diagnostic, FinishReason, Kept, Resolution, ResponsePart, ToolCall, ToolOutcome,
    Usage,
};
use everstep_machine::record::{
    Compaction, CompactionCreated, InputKind, InputRecorded, Record, Resolver, SubmissionSettled,
};
use serde_json::{Value, json};

use crate::asked::{risk, verdict};
use crate::bindings::bound_json;
use crate::database::{settlement_json, value};

/// A record.
pub(crate) fn record(record: &Record) -> Value {
    match record {
        Record::ConversationCreated(it) => json!({
            "conversation": it.conversation.as_str(),
            "tenant": it.tenant.as_str(),
            "agent": it.agent.as_str(),
            "definition": it.definition.to_string(),
            "model": it.model.to_string(),
            "tools": it.tools.to_string(),
        }),
        Record::InputRecorded(it) => input_json(it),
        Record::ModelResponded(it) => json!({
            "submission": it.submission.to_string(),
            "turn": it.turn.0,
            "parts": it.response.parts.iter().map(part_json).collect::<Vec<_>>(),
            "finish": finish(it.response.finish),
            "usage": it.response.usage.map(usage_json),
        }),
        Record::ModelInterrupted(it) => json!({
            "submission": it.submission.to_string(),
            "turn": it.turn.0,
            "epoch": it.epoch.0,
            "ordinal": it.ordinal,
            "lost_tokens": it.lost_tokens,
            "lost_cost_micros": it.lost_cost_micros,
        }),
        Record::ToolPrepared(it) => json!({
            "submission": it.submission.to_string(),
            "call": it.call.to_string(),
            "epoch": it.epoch.0,
            "tool": it.tool.as_str(),
            "parameters": it.parameters.to_string(),
        }),
        Record::StepRecorded(it) => json!({
            "submission": it.submission.to_string(),
            "call": it.call.to_string(),
            "ordinal": it.ordinal,
            "step": it.output.step.name.as_str(),
            "version": it.output.step.version,
            "output": value(&it.output.output),
            "digest": it.digest.to_string(),
        }),
        Record::ToolSettled(it) => json!({
            "submission": it.submission.to_string(),
            "call": it.call.to_string(),
            "outcome": outcome_json(&it.outcome),
        }),
        Record::ToolUnknown(it) => json!({
            "submission": it.submission.to_string(),
            "call": it.doubt.call.to_string(),
            "start": it.doubt.start.0,
        }),
        Record::ToolResolved(it) => json!({
            "submission": it.submission.to_string(),
            "call": it.doubt.call.to_string(),
            "start": it.doubt.start.0,
            "resolution": resolution(&it.resolution),
            "principal": it.principal.as_str(),
            "reason": &*it.reason,
        }),
        Record::AbortRequested(it) => json!({
            "submission": it.submission.to_string(),
            "principal": it.principal.as_str(),
            "reason": &*it.reason,
        }),
        Record::RunRebound(it) => json!({
            "submission": it.submission.to_string(),
            "replaces": it.replaces.0,
            "from": bound_json(&it.from),
            "to": bound_json(&it.to),
            "principal": it.principal.as_str(),
            "reason": &*it.reason,
        }),
        Record::RecoveryDecided(it) => json!({
            "submission": it.submission.to_string(),
            "epoch": it.epoch.0,
            "row": it.row,
        }),
        Record::SubmissionSettled(it) => settled_json(it),
        Record::CompactionCreated(it) => compaction_json(it),
        Record::ApprovalRequested(it) => json!({
            "submission": it.submission.to_string(),
            "request": it.request.to_string(),
            "call": it.call.to_string(),
            "parameters": it.parameters.to_string(),
            "policy": it.policy.to_string(),
            "capability": it.capability.as_ref().map(|it| it.as_str()),
            "risk": risk(it.risk),
            "asked_by": it.rule.layer.to_string(),
            "target": it.target.as_deref(),
            "preview": &*it.preview,
            "expiry_ms": it.terms.expiry.map(|span| span.0),
            "on_expiry": verdict(it.terms.on_expiry),
            "approver": it.terms.approver.as_ref().map(|it| it.as_str()),
        }),
        Record::ApprovalDecided(it) => json!({
            "submission": it.submission.to_string(),
            "request": it.request.to_string(),
            "verdict": verdict(it.verdict),
            "resolver": resolver_kind(&it.resolver),
            "principal": match &it.resolver {
                Resolver::Person(who) => Some(who.as_str()),
                Resolver::Session { .. }
                | Resolver::Policy
                | Resolver::Expiry
                | Resolver::Abort => None,
            },
            "original": match &it.resolver {
                Resolver::Session { original } => Some(original.to_string()),
                _ => None,
            },
            "reason": &*it.reason,
        }),
    }
}

fn input_json(it: &InputRecorded) -> Value {
    let bound = match &it.kind {
        InputKind::First { bound } => Some(bound_json(bound)),
        InputKind::Steering { .. } | InputKind::FollowUp { .. } => None,
    };
    let how = match it.kind {
        InputKind::First { .. } => "first",
        InputKind::Steering { .. } => "steering",
        InputKind::FollowUp { .. } => "follow-up",
    };
    let Allowance { turns, tool_calls, tokens, cost_micros, duration } = it.allowance;
    json!({
        "submission": it.submission.to_string(),
        "principal": it.principal.as_str(),
        "run": it.run.to_string(),
        "input": value(&it.input),
        "how": how,
        "bound": bound,
        "host": it.kind.host().map(|host| host.to_string()),
        "at_ms": it.at.0,
        "allowance": {
            "turns": turns,
            "tool_calls": tool_calls,
            "tokens": tokens,
            "cost_micros": cost_micros,
            "duration_ms": duration.map(|it| it.0),
        },
    })
}

fn settled_json(it: &SubmissionSettled) -> Value {
    json!({
        "submission": it.submission.to_string(),
        "run": it.run.map(|run| run.to_string()),
        "settlement": settlement_json(&it.settlement),
    })
}

const fn resolver_kind(resolver: &Resolver) -> &'static str {
    match resolver {
        Resolver::Person(_) => "person",
        Resolver::Session { .. } => "session",
        Resolver::Policy => "policy",
        Resolver::Expiry => "expiry",
        Resolver::Abort => "abort",
    }
}

fn compaction_json(it: &CompactionCreated) -> Value {
    let summary = match &it.compaction {
        Compaction::ResultsCleared => None,
        Compaction::Summarized(summary) => Some(&**summary),
    };
    json!({
        "submission": it.submission.to_string(),
        "turn": it.turn.0,
        "through": it.through.0,
        "summary": summary,
        "usage": it.usage.map(usage_json),
    })
}

fn part_json(part: &ResponsePart) -> Value {
    let call = |kind: &str, it: &ToolCall| {
        json!({
            "kind": kind,
            "label": &*it.label,
            "tool": it.tool.as_str(),
            "parameters": value(&it.parameters),
        })
    };
    match part {
        ResponsePart::Text(text) => json!({ "kind": "text", "text": &**text }),
        ResponsePart::Call(it) => call("call", it),
        ResponsePart::ProviderCall(it) => call("provider-call", it),
        ResponsePart::Reasoning(it) => json!({
            "kind": "reasoning",
            "text": &*it.text,
            "signed": it.signature.is_some(),
            "redacted": it.redacted,
        }),
        ResponsePart::ProviderResult(it) => json!({
            "kind": "provider-result",
            "label": &*it.label,
            "result": value(&it.result),
            "failed": it.failed,
        }),
    }
}

const fn finish(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool-calls",
        FinishReason::Length => "length",
        FinishReason::Withheld => "withheld",
    }
}

fn usage_json(usage: Usage) -> Value {
    let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_micros } =
        usage;
    json!({
        "input_tokens": input_tokens,
        "cache_read_tokens": cache_read_tokens,
        "cache_write_tokens": cache_write_tokens,
        "output_tokens": output_tokens,
        "cost_micros": cost_micros,
    })
}

fn failure_json(how: &str, why: &Diagnostic) -> Value {
    json!({ "how": how, "tag": why.tag(), "message": why.message() })
}

fn outcome_json(outcome: &ToolOutcome) -> Value {
    match outcome {
        ToolOutcome::Success(result) => json!({ "how": "success", "result": value(result) }),
        ToolOutcome::Failure(why) => failure_json("failure", why),
        ToolOutcome::Rejected(why) => json!({ "how": "rejected", "reason": why.to_string() }),
        ToolOutcome::InvalidInput(why) => failure_json("invalid-input", why),
        ToolOutcome::Defect(why) => failure_json("defect", why),
        ToolOutcome::Truncated(it) => json!({
            "how": "truncated",
            "head": &*it.head,
            "tail": &*it.tail,
            "bytes": it.bytes,
        }),
        ToolOutcome::Kept(Kept { cut, digest, media, .. }) => json!({
            "how": "kept",
            "head": &*cut.head,
            "tail": &*cut.tail,
            "bytes": cut.bytes,
            "artifact": digest.to_string(),
            "media": media.name(),
        }),
    }
}

/// How a doubt was closed.
pub(crate) fn resolution(how: &Resolution) -> Value {
    match how {
        Resolution::Completed(result) => json!({ "how": "completed", "result": value(result) }),
        Resolution::Failed(why) => failure_json("failed", why),
        Resolution::NeverStarted => json!({ "how": "never-started" }),
        Resolution::SafeToRepeat => json!({ "how": "safe-to-repeat" }),
    }
}
