//! A conversation from another file: its log as it was written, its ledger made of it (DUR-015).
//!
//! What is taken in is checked first, all of it, and then written in one transaction. The lane is
//! raised above every epoch that the other file has used, as after a restore: nobody owns it here,
//! and what was under way is found as after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use everstep_machine::conversation::{Change as LogChange, Tail};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AdmissionSequence, ConversationId, Epoch, SubmissionId, Timestamp,
};
use everstep_machine::ledger::{
    Admission, Agreement, ApprovalState, Change, Lane, MarkState, Phase, Reconstruction, Row,
    agreement,
};
use everstep_machine::limits::TEXT_BYTES;
use everstep_machine::record::StoredBatch;
use everstep_machine::store::Incarnation;
use rusqlite::Connection;

use crate::error::{Corrupt, Flaw, Place, Trouble};
use crate::{artifact, incarnation, ledger, log};

/// Everything that a file holds of one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Its lane.
    pub lane: Lane,
    /// The rows of the lane, in order.
    pub rows: Vec<Arc<Row>>,
    /// Its log, from the beginning; none if it was not made yet.
    pub batches: Vec<StoredBatch>,
    /// The artifacts that its records name, each once, by digest.
    pub artifacts: BTreeMap<Digest, Vec<u8>>,
}

/// What came of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It is there now.
    Taken,
    /// It was there: the same log, which may have gone on since, and every submission.
    AlreadyThere,
    /// A conversation of that name is there, and it is another one. It stays as it is.
    Differs,
}

impl Exported {
    /// Checks everything: the chain of the log, every row by itself and against the log, and that
    /// nothing is missing in between (STORE-006).
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), Corrupt> {
        self.checked().map(drop)
    }

    /// Every artifact that a record names is here, every one that is here is named, and each is what
    /// it is named by.
    fn check_artifacts(&self) -> Result<(), Corrupt> {
        let name = &self.lane.conversation;
        let flawed =
            |digest, flaw| Corrupt { place: Place::Artifact(name.clone(), Box::new(digest)), flaw };
        let named = self.batches.iter().flat_map(|it| artifact::named(it.batch()));
        let named: BTreeSet<Digest> = named.map(|kept| kept.digest).collect();
        if let Some(missing) = named.iter().find(|it| !self.artifacts.contains_key(*it)) {
            return Err(flawed(*missing, Flaw::Missing));
        }
        for (digest, bytes) in &self.artifacts {
            if !named.contains(digest) {
                return Err(flawed(*digest, Flaw::Taken));
            }
            if Digest::plain(bytes) != *digest {
                return Err(flawed(*digest, Flaw::Content));
            }
        }
        Ok(())
    }

    fn checked(&self) -> Result<Reconstruction, Corrupt> {
        let name = &self.lane.conversation;
        let mut log = Reconstruction::default();
        for batch in &self.batches {
            let at = batch.envelope().first_sequence;
            let flawed = |flaw| Corrupt { place: Place::Batch(name.clone(), at), flaw };
            if batch.envelope().conversation != *name {
                return Err(flawed(Flaw::Column("conversation")));
            }
            log.feed(batch).map_err(|why| flawed(Flaw::Batch(why)))?;
        }
        self.check_artifacts()?;
        if self.lane.next.0 != self.rows.len() as u64 {
            return Err(Corrupt { place: Place::Lane(name.clone()), flaw: Flaw::Counter });
        }
        let mut seen = BTreeSet::new();
        for (place, row) in (0..).map(AdmissionSequence).zip(&self.rows) {
            let flawed = |flaw| Corrupt { place: Place::Row(name.clone(), place), flaw };
            if row.sequence != place {
                return Err(flawed(Flaw::Missing));
            }
            if !seen.insert(row.admission.submission) || !is_own(name, row) {
                return Err(flawed(Flaw::Column("submission")));
            }
            if !is_sound(row) {
                return Err(flawed(Flaw::Cell(crate::CellError::Malformed)));
            }
            if agreement(row, log.log().projection()) == Agreement::Ahead {
                return Err(flawed(Flaw::Ahead));
            }
        }
        Ok(log)
    }
}

