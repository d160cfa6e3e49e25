//! A record in a few words.

use everstep_machine::agent::{
    BoundPart, Diagnostic, Kept, ModelResponse, Resolution, ToolOutcome,
};
use everstep_machine::record::{Compaction, InputKind, Record, Resolver};

use crate::asked::verdict;
use crate::database::{plain, settlement_words};

/// A record in a few words.
pub(crate) fn record(record: &Record) -> String {
    match record {
        Record::ConversationCreated(it) => format!("agent {}", it.agent),
        Record::InputRecorded(it) => match it.kind {
            InputKind::First { .. } => plain(&it.input),
            InputKind::Steering { .. } => format!("said to the run: {}", plain(&it.input)),
            InputKind::FollowUp { .. } => format!("joins the run: {}", plain(&it.input)),
        },
        Record::ModelResponded(it) => said(&it.response),
        Record::ModelInterrupted(it) => format!(
            "turn {} gave no answer; {} tokens, {} micros are charged",
            it.turn.0 + 1,
            it.lost_tokens,
            it.lost_cost_micros
        ),
        Record::ToolPrepared(it) => format!("{} call {}", it.tool, it.call),
        Record::StepRecorded(it) => {
            let (place, step) = (it.ordinal + 1, &it.output.step);
            format!("call {}: step {place}, {step}, gave {}", it.call, it.output.output.as_str())
        }
        Record::ToolSettled(it) => format!("call {}: {}", it.call, outcome(&it.outcome)),
        Record::ToolUnknown(it) => {
            format!("call {}: nobody knows what became of it", it.doubt.call)
        }
        Record::ToolResolved(it) => {
            let (call, how) = (it.doubt.call, resolution(&it.resolution));
            format!("call {call}: {how}, says {}: {}", it.principal, it.reason)
        }
        Record::AbortRequested(it) => format!("by {}: {}", it.principal, it.reason),
        Record::RunRebound(it) => {
            let parts: Vec<_> = it.from.differences(&it.to).map(BoundPart::name).collect();
            format!("other {}, by {}: {}", parts.join(", "), it.principal, it.reason)
        }
        Record::CompactionCreated(it) => {
            let what = match &it.compaction {
                Compaction::ResultsCleared => "results of tools are shown no more",
                Compaction::Summarized(summary) => summary,
            };
            format!("up to record {}: {what}", it.through)
        }
        Record::ApprovalRequested(it) => {
            let on = it.target.as_ref().map(|on| format!(" on {on}")).unwrap_or_default();
            format!("call {}{on}: {}, asked for by {}", it.call, it.preview, it.rule.layer)
        }
        Record::ApprovalDecided(it) => {
            let (verdict, who) = (verdict(it.verdict), resolver(&it.resolver));
            format!("request {}: {verdict} by {who}: {}", it.request, it.reason)
        }
        Record::RecoveryDecided(it) => format!("row {} of the table", it.row),
        Record::SubmissionSettled(it) => settlement_words(&it.settlement),
    }
}

/// Who or what decided a request.
pub(super) fn resolver(resolver: &Resolver) -> String {
    match resolver {
        Resolver::Person(who) => who.to_string(),
        Resolver::Session { original } => format!("what was said of request {original}"),
        Resolver::Policy => "the policy".to_owned(),
        Resolver::Expiry => "its expiry".to_owned(),
        Resolver::Abort => "the abort".to_owned(),
    }
}

/// What a model said and called for.
fn said(response: &ModelResponse) -> String {
    let mut said: Vec<String> = response.texts().map(str::to_owned).collect();
    said.extend(response.calls().map(|it| format!("{}({})", it.tool, it.parameters.as_str())));
    said.join(" ")
}

fn failure(diagnostic: &Diagnostic) -> String {
    format!("{}: {}", diagnostic.tag(), diagnostic.message())
}

fn outcome(how: &ToolOutcome) -> String {
    match how {
        ToolOutcome::Success(result) => format!("returned {}", result.as_str()),
        ToolOutcome::Failure(why) => format!("failed, {}", failure(why)),
        ToolOutcome::Rejected(why) => format!("was turned down, {}", why),
        ToolOutcome::InvalidInput(why) => format!("was called wrongly, {}", failure(why)),
        ToolOutcome::Defect(why) => format!("broke, {}", failure(why)),
        ToolOutcome::Truncated(it) => {
            format!("returned {} bytes, of which are kept {} … {}", it.bytes, it.head, it.tail)
        }
        ToolOutcome::Kept(Kept { cut, digest, .. }) => format!(
            "returned {} bytes: {} … {}, whole in artifact {digest}",
            cut.bytes, cut.head, cut.tail
        ),
    }
}

/// How a doubt was closed, in words.
pub(crate) fn resolution(how: &Resolution) -> String {
    match how {
        Resolution::Completed(result) => format!("completed with {}", result.as_str()),
        Resolution::Failed(why) => format!("failed, {}", failure(why)),
        Resolution::NeverStarted => "never started".to_owned(),
        Resolution::SafeToRepeat => "safe to repeat".to_owned(),
    }
}
