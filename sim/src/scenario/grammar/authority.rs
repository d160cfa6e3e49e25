//! What an agent's runs may do, and who is asked about it.

use super::Presence::{Default, Optional, Required};
use super::{Rule, Shape, Table, key};
use crate::scenario::bounds::ENTRIES;
use crate::scenario::words::{JUDGEMENTS, RISKS, SCOPES, words};

pub(in crate::scenario) static CAPABILITIES: Table = Table {
    name: "[capabilities]",
    definition: "capabilities",
    about: "What is granted, to every principal of the file's own. Without it nothing has to be, unless a tool says so.",
    keys: &[
        key(
            "defaults",
            Shape::Entries(&GRANT, ENTRIES),
            Default("{}"),
            "What is granted to everything, by capability: `fs.read`, or `mcp.call:*` for every subject.",
        ),
        key(
            "grants",
            Shape::Entries(&GRANTS, ENTRIES),
            Default("{}"),
            "What is granted to one component, by its path and then by capability.",
        ),
    ],
    rules: &[],
};

static GRANTS: Shape = Shape::Entries(&GRANT, ENTRIES);
static GRANT: Shape = Shape::Table(&SCOPE);

static SCOPE: Table = Table {
    name: "a grant",
    definition: "grant",
    about: "A grant.",
    keys: &[key(
        "scope",
        Shape::Word(&words(&SCOPES)),
        Required,
        "What it is confined to: the workspace, or the agent and its host.",
    )],
    rules: &[],
};

const JUDGEMENT: Shape = Shape::Word(&words(&JUDGEMENTS));
static JUDGEMENT_OF_EACH: Shape = JUDGEMENT;

pub(in crate::scenario) static APPROVAL_POLICY: Table = Table {
    name: "[approval]",
    definition: "approval-policy",
    about: "Whether somebody is asked about a call: the strictest entry counts.",
    keys: &[
        key("default", JUDGEMENT, Optional, "What counts where no other entry matches."),
        key(
            "tools",
            Shape::Entries(&JUDGEMENT_OF_EACH, ENTRIES),
            Default("{}"),
            "By the tool that is called.",
        ),
        key(
            "capabilities",
            Shape::Entries(&JUDGEMENT_OF_EACH, ENTRIES),
            Default("{}"),
            "By the capability that the call takes.",
        ),
        key("risks", Shape::Table(&BY_RISK), Optional, "By the risk of the call."),
    ],
    rules: &[],
};

static BY_RISK: Table = Table {
    name: "[approval.risks]",
    definition: "by-risk",
    about: "Whether somebody is asked, by risk.",
    keys: &[
        key("low", JUDGEMENT, Optional, "About calls of low risk."),
        key("medium", JUDGEMENT, Optional, "About calls of medium risk."),
        key("high", JUDGEMENT, Optional, "About calls of high risk."),
        key("critical", JUDGEMENT, Optional, "About calls of critical risk."),
    ],
    rules: &[],
};

pub(in crate::scenario) static METADATA: Shape = Shape::Table(&METADATA_OF_ONE);

static METADATA_OF_ONE: Table = Table {
    name: "[tool_metadata]",
    definition: "metadata",
    about: "What the registry is to say of a tool.",
    keys: &[
        key("approval_policy", JUDGEMENT, Optional, "Whether somebody is asked about its calls."),
        key("risk", Shape::Word(&words(&RISKS)), Optional, "How much harm a call can do."),
        key("capability", Shape::Text, Optional, "The capability that a call takes."),
    ],
    rules: &[],
};

pub(super) static REVOCATION: Table = Table {
    name: "[revocation]",
    definition: "revocation",
    about: "What is taken back while runs are under way.",
    keys: &[
        key("grant", Shape::Text, Optional, "One of `capabilities.defaults`."),
        key("principal", Shape::Name, Optional, "A principal, who belongs nowhere any more."),
    ],
    rules: &[Rule::Some(&["grant", "principal"]), Rule::Excludes("grant", "principal")],
};
