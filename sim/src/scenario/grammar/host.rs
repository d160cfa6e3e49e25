//! What a host is told beside its agent.

use everstep_machine::limits::RUN_TURNS;

use super::Presence::{Default, Required};
use super::{Shape, Table, key};

pub(super) static COMPACTOR: Table = Table {
    name: "[compactor]",
    definition: "compactor",
    about: "The host's own way to make smaller what a model is shown. Nothing of it is recorded.",
    keys: &[
        key("summary", Shape::Text, Required, "What is shown instead of older turns."),
        key(
            "keep",
            Shape::Whole(1, RUN_TURNS as u64),
            Default("1"),
            "How many of the newest turns stay as they are: an input is one, and so is a response with its results.",
        ),
    ],
    rules: &[],
};

pub(super) static GROUP: Table = Table {
    name: "[[groups]]",
    definition: "group",
    about: "A group of tools.",
    keys: &[
        key("name", Shape::Name, Required, "Its name, which some tool says in `group`."),
        key(
            "places",
            Shape::Whole(1, u32::MAX as u64),
            Default("1"),
            "How many calls of its tools one host runs at once.",
        ),
    ],
    rules: &[],
};
