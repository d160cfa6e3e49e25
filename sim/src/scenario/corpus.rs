//! The scenarios of the corpus, carried in the binary so that it works from any folder.

macro_rules! corpus {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../corpus/scenarios/", $name, ".toml")))),*]
    };
}

const BUILTIN: &[(&str, &str)] = corpus![
    "abort",
    "answer",
    "denied",
    "idempotent",
    "mixed-batch",
    "model-fault",
    "ordinary-completed",
    "ordinary-failed",
    "ordinary-never-started",
    "ordinary-reconciled",
    "ordinary-safe-to-repeat",
    "parallel-readonly",
    "slow-tool",
    "turns-exhausted",
    "two-lanes",
    "undeclared-tool",
];

/// Name and text of every scenario of the corpus, in the order of their names.
pub fn builtin() -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
    BUILTIN.iter().copied()
}
