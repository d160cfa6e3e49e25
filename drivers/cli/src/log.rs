//! `everstep log`: the canonical history, read and checked.

mod artifact;
mod export;
mod import;
mod lines;
mod rebuild;

use std::fmt::Write as _;
use std::path::Path;

use everstep_machine::identity::ConversationId;
use everstep_sqlite::{Corrupt, MAX_LISTED, SqliteReader, StoreError};
use serde_json::{Value, json};

use crate::args::{Log, LogAct, Look};
use crate::database::{batches, reader, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, BAD, FAINT, GOOD, HEAD, counted, one_line, styled};
use crate::records;

/// Runs the command.
pub(crate) fn run(args: &Log) -> Outcome {
    match &args.act {
        LogAct::Show { conversation, look } => show(conversation, look),
        LogAct::Verify { conversation, look } => verify(conversation.as_deref(), look),
        LogAct::Artifact { conversation, artifact, look } => {
            artifact::artifact(conversation, artifact, look)
        }
        LogAct::Rebuild { conversation, look } => rebuild::rebuild(conversation.as_deref(), look),
        LogAct::Export(args) => export::export(args),
        LogAct::Import(args) => import::import(args),
    }
}

/// Every conversation whose name begins like this, and what stands where a name must be. Of one
/// that is damaged any table may have something left, and whatever that is, it is named here.
fn named(
    reader: &SqliteReader,
    start: &str,
) -> Result<(Vec<ConversationId>, Vec<Corrupt>), Complaint> {
    let (mut found, mut corrupt, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let page = reader.conversations(after.as_ref(), MAX_LISTED).map_err(unread)?;
        found.extend(page.entries.into_iter().filter(|name| name.as_str().starts_with(start)));
        corrupt.extend(page.corrupt);
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    let exact = found.iter().find(|name| name.as_str() == start).cloned();
    Ok((exact.map_or(found, |name| vec![name]), corrupt))
}

fn nothing(start: &str, db: &Path) -> Complaint {
    let db = db.display();
    Complaint::new(Exit::Usage, format!("{start}: there is no such conversation in {db}"))
}

/// The one conversation whose name begins like this.
fn one(reader: &SqliteReader, start: &str, look: &Look) -> Result<ConversationId, Complaint> {
    let (mut found, _) = named(reader, start)?;
    let several = found.len() > 1;
    match found.pop() {
        Some(only) if !several => Ok(only),
        Some(_) => Err(Complaint::new(
            Exit::Usage,
            format!("{start}: several conversations begin like this\nhelp: give more of the name"),
        )),
        None => Err(nothing(start, &look.db)),
    }
}

fn show(start: &str, look: &Look) -> Outcome {
    let reader = reader(&look.db)?;
    let conversation = &one(&reader, start, look)?;
    let mut records = Vec::new();
    batches(&reader, conversation, |batch| {
        let envelope = batch.envelope();
        for (sequence, record) in (envelope.first_sequence.0..).zip(batch.batch().records()) {
            records.push((sequence, envelope.epoch.0, envelope.committed_at.0, record.clone()));
        }
        Ok(())
    })?;
    let mut text = String::new();
    if look.json {
        let records = records.iter().map(|(sequence, epoch, at, record)| {
            json!({
                "sequence": sequence,
                "epoch": epoch,
                "ms": at,
                "kind": records::kind(record),
                "text": records::words(record),
                "record": records::as_json(record),
            })
        });
        let records: Vec<Value> = records.collect();
        let name = conversation.as_str();
        let value = json!({ "command": "log show", "conversation": name, "records": records });
        let _ = writeln!(text, "{value:#}");
    } else {
        let _ = writeln!(text, "{}", styled(HEAD, conversation));
        for (sequence, epoch, _, record) in &records {
            let place = styled(FAINT, format!("{sequence:>6}  epoch {epoch:<4}"));
            let (kind, said) = (records::kind(record), one_line(&records::words(record)));
            let _ = writeln!(text, "{place}{kind:<20}{said}");
        }
    }
    output::print(&text)?;
    Ok(Exit::Holds)
}

/// Good, or what is wrong with it. What cannot be read at the moment is neither.
fn verdict(checked: Result<String, StoreError>) -> Result<Result<String, String>, Complaint> {
    match checked {
        Ok(said) => Ok(Ok(said)),
        Err(error @ StoreError::Corrupt { .. }) => Ok(Err(error.to_string())),
        Err(
            error @ (StoreError::Refused { .. }
            | StoreError::Busy { .. }
            | StoreError::Full { .. }
            | StoreError::Moved { .. }
            | StoreError::Io { .. }),
        ) => Err(unread(error)),
    }
}

fn verify(start: Option<&str>, look: &Look) -> Outcome {
    let reader = reader(&look.db)?;
    let (found, nameless) = named(&reader, start.unwrap_or_default())?;
    if let Some(start) = start.filter(|_| found.is_empty()) {
        return Err(nothing(start, &look.db));
    }
    let mut verdicts = Vec::new();
    for conversation in &found {
        let verified = reader.verify(conversation).map(|it| {
            let batches = counted(it.batches, "batch").replace("batchs", "batches");
            let (rows, records) = (counted(it.rows, "row"), counted(it.records, "record"));
            let mut said = format!("{rows}, {records} in {batches}");
            if it.artifacts > 0 {
                let _ = write!(said, ", {}", counted(it.artifacts, "artifact"));
            }
            if it.orphans > 0 {
                let _ = write!(said, ", {} that no record names", counted(it.orphans, "artifact"));
            }
            said
        });
        verdicts.push((conversation.as_str(), verdict(verified)?));
    }
    if start.is_none() {
        verdicts.extend(nameless.iter().map(|it| ("the file", Err(it.to_string()))));
        let pages = reader.verify_file().map(|()| "every page and index".to_owned());
        verdicts.push(("the file", verdict(pages)?));
    }
    let mut exit = Exit::Holds;
    let (mut text, mut results) = (String::new(), Vec::new());
    for (name, verdict) in verdicts {
        let good = verdict.is_ok();
        let (Ok(said) | Err(said)) = verdict;
        if !good {
            exit = Exit::Safety;
        }
        let word = if good { styled(GOOD, "good") } else { styled(BAD, "BAD") };
        let _ = writeln!(text, "{word}  {name}: {said}");
        results.push(json!({ "name": name, "good": good, "detail": said }));
    }
    if look.json {
        text = format!("{:#}\n", json!({ "command": "log verify", "results": results }));
    }
    output::print(&text)?;
    Ok(exit)
}
