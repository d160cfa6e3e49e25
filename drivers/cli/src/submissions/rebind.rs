//! Having a run go on under another definition, model or tools than it is bound to.

use everstep_machine::ledger::{Command, Phase, RebindIntent, Row};
use serde_json::json;

use super::act::{send, signed, tell, usage};
use super::find;
use crate::args::{Look, Word};
use crate::bindings::{bound_json, incompatible_json};
use crate::exit::{Complaint, Outcome};

/// Lets whoever came last with something else go on with the run.
pub(super) fn rebind(id: &str, word: &Word, look: &Look) -> Outcome {
    let (principal, reason) = signed(word)?;
    let (_reader, (lane, row)) = find(&look.db, id)?;
    let known = row.compat.incompatible.as_ref().ok_or_else(|| advised(&row))?;
    let mismatch = known.mismatch;
    let (replaces, to) = (mismatch.at, mismatch.found);
    let intent = RebindIntent { replaces, to, principal, reason };
    let already = row.compat.rebind.as_ref() == Some(&intent);
    let submission = row.admission.submission;
    send(&look.db, lane, Command::Rebind { submission, intent: intent.clone() })?;
    let text = if already {
        "it was said already; whoever comes with that records it and carries on".to_owned()
    } else {
        format!("{mismatch}: whoever comes with what was found records it and carries on")
    };
    let said = json!({
        "incompatible": incompatible_json(&row),
        "to": bound_json(&intent.to),
        "principal": intent.principal.as_str(),
        "reason": &*intent.reason,
        "already": already,
    });
    tell(look, "rebind", &row, &text, said)
}

/// What to do instead, where nobody has come with anything else.
fn advised(row: &Row) -> Complaint {
    let (why, help) = match &row.phase {
        Phase::Settled(_) => {
            ("the submission is settled", "`everstep submissions show` says how it ended")
        }
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_) => (
            "nobody has met the run with another definition than its own",
            "`everstep run AGENT --resume ID` goes on with it, or says what differs",
        ),
    };
    usage(format!("{why}\nhelp: {help}"))
}
