//! What is left when nothing happens any more.

use std::sync::Arc;

use everstep_machine::identity::SubmissionId;
use everstep_machine::ledger::{self, Agreement, Phase, Row};
use everstep_machine::projection::{Projection, Reader};
use everstep_machine::record::{Corruption, Outcome, Record, Settlement, StoredBatch};

use super::memory::Memory;
use super::{Judge, Property, rebuilt};
use crate::cast::Cast;
use crate::scenario::{Exactly, SubmissionScript};
use crate::store::{Log, Shelf};

impl Judge {
    /// Everything is verified, listed, settled and as expected.
    pub(crate) fn conclude(&mut self, cast: &Cast, shelves: &[Arc<Shelf>]) {
        for (lane, shelf) in shelves.iter().enumerate() {
            match verify(cast, shelf.log().batches()) {
                Err(why) => self.broken(Property::Chain, || format!("log {lane}: {why}")),
                Ok(fold) => self.check_end(cast, lane, shelf, &fold),
            }
        }
        self.check_expectations(cast, shelves);
        self.check_retried(cast, shelves);
    }

    fn check_end(&mut self, cast: &Cast, lane: usize, shelf: &Shelf, fold: &Projection) {
        if *fold != *self.memory.lanes[lane].fold {
            self.broken(Property::Fold, || format!("log {lane} folds to something else now"));
        }
        for row in shelf.rows() {
            self.check_row(cast, row, fold);
        }
        self.check_chains(cast, lane, shelf);
        if let Some(difference) = rebuilt::difference(shelf, fold) {
            self.broken(Property::Rebuilt, || format!("lane {lane}: {difference}"));
        }
        let seen = &self.memory.lanes[lane];
        let lost = seen.rows.iter().find(|row| shelf.row(row.submission).is_none());
        if let Some(lost) = lost.map(|row| row.submission) {
            self.broken(Property::OneSettlement, || {
                format!("{} was admitted and is gone", cast.name_of(lost))
            });
        }
    }

    fn check_row(&mut self, cast: &Cast, row: &Row, fold: &Projection) {
        let submission = row.admission.submission;
        let view = fold.submission(submission);
        let unlisted = view.and_then(|view| view.doubts().find(|it| row.mark(*it).is_none()));
        if let Some(doubt) = unlisted {
            self.broken(Property::Listed, || {
                format!("{doubt:?} of {} is on no row", cast.name_of(submission))
            });
        }
        if ledger::agreement(row, fold) == Agreement::Ahead {
            self.broken(Property::Rebuilt, || {
                format!(
                    "the row of {} says what its log does not: {row:?}",
                    cast.name_of(submission)
                )
            });
        }
        let settled = matches!(row.phase, Phase::Settled(_));
        let canonical = view.is_some_and(|view| view.settled.is_some());
        if settled && !canonical {
            self.broken(Property::OneSettlement, || {
                format!("the row of {} has ended and its log has not", cast.name_of(submission))
            });
        }
        let behind = ledger::agreement(row, fold) == Agreement::Behind;
        if !settled || behind || row.is_doubtful() {
            self.broken(Property::Liveness, || {
                format!("{} has not come to its end: {:?}", cast.name_of(submission), row.phase)
            });
        }
    }

    fn check_expectations(&mut self, cast: &Cast, shelves: &[Arc<Shelf>]) {
        for (script, client) in cast.scenario.submissions.iter().zip(&cast.clients) {
            let Some(row) = shelves[client.lane].row(client.submission) else {
                // Nobody has to say anything to a run.
                if script.steers.is_none() {
                    let name = &script.name;
                    self.broken(Property::Liveness, || format!("{name} was never admitted"));
                }
                continue;
            };
            let Phase::Settled(settled) = &row.phase else { continue };
            let joined = fold_of(&self.memory, client.lane, client.submission);
            if row.abort.is_some() && !joined && settled.outcome != Outcome::Aborted {
                self.broken(Property::Expected, || {
                    format!("{} was to be aborted and ended {:?}", script.name, settled.outcome)
                });
            }
            if let Some(why) = exactly(script, client.submission, shelves[client.lane].log()) {
                self.broken(Property::Expected, || format!("{} {why}", script.name));
            }
            if !script.expect.is_empty() && !script.expect.contains(&settled.outcome) {
                self.broken(Property::Expected, || {
                    format!(
                        "{} ended {:?}, expected is one of {:?}",
                        script.name, settled.outcome, script.expect
                    )
                });
            }
        }
    }
}

/// Whether a submission has joined a run, and so ends as that does.
fn fold_of(memory: &Memory, lane: usize, submission: SubmissionId) -> bool {
    memory.lanes[lane].fold.submission(submission).is_some_and(|view| view.joined.is_some())
}

/// What a settlement says and was not expected to.
fn exactly(script: &SubmissionScript, submission: SubmissionId, log: &Log) -> Option<String> {
    let mut records = log.batches().iter().flat_map(|stored| stored.batch().records());
    let settlement = records.find_map(|record| match record {
        Record::SubmissionSettled(it) if it.submission == submission => Some(&it.settlement),
        _ => None,
    });
    let Exactly { finish, output, disposition, tag, limit } = &script.exactly;
    let settlement = settlement?;
    let fits = match settlement {
        Settlement::Completed { output: answer, finish: by, disposition: word } => {
            finish.is_none_or(|finish| finish == *by)
                && output.as_ref().is_none_or(|output| output == answer)
                && disposition.as_ref().is_none_or(|it| word.as_deref() == Some(it))
        }
        Settlement::Failed { diagnostic, limit: by } => {
            tag.as_ref().is_none_or(|tag| tag == diagnostic.tag())
                && limit.is_none_or(|limit| Some(limit) == *by)
        }
        // What it was answered with is the host's.
        Settlement::Aborted | Settlement::Joined { .. } => true,
    };
    (!fits).then(|| format!("ended with {settlement:?}, expected is {:?}", script.exactly))
}

/// Reads a log as a store would keep it: encoded, decoded, linked and folded. A batch that was
/// verified in one world of a scenario need not be decoded again in the next.
fn verify(cast: &Cast, batches: &[Arc<StoredBatch>]) -> Result<Projection, Corruption> {
    let mut reader = Reader::default();
    for stored in batches {
        if cast.verified.is_new(stored.chain()) {
            let read = StoredBatch::decode(&stored.encode())?;
            if read != **stored {
                return Err(Corruption::Undecodable);
            }
            cast.verified.add(stored.chain());
        }
        reader.feed(stored)?;
    }
    Ok(reader.into_projection())
}
