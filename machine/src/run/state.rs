//! What a run knows: the fold, and what is in flight outside.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::agent::Binding;
use crate::effect::{Answer, External};
use crate::identity::{ConversationId, Epoch, SubmissionId, ToolCallId, Turn};
use crate::projection::{Projection, RunView, SubmissionView};
use crate::record::{Batch, Doubt, Record};

/// What was asked of the outside and is not answered. The volatile half of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flights {
    /// The turn that the model is asked for.
    pub model: Option<Turn>,
    /// The turn that the authorizer is asked about.
    pub authorizer: Option<Turn>,
    /// The starts of tools.
    pub tools: BTreeSet<Doubt>,
}

impl Flights {
    /// Whether nothing is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.model.is_none() && self.authorizer.is_none() && self.tools.is_empty()
    }

    /// Takes back what never left.
    pub fn recall(&mut self, external: &External) {
        match external {
            External::CallModel(_) => self.model = None,
            External::Authorize { .. } => self.authorizer = None,
            External::InvokeTool(it) => {
                self.tools.remove(&Doubt { call: it.call, start: it.epoch });
            }
            External::Reconcile(_) => {}
        }
    }

    /// Takes back an answer whose consequences were never committed: it is awaited again.
    pub fn restore(&mut self, answer: &Answer) {
        match answer {
            Answer::Model { turn, .. } => self.model = Some(*turn),
            Answer::Authorizer { turn, .. } => self.authorizer = Some(*turn),
            Answer::Tool { start, .. } => {
                self.tools.insert(*start);
            }
            Answer::Reconciler { .. } => {}
        }
    }
}

/// Whether a run goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// The classifier governs.
    Resting,
    /// The run governs.
    Live,
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
        let flights = Flights { model: None, authorizer: None, tools: BTreeSet::new() };
        let liveness = Liveness::Resting;
        Self { binding, conversation, submission, epoch, projection, flights, liveness }
    }

    /// Goes on with what an earlier run of the same ownership period left in flight, as far as
    /// the fold still waits for it.
    #[must_use]
    pub fn with_flights(mut self, mut flights: Flights) -> Self {
        let next_turn = self.run().map(RunView::next_turn);
        let waiting: Vec<ToolCallId> =
            self.run().into_iter().flat_map(RunView::unsettled_calls).map(|call| call.id).collect();
        flights.model = flights.model.filter(|turn| Some(*turn) == next_turn);
        flights.authorizer = flights.authorizer.filter(|turn| Some(turn.next()) == next_turn);
        flights.tools.retain(|start| waiting.contains(&start.call));
        self.flights = flights;
        self
    }

    /// The fold.
    #[must_use]
    pub const fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What is in flight.
    #[must_use]
    pub const fn flights(&self) -> &Flights {
        &self.flights
    }

    /// Takes back what never left.
    pub fn recall(&mut self, external: &External) {
        self.flights.recall(external);
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
