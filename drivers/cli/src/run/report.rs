//! How a run ended, for people and for machines.

use std::fmt::Write as _;
use std::path::Path;

use everstep_machine::identity::{ConversationId, SubmissionId};
use everstep_machine::ledger::Row;
use everstep_machine::record::Settlement;
use everstep_runtime::Standing;
use serde_json::{Value, json};

use super::later::Later;
use crate::args::Run;
use crate::asked::{Asked, asked};
use crate::bindings::incompatible_json;
use crate::database::{self, Unknown};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, BAD, GOOD, styled};

/// How a run ended, with all that is said about it.
pub(super) struct Report<'a> {
    args: &'a Run,
    lane: &'a ConversationId,
    submission: SubmissionId,
    standing: Standing,
    waits: Waits,
    later: Vec<Later>,
}

/// What people have to say before it can go on.
#[derive(Default)]
struct Waits {
    unknown: Vec<Unknown>,
    asked: Vec<Asked>,
}

impl<'a> Report<'a> {
    /// Reads what there is to say beyond how it stands.
    pub(super) fn of(
        args: &'a Run,
        lane: &'a ConversationId,
        submission: SubmissionId,
        standing: Standing,
    ) -> Result<Self, Complaint> {
        let waits = match &standing {
            Standing::Settled(_) => Waits::left(args, lane, submission)?,
            Standing::Unknown(row) | Standing::Suspended(row) => Waits::of(args, lane, row)?,
            Standing::Incompatible(_) => Waits::default(),
        };
        Ok(Self { args, lane, submission, standing, waits, later: Vec::new() })
    }

    /// With what was said to the run and answered after it.
    pub(super) fn with(self, later: Vec<Later>) -> Self {
        Self { later, ..self }
    }

    /// Prints it and says how the command ends.
    pub(super) fn print(&self) -> Outcome {
        let Self { args, lane, submission, standing, waits, later } = self;
        let exit = match standing {
            Standing::Settled(settled) => database::exit_of(&settled.settlement),
            Standing::Unknown(_) | Standing::Suspended(_) | Standing::Incompatible(_) => {
                Exit::Budget
            }
        };
        let text = if args.json {
            let mut value = as_json(lane, *submission, standing, waits, exit);
            value["later"] = later.iter().map(Later::json).collect();
            format!("{value:#}\n")
        } else {
            let mut text = words(args, *submission, standing, waits);
            text.extend(later.iter().map(|it| it.words(args)));
            text
        };
        output::print(&text)?;
        Ok(exit)
    }
}

impl Later {
    fn words(&self, args: &Run) -> String {
        let (id, said) =
            (self.row.admission.submission, database::plain(&self.row.admission.input));
        let said = output::one_line(&said);
        match &self.standing {
            Standing::Settled(it) => format!("later, to {said}: {}", ended(&it.settlement)),
            Standing::Unknown(_) | Standing::Suspended(_) | Standing::Incompatible(_) => {
                let db = quoted(&args.db);
                format!("{said} waits for people: everstep submissions show {id} --db {db}\n")
            }
        }
    }

    fn json(&self) -> Value {
        let settlement = match &self.standing {
            Standing::Settled(it) => database::settlement_json(&it.settlement),
            Standing::Unknown(_) | Standing::Suspended(_) | Standing::Incompatible(_) => {
                json!({ "outcome": null })
            }
        };
        json!({ "submission": self.row.admission.submission.to_string(), "settlement": settlement })
    }
}

impl Waits {
    fn of(args: &Run, lane: &ConversationId, row: &Row) -> Result<Self, Complaint> {
        let reader = database::reader(&args.db)?;
        let mut unknown = database::unknown(&reader, lane, row)?;
        unknown.retain(|it| it.mark.is_open());
        let mut asked = asked(&reader, lane, row)?;
        asked.retain(|it| it.mark.is_open());
        Ok(Self { unknown, asked })
    }

