//! The scenarios of the corpus, carried in the binary so that it works from any folder.

macro_rules! corpus {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../corpus/scenarios/", $name, ".toml")))),*]
    };
}

const BUILTIN: &[(&str, &str)] = corpus![
    "abort",
    "answer",
    "approval-aborted",
    "approval-by-people",
    "approval-denied",
    "approval-expires",
    "approval-granted",
    "approval-refused-by-people",
    "budget-cost",
    "budget-duration",
    "budget-fail",
    "budget-tokens",
    "budget-tool-calls",
    "budget-turns",
    "compaction",
    "context-length",
    "context-shortened",
    "deadly-idempotent",
    "denial-returned",
    "denied",
    "durable-aborted",
    "durable-changed",
    "durable-silent",
    "durable-steps",
    "failure-ends-run",
    "idempotent",
    "invalid-parameters",
    "joining-aborted",
    "joining-unknown",
    "joining",
    "live-contract",
    "live-desk",
    "mixed-batch",
    "model-fault",
    "ordinary-completed",
    "ordinary-failed",
    "ordinary-never-started",
    "ordinary-reconciled",
    "ordinary-safe-to-repeat",
    "output-contract",
    "parallel-readonly",
    "poison-retried",
    "poison",
    "rate-limited",
    "redacted-result",
    "repeated-failures",
    "revised-aborted",
    "revised-other-worker",
    "revised-outlived",
    "revised-rebound",
    "silent-idempotent",
    "silent-model",
    "silent-ordinary",
    "silent-readonly",
    "silent-too-often",
    "silent-unknown",
    "slow-tool",
    "steering-suspended",
    "steering",
    "turns-exhausted",
    "two-lanes",
    "undeclared-tool",
    "waves",
    "wrong-result",
];

/// Name and text of every scenario of the corpus, in the order of their names.
pub fn builtin() -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
    BUILTIN.iter().copied()
}
