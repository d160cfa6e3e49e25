//! Reading: the log page by page up to where it ends, and the lane after it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::effect::{Effect, End};
use super::state::{Kept, Occasion, Reading, Setup, Stage, Working};
use crate::conversation::Tail;
use crate::identity::{Sequence, Token};
use crate::ledger::{self, Agreement, Phase};
use crate::projection::Reader;
use crate::record::Corruption;
use crate::run;
use crate::store::{LaneView, LogPage, Pipeline, Replies, Reply, StoreCommand, StoreFault, Target};

/// What a stage became, and what is asked for.
pub(super) type Next = (Stage, Vec<Effect>);

/// An attempt is over; what is in flight outside is of no use any more.
pub(super) fn end(end: End) -> Next {
    end_with(end, None)
}

/// The same where it is known what the log holds.
pub(super) fn end_with(end: End, fold: Option<Box<Reader>>) -> Next {
    (Stage::Ended(end, fold), alloc::vec![Effect::CancelExternals, Effect::End(end)])
}

/// A row and what was read beside it, the row first.
pub(super) fn view_of(
    lane: ledger::Lane,
    row: Arc<ledger::Row>,
    beside: Vec<Arc<ledger::Row>>,
) -> ledger::Slice {
    let rows = core::iter::once(row).chain(beside).collect();
    ledger::Slice { lane, rows }
}

impl Reading {
    /// Asks for the first page of the log behind what is remembered of it.
    pub(super) fn begin(
        setup: &Setup,
        token: Token,
        occasion: Occasion,
        kept: Kept,
        fold: Option<Box<Reader>>,
    ) -> Next {
        let pipeline = Pipeline { lane: setup.lane.clone(), commands: Vec::new() };
        let reader = fold.map_or_else(Reader::default, |fold| *fold);
        let (from, ahead_of) = (reader.next_sequence(), None);
        let is_confirmed = from == Sequence(0);
        Self { token, occasion, pipeline, reader, is_confirmed, ahead_of, kept }.ask_from(from)
    }

    /// What is remembered is not of this log: begins anew.
    fn forget(mut self) -> Next {
        self.reader = Reader::default();
        self.is_confirmed = true;
        self.ask_from(Sequence(0))
    }

    /// Asks for one page and, behind it, for the lane. A row that is older than its log would be
    /// believed. One that is newer shows, because it says more than the log, or does no harm,
    /// because the fence finds that the log has moved.
    fn ask_from(mut self, from: Sequence) -> Next {
        let target = match self.occasion {
            Occasion::First => Target::Claimable,
            Occasion::Again(submission) => Target::Owned(submission),
        };
        self.pipeline.commands =
            alloc::vec![StoreCommand::ReadLog { from }, StoreCommand::ReadLane(target)];
        self.ask()
    }

    fn ask(self) -> Next {
        let effects = alloc::vec![Effect::Store(self.pipeline.clone())];
        (Stage::Reading(Box::new(self)), effects)
    }

    /// Takes what the store answered.
    pub(super) fn stored(self, setup: &Setup, answer: Result<Replies, StoreFault>) -> Next {
        match answer {
            Ok(replies) => self.read(setup, replies),
            Err(StoreFault::Indeterminate) => self.ask(),
            Err(StoreFault::Corrupt(corruption)) => end(End::Corrupt(corruption)),
            Err(StoreFault::Refused { .. }) => end(End::Defect),
        }
    }

    fn read(mut self, setup: &Setup, replies: Replies) -> Next {
        let mut replies = replies.into_iter();
        let (Some(Reply::Log(page)), Some(Reply::Lane(view)), None) =
            (replies.next(), replies.next(), replies.next())
        else {
            return end(End::Defect);
        };
        let tail = match self.feed(&page) {
            Ok(tail) => tail,
            Err(_) if !self.is_confirmed => return self.forget(),
            Err(corruption) => return end(End::Corrupt(corruption)),
        };
        self.is_confirmed = true;
        let next = self.reader.next_sequence();
        match tail {
            Some(tail) if next < tail.next_sequence => self.ask_from(next),
            _ if self.is_ahead(&view) => self.catch_up(next),
            _ => self.work(setup, view, tail),
        }
    }

