//! What a run knows: the fold, and what is in flight outside.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::flights::Flights;
use super::input::{Steered, Timer};
use super::next::Terms;
use crate::agent::{AgentDefinition, AgentPolicy, Allowance, Binding};
use crate::effect::External;
use crate::identity::{ConversationId, Epoch, SubmissionId, Timestamp, Token, Turn};
use crate::limits::JOINED_A_RUN;
use crate::projection::{Projection, RunView, SubmissionView};
use crate::record::{Batch, Record};

/// Whether a run goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// The classifier governs.
    Resting,
    /// The run governs.
    Live,
}

/// What a run knows of what its lane has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Hearing {
    /// Nothing.
    Nothing,
    /// It has asked.
    Asked,
    /// It was told.
    Told,
}

/// A run of one submission under one epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) binding: Arc<Binding>,
    pub(super) conversation: ConversationId,
    pub(super) submission: SubmissionId,
    pub(super) epoch: Epoch,
    pub(super) projection: Projection,
    pub(super) flights: Flights,
    pub(super) liveness: Liveness,
    /// The claim's entropy: pauses before a model is asked again are drawn from it.
    pub(super) entropy: Token,
    /// What time it was when the run was last told.
    pub(super) now: Timestamp,
    /// How often the model was asked again for the turn in flight.
    pub(super) retries: u32,
    /// Whether a refusal of the turn in flight for its length has made context smaller.
    pub(super) shortened: bool,
    /// The last turn before which a summary was asked for and none came that could be used.
    pub(super) no_summary: Option<Turn>,
    /// Whether the calls of the last response have passed every check, so that those which wait
    /// for a place may start.
    pub(super) cleared: bool,
    /// Whether a start will have no answer: nothing new begins until the classifier has judged it.
    pub(super) unsure: bool,
    /// Whether calls can wait for people to decide. Where they cannot, what nobody decides at once
    /// is denied.
    pub(super) suspends: bool,
    /// Whether it shares its host with other runs: a call that has its run's place asks for the
    /// host's permits before it is prepared.
    pub(super) shares: bool,
    /// Whether the owner of the epoch before let go of the lane: it has nothing out.
    pub(super) follows_a_release: bool,
    /// Whether its host stops: nothing new begins, and what is out is recorded when it comes back.
    pub(super) draining: bool,
    /// Whether somebody watches: a run that nobody watches tells nothing.
    pub(super) watched: bool,
    /// Whether what is said to it is kept in its lane, and has to be asked for.
    pub(super) listens: bool,
    /// Whether somebody keeps what its records bring along: a result that is too long for its record
    /// is an artifact then, and is only cut otherwise (STORE-009).
    pub(super) keeps: bool,
    /// Whether it has asked its lane for this boundary, and was told.
    pub(super) hearing: Hearing,
    /// What was said to the run and is not canonical, oldest first.
    pub(super) steering: VecDeque<Steered>,
}

impl State {
    /// A run that rests on a fold.
    #[must_use]
    pub const fn new(
        binding: Arc<Binding>,
        conversation: ConversationId,
        submission: SubmissionId,
        epoch: Epoch,
        projection: Projection,
    ) -> Self {
        Self {
            binding,
            conversation,
            submission,
            epoch,
            projection,
            flights: Flights::NONE,
            liveness: Liveness::Resting,
            entropy: Token([0; 16]),
            now: Timestamp(0),
            retries: 0,
            shortened: false,
            no_summary: None,
            cleared: false,
            unsure: false,
            suspends: false,
            shares: false,
            follows_a_release: false,
            draining: false,
            watched: false,
            listens: false,
            keeps: true,
            hearing: Hearing::Nothing,
            steering: VecDeque::new(),
        }
    }

    /// Draws its pauses from this entropy.
    #[must_use]
    pub const fn with_entropy(mut self, entropy: Token) -> Self {
        self.entropy = entropy;
        self
    }

    /// Waits for people to decide what nobody decides at once: rests, for its row to be suspended.
    #[must_use]
    pub const fn suspending(mut self) -> Self {
        self.suspends = true;
        self
    }

    /// Asks its host for permits before it prepares a call (RUN-009).
    #[must_use]
    pub const fn sharing(mut self) -> Self {
        self.shares = true;
        self
    }

