//! `everstep submissions`: the operator's hand.
//!
//! Looking is reading. Acting is one ledger command of an intent: whoever works on the submission
//! makes it canonical, so it works on a file that a host has open, and on one that nobody has.

mod act;
mod show;

use everstep_machine::identity::{AdmissionSequence, ConversationId};
use everstep_machine::ledger::Row;
use everstep_sqlite::{MAX_LISTED, SqliteReader};
use std::sync::Arc;

use crate::args::{Submissions, SubmissionsAct};
use crate::database::{reader, unread};
use crate::exit::{Complaint, Exit, Outcome};

/// A row and the lane it is in.
pub(crate) type Placed = (ConversationId, Arc<Row>);

/// Runs the command.
pub(crate) fn run(args: &Submissions) -> Outcome {
    match &args.act {
        SubmissionsAct::List { all, look } => show::list(*all, look),
        SubmissionsAct::Show { submission, look } => show::one(submission, look),
        SubmissionsAct::Abort { submission, word, look } => act::abort(submission, word, look),
        SubmissionsAct::Resolve(args) => act::resolve(args),
    }
}

/// Every row of every lane, as `each` takes them.
fn everything(reader: &SqliteReader, mut each: impl FnMut(Placed)) -> Result<(), Complaint> {
    let mut after: Option<ConversationId> = None;
    loop {
        let lanes = reader.lanes(after.as_ref(), MAX_LISTED).map_err(unread)?;
        let Some(last) = lanes.last() else { return Ok(()) };
        after = Some(last.conversation.clone());
        for lane in &lanes {
            let mut from = AdmissionSequence(0);
            while from < lane.next {
                let rows = reader.rows(&lane.conversation, from, MAX_LISTED).map_err(unread)?;
                let Some(last) = rows.last() else { break };
                from = last.sequence.next();
                rows.iter().for_each(|row| each((lane.conversation.clone(), Arc::clone(row))));
            }
        }
    }
}

/// The one submission whose id begins like this.
fn find(db: &std::path::Path, id: &str) -> Result<(SqliteReader, Placed), Complaint> {
    let reader = reader(db)?;
    let wanted = id.to_lowercase();
    let mut found: Vec<Placed> = Vec::new();
    everything(&reader, |placed| {
        if placed.1.admission.submission.to_string().starts_with(&wanted) {
            found.push(placed);
        }
    })?;
    let several = found.len() > 1;
    match found.pop() {
        Some(only) if !several && !wanted.is_empty() => Ok((reader, only)),
        Some(_) => Err(Complaint::new(
            Exit::Usage,
            format!("{id}: several submissions begin like this\nhelp: give more digits"),
        )),
        None => Err(Complaint::new(
            Exit::Usage,
            format!(
                "{id}: there is no such submission in {}\nhelp: `everstep submissions list --all` \
                 lists them",
                db.display()
            ),
        )),
    }
}
