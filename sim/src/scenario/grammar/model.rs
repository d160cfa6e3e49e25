//! The model: one that follows a script, or one that answers from what it is shown.

use everstep_machine::limits::RESPONSE_CALLS;

use super::Presence::{Default, Optional, Required};
use super::{Rule, Shape, Table, key};
use crate::scenario::bounds::RULES;
use crate::scenario::words::{DIMENSIONS, MODELS, words};

pub(super) static MODEL: Table = Table {
    name: "[model]",
    definition: "model",
    about: "The model: one that follows `turns`, or one that answers only from what a request shows.",
    keys: &[
        key(
            "kind",
            Shape::Word(&words(&MODELS)),
            Default("\"scripted\""),
            "Whether it follows a script, or its rules and what it is shown.",
        ),
        key(
            "rules",
            Shape::Tables(&RULE, 1, RULES),
            Optional,
            "With `live`: what it does. The first rule that fits decides; if none does, the run fails.",
        ),
    ],
    rules: &[Rule::Only("rules", "kind", "live")],
};

static RULE: Table = Table {
    name: "[[model.rules]]",
    definition: "rule",
    about: "What a live model does when it sees something.",
    keys: &[
        key("when", Shape::Table(&WHEN), Optional, "What the request has to show; all of it."),
        key("then", Shape::Table(&THEN), Required, "What the model does."),
    ],
    rules: &[],
};

static WHEN: Table = Table {
    name: "`when`",
    definition: "when",
    about: "What a request has to show, and nothing that it does not show counts.",
    keys: &[
        key(
            "instructions_contain",
            Shape::Text,
            Optional,
            "The agent's instructions contain this text.",
        ),
        key("shows", Shape::Text, Optional, "Some message contains this text."),
        key(
            "last_user_contains",
            Shape::Text,
            Optional,
            "The last input that it is shown contains this text.",
        ),
        key(
            "tool_result_of",
            Shape::Name,
            Optional,
            "The last batch of results has one of this tool.",
        ),
        key(
            "result_contains",
            Shape::Text,
            Optional,
            "A result of the last batch contains this text.",
        ),
        key("tools_forbidden", Shape::Flag, Optional, "Whether it is told not to call tools."),
        key(
            "output_wanted",
            Shape::Flag,
            Optional,
            "Whether it is told what its answer has to look like.",
        ),
        key(
            "status_shows",
            Shape::Word(&words(&DIMENSIONS)),
            Optional,
            "The status note tells how much of this is used.",
        ),
    ],
    rules: &[],
};

static THEN: Table = Table {
    name: "`then`",
    definition: "then",
    about: "What a live model does.",
    keys: &[
        key("text", Shape::Text, Optional, "What it says; without calls it is the answer."),
        key(
            "calls",
            Shape::Texts(RESPONSE_CALLS),
            Default("[]"),
            "The tools that it calls, in this order: only if the request advertises them, and with parameters that fit the schema it is shown.",
        ),
    ],
    rules: &[Rule::Some(&["text", "calls"])],
};