    /// The doubts that a settled submission leaves behind: its outcome stays, and so do they.
    fn left(
        args: &Run,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<Self, Complaint> {
        let reader = database::reader(&args.db)?;
        let row = reader.row(lane, submission).map_err(database::unread)?;
        let doubtful = row.filter(|row| row.is_doubtful());
        drop(reader);
        doubtful.map_or_else(|| Ok(Self::default()), |row| Self::of(args, lane, &row))
    }
}

/// What to type when nobody knows what became of calls.
fn doubtful(args: &Run, submission: SubmissionId, open: &[Unknown]) -> String {
    let mut text = format!(
        "{} nobody knows what became of {}; nothing is repeated on doubt\n",
        styled(BAD, "unknown:"),
        output::counted(open.len() as u64, "call")
    );
    for one in open {
        let _ = writeln!(text, "  {one}");
    }
    let which = if open.len() > 1 { " --call ID" } else { "" };
    let line = |said: &str| {
        let db = quoted(&args.db);
        format!("\x20 everstep submissions resolve {submission} {said}{which} --db {db}\n")
    };
    text.push_str("Find out what happened, and say so with one of\n");
    let said =
        ["completed --result JSON", "failed --message TEXT", "never-started", "safe-to-repeat"];
    text.extend(said.map(line));
    text
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    if !path.is_empty() && path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// What to type to have it tried again.
fn given_up(args: &Run, submission: SubmissionId) -> String {
    let db = quoted(&args.db);
    format!(
        "It was given up. Once the cause is gone,\n\
         \x20 everstep submissions retry {submission} --db {db}\n\
         begins it again, calls that it made included; then run the same line again.\n"
    )
}

/// What to do when the run is bound to another agent than this one.
fn incompatible(args: &Run, submission: SubmissionId, row: &Row) -> String {
    let mut text = format!("{} the run began with another agent\n", styled(BAD, "incompatible:"));
    if let Some(known) = &row.compat.incompatible {
        let _ = writeln!(text, "  {}", known.mismatch);
    }
    let (db, agent) = (quoted(&args.db), quoted(&args.agent));
    let _ = write!(
        text,
        "Resume it with the agent that it began with, or let it go on with this one:\n\
         \x20 everstep submissions rebind {submission} --db {db}\n\
         \x20 everstep run {agent} --resume {submission} --db {db}\n\
         Its model's words and its tools' results stay: from there it {}.\n",
        styled(GOOD, "carries on")
    );
    text
}

/// What to type when a call waits for a decision.
fn undecided(args: &Run, submission: SubmissionId, asked: &[Asked]) -> String {
    let mut text = format!(
        "{} somebody has to decide whether {} may start\n",
        styled(BAD, "suspended:"),
        output::counted(asked.len() as u64, "call")
    );
    for one in asked {
        let _ = writeln!(text, "  {one}");
    }
    let db = quoted(&args.db);
    let which = if asked.len() > 1 { " --request ID" } else { "" };
    let only = asked.iter().find_map(|it| it.mark.approver.as_ref());
    let by = only.map(|only| format!(" --by {}", quoted(Path::new(only.as_str()))));
    let by = by.unwrap_or_default();
    let _ = write!(
        text,
        "Decide with one of\n\
         \x20 everstep submissions approve {submission}{which}{by} --db {db}\n\
         \x20 everstep submissions deny {submission}{which}{by} --db {db}\n\
         Then run the same line again: it {}.\n",
        styled(GOOD, "carries on")
    );
    text
}

fn words(args: &Run, submission: SubmissionId, standing: &Standing, waits: &Waits) -> String {
    let open = &waits.unknown;
    match standing {
        Standing::Settled(settled) => {
            let mut text = ended(&settled.settlement);
            if settled.settlement.is_given_up() {
                text.push_str(&given_up(args, submission));
            }
            if !open.is_empty() {
                text.push_str(&doubtful(args, submission, open));
            }
            text
        }
        Standing::Suspended(_) => undecided(args, submission, &waits.asked),
        Standing::Incompatible(row) => incompatible(args, submission, row),
        Standing::Unknown(_) => {
            let mut text = doubtful(args, submission, open);
            let _ =
                writeln!(text, "Then run the same line again: it {}.", styled(GOOD, "carries on"));
            text
        }
    }
}

/// How it ended.
fn ended(settlement: &Settlement) -> String {
    match settlement {
        Settlement::Completed { output, .. } => format!("{}\n", database::plain(output)),
        Settlement::Joined { host } => format!("answered together with {host}\n"),
        Settlement::Failed { diagnostic, .. } => {
            let why = format!("{}: {}", diagnostic.tag(), diagnostic.message());
            format!("{} {}\n", styled(BAD, "failed:"), output::one_line(&why))
        }
        Settlement::Aborted => format!("{}\n", styled(BAD, "aborted")),
    }
}

fn as_json(
    lane: &ConversationId,
    submission: SubmissionId,
    standing: &Standing,
    waits: &Waits,
    exit: Exit,
) -> Value {
    let settlement = match standing {
        Standing::Settled(settled) => database::settlement_json(&settled.settlement),
        Standing::Unknown(_) | Standing::Suspended(_) | Standing::Incompatible(_) => {
            json!({ "outcome": null })
        }
    };
    json!({
        "command": "run",
        "exit": exit.code(),
        "submission": submission.to_string(),
        "conversation": lane.as_str(),
        "settlement": settlement,
        "incompatible": match standing {
            Standing::Incompatible(row) => incompatible_json(row),
            Standing::Settled(_) | Standing::Unknown(_) | Standing::Suspended(_) => Value::Null,
        },
        "unknown": waits.unknown.iter().map(Unknown::json).collect::<Vec<_>>(),
        "asked": waits.asked.iter().map(Asked::json).collect::<Vec<_>>(),
    })
}
