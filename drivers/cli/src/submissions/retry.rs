//! Trying again what was given up.

use std::collections::BTreeSet;

use everstep_machine::identity::{ConversationId, SubmissionId};
use everstep_machine::ledger::{Command, Phase, Retried, RetryIntent, Row};
use everstep_machine::record::Record;
use everstep_sqlite::SqliteReader;
use serde_json::{Value, json};

use super::act::{send, signed, tell};
use super::find;
use crate::args::{Look, Word};
use crate::database::{DOES_NOT_VERIFY, batches, phase, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{counted, one_line};

/// Has it tried again, as a submission of its own.
pub(super) fn retry(id: &str, word: &Word, look: &Look) -> Outcome {
    let (principal, reason) = signed(word)?;
    let (reader, (lane, row)) = find(&look.db, id)?;
    let submission = row.admission.submission;
    let intent = RetryIntent { principal, reason };
    let command = Command::Retry { submission, intent: intent.clone() };
    send(&look.db, lane.clone(), command).map_err(|why| advised(why, &row))?;
    let read = |submission| reader.row(&lane, submission).map_err(unread);
    let now = read(submission)?.and_then(|row| row.chain.retried.clone());
    let stands = now.ok_or_else(|| lost(&lane, submission))?;
    let next = read(stands.successor)?.ok_or_else(|| lost(&lane, stands.successor))?;
    // Who asked first stands; somebody else may have done so since.
    let already = row.chain.retried.is_some() || stands.intent != intent;
    let started = started(&reader, &lane, submission)?;
    let state = phase(&next);
    let text = if already {
        let Retried { intent, successor, .. } = &stands;
        let (who, why) = (&intent.principal, one_line(&intent.reason));
        format!(
            "it was retried already, by {who}: {why}; {successor} tries it again, and is {state}"
        )
    } else {
        let calls = match started {
            0 => String::new(),
            some => format!(", and makes {} that it had started anew", counted(some, "call")),
        };
        format!("retried; {} begins it again{calls}; run its line again", stands.successor)
    };
    let mut value = retried_json(&stands);
    value["already"] = json!(already);
    value["before"] = json!("given up");
    value["after"] = json!("retried");
    value["successor_state"] = json!(state);
    value["started_calls"] = json!(started);
    tell(look, "retry", &row, &text, value)
}

/// The same for machines.
pub(super) fn retried_json(retried: &Retried) -> Value {
    let Retried { intent, successor, position, at } = retried;
    json!({
        "successor": successor.to_string(),
        "place": position.0,
        "principal": intent.principal.as_str(),
        "reason": &*intent.reason,
        "at_ms": at.0,
    })
}

/// What to do instead, where there is nothing to try again.
fn advised(complaint: Complaint, row: &Row) -> Complaint {
    let Complaint { exit, text } = complaint;
    if exit != Exit::Usage {
        return Complaint { exit, text };
    }
    let help = match &row.phase {
        _ if row.is_doubtful() => {
            "say first what became of its calls: `everstep submissions resolve`"
        }
        Phase::Settled(_) => {
            "only what was given up is retried; submit it anew: `everstep run` with another --key"
        }
        Phase::Suspended => {
            "a call of it waits for a decision: `everstep submissions approve` or `deny`"
        }
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Terminalizing(_) => "it goes on by itself: run its line again",
    };
    Complaint::new(exit, format!("{text}\nhelp: {help}"))
}

/// How many calls a submission has started that may have had an effect.
fn started(
    reader: &SqliteReader,
    lane: &ConversationId,
    submission: SubmissionId,
) -> Result<u64, Complaint> {
    let mut calls = BTreeSet::new();
    batches(reader, lane, |batch| {
        for record in batch.batch().records() {
            if let Record::ToolPrepared(it) = record
                && it.submission == submission
            {
                calls.insert(it.call);
            }
        }
        Ok(())
    })?;
    Ok(calls.len() as u64)
}

fn lost(lane: &ConversationId, submission: SubmissionId) -> Complaint {
    let why = format!("{lane}: {submission} is not as it was written\nhelp: {DOES_NOT_VERIFY}");
    Complaint::new(Exit::Safety, why)
}
