//! What a check came to: what was tried, or where a store differs from the machines.

use std::fmt;

/// What a store was asked for when it differed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// A command of a pipeline is answered otherwise.
    Answers,
    /// A command that has to be refused is not, or what stands behind it is done.
    Refusals,
    /// A pipeline that is sent once more is answered otherwise.
    Repeats,
    /// A lane, or a row of it, is read otherwise.
    Lanes,
    /// A page of a log is read otherwise.
    Pages,
    /// Pipelines that wait at the same time are answered otherwise, or in another order.
    Together,
    /// One handle does not see what the other one was told.
    Handles,
    /// After opening again something is otherwise.
    Reopening,
    /// A process that died has left something else than a beginning of its pipeline.
    Crashes,
    /// Pipelines of two handles at once are answered as no order of their commands would be.
    Races,
    /// A pipeline whose answer was lost, and that came again, is answered otherwise.
    Failures,
    /// What only this store can be asked is otherwise.
    Inspection,
    /// The kit itself has met too little to say anything.
    Vacuous,
}

impl Check {
    /// What has to hold.
    #[must_use]
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Answers => "a command is answered as the machine answers it",
            Self::Refusals => "a pipeline stops at its first refusal and keeps what is before it",
            Self::Repeats => "a repeated pipeline is answered as the machines answer it",
            Self::Lanes => "a lane is read as it is",
            Self::Pages => "a log is read as it is, page by page",
            Self::Together => "pipelines that wait together are answered one after the other",
            Self::Handles => "what one handle was told, the other one sees",
            Self::Reopening => "what was acknowledged is there after opening again",
            Self::Crashes => "a crash leaves a beginning of the pipeline",
            Self::Races => "two handles at once are as if their commands came one by one",
            Self::Failures => {
                "what comes again after a lost answer is answered by what took effect"
            }
            Self::Inspection => "what only this store can be asked is as it should be",
            Self::Vacuous => "every command is accepted and every refusal given at least once",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.rule())
    }
}

/// A store is not equal to the machines (STORE-010).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not so: {check}\nseed {seed}\n{}\nexpected: {expected}\nfound:    {found}",
    numbered(script)
)]
pub struct Finding {
    /// Which rule is broken.
    pub check: Check,
    /// The seed with which it was found.
    pub seed: u64,
    /// What was done, line by line. Nothing can be dropped from it, but for a race, which no second
    /// try repeats for certain.
    pub script: Vec<String>,
    /// What the machines say.
    pub expected: String,
    /// What the store says.
    pub found: String,
}

fn numbered(script: &[String]) -> String {
    let lines = script.iter().enumerate();
    lines.map(|(at, line)| format!("{:4}. {line}", at + 1)).collect::<Vec<_>>().join("\n")
}

/// What was tried, and found to be equal to the machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Scripts that were played.
    pub scripts: usize,
    /// Pipelines that were sent.
    pub pipelines: usize,
    /// Pipelines that were refused at some command.
    pub refusals: usize,
    /// Processes that died.
    pub crashes: usize,
    /// Rows that were settled at the end of a script.
    pub settled: usize,
    /// Pipelines that were cut off, and came again.
    pub lost: usize,
    /// Batches that stood in logs at the end of a script.
    pub batches: usize,
    /// Races in which the order of the two handles made a difference.
    pub contests: usize,
    /// Commands that were accepted and refusals that were given, by name.
    pub met: Vec<&'static str>,
}

/// Where a store and the machines part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) check: Check,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Difference {
    pub(super) fn into_finding(self, seed: u64, script: Vec<String>) -> Finding {
        let Self { check, expected, found } = self;
        Finding { check, seed, script, expected, found }
    }
}
