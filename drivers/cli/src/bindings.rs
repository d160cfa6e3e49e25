//! What runs are bound to, and who came with something else, for people and for machines.

use everstep_machine::agent::{Bound, BoundPart};
use everstep_machine::ledger::{Incompatible, RebindIntent, Row};
use serde_json::{Value, json};

/// What is bound, part by part.
pub(crate) fn bound_json(bound: &Bound) -> Value {
    let digest = |part| bound.part(part).to_string();
    json!({
        "definition": digest(BoundPart::Definition),
        "model": digest(BoundPart::Model),
        "tools": digest(BoundPart::Tools),
    })
}

/// That nobody who came can go on with a row's run; null if somebody can, for all that is known.
pub(crate) fn incompatible_json(row: &Row) -> Value {
    let Some(Incompatible { mismatch, by, since }) = &row.compat.incompatible else {
        return Value::Null;
    };
    let differs = mismatch.expected.differences(&mismatch.found);
    json!({
        "record": mismatch.at.0,
        "expected": bound_json(&mismatch.expected),
        "found": bound_json(&mismatch.found),
        "differs": differs.map(BoundPart::name).collect::<Vec<_>>(),
        "by": by.as_str(),
        "since_ms": since.0,
        "ends_ms": row.compat.incompatible.as_ref().map(|it| it.over_at().0),
    })
}

/// What somebody wanted done about it, last; null if nobody has said anything.
pub(crate) fn rebind_json(row: &Row) -> Value {
    let Some(RebindIntent { replaces, to, principal, reason }) = &row.compat.rebind else {
        return Value::Null;
    };
    json!({
        "record": replaces.0,
        "to": bound_json(to),
        "principal": principal.as_str(),
        "reason": &**reason,
    })
}
