//! Large results beside their logs, named by their content (STORE-009).
//!
//! An artifact is written in the transaction of the batch that names it, so a record never names one
//! that is not there, and one that nobody names is never left. A conversation has its own: what two of
//! them hold alike is there twice, and nobody learns from one what another holds.

use std::collections::BTreeSet;

use everstep_machine::agent::{Kept, ToolOutcome};
use everstep_machine::digest::Digest;
use everstep_machine::identity::ConversationId;
use everstep_machine::record::{Batch, Record};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{Flaw, Place, Trouble};

const ADD: &str = "INSERT INTO log_artifact (conversation, digest, bytes) VALUES (?1, ?2, ?3)
    ON CONFLICT (conversation, digest) DO NOTHING";

const ONE: &str = "SELECT bytes FROM log_artifact WHERE conversation = ?1 AND digest = ?2";

const COUNT: &str = "SELECT count(*) FROM log_artifact WHERE conversation = ?1";

/// What the records of a batch name.
pub(crate) fn named(batch: &Batch) -> impl Iterator<Item = &Kept> {
    batch.records().iter().filter_map(|record| match record {
        Record::ToolSettled(it) => match &*it.outcome {
            ToolOutcome::Kept(kept) => Some(kept),
            _ => None,
        },
        _ => None,
    })
}

fn flawed(conversation: &ConversationId, digest: Digest, flaw: Flaw) -> Trouble {
    Trouble::Flawed(Place::Artifact(conversation.clone(), Box::new(digest)), flaw)
}

/// Adds what a batch names and brings, and makes sure that all it names is there.
pub(crate) fn add(
    connection: &Connection,
    conversation: &ConversationId,
    batch: &Batch,
) -> Result<(), Trouble> {
    for kept in named(batch) {
        match kept.whole.bytes() {
            Some(bytes) => put(connection, conversation, kept.digest, bytes)?,
            None if is_there(connection, conversation, kept.digest)? => {}
            None => return Err(flawed(conversation, kept.digest, Flaw::Missing)),
        }
    }
    Ok(())
}

/// Adds one, unless it is there.
pub(crate) fn put(
    connection: &Connection,
    conversation: &ConversationId,
    digest: Digest,
    bytes: &[u8],
) -> Result<(), Trouble> {
    connection.prepare_cached(ADD)?.execute((conversation.as_str(), digest.0, bytes))?;
    Ok(())
}

fn is_there(
    connection: &Connection,
    conversation: &ConversationId,
    digest: Digest,
) -> Result<bool, Trouble> {
    Ok(connection.prepare_cached(ONE)?.exists((conversation.as_str(), digest.0))?)
}

/// The bytes of an artifact, if it is there and they are the ones that it is named by.
pub(crate) fn read(
    connection: &Connection,
    conversation: &ConversationId,
    digest: Digest,
) -> Result<Option<Vec<u8>>, Trouble> {
    let mut statement = connection.prepare_cached(ONE)?;
    let found: Option<Vec<u8>> =
        statement.query_row((conversation.as_str(), digest.0), |row| row.get(0)).optional()?;
    match found {
        Some(bytes) if Digest::plain(&bytes) != digest => {
            Err(flawed(conversation, digest, Flaw::Content))
        }
        found => Ok(found),
    }
}

/// Checks every artifact that a batch names, and collects their names.
pub(crate) fn verify(
    connection: &Connection,
    conversation: &ConversationId,
    batch: &Batch,
    seen: &mut BTreeSet<Digest>,
) -> Result<(), Trouble> {
    for kept in named(batch) {
        let digest = kept.digest;
        let bytes = read(connection, conversation, digest)?;
        let bytes = bytes.ok_or_else(|| flawed(conversation, digest, Flaw::Missing))?;
        if bytes.len() as u64 != kept.cut.bytes {
            return Err(flawed(conversation, digest, Flaw::Content));
        }
        seen.insert(digest);
    }
    Ok(())
}

/// How many a conversation has.
pub(crate) fn count(
    connection: &Connection,
    conversation: &ConversationId,
) -> Result<u64, Trouble> {
    let mut statement = connection.prepare_cached(COUNT)?;
    Ok(statement.query_row([conversation.as_str()], |row| row.get(0))?)
}

#[cfg(test)]
mod tests;
