//! How a run ended, for people and for machines.

use std::fmt::Write as _;

use everstep_machine::identity::{ConversationId, SubmissionId};
use everstep_machine::ledger::Row;
use everstep_machine::record::Settlement;
use everstep_runtime::Standing;
use serde_json::{Value, json};

use crate::args::Run;
use crate::asked::{Asked, asked};
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
            Standing::Settled(_) => Waits::default(),
            Standing::Unknown(row) | Standing::Suspended(row) => Waits::of(args, lane, row)?,
        };
        Ok(Self { args, lane, submission, standing, waits })
    }

    /// Prints it and says how the command ends.
    pub(super) fn print(&self) -> Outcome {
        let Self { args, lane, submission, standing, waits } = self;
        let exit = match standing {
            Standing::Settled(settled) => database::exit_of(&settled.settlement),
            Standing::Unknown(_) | Standing::Suspended(_) => Exit::Budget,
        };
        let text = if args.json {
            let value = as_json(lane, *submission, standing, waits, exit);
            format!("{value:#}\n")
        } else {
            words(args, *submission, standing, waits)
        };
        output::print(&text)?;
        Ok(exit)
    }
}

impl Waits {
    fn of(args: &Run, lane: &ConversationId, row: &Row) -> Result<Self, Complaint> {
        let reader = database::reader(&args.db)?;
        let unknown = database::unknown(&reader, lane, row)?;
        let mut asked = asked(&reader, lane, row)?;
        asked.retain(|it| it.mark.is_open());
        Ok(Self { unknown, asked })
    }
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
    let db = args.db.display();
    let which = if asked.len() > 1 { " --request ID" } else { "" };
    let _ = write!(
        text,
        "Decide with one of\n\
         \x20 everstep submissions approve {submission}{which} --db {db}\n\
         \x20 everstep submissions deny {submission}{which} --db {db}\n\
         Then run the same line again: it {}.\n",
        styled(GOOD, "carries on")
    );
    text
}

fn words(args: &Run, submission: SubmissionId, standing: &Standing, waits: &Waits) -> String {
    let open = &waits.unknown;
    match standing {
        Standing::Settled(settled) => match &settled.settlement {
            Settlement::Completed { output, .. } => format!("{}\n", database::plain(output)),
            Settlement::Failed { diagnostic, .. } => {
                let why = format!("{}: {}", diagnostic.tag(), diagnostic.message());
                format!("{} {}\n", styled(BAD, "failed:"), output::one_line(&why))
            }
            Settlement::Aborted => format!("{}\n", styled(BAD, "aborted")),
        },
        Standing::Suspended(_) => undecided(args, submission, &waits.asked),
        Standing::Unknown(_) => {
            let mut text = format!(
                "{} nobody knows what became of {}; nothing is repeated on doubt\n",
                styled(BAD, "unknown:"),
                output::counted(open.len() as u64, "call")
            );
            for one in open {
                let _ = writeln!(text, "  {one}");
            }
            let db = args.db.display();
            let _ = write!(
                text,
                "Find out what happened, and say so with one of\n\
                 \x20 everstep submissions resolve {submission} completed --result JSON --db {db}\n\
                 \x20 everstep submissions resolve {submission} failed --message TEXT --db {db}\n\
                 \x20 everstep submissions resolve {submission} never-started --db {db}\n\
                 \x20 everstep submissions resolve {submission} safe-to-repeat --db {db}\n\
                 Then run the same line again: it {}.\n",
                styled(GOOD, "carries on")
            );
            text
        }
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
        Standing::Unknown(_) | Standing::Suspended(_) => json!({ "outcome": null }),
    };
    json!({
        "command": "run",
        "exit": exit.code(),
        "submission": submission.to_string(),
        "conversation": lane.as_str(),
        "settlement": settlement,
        "unknown": waits.unknown.iter().map(Unknown::json).collect::<Vec<_>>(),
        "asked": waits.asked.iter().map(Asked::json).collect::<Vec<_>>(),
    })
}
