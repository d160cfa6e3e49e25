//! The closed vocabularies of a scenario file, and the word nearest to one that is not in them.

use everstep_machine::agent::{
    Dimension, ExecutionClass, FailureMode, Joins, Judgement, OnDenial, OnExhaustion, RetryClass,
    Risk, Verdict,
};
use everstep_machine::authority::Scope;
use everstep_machine::record::{FinishKind, Outcome, PolicyLimit};

use super::Silence;

/// Words and what they stand for.
pub(super) type Words<T, const N: usize> = [(&'static str, T); N];

/// Why a scripted model gives no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    Unavailable,
    Protocol,
    RateLimited,
    ContextLength,
    Refused,
    Silent,
}

/// What a model goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelKind {
    Scripted,
    Live,
}

/// What a scripted operator answers, its payload aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Completed,
    Failed,
    NeverStarted,
    SafeToRepeat,
}

pub(super) const CLASSES: Words<ExecutionClass, 4> = [
    ("readonly", ExecutionClass::Readonly),
    ("idempotent", ExecutionClass::Idempotent),
    ("ordinary", ExecutionClass::Ordinary),
    ("durable", ExecutionClass::Durable),
];

/// What a start that gives no answer does.
pub(super) const SILENCES: Words<Silence, 2> =
    [("done", Silence::Done), ("undone", Silence::Undone)];

/// Whether a reconciler answers for a tool.
pub(super) const RECONCILERS: Words<bool, 2> = [("none", false), ("truthful", true)];

pub(super) const FAULTS: Words<FaultKind, 6> = [
    ("silent", FaultKind::Silent),
    ("unavailable", FaultKind::Unavailable),
    ("protocol", FaultKind::Protocol),
    ("rate-limited", FaultKind::RateLimited),
    ("context-length", FaultKind::ContextLength),
    ("refused", FaultKind::Refused),
];

pub(super) const MODELS: Words<ModelKind, 2> =
    [("scripted", ModelKind::Scripted), ("live", ModelKind::Live)];

pub(super) const EXHAUSTIONS: Words<OnExhaustion, 2> =
    [("final-answer", OnExhaustion::FinalAnswer), ("fail", OnExhaustion::Fail)];

pub(super) const DENIALS: Words<OnDenial, 2> =
    [("fail-run", OnDenial::FailRun), ("return-to-model", OnDenial::ReturnToModel)];

pub(super) const JOINS: Words<Joins, 3> =
    [("none", Joins::None), ("one", Joins::One), ("all", Joins::All)];

pub(super) const VERDICTS: Words<Verdict, 2> =
    [("approve", Verdict::Approved), ("deny", Verdict::Denied)];

pub(super) const RISKS: Words<Risk, 4> = [
    ("low", Risk::Low),
    ("medium", Risk::Medium),
    ("high", Risk::High),
    ("critical", Risk::Critical),
];

pub(super) const JUDGEMENTS: Words<Judgement, 3> =
    [("auto", Judgement::Auto), ("prompt", Judgement::Prompt), ("deny", Judgement::Deny)];

pub(super) const SCOPES: Words<Scope, 2> = [("workspace", Scope::Workspace), ("core", Scope::Core)];

pub(super) const RETRY_CLASSES: Words<RetryClass, 2> =
    [("never", RetryClass::Never), ("transient", RetryClass::Transient)];

pub(super) const FAILURE_MODES: Words<FailureMode, 2> =
    [("return", FailureMode::Return), ("error", FailureMode::Error)];

pub(super) const APPROVALS: Words<Judgement, 2> =
    [("auto", Judgement::Auto), ("ask", Judgement::Prompt)];

pub(super) const DIMENSIONS: Words<Dimension, 5> = [
    ("turns", Dimension::Turns),
    ("tool-calls", Dimension::ToolCalls),
    ("tokens", Dimension::Tokens),
    ("cost", Dimension::Cost),
    ("duration", Dimension::Duration),
];

/// Cost and duration are not among them: they never end with an answer.
pub(super) const FINISHES: Words<FinishKind, 5> = [
    ("model-stop", FinishKind::ModelStop),
    ("completed", FinishKind::Completed),
    ("budget-exhausted:turns", FinishKind::BudgetExhausted(Dimension::Turns)),
    ("budget-exhausted:tool-calls", FinishKind::BudgetExhausted(Dimension::ToolCalls)),
    ("budget-exhausted:tokens", FinishKind::BudgetExhausted(Dimension::Tokens)),
];

pub(super) const LIMITS: Words<PolicyLimit, 7> = [
    ("turns", PolicyLimit::Budget(Dimension::Turns)),
    ("tool-calls", PolicyLimit::Budget(Dimension::ToolCalls)),
    ("tokens", PolicyLimit::Budget(Dimension::Tokens)),
    ("cost", PolicyLimit::Budget(Dimension::Cost)),
    ("duration", PolicyLimit::Budget(Dimension::Duration)),
    ("repeated-failures", PolicyLimit::RepeatedFailures),
    ("attempts", PolicyLimit::Attempts),
];

pub(super) const ANSWERS: Words<AnswerKind, 4> = [
    ("completed", AnswerKind::Completed),
    ("failed", AnswerKind::Failed),
    ("never-started", AnswerKind::NeverStarted),
    ("safe-to-repeat", AnswerKind::SafeToRepeat),
];

pub(super) const OUTCOMES: Words<Outcome, 3> =
    [("completed", Outcome::Completed), ("failed", Outcome::Failed), ("aborted", Outcome::Aborted)];

/// When an abort comes, besides the failpoints.
pub(super) const EVERY_MOMENT: &str = "every-moment";

/// The words alone.
pub(super) const fn words<T: Copy, const N: usize>(pairs: &Words<T, N>) -> [&'static str; N] {
    let mut words = [""; N];
    let mut index = 0;
    while index < N {
        words[index] = pairs[index].0;
        index += 1;
    }
    words
}

/// What a word stands for.
pub(super) fn meaning<T: Copy, const N: usize>(pairs: &Words<T, N>, word: &str) -> Option<T> {
    pairs.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// The word for a meaning.
pub(super) fn word<T: PartialEq, const N: usize>(pairs: &Words<T, N>, meaning: T) -> &'static str {
    pairs.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| word)
}

/// The candidate that somebody most likely meant, if any is close: at most a third of the longer
/// word is mistyped. The first of several equally near ones.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let other = candidate.chars().count();
        let tolerated = (length.max(other) / 3).max(1);
        if length.abs_diff(other) > tolerated {
            continue;
        }
        let distance = strsim::osa_distance(&word, &candidate.to_lowercase());
        if distance <= tolerated && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
