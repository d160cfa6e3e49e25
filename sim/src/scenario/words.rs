//! The closed vocabularies of a scenario file, and the word nearest to one that is not in them.

use everstep_machine::agent::ExecutionClass;
use everstep_machine::record::Outcome;

/// Words and what they stand for.
pub(super) type Words<T, const N: usize> = [(&'static str, T); N];

/// Why a scripted model gives no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    Unavailable,
    Protocol,
}

/// What a scripted operator answers, its payload aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Completed,
    Failed,
    NeverStarted,
    SafeToRepeat,
}

pub(super) const CLASSES: Words<ExecutionClass, 3> = [
    ("readonly", ExecutionClass::Readonly),
    ("idempotent", ExecutionClass::Idempotent),
    ("ordinary", ExecutionClass::Ordinary),
];

/// Whether a reconciler answers for a tool.
pub(super) const RECONCILERS: Words<bool, 2> = [("none", false), ("truthful", true)];

pub(super) const FAULTS: Words<FaultKind, 2> =
    [("unavailable", FaultKind::Unavailable), ("protocol", FaultKind::Protocol)];

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
