//! Looking for work: what a host looks for.

use everstep_machine::identity::{ConversationId, DurationMs, Timestamp};
use everstep_machine::ledger::{self, Footprint};
use everstep_machine::scheduler::Findings;
use rusqlite::Connection;

use crate::clock::{Clock as _, WallClock};
use crate::error::{Corrupt, StoreError, Trouble};
use crate::ledger::next_waiting;
use crate::reader::{LaneRow, MAX_LISTED, SqliteReader, aside};

/// What a look at the lanes found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Lanes that can be claimed now, with the row that a claim would take, by conversation.
    pub claimable: Vec<LaneRow>,
    /// When the next of the other lanes can be claimed if nothing else happens before.
    pub wakes_at: Option<Timestamp>,
    /// Lanes that cannot be read. They keep nobody else from being worked on.
    pub corrupt: Vec<Corrupt>,
    /// Where to go on; none when every lane that waits was looked at.
    pub after: Option<ConversationId>,
}

impl SqliteReader {
    /// Looks for lanes that can be claimed when the store's clock reads `now`, behind `after`,
    /// looking at no more than `limit` lanes that wait. A few seeks a lane, however long its
    /// history or its queue is. What it says is a hint: the claim decides.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn scan(
        &self,
        now: Timestamp,
        after: Option<&ConversationId>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        self.read(|it| scan(it, now, after, limit.min(MAX_LISTED)))
    }

    /// The same for a scheduler, by this machine's clock. A lane that cannot be read is no work:
    /// [`SqliteReader::scan`] names it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn findings(
        &self,
        after: Option<&ConversationId>,
        limit: usize,
    ) -> Result<Findings, StoreError> {
        let now = WallClock.now();
        Ok(self.scan(now, after, limit)?.findings(now))
    }

    /// The same of one lane, by a few seeks however many rows it has.
    ///
    /// # Errors
    /// The file or the lane cannot be read.
    pub fn findings_of(&self, lane: &ConversationId) -> Result<Findings, StoreError> {
        let now = WallClock.now();
        let scan = self.read(|connection| {
            let mut scan = Scan::default();
            let slice = crate::ledger::slice(connection, lane, Footprint::Candidates(None))?;
            scan.add(lane, &slice, now);
            Ok(scan)
        })?;
        Ok(scan.findings(now))
    }
}

impl Scan {
    fn add(&mut self, lane: &ConversationId, slice: &ledger::Slice, now: Timestamp) {
        if let Some(row) = ledger::candidate(slice, now) {
            self.claimable.push((lane.clone(), row));
        } else {
            let wakes_at = ledger::wakes_at(slice);
            self.wakes_at = self.wakes_at.into_iter().chain(wakes_at).min();
        }
    }

    fn findings(self, now: Timestamp) -> Findings {
        Findings {
            claimable: self.claimable.into_iter().map(|(lane, _)| lane).collect(),
            wakes_in: self.wakes_at.map(|at| DurationMs(at.0.saturating_sub(now.0))),
            after: self.after,
        }
    }
}

fn scan(
    connection: &Connection,
    now: Timestamp,
    after: Option<&ConversationId>,
    limit: usize,
) -> Result<Scan, Trouble> {
    let mut scan = Scan { after: after.cloned(), ..Scan::default() };
    for _ in 0..limit {
        let found = next_waiting(connection, scan.after.as_ref(), &mut scan.corrupt);
        let Some(conversation) = aside(found, &mut scan.corrupt)?.flatten() else {
            scan.after = None;
            return Ok(scan);
        };
        let candidates = Footprint::Candidates(None);
        let slice = crate::ledger::slice(connection, &conversation, candidates);
        if let Some(slice) = aside(slice, &mut scan.corrupt)? {
            scan.add(&conversation, &slice, now);
        }
        scan.after = Some(conversation);
    }
    Ok(scan)
}
