//! What an attempt knows.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::effect::{Effect, End};
use crate::agent::{Binding, Bound, Diagnostic};
use crate::conversation::Tail;
use crate::effect::{Answer, Reconciliation};
use crate::identity::{
    ConversationId, DurationMs, ProducerId, Sequence, SubmissionId, Timestamp, Token,
};
use crate::ledger::{self, Ownership, Row};
use crate::projection::{Projection, Reader};
use crate::record::Doubt;
use crate::run::{self, Flights, Timer};
use crate::store::Pipeline;

/// What an attempt is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// The conversation, and so the lane.
    pub lane: ConversationId,
    /// The process.
    pub producer: ProducerId,
    /// The agent and its model.
    pub binding: Arc<Binding>,
    /// How long a lease lasts.
    pub lease: DurationMs,
    /// How long before the first renewal, and between renewals.
    pub renewal: DurationMs,
    /// Whether somebody watches: an attempt that nobody watches tells nothing.
    pub watched: bool,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) setup: Arc<Setup>,
    pub(super) stage: Stage,
}

/// How far an attempt is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// It has not begun. What an earlier attempt folded, if this process remembers it.
    Idle(Option<Box<Reader>>),
    /// It reads lane and log.
    Reading(Box<Reading>),
    /// It acts on what it read.
    Working(Box<Working>),
    /// It is over. What it has folded, if that is known to be what the log holds.
    Ended(End, Option<Box<Reader>>),
}

/// What outlives a second reading within one ownership period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kept {
    /// Questions that the outside has not answered.
    pub(super) flights: Flights,
    /// Answers that have not been acted on, oldest first.
    pub(super) inbox: VecDeque<Answer>,
    /// Starts that a reconciler is asked about.
    pub(super) asked: BTreeSet<Doubt>,
    /// What is known of starts in doubt, under this epoch.
    pub(super) proofs: BTreeMap<Doubt, Reconciliation>,
    /// Whether what people say of starts fits what their tools declare.
    pub(super) fits: BTreeMap<Doubt, Fit>,
    /// Whether the lease wants renewal.
    pub(super) renewal_due: bool,
    /// The run's timers that went off.
    pub(super) due: BTreeSet<Timer>,
    /// Whether the lane is to be looked at again.
    pub(super) woken: bool,
    /// Whether nothing new begins.
    pub(super) draining: bool,
    /// Whether the run is to end and its calls have been told.
    pub(super) calling_off: bool,
    /// Whether the owner before let go of the lane.
    pub(super) follows_a_release: bool,
}

/// Whether the result that a person names fits its tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fit {
    /// It is being checked.
    Asked,
    /// It fits.
    Fits,
    /// It does not, and why.
    Misfits(Diagnostic),
}

/// Whether a reading is the first of its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Occasion {
    /// It looks for a row to claim.
    First,
    /// A refusal sent it back, to this row.
    Again(SubmissionId),
}

/// An attempt that reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reading {
    pub(super) token: Token,
    pub(super) occasion: Occasion,
    pub(super) pipeline: Pipeline,
    pub(super) reader: Reader,
    /// Whether what was folded before is confirmed by the log.
    pub(super) is_confirmed: bool,
    /// Where the log ended when the row was found to say more than it.
    pub(super) ahead_of: Option<Sequence>,
    pub(super) kept: Kept,
}

/// A pipeline in flight, and what depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    pub(super) pipeline: Pipeline,
    /// What leaves when the pipeline is acknowledged, and not before.
    pub(super) after: Vec<Effect>,
    /// The answers whose consequences are in the pipeline.
    pub(super) consumed: Vec<Answer>,
}

