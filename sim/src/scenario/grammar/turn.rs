//! Turns of a model's script.

use everstep_machine::limits::{RESPONSE_CALLS, RUN_TURNS};

use super::Presence::{Default, Optional, Required};
use super::{Rule, Shape, Table, key};
use crate::scenario::bounds::{AMOUNT, LATENCY_MS, TURN_FAULTS};
use crate::scenario::words::{FAULTS, words};

pub(in crate::scenario) const TURNS: Shape = Shape::Tables(&TURN, 1, RUN_TURNS as usize);

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
        key(
            "provider_calls",
            Shape::Tables(&PROVIDER_CALL, 1, RESPONSE_CALLS),
            Optional,
            "What its provider calls by itself before it says anything; no handler runs.",
        ),
        key("fault", Shape::Table(&FAULT), Optional, "It gives no response, whoever asks."),
        key(
            "faults",
            Shape::Tables(&FAULT, 1, TURN_FAULTS),
            Optional,
            "What the first who ask for this turn meet, one each, before it is answered.",
        ),
        key("reasoning", Shape::Text, Optional, "What it thinks before it says anything."),
        key("usage", Shape::Table(&USAGE), Optional, "What the response used."),
        key("no_usage", Shape::Flag, Default("false"), "The response does not say what it used."),
    ],
    rules: &[
        Rule::Some(&["text", "calls", "fault"]),
        Rule::Excludes("fault", "text"),
        Rule::Excludes("fault", "calls"),
        Rule::Excludes("fault", "provider_calls"),
        Rule::Excludes("fault", "reasoning"),
        Rule::Excludes("fault", "usage"),
        Rule::Excludes("fault", "no_usage"),
        Rule::Excludes("no_usage", "usage"),
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

static PROVIDER_CALL: Table = Table {
    name: "`provider_calls`",
    definition: "provider_call",
    about: "A call that the provider makes by itself.",
    keys: &[
        key("tool", Shape::Name, Required, "Which tool of the provider's."),
        key("parameters", Shape::Value, Default("{}"), "With what."),
        key("result", Shape::Value, Default("null"), "What came of it."),
        key("failed", Shape::Flag, Default("false"), "The provider says that it failed."),
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
            "The provider could not be asked, wants a pause, refuses the request, or is silent; or what came back is no response.",
        ),
        key("tag", Shape::Text, Required, "A short, stable name."),
        key("message", Shape::Text, Required, "What happened, in a sentence."),
        key(
            "retry_after_ms",
            Shape::Whole(0, LATENCY_MS),
            Optional,
            "With `rate-limited`: for how long the provider wants to be left alone, in milliseconds.",
        ),
        key(
            "usage",
            Shape::Table(&USAGE),
            Optional,
            "What the stream had said to be used before it broke.",
        ),
    ],
    rules: &[Rule::Only("retry_after_ms", "kind", "rate-limited")],
};

static USAGE: Table = Table {
    name: "`usage`",
    definition: "usage",
    about: "What a response used.",
    keys: &[
        key(
            "input_tokens",
            Shape::Whole(0, AMOUNT),
            Default("10"),
            "Tokens of the request, those of caches included.",
        ),
        key(
            "cache_read_tokens",
            Shape::Whole(0, AMOUNT),
            Default("0"),
            "Of those, read from a cache.",
        ),
        key(
            "cache_write_tokens",
            Shape::Whole(0, AMOUNT),
            Default("0"),
            "Of those, written to a cache.",
        ),
        key("output_tokens", Shape::Whole(0, AMOUNT), Default("5"), "Tokens of the response."),
        key("cost_micros", Shape::Whole(0, AMOUNT), Default("0"), "Millionths of the currency."),
    ],
    rules: &[],
};
