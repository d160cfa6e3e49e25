//! One submission, and what there is to say of it.

use std::fmt::Write as _;

use everstep_machine::ledger::{Phase, Retried, Row};
use everstep_machine::record::{Record, Settlement};
use everstep_sqlite::{LaneRow, SqliteReader};
use serde_json::{Value, json};

use super::find;
use super::retry::retried_json;
use super::waits::{now, waits};
use crate::args::Look;
use crate::asked::{Asked, asked};
use crate::bindings::{incompatible_json, rebind_json};
use crate::database::{self, Unknown, age, batches, phase};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, FAINT, HEAD, one_line, styled};

pub(super) fn row_json(lane: &str, row: &Row) -> Value {
    let waits = waits(row, now());
    json!({
        "submission": row.admission.submission.to_string(),
        "conversation": lane,
        "place": row.sequence.0,
        "state": phase(row),
        "agent": row.admission.agent.as_str(),
        "principal": row.admission.principal.as_str(),
        "admitted_ms": row.admitted_at.0,
        "claims": row.claims,
        "waiting_for": waits.as_ref().map(|it| it.party.name()),
        "waiting_since_ms": waits.as_ref().map(|it| it.since.0),
        "steers": row.admission.steers.map(|host| host.to_string()),
        "abort": row.abort.as_ref().map(|intent| {
            json!({ "principal": intent.principal.as_str(), "reason": &*intent.reason })
        }),
        "retry_of": row.chain.retry_of.map(|dead| dead.to_string()),
        "retried": row.chain.retried.as_ref().map(retried_json),
        "incompatible": incompatible_json(row),
        "rebind": rebind_json(row),
        "asked_open": row.approvals.iter().filter(|mark| mark.is_open()).count(),
        "unknown_open": row.marks.iter().filter(|mark| mark.is_open()).count(),
    })
}

/// One of them.
pub(super) fn one(id: &str, look: &Look) -> Outcome {
    let (reader, (lane, row)) = find(&look.db, id)?;
    let unknown = database::unknown(&reader, &lane, &row)?;
    let asked = asked(&reader, &lane, &row)?;
    let settlement = settlement(&reader, &(lane.clone(), row.clone()))?;
    let text = if look.json {
        let mut value = row_json(lane.as_str(), &row);
        value["command"] = json!("submissions show");
        value["input"] = database::value(&row.admission.input);
        value["unknown"] = unknown.iter().map(Unknown::json).collect();
        value["asked"] = asked.iter().map(Asked::json).collect();
        value["settlement"] = settlement.as_ref().map_or(Value::Null, database::settlement_json);
        format!("{value:#}\n")
    } else {
        words(lane.as_str(), &row, (&unknown, &asked), settlement.as_ref())
    };
    output::print(&text)?;
    Ok(Exit::Holds)
}

fn words(
    lane: &str,
    row: &Row,
    (unknown, asked): (&[Unknown], &[Asked]),
    settlement: Option<&Settlement>,
) -> String {
    let admission = &row.admission;
    let mut text = format!("{} {}\n", styled(HEAD, "submission"), admission.submission);
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let value = one_line(&value.to_string());
        let _ = writeln!(text, "  {}{value}", styled(FAINT, format!("{name:<14}")));
    };
    line("state", &phase(row));
    line("conversation", &lane);
    line("agent", &admission.agent);
    line("submitted by", &admission.principal);
    line("age", &age(row.admitted_at));
    line("claims", &row.claims);
    if let Some(host) = admission.steers {
        line("said to", &format_args!("the run of {host}"));
    }
    if let Some(host) = row.host() {
        line("joined", &format_args!("the run of {host}, and ends with it"));
    }
    line("input", &database::plain(&admission.input));
    if let Some(intent) = &row.abort {
        line("abort", &format_args!("asked for by {}: {}", intent.principal, intent.reason));
    }
    if let Some(known) = &row.compat.incompatible {
        let (mismatch, by, age) = (known.mismatch, &known.by, age(known.since));
        line("incompatible", &format_args!("for {age}: {mismatch}"));
        line("found by", by);
    }
    if let Some(it) = &row.compat.rebind {
        line("rebind", &format_args!("asked for by {}: {}", it.principal, it.reason));
    }
    if let Some(dead) = row.chain.retry_of {
        line("retry of", &format_args!("{dead}, which was given up"));
    }
    if let Some(Retried { intent, successor, at, .. }) = &row.chain.retried {
        let (who, why, age) = (&intent.principal, &intent.reason, age(*at));
        line("retried", &format_args!("by {who}, {age} ago: {why}"));
        line("successor", successor);
    }
    for one in unknown {
        line("unknown", one);
    }
    for one in asked {
        line("asked", one);
    }
    match settlement {
        None => {}
        Some(Settlement::Completed { output, .. }) => line("answer", &database::plain(output)),
        Some(Settlement::Joined { host }) => {
            line("answer", &format_args!("that of {host}, in whose run it was answered"));
        }
        Some(Settlement::Failed { diagnostic, .. }) => {
            line("failure", &format_args!("{}: {}", diagnostic.tag(), diagnostic.message()));
        }
        Some(Settlement::Aborted) => line("answer", &"none, it was aborted"),
    }
    if phase(row) == "incompatible" {
        text.push_str(INCOMPATIBLE);
    }
    text
}

/// What to do about a run whose agent nobody has.
const INCOMPATIBLE: &str = "\
    help: a worker that has what its run is bound to takes it at once; `everstep submissions rebind` \
    lets it go on with what was found, and `abort` ends it\n";

/// The settlement as the log has it.
fn settlement(reader: &SqliteReader, placed: &LaneRow) -> Result<Option<Settlement>, Complaint> {
    let (lane, row) = placed;
    let mut found = None;
    if matches!(row.phase, Phase::Settled(_)) {
        batches(reader, lane, |batch| {
            for record in batch.batch().records() {
                if let Record::SubmissionSettled(it) = record
                    && it.submission == row.admission.submission
                {
                    found = Some(it.settlement.clone());
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}