    fn is_ahead(&self, view: &LaneView) -> bool {
        let agreement = |row| ledger::agreement(row, self.reader.projection());
        view.row.iter().chain(&view.beside).any(|row| agreement(row) == Agreement::Ahead)
    }

    /// The row knows what was appended after the log was read: reads on. What a row says is in
    /// the log before, so a log that has not grown since is not the row's.
    fn catch_up(mut self, end_of_log: Sequence) -> Next {
        if self.ahead_of == Some(end_of_log) {
            return end(End::Corrupt(Corruption::Ahead { end: end_of_log }));
        }
        self.ahead_of = Some(end_of_log);
        self.ask_from(end_of_log)
    }

    /// Folds a page. What it holds must link, and must lead to where it says the log ends.
    fn feed(&mut self, page: &LogPage) -> Result<Option<Tail>, Corruption> {
        page.batches.iter().try_for_each(|batch| self.reader.feed(batch))?;
        let found = self.reader.next_sequence();
        let Some(tail) = page.tail else {
            let expected = Sequence(0);
            let is_absent = found == expected;
            return if is_absent { Ok(None) } else { Err(Corruption::Gap { expected, found }) };
        };
        let expected = tail.next_sequence;
        if found > expected || (found < expected && page.batches.is_empty()) {
            return Err(Corruption::Gap { expected, found });
        }
        if found == expected && self.reader.chain() != tail.chain {
            let (expected, found) = (self.reader.chain(), tail.chain);
            return Err(Corruption::Chain { at: tail.next_sequence, expected, found });
        }
        Ok(Some(tail))
    }

    /// The log is read: act on it, if the row is still ours or may become so.
    fn work(self, setup: &Setup, view: LaneView, tail: Option<Tail>) -> Next {
        let LaneView { lane, row, beside, now: read_at } = view;
        let is_own = lane.owner.as_ref().is_some_and(|owner| owner.token == self.token);
        let row = match (row, self.occasion) {
            (Some(row), Occasion::First) => row,
            (Some(row), Occasion::Again(_)) if is_own => row,
            // Its own finalization may have been committed although its answer was lost.
            (Some(row), Occasion::Again(_)) if matches!(row.phase, Phase::Settled(_)) => {
                return end_with(End::Settled, Some(Box::new(self.reader)));
            }
            (_, Occasion::Again(_)) => {
                return end_with(End::Superseded, Some(Box::new(self.reader)));
            }
            (None, Occasion::First) => return end_with(End::Idle, Some(Box::new(self.reader))),
        };
        let submission = row.admission.submission;
        let epoch = if is_own { lane.epoch } else { lane.epoch.next() };
        let Kept {
            flights,
            inbox,
            asked,
            proofs,
            renewal_due,
            due,
            woken,
            draining,
            calling_off,
            follows_a_release,
            fits,
        } = self.kept;
        let conversation = setup.lane.clone();
        let projection = self.reader.into_projection();
        let mut run =
            run::State::new(setup.binding.clone(), conversation, submission, epoch, projection)
                .with_entropy(self.token)
                .watched(setup.watched)
                .suspending()
                .sharing()
                .listening()
                .with_flights(flights);
        if draining {
            run.drain();
        }
        if follows_a_release {
            run.follow_a_release();
        }
        let working = Working {
            token: self.token,
            submission,
            bound: setup.binding.bound(),
            read_at,
            slice: view_of(lane, row, beside),
            tail,
            run,
            inbox,
            asked,
            proofs,
            fits,
            sent: None,
            ending: None,
            renewal_due,
            due,
            woken,
            listens: false,
            calling_off,
        };
        if calling_off {
            return working.wait_for_calls(setup);
        }
        working.proceed(setup)
    }
}
