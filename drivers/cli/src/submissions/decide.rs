//! What a person decides of a call that asks.

use everstep_machine::agent::Verdict;
use everstep_machine::ledger::{ApprovalMark, Command, DecisionIntent, Row};
use serde_json::json;

use super::act::{send, signed, tell, usage};
use super::find;
use crate::args::Decide;
use crate::asked::{decided, verdict as word};
use crate::database::unread;
use crate::exit::{Complaint, Outcome};
use crate::output::one_line;

/// Lets a call start, or not.
pub(super) fn decide(args: &Decide, verdict: Verdict) -> Outcome {
    let (principal, reason) = signed(&args.word)?;
    let (reader, (lane, row)) = find(&args.look.db, &args.submission)?;
    let before = mark(&row, args.request.as_deref())?;
    let (request, submission) = (before.request, row.admission.submission);
    let intent = DecisionIntent { verdict, principal, reason };
    let command = Command::Decide { submission, request, intent: intent.clone() };
    send(&args.look.db, lane.clone(), command)?;
    // Who decided first stands; the same person may have said the same since.
    let now = reader.row(&lane, submission).map_err(unread)?;
    let now = now.as_ref().and_then(|row| row.approval(request)).and_then(decided);
    let stands = now.cloned().unwrap_or_else(|| intent.clone());
    let already = decided(before).is_some() || stands != intent;
    let (verdict, who) = (word(stands.verdict), &stands.principal);
    let text = if already {
        format!("it was {verdict} already, by {who}: {}", one_line(&stands.reason))
    } else {
        format!("{verdict}; whoever works on it next records it and carries on")
    };
    let act = if intent.verdict == Verdict::Approved { "approve" } else { "deny" };
    let said = json!({
        "request": request.to_string(),
        "verdict": verdict,
        "principal": who.as_str(),
        "reason": &*stands.reason,
        "already": already,
    });
    tell(&args.look, act, &row, &text, said)
}

/// The request that is meant: the open one, if there is only one.
fn mark<'a>(row: &'a Row, request: Option<&str>) -> Result<&'a ApprovalMark, Complaint> {
    let wanted = request.unwrap_or_default().to_lowercase();
    let named = |mark: &&ApprovalMark| mark.request.to_string().starts_with(&wanted);
    let all: Vec<&ApprovalMark> = row.approvals.iter().filter(named).collect();
    let open: Vec<&ApprovalMark> = all.iter().copied().filter(|mark| mark.is_open()).collect();
    match (open.as_slice(), all.as_slice()) {
        // One that is decided already is answered as the first time, or refused by name.
        ([only], _) | ([], [only]) => Ok(only),
        ([], []) => Err(usage(
            "it does not wait for such a decision\nhelp: `everstep submissions show` says what it \
             waits for",
        )),
        _ => Err(usage(
            "several calls wait for a decision\nhelp: say which with --request; `everstep \
             submissions show` lists them",
        )),
    }
}
