//! Folds that are kept beside their logs (STORE-007). Whatever is wrong with one, it is as if it were
//! not there: it is never believed, and never an error.

use everstep_machine::identity::ConversationId;
use everstep_machine::projection::Reader;
use rusqlite::Connection;

use crate::log;

const KEPT: &str = "SELECT bytes FROM log_checkpoint WHERE conversation = ?1";

const KEEP: &str = "INSERT INTO log_checkpoint (conversation, bytes) VALUES (?1, ?2)
    ON CONFLICT (conversation) DO UPDATE SET bytes = excluded.bytes";

/// Bytes of the largest one that is kept: reading it has to be cheaper than reading the log.
const BYTES: usize = 32 << 20;

/// The fold that is kept of a log, if it is one of this very log.
pub(crate) fn read(connection: &Connection, conversation: &ConversationId) -> Option<Reader> {
    let mut statement = connection.prepare_cached(KEPT).ok()?;
    let mut found = statement.query([conversation.as_str()]).ok()?;
    let bytes = found.next().ok()??.get_ref(0).ok()?.as_blob().ok()?;
    let fold = Reader::from_checkpoint(conversation, bytes)?;
    confirms(connection, conversation, &fold).then_some(fold)
}

/// Whether the log has a batch that ends there with that chain digest.
fn confirms(connection: &Connection, conversation: &ConversationId, fold: &Reader) -> bool {
    let Ok(Some(tail)) = log::tail(connection, conversation) else { return false };
    if tail.next_sequence == fold.next_sequence() {
        return tail.chain == fold.chain();
    }
    let next = log::batch(connection, conversation, fold.next_sequence());
    matches!(next, Ok(Some(next)) if next.envelope().previous == fold.chain())
}

/// Keeps a fold, in place of the one before.
pub(crate) fn write(
    connection: &Connection,
    conversation: &ConversationId,
    bytes: &[u8],
) -> rusqlite::Result<()> {
    if bytes.len() > BYTES {
        return Ok(());
    }
    connection.prepare_cached(KEEP)?.execute((conversation.as_str(), bytes)).map(drop)
}
