//! What a scenario file may say, as data: tables, keys, shapes.
//!
//! One grammar serves three readers: [`validate`](super::validate) holds a file against it,
//! [`schema`](super::schema) writes it down as JSON Schema, and an error lists from it what would
//! have been right. What takes knowledge of the whole scenario (does that tool exist?) is not
//! here but in [`check`](super::check).

use everstep_machine::limits::{RESPONSE_CALLS, RUN_TURNS};

use super::bounds::{ABORTS, LATENCY_MS, SUBMISSIONS, TOOLS, WORKERS};
use super::words::{ANSWERS, CLASSES, FAULTS, OUTCOMES, RECONCILERS, words};

/// One kind of table.
#[derive(Debug)]
pub(super) struct Table {
    /// As an author writes it; the root is "the file".
    pub(super) name: &'static str,
    /// One word for the schema's definitions.
    pub(super) definition: &'static str,
    pub(super) about: &'static str,
    pub(super) keys: &'static [Key],
    pub(super) rules: &'static [Rule],
}

/// One key of a table.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) presence: Presence,
    pub(super) about: &'static str,
}

/// Whether a key must be there.
#[derive(Debug)]
pub(super) enum Presence {
    Required,
    Optional,
    /// Left out it means this, in JSON.
    Default(&'static str),
}

/// What stands behind a key.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    /// An identifier, see [`everstep_machine::identity`].
    Name,
    /// A whole number between two others, both included.
    Whole(u64, u64),
    Flag,
    /// Any value; it becomes JSON.
    Value,
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    /// At most that many identifiers.
    Names(usize),
    Table(&'static Table),
    /// From so many to so many tables.
    Tables(&'static Table, usize, usize),
}

/// A rule over several keys of one table.
#[derive(Debug)]
pub(super) enum Rule {
    /// Not both.
    Excludes(&'static str, &'static str),
    /// The first only where the second is this word.
    Only(&'static str, &'static str, &'static str),
    /// The first not where the second is this word.
    Never(&'static str, &'static str, &'static str),
    /// At least one of them.
    Some(&'static [&'static str]),
}

use Presence::{Default, Optional, Required};

pub(super) const fn key(
    name: &'static str,
    shape: Shape,
    presence: Presence,
    about: &'static str,
) -> Key {
    Key { name, shape, presence, about }
}

/// The version of the format that this crate reads.
pub(super) const SCHEMA: u64 = 1;

pub(super) static ROOT: Table = Table {
    name: "the file",
    definition: "scenario",
    about: "An agent, its tools, its model's script, its clients and operators.",
    keys: &[
        key("schema", Shape::Whole(SCHEMA, SCHEMA), Required, "Version of this format."),
        key("about", Shape::Text, Required, "What the scenario is for, in a sentence."),
        key("workers", Shape::Whole(1, WORKERS as u64), Default("2"), "Worker processes."),
        key("agent", Shape::Table(&AGENT), Required, "The agent."),
        key("tools", Shape::Tables(&TOOL, 0, TOOLS), Default("[]"), "The agent's tools."),
        key(
            "authorizer",
            Shape::Table(&AUTHORIZER),
            Optional,
            "The host's authorizer; without it everything is allowed.",
        ),
        key(
            "turns",
            TURNS,
            Optional,
            "What the model does, turn by turn, in every run whose submission has no turns of its own. The last turn repeats.",
        ),
        key(
            "submissions",
            Shape::Tables(&SUBMISSION, 1, SUBMISSIONS),
            Required,
            "What clients submit, in this order.",
        ),
        key(
            "aborts",
            Shape::Tables(&ABORT, 0, ABORTS),
            Default("[]"),
            "Aborts that clients ask for.",
        ),
        key(
            "resolutions",
            Shape::Tables(&RESOLUTION, 0, TOOLS),
            Default("[]"),
            "What operators answer when a tool's outcome stays unknown, at most one for each tool.",
        ),
    ],
    rules: &[],
};

pub(super) const TURNS: Shape = Shape::Tables(&TURN, 1, RUN_TURNS as usize);

pub(super) static AGENT: Table = Table {
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
            "The most turns one run may take; one more fails it.",
        ),
    ],
    rules: &[],
};

static TOOL: Table = Table {
    name: "[[tools]]",
    definition: "tool",
    about: "A tool, and what its outside does.",
    keys: &[
        key("name", Shape::Name, Required, "What the model calls it by."),
        key(
            "class",
            Shape::Word(&words(&CLASSES)),
            Default("\"ordinary\""),
            "What may be done when nobody knows whether a call happened: readonly and idempotent calls run again, ordinary ones do not.",
        ),
        key(
            "reconciler",
            Shape::Word(&words(&RECONCILERS)),
            Default("\"none\""),
            "Who can be asked what became of a start: nobody, or one who answers truthfully from what happened.",
        ),
        key(
            "latency_ms",
            Shape::Whole(0, LATENCY_MS),
            Default("0"),
            "How long a call takes, in milliseconds.",
        ),
        key("result", Shape::Value, Default("null"), "What it returns, every time."),
        key("failure", Shape::Table(&FAILURE), Optional, "How it fails, every time."),
    ],
    rules: &[Rule::Excludes("failure", "result")],
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

pub(super) static AUTHORIZER: Table = Table {
    name: "[authorizer]",
    definition: "authorizer",
    about: "The host's authorizer.",
    keys: &[key(
        "denies",
        Shape::Names(TOOLS),
        Default("[]"),
        "Tools whose calls it turns down: the run fails.",
    )],
    rules: &[],
};

static TURN: Table = Table {
    name: "`turns`",
    definition: "turn",
    about: "One turn of the model: it says something, calls tools, or fails.",
    keys: &[
        key(
            "text",
            Shape::Text,
            Optional,
            "What it says; a turn without calls ends the run with it.",
        ),
        key(
            "calls",
            Shape::Tables(&CALL, 1, RESPONSE_CALLS),
            Optional,
            "What it calls, as one batch in this order.",
        ),
        key("fault", Shape::Table(&FAULT), Optional, "It gives no response."),
    ],
    rules: &[
        Rule::Some(&["text", "calls", "fault"]),
        Rule::Excludes("fault", "text"),
        Rule::Excludes("fault", "calls"),
    ],
};

static CALL: Table = Table {
    name: "`calls`",
    definition: "call",
    about: "One call of the model.",
    keys: &[
        key("tool", Shape::Name, Required, "Which tool."),
        key("parameters", Shape::Value, Default("{}"), "With what."),
        key("undeclared", Shape::Flag, Default("false"), "The agent has no such tool, on purpose."),
    ],
    rules: &[],
};

static FAULT: Table = Table {
    name: "`fault`",
    definition: "fault",
    about: "Why a model gives no response.",
    keys: &[
        key(
            "kind",
            Shape::Word(&words(&FAULTS)),
            Required,
            "The provider could not be asked, or what came back is no response.",
        ),
        key("tag", Shape::Text, Required, "A short, stable name."),
        key("message", Shape::Text, Required, "What happened, in a sentence."),
    ],
    rules: &[],
};

static SUBMISSION: Table = Table {
    name: "[[submissions]]",
    definition: "submission",
    about: "One submission of a client.",
    keys: &[
        key("name", Shape::Name, Required, "Its name in this file."),
        key(
            "conversation",
            Shape::Name,
            Default("\"main\""),
            "The conversation; each is a lane of its own.",
        ),
        key("principal", Shape::Name, Default("\"client\""), "Who submits."),
        key("tenant", Shape::Name, Default("\"default\""), "Whose data it is."),
        key("key", Shape::Name, Optional, "The idempotency key; without it the name."),
        key("input", Shape::Value, Required, "The input."),
        key(
            "turns",
            TURNS,
            Optional,
            "What the model does in this run, instead of the file's turns.",
        ),
        key(
            "expect",
            Shape::Words(&words(&OUTCOMES)),
            Default("[]"),
            "How it may settle under any schedule; empty means in any way.",
        ),
    ],
    rules: &[],
};

static ABORT: Table = Table {
    name: "[[aborts]]",
    definition: "abort",
    about: "An abort that a client asks for.",
    keys: &[
        key("submission", Shape::Name, Required, "Which submission."),
        key(
            "at",
            Shape::Text,
            Default("\"every-moment\""),
            "`every-moment`, or the failpoint at which it comes, with `@n` for the n-th time.",
        ),
        key("principal", Shape::Name, Default("\"client\""), "Who asks."),
        key("reason", Shape::Text, Default("\"no longer wanted\""), "Why."),
    ],
    rules: &[],
};

static RESOLUTION: Table = Table {
    name: "[[resolutions]]",
    definition: "resolution",
    about: "What operators answer when a call's outcome stays unknown.",
    keys: &[
        key("tool", Shape::Name, Required, "Whose calls."),
        key("answer", Shape::Word(&words(&ANSWERS)), Required, "How the doubt is closed."),
        key(
            "result",
            Shape::Value,
            Optional,
            "With `completed`: the result; without it the tool's own.",
        ),
        key(
            "failure",
            Shape::Table(&FAILURE),
            Optional,
            "With `failed`: the failure; without it the tool's own.",
        ),
    ],
    rules: &[
        Rule::Only("result", "answer", "completed"),
        Rule::Only("failure", "answer", "failed"),
    ],
};

impl Table {
    /// The rule of a key.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of its keys.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}
