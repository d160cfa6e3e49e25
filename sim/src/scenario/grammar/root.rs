//! A whole scenario file.

use super::Presence::{Default, Optional, Required};
use super::agent::{AGENT, APPROVER, AUTHORIZER, REVISION};
use super::authority::{APPROVAL_POLICY, CAPABILITIES, METADATA, REVOCATION};
use super::host::{COMPACTOR, GROUP};
use super::model::MODEL;
use super::people::{ABORT, RESOLUTION, RETRY};
use super::submission::SUBMISSION;
use super::tool::TOOL;
use super::turn::TURNS;
use super::{SCHEMA, Shape, Table, key};
use crate::scenario::bounds::{ABORTS, SUBMISSIONS, TOOLS, TRIES, WORKERS};

pub(in crate::scenario) static ROOT: Table = Table {
    name: "the file",
    definition: "scenario",
    about: "An agent, its tools, its model's script, its clients and operators.",
    keys: &[
        key("schema", Shape::Whole(SCHEMA, SCHEMA), Required, "Version of this format."),
        key("about", Shape::Text, Required, "What the scenario is for, in a sentence."),
        key("workers", Shape::Whole(1, WORKERS as u64), Default("2"), "Worker processes."),
        key(
            "checkpoints",
            Shape::Flag,
            Default("false"),
            "Whether hosts remember what they have folded of a log, and keep it beside the log for whoever comes next.",
        ),
        key("agent", Shape::Table(&AGENT), Required, "The agent."),
        key(
            "revision",
            Shape::Table(&REVISION),
            Optional,
            "What the agent becomes while its runs are under way; without it nothing else.",
        ),
        key("tools", Shape::Tables(&TOOL, 0, TOOLS), Default("[]"), "The agent's tools."),
        key(
            "authorizer",
            Shape::Table(&AUTHORIZER),
            Optional,
            "The host's authorizer; without it everything is allowed.",
        ),
        key(
            "approver",
            Shape::Table(&APPROVER),
            Optional,
            "Who is asked about calls of tools that want it; without it every call is approved.",
        ),
        key("capabilities", Shape::Table(&CAPABILITIES), Optional, CAPABILITIES.about),
        key("approval", Shape::Table(&APPROVAL_POLICY), Optional, APPROVAL_POLICY.about),
        key(
            "tool_metadata",
            Shape::Entries(&METADATA, TOOLS),
            Default("{}"),
            "What the registry is to say of tools, by their names.",
        ),
        key(
            "revocation",
            Shape::Table(&REVOCATION),
            Optional,
            "What is taken back at any moment, once; without it nothing is.",
        ),
        key("model", Shape::Table(&MODEL), Optional, "The model; without it a scripted one."),
        key(
            "compactor",
            Shape::Table(&COMPACTOR),
            Optional,
            "How the host makes smaller what the model is shown; without it everything is shown.",
        ),
        key(
            "groups",
            Shape::Tables(&GROUP, 0, TOOLS),
            Default("[]"),
            "Groups of tools whose calls wait for places of their host.",
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
            "retries",
            Shape::Tables(&RETRY, 0, TRIES),
            Default("[]"),
            "What operators have tried again once it was given up.",
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
