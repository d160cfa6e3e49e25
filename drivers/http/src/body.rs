//! What a service is told: the questions of one batch, as JSON.

use everstep_machine::agent::{Risk, Verdict};
use everstep_machine::approval::Entry;
use everstep_machine::effect::{ApprovalQuestion, Subject};
use everstep_machine::identity::{RunId, Turn};
use serde_json::{Value, json};

use crate::answer::word;

/// Version of the form of questions and answers.
const SCHEMA: u32 = 1;

/// The questions of one turn of a run. What nobody is to see is not in them.
pub(crate) fn body(run: RunId, turn: Turn, questions: &[ApprovalQuestion]) -> String {
    let questions: Vec<Value> = questions.iter().map(question).collect();
    json!({ "schema": SCHEMA, "run": run.to_string(), "turn": turn.0, "questions": questions })
        .to_string()
}

fn question(it: &ApprovalQuestion) -> Value {
    let (target, target_is) = match &it.target {
        Subject::Unsaid => (None, "unsaid"),
        Subject::Named(resource) => (Some(resource.as_str()), "named"),
        Subject::Unresolved => (None, "unresolved"),
    };
    json!({
        "request": it.request.to_string(),
        "call": it.call.to_string(),
        "tool": it.tool.as_str(),
        "capability": it.capability.as_ref().map(|it| it.as_str()),
        "risk": risk(it.risk),
        "layer": it.rule.layer.to_string(),
        "entry": entry(&it.rule.entry),
        "policy": it.policy.to_string(),
        "parameters": serde_json::from_str::<Value>(it.preview.as_str()).unwrap_or_default(),
        "parameters_digest": it.digest.to_string(),
        "target": target,
        "target_is": target_is,
        "stands_for": it.stands_for,
        "expires_after_ms": it.terms.expiry.map(|span| span.0),
        "on_expiry": match it.terms.on_expiry {
            Verdict::Approved => "approve",
            Verdict::Denied => "deny",
        },
        "approver": it.terms.approver.as_ref().map(|it| it.as_str()),
        "answers": word::allowed(it),
    })
}

const fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

const fn entry(entry: &Entry) -> &'static str {
    match entry {
        Entry::Tool => "tool",
        Entry::Capability(_) => "capability",
        Entry::Risk(_) => "risk",
        Entry::Default => "default",
        Entry::Declared => "declared",
        Entry::Command(_) => "command",
    }
}
