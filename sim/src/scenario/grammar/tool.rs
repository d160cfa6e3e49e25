//! Tools of scenarios, and of agent files, which do something besides.

use everstep_machine::limits::{CALL_STEPS, TOOL_RESULT_BYTES, TOOL_TIMEOUT_MS};

use super::Presence::{Default, Optional, Required};
use super::{Rule, Shape, Table, key};
use crate::scenario::bounds::{LATENCY_MS, REDACTIONS, SILENT_STARTS};
use crate::scenario::words::{
    APPROVALS, CLASSES, FAILURE_MODES, RECONCILERS, RETRY_CLASSES, RISKS, SILENCES, words,
};

/// The keys of every tool, with those of one kind of file among them.
macro_rules! tool_keys {
    (reconciler: $reconciler:literal, latency: $latency:literal, $($own:expr,)*) => {
        &[
            key("name", Shape::Name, Required, "What the model calls it by."),
            key(
                "class",
                Shape::Word(&words(&CLASSES)),
                Default("\"ordinary\""),
                "What may be done when nobody knows whether a call happened: readonly and idempotent calls run again, ordinary ones do not, and of durable ones, which are made of steps, what is not recorded runs again.",
            ),
            $($own,)*
            key(
                "reconciler",
                Shape::Word(&words(&RECONCILERS)),
                Default("\"none\""),
                $reconciler,
            ),
            key("latency_ms", Shape::Whole(0, LATENCY_MS), Default("0"), $latency),
            key("result", Shape::Value, Default("null"), "What it returns, every time."),
            key("failure", Shape::Table(&FAILURE), Optional, "How it fails, every time."),
            key(
                "failure_mode",
                Shape::Word(&words(&FAILURE_MODES)),
                Default("\"return\""),
                "What a failure does: it is told to the model, or it fails the run.",
            ),
            key(
                "approval",
                Shape::Word(&words(&APPROVALS)),
                Default("\"auto\""),
                "Whether an approver is asked about each call before it starts.",
            ),
            key("description", Shape::Text, Default("\"\""), "What it does, for the model."),
            key("parameters", Shape::Value, Default("true"), "A JSON Schema of its parameters."),
            key("success", Shape::Value, Default("true"), "A JSON Schema of its result."),
            key(
                "fails_with",
                Shape::Value,
                Default("true"),
                "A JSON Schema of the message of its failure, as JSON or else as a text.",
            ),
            key(
                "result_bytes",
                Shape::Whole(0, TOOL_RESULT_BYTES as u64),
                Default("51200"),
                "Bytes of a result that its record shows; of a longer one the beginning and the end.",
            ),
            key(
                "redact",
                Shape::Texts(REDACTIONS),
                Default("[]"),
                "Places in its results, as JSON pointers, that are taken out before anything is kept; those in its parameters are not shown to an approver.",
            ),
            key("risk", Shape::Word(&words(&RISKS)), Default("\"medium\""), "How much harm it can do."),
            key(
                "resource",
                Shape::Text,
                Optional,
                "Where in the parameters it is said what it acts on, as a JSON pointer.",
            ),
            key("group", Shape::Name, Optional, "Calls of one group share places of the host."),
            key(
                "timeout_ms",
                Shape::Whole(1, LATENCY_MS),
                Default("60000"),
                "How long a host lets it run, in milliseconds.",
            ),
            key(
                "retry",
                Shape::Word(&words(&RETRY_CLASSES)),
                Default("\"never\""),
                "Whether a host makes a call again that had no effect.",
            ),
        ]
    };
}

const _: () = assert!(TOOL_RESULT_BYTES == 51_200 && TOOL_TIMEOUT_MS == 60_000);