    /// Asks its lane what was said to it, before every request and before it ends.
    #[must_use]
    pub const fn listening(mut self) -> Self {
        self.listens = true;
        self
    }

    /// Tells what happens, to whoever watches.
    #[must_use]
    pub const fn watched(mut self, watched: bool) -> Self {
        self.watched = watched;
        self
    }

    /// The owner of the epoch before let go of the lane, and has not merely run out of its lease:
    /// what it opened the way to, it has not asked (BU-07).
    pub const fn follow_a_release(&mut self) {
        self.follows_a_release = true;
    }

    /// Whether the owner of the epoch before let go of the lane.
    #[must_use]
    pub const fn follows_a_release(&self) -> bool {
        self.follows_a_release
    }

    /// Begins nothing new from now on, whatever comes back. Whoever claims the lane next does.
    pub const fn drain(&mut self) {
        self.draining = true;
    }

    /// Whether it begins nothing new.
    #[must_use]
    pub const fn is_draining(&self) -> bool {
        self.draining
    }

    /// Goes on with what an earlier run of the same ownership period left in flight, as far as
    /// the fold still waits for it.
    #[must_use]
    pub fn with_flights(mut self, flights: Flights) -> Self {
        self.flights = flights.awaited_by(self.run());
        self
    }

    /// The fold.
    #[must_use]
    pub const fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What was folded.
    #[must_use]
    pub fn into_projection(self) -> Projection {
        self.projection
    }

    /// What is in flight.
    #[must_use]
    pub const fn flights(&self) -> &Flights {
        &self.flights
    }

    /// Takes back what never left. A call that was to start has its permits still.
    pub fn recall(&mut self, external: &External) {
        self.flights.recall(external);
        match external {
            External::InvokeTool(it) if self.shares => {
                self.flights.permitted.insert(it.call);
            }
            _ => {}
        }
    }

    /// Takes back a reminder that was never asked for.
    pub fn forget(&mut self, timer: Timer) {
        match timer {
            Timer::Retry(_) => self.flights.retry = None,
            Timer::Deadline | Timer::Warning | Timer::CallOff => {}
        }
    }

    /// Whether the run goes on by itself.
    #[must_use]
    pub const fn liveness(&self) -> Liveness {
        self.liveness
    }

    /// The epoch under which the run acts.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// What is canonical about the submission.
    #[must_use]
    pub fn view(&self) -> Option<&SubmissionView> {
        self.projection.submission(self.submission)
    }

    /// The run, once its input is canonical.
    #[must_use]
    pub fn run(&self) -> Option<&RunView> {
        self.view()?.run.as_ref()
    }

    /// How many more submissions it may take in.
    #[must_use]
    pub fn room(&self) -> usize {
        self.run().map_or(0, |run| JOINED_A_RUN.saturating_sub(run.late_inputs.len()))
    }

    /// The agent.
    pub(super) fn agent(&self) -> &AgentDefinition {
        &self.binding.definition
    }

    pub(super) fn policy(&self) -> &AgentPolicy {
        self.agent().policy()
    }

    /// What this run may use up (RUN-018).
    pub(super) fn allowance(&self) -> Allowance {
        let given = self.run().map(|run| run.input.allowance).unwrap_or_default();
        self.policy().allowance.tightened(&given)
    }

    /// On what terms the run goes on.
    pub(super) fn terms(&self) -> Terms<'_> {
        let allowance = self.allowance();
        let deadline = self.run().and_then(|run| super::budget::deadline(run, &allowance));
        let expired = deadline.is_some_and(|deadline| deadline <= self.now);
        Terms { agent: self.agent(), allowance, expired }
    }

    /// Makes a batch of records and folds it. None if the records exceed the bounds of a batch
    /// or contradict the fold; then nothing changes.
    #[must_use]
    pub fn fold(&mut self, records: Vec<Record>) -> Option<Arc<Batch>> {
        let batch = Arc::new(Batch::new(&self.conversation, records).ok()?);
        self.fold_batch(&batch).then_some(batch)
    }

    /// Folds a batch. False if it contradicts the fold; then nothing changes.
    #[must_use]
    pub fn fold_batch(&mut self, batch: &Batch) -> bool {
        self.projection.try_apply(self.epoch, batch).is_ok()
    }
}