/// An attempt that acts. Lane, row, tail and fold are predictions: they run ahead of the store
/// by exactly the pipeline in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Working {
    pub(super) token: Token,
    pub(super) submission: SubmissionId,
    /// What a run would go on under.
    pub(super) bound: Bound,
    /// The store's time when the lane was read: what was claimable then is predicted at it.
    pub(super) read_at: Timestamp,
    pub(super) slice: ledger::Slice,
    pub(super) tail: Option<Tail>,
    pub(super) run: run::State,
    pub(super) inbox: VecDeque<Answer>,
    pub(super) asked: BTreeSet<Doubt>,
    pub(super) proofs: BTreeMap<Doubt, Reconciliation>,
    pub(super) fits: BTreeMap<Doubt, Fit>,
    pub(super) sent: Option<Sent>,
    pub(super) ending: Option<End>,
    pub(super) renewal_due: bool,
    pub(super) due: BTreeSet<Timer>,
    pub(super) woken: bool,
    /// Whether the run wants to know what its lane has for it.
    pub(super) listens: bool,
    /// Whether the run is to end and its calls have been told (RUN-008).
    pub(super) calling_off: bool,
}

impl State {
    /// An attempt that has not begun.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { setup: Arc::new(setup), stage: Stage::Idle(None) }
    }

    /// The same for a process that remembers what an attempt at this lane has folded before
    /// ([`State::into_fold`]). It reads on from there if the log confirms by its digests that it
    /// is the same log, and otherwise from the beginning: what is remembered is never believed
    /// and may be thrown away (STORE-007).
    #[must_use]
    pub fn remembering(setup: Setup, fold: Reader) -> Self {
        Self { setup: Arc::new(setup), stage: Stage::Idle(Some(Box::new(fold))) }
    }

    /// What it has folded, once it is over: for the next attempt at this lane. None if it does
    /// not know where the log ends.
    #[must_use]
    pub fn into_fold(self) -> Option<Reader> {
        match self.stage {
            Stage::Ended(_, fold) => fold.map(|fold| *fold),
            Stage::Idle(_) | Stage::Reading(_) | Stage::Working(_) => None,
        }
    }

    fn working(&self) -> Option<&Working> {
        match &self.stage {
            Stage::Working(working) => Some(working),
            Stage::Idle(_) | Stage::Reading(_) | Stage::Ended(..) => None,
        }
    }

    /// The claim it believes to hold.
    #[must_use]
    pub fn ownership(&self) -> Option<Ownership> {
        self.working()?.ownership()
    }

    /// The fold it works on: of the log as it read it and of every batch it has sent since.
    /// None before the log is read.
    #[must_use]
    pub fn projection(&self) -> Option<&Projection> {
        self.working().map(|working| working.run.projection())
    }

    /// Where it predicts the log to end (chain digest and commit times are not predicted).
    #[must_use]
    pub fn predicted_tail(&self) -> Option<Tail> {
        self.working()?.tail
    }

    /// What it predicts its row to be (times and other people's intents are not predicted).
    #[must_use]
    pub fn predicted_row(&self) -> Option<&Row> {
        self.working()?.slice.rows.first().map(Arc::as_ref)
    }

    /// Whether a pipeline is in flight; while it is, predictions run ahead of the store.
    #[must_use]
    pub fn awaits_store(&self) -> bool {
        match &self.stage {
            Stage::Reading(_) => true,
            Stage::Working(working) => working.sent.is_some(),
            Stage::Idle(_) | Stage::Ended(..) => false,
        }
    }
}

impl Working {
    /// The claim, once it is at least in flight.
    pub(super) fn ownership(&self) -> Option<Ownership> {
        let owner = self.slice.lane.owner.as_ref()?;
        let own = owner.token == self.token && owner.submission == self.submission;
        let (token, epoch) = (self.token, self.slice.lane.epoch);
        own.then_some(Ownership { submission: self.submission, token, epoch })
    }

    /// What was folded, where the log is known to end with it.
    pub(super) fn into_fold(self) -> Option<Box<Reader>> {
        let Tail { epoch, next_sequence, chain, .. } = self.tail?;
        let projection = self.run.into_projection();
        let is_whole = projection.next_sequence() == next_sequence;
        is_whole.then(|| Box::new(Reader::at(projection, chain, epoch)))
    }

    /// What survives a second reading.
    pub(super) fn keep(self) -> (Token, Kept) {
        let (flights, draining) = (self.run.flights().clone(), self.run.is_draining());
        let follows_a_release = self.run.follows_a_release();
        let Self {
            token, inbox, asked, proofs, renewal_due, due, woken, calling_off, fits, ..
        } = self;
        let kept = Kept {
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
        };
        (token, kept)
    }
}
