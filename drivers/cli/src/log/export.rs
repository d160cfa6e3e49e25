//! `everstep log export`: everything of a conversation, in lines.

use std::collections::BTreeSet;
use std::io::{BufWriter, StdoutLock};

use everstep_machine::identity::{AdmissionSequence, ConversationId};
use everstep_sqlite::{MAX_LISTED, SqliteReader};

use super::artifact::{self, named};
use super::lines::Writer;
use super::nothing;
use crate::args::Export;
use crate::database::{batches, reader, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::listing::unreadable;

type Lines = Writer<BufWriter<StdoutLock<'static>>>;

pub(super) fn export(args: &Export) -> Outcome {
    let reader = reader(&args.db)?;
    let start = args.conversation.as_deref();
    let (found, corrupt) = super::named(&reader, start.unwrap_or_default())?;
    match start {
        Some(start) if found.is_empty() => return Err(nothing(start, &args.db)),
        Some(_) => {}
        None => unreadable(&corrupt)?,
    }
    let out = BufWriter::new(std::io::stdout().lock());
    let mut lines = Writer::begin(out).map_err(unwritten)?;
    for conversation in &found {
        write(&reader, conversation, &mut lines)?;
    }
    lines.finish().map_err(unwritten)?;
    Ok(Exit::Holds)
}

/// The lane and its rows are read before the log: what a row repeats of the log is in it by then.
fn write(
    reader: &SqliteReader,
    conversation: &ConversationId,
    lines: &mut Lines,
) -> Result<(), Complaint> {
    reader.verify(conversation).map_err(unread)?;
    let Some(lane) = reader.lane(conversation).map_err(unread)? else { return Ok(()) };
    lines.lane(&lane).map_err(unwritten)?;
    let mut from = AdmissionSequence(0);
    while from < lane.next {
        let left = usize::try_from(lane.next.0 - from.0).unwrap_or(MAX_LISTED);
        let page = reader.rows(conversation, from, left.min(MAX_LISTED)).map_err(unread)?;
        unreadable(&page.corrupt)?;
        page.entries.iter().try_for_each(|row| lines.row(row)).map_err(unwritten)?;
        match page.entries.last() {
            Some(last) => from = last.sequence.next(),
            None => break,
        }
    }
    let mut artifacts = BTreeSet::new();
    batches(reader, conversation, |batch| {
        artifacts.extend(named(batch));
        lines.batch(batch).map_err(unwritten)
    })?;
    for digest in artifacts {
        let bytes = reader.artifact(conversation, digest).map_err(unread)?;
        let bytes = bytes.ok_or_else(|| artifact::missing(conversation, digest))?;
        lines.artifact(digest, &bytes).map_err(unwritten)?;
    }
    lines.end(conversation).map_err(unwritten)
}

fn unwritten(why: std::io::Error) -> Complaint {
    Complaint::new(
        Exit::Environment,
        format!("standard output: {why}\nhelp: what was written is not whole"),
    )
}