pub(super) static TOOL: Table = Table {
    name: "[[tools]]",
    definition: "tool",
    about: "A tool, and what its outside does.",
    keys: tool_keys! {
        reconciler: "Who can be asked what became of a start: nobody, or one who answers truthfully from what happened.",
        latency: "How long a call takes, in milliseconds.",
        key("steps", Shape::Tables(&STEP, 1, CALL_STEPS), Optional, STEPS),
        key(
            "later_steps",
            Shape::Tables(&STEP, 1, CALL_STEPS),
            Optional,
            "What it is made of from the second start of a call on, as if somebody had changed it under the call.",
        ),
        key(
            "silent_starts",
            Shape::Whole(0, SILENT_STARTS as u64),
            Default("0"),
            "How many starts of each call give no answer, ever: the first ones.",
        ),
        key(
            "silence",
            Shape::Word(&words(&SILENCES)),
            Default("\"done\""),
            "Whether a start that gives no answer in time does its work nevertheless.",
        ),
        key(
            "deadly_starts",
            Shape::Whole(0, SILENT_STARTS as u64),
            Default("0"),
            "How many starts of each call kill the process that made them, their work done: the first ones.",
        ),
        key(
            "passing_failures",
            Shape::Whole(0, SILENT_STARTS as u64),
            Default("0"),
            "How many tries of each call fail for a passing reason and without any effect: the first ones.",
        ),
    },
    rules: &[
        Rule::Excludes("failure", "result"),
        Rule::Needs("steps", "class", "durable"),
        Rule::Only("steps", "class", "durable"),
        Rule::Only("later_steps", "class", "durable"),
    ],
};

pub(in crate::scenario) static AGENT_TOOL: Table = Table {
    name: "[[tools]]",
    definition: "tool",
    about: "A tool, and what it does.",
    keys: tool_keys! {
        reconciler: "Who can be asked what became of a start: nobody, or the file that the tool appends to.",
        latency: "How long a call takes before it does anything, in milliseconds.",
        key("steps", Shape::Tables(&AGENT_STEP, 1, CALL_STEPS), Optional, STEPS),
        key(
            "append",
            Shape::Text,
            Optional,
            "A file to which every call appends one line: the call's id and its parameters. An idempotent tool leaves the file alone when the id is there already.",
        ),
    },
    rules: &[
        Rule::Excludes("failure", "result"),
        Rule::Excludes("failure", "append"),
        Rule::Never("append", "class", "readonly"),
        Rule::Never("append", "class", "durable"),
        Rule::Needs("steps", "class", "durable"),
        Rule::Only("steps", "class", "durable"),
    ],
};

const STEPS: &str = "What a durable tool is made of, one after the other: each is recorded once it has succeeded, and then it does not run again.";

/// The keys of every step.
macro_rules! step_keys {
    ($($own:expr,)*) => {
        &[
            key("name", Shape::Name, Required, "Its name, once in the tool."),
            key(
                "version",
                Shape::Whole(0, u32::MAX as u64),
                Default("1"),
                "The version of what it does: a recorded step stands for exactly this one.",
            ),
            key("result", Shape::Value, Default("null"), "What it gives, every time."),
            $($own,)*
        ]
    };
}

pub(super) static STEP: Table = Table {
    name: "[[tools.steps]]",
    definition: "step",
    about: "A step of a durable tool.",
    keys: step_keys! {},
    rules: &[],
};

pub(super) static AGENT_STEP: Table = Table {
    name: "[[tools.steps]]",
    definition: "step",
    about: "A step of a durable tool.",
    keys: step_keys! {
        key(
            "append",
            Shape::Text,
            Optional,
            "A file to which the step appends one line: its key, its name and the call's parameters. It leaves the file alone when the key is there already.",
        ),
    },
    rules: &[],
};

pub(super) static FAILURE: Table = Table {
    name: "`failure`",
    definition: "failure",
    about: "A failure in words.",
    keys: &[
        key("tag", Shape::Text, Required, "A short, stable name."),
        key("message", Shape::Text, Required, "What happened, in a sentence."),
    ],
    rules: &[],
};
