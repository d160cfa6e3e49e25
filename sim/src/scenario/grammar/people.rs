//! What clients call off, and what operators answer.

use super::Presence::{Default, Optional, Required};
use super::tool::FAILURE;
use super::{Rule, Shape, Table, key};
use crate::scenario::words::{ANSWERS, words};

pub(super) static ABORT: Table = Table {
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

pub(super) static RESOLUTION: Table = Table {
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
