//! What clients submit, and how it may end.

use everstep_machine::limits::RUN_TURNS;

use super::Presence::{Default, Optional, Required};
use super::agent::{COST, DURATION, TOKENS, TOOL_CALLS};
use super::turn::TURNS;
use super::{Shape, Table, key};
use crate::scenario::words::{FINISHES, LIMITS, OUTCOMES, words};

pub(super) static SUBMISSION: Table = Table {
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
            "allowance",
            Shape::Table(&ALLOWANCE),
            Optional,
            "How much less than its agent's policy allows this run may use.",
        ),
        key(
            "steers",
            Shape::Table(&STEERING),
            Optional,
            "That it is said to the run of another submission.",
        ),
        key(
            "expect",
            Shape::Words(&words(&OUTCOMES)),
            Default("[]"),
            "How it may settle under any schedule; empty means in any way.",
        ),
        key(
            "expect_finish",
            Shape::Word(&words(&FINISHES)),
            Optional,
            "Why it finished, if it is completed.",
        ),
        key("expect_output", Shape::Value, Optional, "What the answer is, if it is completed."),
        key(
            "expect_disposition",
            Shape::Name,
            Optional,
            "The application's word for the outcome, if it is completed.",
        ),
        key("expect_tag", Shape::Text, Optional, "The tag of its failure, if it failed."),
        key(
            "expect_limit",
            Shape::Word(&words(&LIMITS)),
            Optional,
            "The limit that ended it, if it failed.",
        ),
    ],
    rules: &[],
};

static STEERING: Table = Table {
    name: "`steers`",
    definition: "steering",
    about: "That a submission is said to the run of another one. If that asks its model no more, it \
            has a run of its own.",
    keys: &[
        key("run", Shape::Name, Required, "The submission that began the run."),
        key(
            "at",
            Shape::Text,
            Default("\"every-moment\""),
            "`every-moment` while the run goes on, or the failpoint at which it is said, with `@n` \
             for the n-th time.",
        ),
    ],
    rules: &[],
};

static ALLOWANCE: Table = Table {
    name: "`allowance`",
    definition: "allowance",
    about: "How much less than its agent's policy allows a run may use.",
    keys: &[
        key(
            "turns",
            Shape::Whole(1, RUN_TURNS as u64),
            Optional,
            "The most turns that the run may take.",
        ),
        TOOL_CALLS,
        TOKENS,
        COST,
        DURATION,
    ],
    rules: &[],
};
