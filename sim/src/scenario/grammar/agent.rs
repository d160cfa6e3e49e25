//! An agent, how its runs may go, and who is asked about its calls.

use everstep_machine::limits::{
    CONTEXT_KEEP_TOKENS, MODEL_TIMEOUT_MS, REPEATED_FAILURES, RESPONSE_CALLS, RETRY_FIRST_MS,
    RETRY_LONGEST_MS, RUN_PARALLEL_CALLS, RUN_TURNS,
};

use super::Presence::{Default, Optional, Required};
use super::{Key, Shape, Table, key};
use crate::scenario::bounds::{AMOUNT, COUNT, DISPOSITIONS, LATENCY_MS, RETRIES, TOOLS};
use crate::scenario::words::{DENIALS, EXHAUSTIONS, JOINS, VERDICTS, words};

pub(in crate::scenario) static AGENT: Table = Table {
    name: "[agent]",
    definition: "agent",
    about: "The agent.",
    keys: &[
        key("id", Shape::Name, Required, "Its name."),
        key("instructions", Shape::Text, Required, "What it is told to be."),
        key(
            "max_turns",
            Shape::Whole(1, RUN_TURNS as u64),
            Default("16"),
            "The most turns one run may take.",
        ),
        key("policy", Shape::Table(&POLICY), Optional, "How a run may go."),
    ],
    rules: &[],
};

pub(in crate::scenario) static REVISION: Table = Table {
    name: "[revision]",
    definition: "revision",
    about: "What the agent becomes for workers that start again after a crash.",
    keys: &[
        key("instructions", Shape::Text, Required, "What it is told to be then."),
        key(
            "rebinds",
            Shape::Flag,
            Default("false"),
            "Whether operators have runs go on under it that are bound to what the agent was.",
        ),
        key(
            "outlasts_pauses",
            Shape::Flag,
            Default("false"),
            "Whether the week after which such a run ends passes while somebody is held up, too.",
        ),
    ],
    rules: &[],
};

/// Tokens that a run may use up.
pub(super) const TOKENS: Key =
    key("tokens", Shape::Whole(1, AMOUNT), Optional, "Tokens of requests and responses together.");

/// Calls that a run may declare.
pub(super) const TOOL_CALLS: Key = key(
    "tool_calls",
    Shape::Whole(1, COUNT),
    Optional,
    "Calls that a run may declare, over all its turns.",
);

/// Money that a run may spend.
pub(super) const COST: Key = key(
    "cost_micros",
    Shape::Whole(1, AMOUNT),
    Optional,
    "What a run may cost, in millionths of the currency. More always fails it.",
);

/// Time that a run may take.
pub(super) const DURATION: Key = key(
    "duration_ms",
    Shape::Whole(1, LATENCY_MS),
    Optional,
    "How long a run may take from its input on, in milliseconds. More always fails it.",
);

/// A number that is written the way the core has it.
macro_rules! default {
    ($number:expr, $text:literal) => {{
        const { assert!(digits($text.as_bytes()) == $number as u64, "the schema tells the truth") };
        Default($text)
    }};
}

const fn digits(text: &[u8]) -> u64 {
    let (mut value, mut at) = (0, 0);
    while at < text.len() {
        value = value * 10 + (text[at] - b'0') as u64;
        at += 1;
    }
    value
}

static POLICY: Table = Table {
    name: "[agent.policy]",
    definition: "policy",
    about: "How a run of the agent may go.",
    keys: &[
        TOOL_CALLS,
        TOKENS,
        COST,
        DURATION,
        key(
            "on_exhaustion",
            Shape::Word(&words(&EXHAUSTIONS)),
            Default("\"final-answer\""),
            "When turns, calls or tokens are used up: one more answer without tools, or a failure.",
        ),
        key(
            "repeated_failures",
            Shape::Whole(0, COUNT),
            default!(REPEATED_FAILURES, "3"),
            "Calls in a row that may fail before the run does; 0 means any number.",
        ),
        key(
            "on_denial",
            Shape::Word(&words(&DENIALS)),
            Default("\"fail-run\""),
            "What a call that is turned down does: fail the run, or tell the model.",
        ),
        key(
            "joins",
            Shape::Word(&words(&JOINS)),
            Default("\"none\""),
            "Which submissions that wait behind a run it answers together with its first, when it \
             would otherwise stop: none, the next one, or all that may.",
        ),
        key(
            "approval",
            Shape::Table(&APPROVAL),
            Optional,
            "What people have to say about calls, and until when.",
        ),
        key(
            "parallel_calls",
            Shape::Whole(1, RESPONSE_CALLS as u64),
            default!(RUN_PARALLEL_CALLS, "8"),
            "Calls of one run that run at once.",
        ),
        key(
            "retry",
            Shape::Table(&RETRY),
            Optional,
            "How a model that could not answer is asked again.",
        ),
        key(
            "model_timeout_ms",
            Shape::Whole(1, LATENCY_MS),
            default!(MODEL_TIMEOUT_MS, "600000"),
            "How long a model may take to answer, in milliseconds.",
        ),
        key(
            "unreported_tokens",
            Shape::Whole(0, AMOUNT),
            Optional,
            "The provider does not say what a response used: so many tokens are counted instead.",
        ),
        key("context", Shape::Table(&CONTEXT), Optional, "When context is made smaller."),
        key(
            "output",
            Shape::Value,
            Optional,
            "A JSON Schema of the final answer, which is JSON then.",
        ),
        key(
            "disposition",
            Shape::Table(&DISPOSITION),
            Optional,
            "Where the answer names the application's word for the outcome.",
        ),
        key(
            "status_note",
            Shape::Flag,
            Default("false"),
            "Whether the model is told how much of its budget is used.",
        ),
    ],
    rules: &[],
};

