//! `everstep submissions`: the operator's hand.
//!
//! Looking is reading. Acting is one ledger command of an intent: whoever works on the submission
//! makes it canonical, so it works on a file that a host has open, and on one that nobody has.

mod act;
mod decide;
mod list;
mod rebind;
mod retry;
mod show;
mod steer;
mod waits;

pub(crate) use act::signed;
pub(crate) use waits::Party;

use everstep_machine::agent::Verdict;
use everstep_sqlite::{LaneRow, SqliteReader};

use crate::args::{Submissions, SubmissionsAct};
use crate::database::reader;
use crate::exit::{Complaint, Exit, Outcome};
use crate::listing::{every_row, unreadable};

/// Runs the command.
pub(crate) fn run(args: &Submissions) -> Outcome {
    match &args.act {
        SubmissionsAct::List(args) => list::list(args),
        SubmissionsAct::Show { submission, look } => show::one(submission, look),
        SubmissionsAct::Abort { submission, word, look } => act::abort(submission, word, look),
        SubmissionsAct::Steer { submission, text, by, key, look } => {
            steer::steer(submission, text, by, key.as_deref(), look)
        }
        SubmissionsAct::Rebind { submission, word, look } => rebind::rebind(submission, word, look),
        SubmissionsAct::Retry { submission, word, look } => retry::retry(submission, word, look),
        SubmissionsAct::Resolve(args) => act::resolve(args),
        SubmissionsAct::Approve(args) => decide::decide(args, Verdict::Approved),
        SubmissionsAct::Deny(args) => decide::decide(args, Verdict::Denied),
    }
}

/// The one submission whose id begins like this.
pub(crate) fn find(db: &std::path::Path, id: &str) -> Result<(SqliteReader, LaneRow), Complaint> {
    let reader = reader(db)?;
    let wanted = id.to_lowercase();
    let mut found: Vec<LaneRow> = Vec::new();
    let corrupt = every_row(&reader, |placed| {
        if placed.1.admission.submission.to_string().starts_with(&wanted) {
            found.push(placed);
        }
    })?;
    let several = found.len() > 1;
    match found.pop() {
        Some(only) if !several => Ok((reader, only)),
        Some(_) => Err(Complaint::new(
            Exit::Usage,
            format!("{id}: several submissions begin like this\nhelp: give more digits"),
        )),
        None => Err(unreadable(&corrupt).err().unwrap_or_else(|| Complaint::new(
            Exit::Usage,
            format!(
                "{id}: there is no such submission in {}\nhelp: `everstep submissions list --all` \
                 lists them",
                db.display()
            ),
        ))),
    }
}
