//! A database out of a backup: an incarnation of its own.

use std::path::Path;
use std::time::Duration;

use everstep_machine::contract::Machine;
use everstep_machine::identity::{ConversationId, Epoch, Timestamp};
use everstep_machine::ledger::{AbortIntent, Command, Effect, Ledger, Phase, Row, Stamped};
use everstep_machine::store::Incarnation;
use rusqlite::{Connection, Transaction};

use super::partial::Partial;
use super::{Copied, verified};
use crate::error::{CopyError, Trouble};
use crate::format::APPLICATION_ID;
use crate::reader::MAX_LISTED;
use crate::{incarnation, ledger, log, name, open};

/// What came of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What is in the database.
    pub copied: Copied,
    /// Its incarnation.
    pub incarnation: Incarnation,
    /// Submissions whose end is asked for now, and was not before.
    pub aborted: u64,
}

/// Makes a database named `to` of a backup. It is a new incarnation (STORE-013): nobody owns a lane
/// of it, every claim that was ever made in another copy is superseded, and what was under way is
/// found as after a crash. `now` is the time of the store, from which the epochs are counted.
///
/// What was done after the backup was made is not in it, and may be done again. With `abort`, the
/// end of every submission is asked for that is not settled in it, so that nothing more of them
/// begins.
///
/// # Errors
/// Everything that [`CopyError`] lists; then nothing is there under that name that was not before.
pub fn restore(
    backup: &Path,
    to: &Path,
    now: Timestamp,
    abort: Option<&AbortIntent>,
    busy: Duration,
) -> Result<Restored, CopyError> {
    let source = open::reader(backup, busy).map_err(CopyError::Open)?;
    if !open::is_backup(&source.connection).map_err(|why| CopyError::of(why, &source.path, busy))? {
        return Err(CopyError::NoBackup { path: source.path });
    }
    let partial = Partial::beside(to)?;
    verified(&source.path, busy)?;
    partial.fill(&source, busy)?;
    drop(source);
    let mut begun = None;
    partial.change(|connection| {
        begun = Some(begin(connection, now, abort)?);
        Ok(())
    })?;
    let copied = verified(partial.path(), busy)?;
    let (incarnation, aborted) = begun.flatten().ok_or(CopyError::NoEpoch)?;
    partial.publish()?;
    Ok(Restored { copied, incarnation, aborted })
}

/// The new incarnation, and how many submissions it will abort; none if no epoch is left.
type Begun = Option<(Incarnation, u64)>;

/// Takes everything over, in one transaction.
fn begin(
    connection: &Connection,
    now: Timestamp,
    abort: Option<&AbortIntent>,
) -> Result<Begun, Trouble> {
    let transaction =
        Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)?;
    let (latest, now) = newest(&transaction, now)?;
    let Some(incarnation) = Incarnation::after(latest, now) else { return Ok(None) };
    incarnation::begin(&transaction, &incarnation)?;
    let mut aborted = 0;
    each(&transaction, |conversation| {
        incarnation::inherit(&transaction, conversation, &incarnation, now)?;
        if let Some(intent) = abort {
            aborted += abort_all(&transaction, conversation, intent, now)?;
        }
        Ok(())
    })?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(Some((incarnation, aborted)))
}

/// The highest epoch in the file, and the latest time.
fn newest(connection: &Connection, now: Timestamp) -> Result<(Epoch, Timestamp), Trouble> {
    let before = incarnation::current(connection)?;
    let (mut latest, mut now) = (before.epoch, now.max(before.since));
    each(connection, |conversation| {
        let lane = ledger::lane(connection, conversation)?;
        let tail = log::tail(connection, conversation)?;
        let of_log = tail.map_or(Epoch(0), |tail| tail.epoch);
        (latest, now) = (latest.max(lane.epoch).max(of_log), now.max(lane.stamp));
        Ok(())
    })?;
    Ok((latest, now))
}

/// Every conversation of the file.
fn each(
    connection: &Connection,
    mut each: impl FnMut(&ConversationId) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let mut after = None;
    while let Some(next) = name::next_anywhere(connection, after.as_ref(), &mut Vec::new())? {
        each(&next)?;
        after = Some(next);
    }
    Ok(())
}

/// Asks for the end of every submission of a lane that can still be ended otherwise.
fn abort_all(
    connection: &Connection,
    conversation: &ConversationId,
    intent: &AbortIntent,
    now: Timestamp,
) -> Result<u64, Trouble> {
    let can_end = |row: &Row| {
        let is_closing = matches!(row.phase, Phase::Settled(_) | Phase::Terminalizing(_));
        row.abort.is_none() && !is_closing
    };
    let (mut from, mut count) = (everstep_machine::identity::AdmissionSequence(0), 0);
    loop {
        let rows = ledger::rows(connection, conversation, from, MAX_LISTED)?;
        for row in rows.iter().filter(|row| can_end(row)) {
            let submission = row.admission.submission;
            let command = Command::Abort { submission, intent: intent.clone() };
            let slice = ledger::slice(connection, conversation, command.footprint())?;
            let step = Ledger::step(slice, Stamped { command, now });
            for effect in &step.effects {
                if let Effect::Change(change) = effect {
                    ledger::write(connection, conversation, change)?;
                    count += u64::from(matches!(change, everstep_machine::ledger::Change::Row(_)));
                }
            }
        }
        match rows.last() {
            Some(last) => from = last.sequence.next(),
            None => return Ok(count),
        }
    }
}
