//! What clients call off, and what operators answer and have tried again.

use super::Presence::{Default, Optional, Required};
use super::tool::FAILURE;
use super::turn::TURNS;
use super::{Rule, Shape, Table, key};
use crate::scenario::bounds::RETRYING_PEOPLE;
use crate::scenario::words::{ANSWERS, OUTCOMES, words};

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

pub(super) static RETRY: Table = Table {
    name: "[[retries]]",
    definition: "retried",
    about: "What operators have tried again once it was given up.",
    keys: &[
        key(
            "submission",
            Shape::Name,
            Required,
            "Which submission. A second table for the same one is about what was tried again and given up too.",
        ),
        key(
            "people",
            Shape::Whole(1, RETRYING_PEOPLE),
            Default("1"),
            "How many people ask for it, one after the other.",
        ),
        key("principal", Shape::Name, Default("\"operator\""), "Who asks for it."),
        key("reason", Shape::Text, Default("\"the cause is gone\""), "Why."),
        key(
            "turns",
            TURNS,
            Optional,
            "What the model does in the run that tries it again, instead of what it did.",
        ),
        key(
            "expect",
            Shape::Words(&words(&OUTCOMES)),
            Default("[]"),
            "How what tries it again may settle under any schedule; empty means in any way.",
        ),
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
