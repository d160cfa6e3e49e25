//! `everstep log artifact`: all of a result that was too long for its record (STORE-009).

use everstep_machine::agent::{Media, ToolOutcome};
use everstep_machine::digest::Digest;
use everstep_machine::identity::ConversationId;
use everstep_machine::record::{Record, StoredBatch};
use serde_json::json;

use super::one;
use crate::args::Look;
use crate::database::{batches, reader, unread};
use crate::exit::{Complaint, Exit, Outcome};
use crate::output;

/// The artifacts that a batch names.
pub(super) fn named(batch: &StoredBatch) -> impl Iterator<Item = Digest> {
    batch.batch().records().iter().filter_map(|record| match record {
        Record::ToolSettled(it) => match &*it.outcome {
            ToolOutcome::Kept(kept) => Some(kept.digest),
            _ => None,
        },
        _ => None,
    })
}

/// What is said of an artifact that is not there.
pub(super) fn missing(conversation: &ConversationId, digest: Digest) -> Complaint {
    let text = format!("{conversation}: the artifact {digest} is named, and not there");
    Complaint::new(Exit::Safety, text)
}

/// Prints an artifact as it is.
pub(super) fn artifact(start: &str, digest: &str, look: &Look) -> Outcome {
    let reader = reader(&look.db)?;
    let conversation = one(&reader, start, look)?;
    let (mut found, wanted) = (Vec::new(), digest.to_lowercase());
    batches(&reader, &conversation, |batch| {
        found.extend(named(batch).filter(|it| it.to_string().starts_with(&wanted)));
        Ok(())
    })?;
    found.sort_unstable();
    found.dedup();
    let [digest] = found[..] else {
        let text = if found.is_empty() {
            format!("{digest}: no record of {conversation} names such an artifact")
        } else {
            format!("{digest}: several artifacts begin like this\nhelp: give more digits")
        };
        return Err(Complaint::new(Exit::Usage, text));
    };
    let bytes = reader.artifact(&conversation, digest).map_err(unread)?;
    let bytes = bytes.ok_or_else(|| missing(&conversation, digest))?;
    let text = String::from_utf8_lossy(&bytes);
    if look.json {
        let value = json!({
            "command": "log artifact",
            "conversation": conversation.as_str(),
            "artifact": digest.to_string(),
            "media": Media::Json.name(),
            "bytes": bytes.len(),
            "text": text,
        });
        output::print(&format!("{value:#}\n"))?;
    } else {
        // Canonical JSON has no letter that moves a cursor, and this is for programs: not a byte more.
        output::print(&text)?;
    }
    Ok(Exit::Holds)
}
