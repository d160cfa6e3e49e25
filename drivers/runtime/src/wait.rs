//! Waiting for what comes of a submission, and reading it.

use std::sync::Arc;

use everstep_machine::agent::Bound;
use everstep_machine::identity::{ConversationId, Sequence, SubmissionId, Timestamp};
use everstep_machine::ledger::{Phase, Row};
use everstep_machine::record::{Corruption, Record, SubmissionSettled};
use everstep_machine::store::{LogPage, Pipeline, Reply, StoreCommand, StoreFault, Target};
use tokio::time::sleep;

use crate::client::{HostError, PATIENCE, RESEND};
use crate::host::Host;

/// How a submission stands when there is nothing to wait for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is settled: the record.
    Settled(Arc<SubmissionSettled>),
    /// Somebody has to say what became of a start, and nobody has (DUR-017): the row.
    Unknown(Arc<Row>),
    /// Somebody has to decide whether a call may start, and nobody has (CAP-006): the row.
    Suspended(Arc<Row>),
    /// Its run is bound to another definition, model or tools than this host has for it: it waits
    /// for a host that has them, or for a person (the row says which).
    Incompatible(Arc<Row>),
}

/// Whether its run waits for somebody who has what it is bound to, and nobody here has.
fn is_of_others(row: &Row, bound: Option<&Bound>, now: Timestamp) -> bool {
    bound.is_some_and(|bound| row.waits_for_binding(bound, now).is_some())
}

impl Host {
    /// Waits until a submission is settled, or until only a person can go on, or a host that has what
    /// its run is bound to: subscribes, reads, and parks until something is said of the lane (STORE-012).
    ///
    /// # Errors
    /// There is no such submission, its lane is left alone, or the store cannot be read.
    pub async fn wait(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<Standing, HostError> {
        let bound = self.bound(lane);
        let done = |row: &Row, now| {
            let settled = matches!(row.phase, Phase::Settled(_));
            settled || row.awaits_people(now) || is_of_others(row, bound.as_ref(), now)
        };
        let (row, now) = self.until(lane, submission, done).await?;
        match &row.phase {
            Phase::Settled(_) => self.settlement(lane, submission).await.map(Standing::Settled),
            _ if !row.awaits_people(now) => Ok(Standing::Incompatible(row)),
            Phase::Suspended => Ok(Standing::Suspended(row)),
            _ => Ok(Standing::Unknown(row)),
        }
    }

    /// Waits until there is nothing left to do about a submission. What people say of the doubts
    /// of a settled one is still to be recorded (DUR-017).
    ///
    /// # Errors
    /// There is no such submission, its lane is left alone, or the store cannot be read.
    pub async fn rest(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<(), HostError> {
        let bound = self.bound(lane);
        let at_rest =
            |row: &Row, now| !row.is_claimable(now) || is_of_others(row, bound.as_ref(), now);
        self.until(lane, submission, at_rest).await.map(|_| ())
    }

    /// Subscribes, reads, and parks until the row is as it is wanted.
    async fn until(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
        wanted: impl Fn(&Row, Timestamp) -> bool,
    ) -> Result<(Arc<Row>, Timestamp), HostError> {
        let mut subscription = self.news().subscribe(lane)?;
        let mut unsure = self.store().unsure();
        loop {
            let lost = subscription.know();
            let (row, now) = self.seen(lane, submission).await?;
            if wanted(&row, now) {
                return Ok((row, now));
            }
            self.check_store()?;
            if let Some(end) = lost {
                return Err(HostError::Quarantined(end));
            }
            tokio::select! {
                said = subscription.news() => said?,
                hopeless = unsure.wait_for(|unsure| unsure.most() >= PATIENCE) => {
                    hopeless.map_err(|_| HostError::StoreGone)?;
                }
            }
        }
    }

    /// The row of a submission as it is now.
    ///
    /// # Errors
    /// There is no such submission, or the store cannot be read.
    pub async fn row(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<Arc<Row>, HostError> {
        self.seen(lane, submission).await.map(|(row, _)| row)
    }

    /// The same, and what time it is there.
    async fn seen(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<(Arc<Row>, Timestamp), HostError> {
        let read = StoreCommand::ReadLane(Target::Submission(submission));
        match self.read(lane, read).await? {
            Reply::Lane(view) => {
                let row = view.row.ok_or(HostError::NoSuchSubmission)?;
                Ok((row, view.now))
            }
            other @ (Reply::Ledger(_) | Reply::Conversation(_) | Reply::Log(_)) => {
                unreachable!("STORE-001: a lane that is read is answered with {other:?}")
            }
        }
    }

    /// The settlement as it is recorded. The row does not say where. A short log is one page; in
    /// a long one a settlement that somebody waits for stands near the end, so it is looked for
    /// from there, in windows of as many records as a page has batches.
    async fn settlement(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<Arc<SubmissionSettled>, HostError> {
        let first = self.page(lane, Sequence(0)).await?;
        let end = first.tail.map_or(Sequence(0), |tail| tail.next_sequence);
        let seen = first.batches.last().map_or(end, |last| last.next_sequence());
        let window = first.batches.len().max(1) as u64;
        if let Some(found) = settled(&first, submission) {
            return Ok(found);
        }
        let mut until = end;
        while until > seen {
            // A page begins with the first batch at or behind its place, so a window may begin
            // inside a batch: that one belongs to the window before.
            let start = Sequence(until.0.saturating_sub(window)).max(seen);
            let mut from = start;
            while from < until {
                let page = self.page(lane, from).await?;
                if let Some(found) = settled(&page, submission) {
                    return Ok(found);
                }
                from = page.batches.last().map_or(until, |last| last.next_sequence());
            }
            until = start;
        }
        Err(HostError::Store(StoreFault::Corrupt(Corruption::Ahead { end })))
    }

    async fn page(&self, lane: &ConversationId, from: Sequence) -> Result<LogPage, HostError> {
        match self.read(lane, StoreCommand::ReadLog { from }).await? {
            Reply::Log(page) => Ok(page),
            other @ (Reply::Ledger(_) | Reply::Conversation(_) | Reply::Lane(_)) => {
                unreachable!("STORE-001: a log that is read is answered with {other:?}")
            }
        }
    }

    async fn read(&self, lane: &ConversationId, read: StoreCommand) -> Result<Reply, HostError> {
        for _ in 0..PATIENCE {
            let pipeline = Pipeline { lane: lane.clone(), commands: vec![read.clone()] };
            match self.store().look(pipeline).await? {
                Ok(mut replies) => {
                    return Ok(replies.pop().expect("STORE-001: every command has a reply"));
                }
                Err(StoreFault::Indeterminate) => sleep(RESEND).await,
                Err(fault) => return Err(HostError::Store(fault)),
            }
        }
        Err(HostError::StoreUnsure)
    }
}

/// The settlement of a submission, if it stands on this page.
fn settled(page: &LogPage, submission: SubmissionId) -> Option<Arc<SubmissionSettled>> {
    let records = page.batches.iter().flat_map(|batch| batch.batch().records());
    let mut settled = records.filter_map(|record| match record {
        Record::SubmissionSettled(it) if it.submission == submission => Some(it),
        _ => None,
    });
    settled.next().map(|found| Arc::new(found.clone()))
}