/// Whether a submission has the id and the payload that follow from what was submitted, or from
/// what it tries again. One whose
/// row was made of its log alone has its id for a key.
fn is_own(conversation: &ConversationId, row: &Row) -> bool {
    let Admission { submission, principal, key, agent, payload, input, allowance, steers, .. } =
        &*row.admission;
    let is_named = match row.chain.retry_of {
        Some(dead) => *submission == SubmissionId::retry_of(dead),
        None => {
            *submission == SubmissionId::derive(conversation, principal, key)
                || key.as_str() == submission.to_string()
        }
    };
    is_named && *payload == Admission::payload_of(agent, input, allowance, *steers)
}

/// Whether a row is within the bounds that every command keeps.
fn is_sound(row: &Row) -> bool {
    let of_mark = |state: &MarkState| match state {
        MarkState::Open => true,
        MarkState::Intended(said) | MarkState::Closed(said) => said.is_bounded(),
    };
    let of_approval = |state: &ApprovalState| match state {
        ApprovalState::Open | ApprovalState::Expired | ApprovalState::Closed(None) => true,
        ApprovalState::Intended(said) | ApprovalState::Closed(Some(said)) => said.is_bounded(),
    };
    let is_fixed = match &row.phase {
        Phase::Terminalizing(it) => {
            it.record.submission == row.admission.submission
                && it.record.digest().is_ok_and(|digest| digest == it.digest)
        }
        _ => true,
    };
    let abort = row.abort.as_ref().is_none_or(|it| it.reason.len() <= TEXT_BYTES);
    let marks = row.marks.iter().all(|mark| of_mark(&mark.state));
    let approvals = row.approvals.iter().all(|mark| of_approval(&mark.state));
    is_fixed && abort && marks && approvals
}

/// Takes a conversation in, inside the caller's transaction.
pub(crate) fn import(
    connection: &Connection,
    exported: &Exported,
    now: Timestamp,
) -> Result<Imported, Trouble> {
    let Exported { lane, rows, batches, artifacts } = exported;
    let log = exported.checked().map_err(|it| Trouble::Flawed(it.place, it.flaw))?;
    let name = &lane.conversation;
    let there = ledger::stored_lane(connection, name)?;
    if there.is_some() || log::tail(connection, name)?.is_some() {
        return compare(connection, exported);
    }
    for (digest, bytes) in artifacts {
        artifact::put(connection, name, *digest, bytes)?;
    }
    let mut tail = None;
    for batch in batches {
        let end = end_of(batch);
        log::write(connection, name, &LogChange::Commit(Box::new(batch.clone())), &end)?;
        tail = Some(end);
    }
    let rows = log.rows(rows);
    let next = AdmissionSequence(rows.len() as u64);
    let tenant = rows.first().map(|row| row.admission.tenant.clone());
    ledger::write(connection, name, &Change::Lane(Lane { next, tenant, ..lane.clone() }))?;
    for row in rows {
        ledger::write(connection, name, &Change::Row(row))?;
    }
    raise(connection, lane, tail.map_or(Epoch(0), |tail| tail.epoch), now)?;
    Ok(Imported::Taken)
}

/// Raises a lane above everything that it was claimed for elsewhere.
pub(crate) fn raise(
    connection: &Connection,
    lane: &Lane,
    of_log: Epoch,
    now: Timestamp,
) -> Result<(), Trouble> {
    let name = &lane.conversation;
    let spent = || Trouble::Flawed(Place::Lane(name.clone()), Flaw::Counter);
    let latest = lane.epoch.max(of_log).max(incarnation::current(connection)?.epoch);
    let incarnation = Incarnation::after(latest, lane.time(now)).ok_or_else(spent)?;
    incarnation::inherit(connection, name, &incarnation, now)
}

/// Where a log ends whose last batch this is.
fn end_of(batch: &StoredBatch) -> Tail {
    Tail {
        epoch: batch.envelope().epoch,
        next_sequence: batch.next_sequence(),
        content: batch.batch().content(),
        chain: batch.chain(),
    }
}

/// Whether what is there is the same conversation, or has gone on from it.
fn compare(connection: &Connection, exported: &Exported) -> Result<Imported, Trouble> {
    let name = &exported.lane.conversation;
    if let Some(last) = exported.batches.last() {
        // The chain of the last one vouches for all before it.
        let there = log::batch(connection, name, last.envelope().first_sequence)?;
        if there.is_none_or(|there| there.chain() != last.chain()) {
            return Ok(Imported::Differs);
        }
    }
    for row in &exported.rows {
        let there = ledger::named(connection, name, row.admission.submission)?;
        if there.is_none_or(|there| there.admission != row.admission) {
            return Ok(Imported::Differs);
        }
    }
    Ok(Imported::AlreadyThere)
}