static RETRY: Table = Table {
    name: "[agent.policy.retry]",
    definition: "retry",
    about: "How a model that could not answer is asked again.",
    keys: &[
        key("retries", Shape::Whole(0, RETRIES), Default("2"), "How often, for one turn."),
        key(
            "first_ms",
            Shape::Whole(0, LATENCY_MS),
            default!(RETRY_FIRST_MS, "500"),
            "The pause before the first time, in milliseconds; each further one is twice as long.",
        ),
        key(
            "longest_ms",
            Shape::Whole(0, LATENCY_MS),
            default!(RETRY_LONGEST_MS, "30000"),
            "The longest pause, in milliseconds.",
        ),
    ],
    rules: &[],
};

static CONTEXT: Table = Table {
    name: "[agent.policy.context]",
    definition: "context",
    about: "When context is made smaller.",
    keys: &[
        key(
            "limit_tokens",
            Shape::Whole(1, AMOUNT),
            Required,
            "Estimated tokens of a request beyond which context is made smaller first.",
        ),
        key(
            "keep_tokens",
            Shape::Whole(0, AMOUNT),
            default!(CONTEXT_KEEP_TOKENS, "20000"),
            "Estimated tokens of recent context that stay as they are; fewer than the limit.",
        ),
    ],
    rules: &[],
};

static DISPOSITION: Table = Table {
    name: "[agent.policy.disposition]",
    definition: "disposition",
    about: "Where the answer names the application's word for the outcome.",
    keys: &[
        key("at", Shape::Text, Required, "The place in the answer, as a JSON pointer."),
        key("allowed", Shape::Names(DISPOSITIONS), Required, "The words that may stand there."),
    ],
    rules: &[],
};

pub(in crate::scenario) static AUTHORIZER: Table = Table {
    name: "[authorizer]",
    definition: "authorizer",
    about: "The host's authorizer.",
    keys: &[key(
        "denies",
        Shape::Names(TOOLS),
        Default("[]"),
        "Tools whose calls it turns down: no call of the batch starts.",
    )],
    rules: &[],
};

static APPROVAL: Table = Table {
    name: "[agent.policy.approval]",
    definition: "approval",
    about: "What people have to say about calls, and until when.",
    keys: &[
        key(
            "expiry_ms",
            Shape::Whole(1, LATENCY_MS),
            Optional,
            "How long a request stands, in milliseconds; without it, for ever.",
        ),
        key(
            "on_expiry",
            Shape::Word(&words(&VERDICTS)),
            Default("\"deny\""),
            "What a request that nobody decided in time comes to.",
        ),
        key("approver", Shape::Name, Optional, "Who alone may decide."),
    ],
    rules: &[],
};

pub(super) static APPROVER: Table = Table {
    name: "[approver]",
    definition: "approver",
    about: "Who is asked about the calls of tools that want it.",
    keys: &[
        key(
            "denies",
            Shape::Names(TOOLS),
            Default("[]"),
            "Tools whose calls it does not approve: no call of the batch starts.",
        ),
        key(
            "people",
            Shape::Names(TOOLS),
            Default("[]"),
            "Tools whose calls it leaves to people: the submission waits, suspended, until somebody decides.",
        ),
        key(
            "for_session",
            Shape::Flag,
            Default("false"),
            "Whether what it approves is approved for the session: whatever is the same in every respect is not asked about again while the process lives.",
        ),
    ],
    rules: &[],
};
