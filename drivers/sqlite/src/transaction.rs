//! Beginning and ending transactions, and waiting for others, bounded.
//!
//! Writers take the write lock when they begin, so no reader ever has to become a writer half-way
//! (SQ-03): such an upgrade fails whenever somebody has written in between, and waiting does not
//! help. A reading never takes the lock and never waits for a writer.

use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::Trouble;

/// How long SQLite waits by itself. Its pauses grow with the time it has waited, so many short
/// waits are fairer among writers than one long one.
const SLICE: Duration = Duration::from_millis(40);

/// The pause after SQLite came back at once, as it does where waiting could dead-lock.
const PAUSE: Duration = Duration::from_millis(2);

/// Sets how long SQLite waits by itself, given how long we may wait in all.
pub(crate) fn set_patience(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(SLICE.min(busy))
}

/// Does it again while another connection is in the way, for at most `busy`, and counts in
/// `waits` how often it was. What is done must have no effect when it is refused.
pub(crate) fn patiently<T>(
    busy: Duration,
    waits: &mut u64,
    mut act: impl FnMut() -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let began = Instant::now();
    loop {
        match act() {
            Err(trouble) if trouble.is_busy() => {
                *waits += 1;
                if began.elapsed() >= busy {
                    return Err(trouble);
                }
                std::thread::sleep(PAUSE.min(busy));
            }
            other => return other,
        }
    }
}

/// Begins a transaction that writes, or one that only reads; the latter has its moment fixed by a
/// first reading, so whatever is in the way is in the way here.
pub(crate) fn begin<'a>(
    connection: &'a Connection,
    writes: bool,
    busy: Duration,
    waits: &mut u64,
) -> Result<Transaction<'a>, Trouble> {
    let behavior =
        if writes { TransactionBehavior::Immediate } else { TransactionBehavior::Deferred };
    patiently(busy, waits, || {
        let transaction = Transaction::new_unchecked(connection, behavior)?;
        if !writes {
            let mut first = connection.prepare_cached("SELECT 1 FROM sqlite_schema LIMIT 1")?;
            first.query_row((), |_| Ok(()))?;
        }
        Ok(transaction)
    })
}

/// Reads in one short transaction: all that `read` sees is of one moment, and nothing stays open.
pub(crate) fn snapshot<T>(
    connection: &Connection,
    busy: Duration,
    read: impl FnOnce(&Connection) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let transaction = begin(connection, false, busy, &mut 0)?;
    let value = read(&transaction)?;
    transaction.finish()?;
    Ok(value)
}
