//! What a fold knows of a conversation, its submissions, their turns and calls.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::agent::{Bound, Messages, ModelResponse, Resolution, StepOutput, ToolOutcome, Verdict};
use crate::identity::{
    ApprovalId, Epoch, RunId, Sequence, SubmissionId, ToolCallId, ToolName, Turn,
};
use crate::json::CanonicalJson;
use crate::limits::CALL_STARTS;
use crate::record::{
    AbortRequested, ApprovalRequested, CanonicalSettlement, ConversationCreated, Doubt,
    InputRecorded,
};

/// What a message takes beside its words, roughly.
const MESSAGE_BYTES: usize = 128;
/// What a submission takes that is settled and was never in doubt, roughly.
const SUBMISSION_BYTES: usize = 1_024;

/// Everything durable about a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Projection {
    pub(super) created: Option<Arc<ConversationCreated>>,
    pub(super) transcript: Messages,
    pub(super) submissions: BTreeMap<SubmissionId, Arc<SubmissionView>>,
    pub(super) next: Sequence,
}

impl Projection {
    /// The first record, once there is one.
    #[must_use]
    pub fn created(&self) -> Option<&ConversationCreated> {
        self.created.as_deref()
    }

    /// Messages of settled runs, whole batches only (RUN-033).
    #[must_use]
    pub const fn transcript(&self) -> &Messages {
        &self.transcript
    }

    /// What is canonical about a submission.
    #[must_use]
    pub fn submission(&self, submission: SubmissionId) -> Option<&SubmissionView> {
        self.submissions.get(&submission).map(Arc::as_ref)
    }

    /// Every submission with a canonical record.
    pub fn submissions(&self) -> impl Iterator<Item = (SubmissionId, &SubmissionView)> {
        self.submissions.iter().map(|(id, view)| (*id, view.as_ref()))
    }

    /// Sequence of the next record.
    #[must_use]
    pub const fn next_sequence(&self) -> Sequence {
        self.next
    }

    /// About how many bytes it takes. Costs the same however many they are.
    #[must_use]
    pub fn size(&self) -> usize {
        let said = usize::try_from(self.transcript.bytes()).unwrap_or(usize::MAX);
        let messages = self.transcript.len().saturating_mul(MESSAGE_BYTES);
        let submissions = self.submissions.len().saturating_mul(SUBMISSION_BYTES);
        said.saturating_add(messages).saturating_add(submissions)
    }
}

/// Everything canonical about one submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubmissionView {
    /// Its abort.
    pub abort: Option<Arc<AbortRequested>>,
    /// The last epoch that recorded its decision on taking over.
    pub decided: Option<Epoch>,
    /// The last epoch that got it anywhere (DUR-018).
    pub productive: Option<Epoch>,
    /// Its run, once the input is canonical.
    pub run: Option<RunView>,
    /// The submission whose run it has joined.
    pub joined: Option<SubmissionId>,
    /// Its settlement.
    pub settled: Option<CanonicalSettlement>,
}

impl SubmissionView {
    /// The calls that a response declared, over all turns.
    pub fn calls(&self) -> impl Iterator<Item = &CallView> {
        self.run.iter().flat_map(|run| &run.turns).flat_map(|turn| &turn.calls)
    }

    /// The starts of which nobody knows the outcome and nobody has said so.
    pub fn open_starts(&self) -> impl Iterator<Item = (Doubt, &CallView)> {
        self.calls().filter_map(|call| match (&call.outcome, call.starts.last()) {
            (None, Some(StartView { epoch, state: StartState::Open })) => {
                Some((Doubt { call: call.id, start: *epoch }, call))
            }
            _ => None,
        })
    }

    /// The doubts that are canonical and not closed.
    pub fn doubts(&self) -> impl Iterator<Item = Doubt> {
        self.starts(|state| matches!(state, StartState::Unknown))
    }

    /// The doubts that are canonically closed.
    pub fn resolved(&self) -> impl Iterator<Item = Doubt> {
        self.starts(|state| matches!(state, StartState::Resolved(_)))
    }

    /// The requests for approval that nobody has canonically decided, of calls that have not ended.
    pub fn open_approvals(&self) -> impl Iterator<Item = &ApprovalRequested> {
        let calls = self.calls().filter(|call| call.outcome.is_none());
        let approvals = calls.filter_map(CallView::approval);
        approvals.filter(|approval| approval.verdict.is_none()).map(|approval| &*approval.request)
    }

    /// The requests for approval that are canonically decided.
    pub fn decided_approvals(&self) -> impl Iterator<Item = ApprovalId> {
        let approvals = self.calls().flat_map(|call| &call.approvals);
        approvals.filter(|it| it.verdict.is_some()).map(|it| it.request.request)
    }

    fn starts(&self, wanted: fn(&StartState) -> bool) -> impl Iterator<Item = Doubt> {
        self.calls().flat_map(move |call| {
            let starts = call.starts.iter().filter(move |start| wanted(&start.state));
            starts.map(|start| Doubt { call: call.id, start: start.epoch })
        })
    }
}

/// A run: its input and its turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunView {
    /// Which run.
    pub run: RunId,
    /// Its input.
    pub input: Arc<InputRecorded>,
    /// Where in the log its input stands.
    pub input_at: Sequence,
    /// What it is bound to: nobody else goes on with it.
    pub bound: Bound,
    /// Where in the log that stands.
    pub bound_at: Sequence,
    /// Inputs that came while it was going on, in order.
    pub late_inputs: Vec<LateInput>,
    /// The epoch under which the input was recorded.
    pub input_epoch: Epoch,
    /// The last epoch that recorded an input, a response, a result of a call, a compaction, or that a
    /// question of the model was lost: no question of an earlier one can be out that is not paid
    /// for (BU-07).
    pub opened: Epoch,
    /// What it has used up on the way to its next turn.
    pub overhead: Overhead,
    /// The last turn before which its context was made smaller.
    pub compacted: Option<Turn>,
    /// The last turn before which older messages were summarized.
    pub summarized: Option<Turn>,
    /// Its turns. Emptied when the submission is settled and no call ever was in doubt.
    pub turns: Vec<TurnView>,
}

impl RunView {
    /// The turn that the model is asked for next.
    #[must_use]
    pub fn next_turn(&self) -> Turn {
        self.turns.last().map_or(Turn(0), |turn| turn.turn.next())
    }

    /// The calls of the last response that have no terminal result yet.
    pub fn unsettled_calls(&self) -> impl Iterator<Item = &CallView> {
        let last = self.turns.last().into_iter();
        last.flat_map(|turn| &turn.calls).filter(|call| call.outcome.is_none())
    }
}

/// An input that came while its run was going on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LateInput {
    /// The turn that is the first to see it.
    pub before: Turn,
    /// Where in the log it stands.
    pub at: Sequence,
    /// The input.
    pub input: Arc<InputRecorded>,
}

/// What the way to a response has used up: questions that came to nothing, and summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Overhead {
    /// Questions that came to nothing.
    pub lost: u32,
    /// Tokens.
    pub tokens: u64,
    /// Millionths of the binding's currency.
    pub cost_micros: u64,
}

impl Overhead {
    pub(super) const fn add(&mut self, tokens: u64, cost_micros: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost_micros = self.cost_micros.saturating_add(cost_micros);
    }
}

/// One turn: a response and what became of its calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnView {
    /// Which turn.
    pub turn: Turn,
    /// Where in the log it begins.
    pub at: Sequence,
    /// What asking for it used up beside the response.
    pub overhead: Overhead,
    /// The response.
    pub response: Arc<ModelResponse>,
    /// Its calls, in declaration order (ARC-04).
    pub calls: Vec<CallView>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallView {
    /// The engine's id.
    pub id: ToolCallId,
    /// The provider's label.
    pub label: Arc<str>,
    /// Which tool.
    pub tool: ToolName,
    /// With what.
    pub parameters: CanonicalJson,
    /// Its prepared starts, by rising epoch. Only the last can be in doubt.
    pub starts: Vec<StartView>,
    /// Its steps that are recorded, in order, while it has no result (DUR-010).
    pub steps: Vec<StepView>,
    /// The requests for its approval. Only the last can be undecided.
    pub approvals: Vec<ApprovalView>,
    /// How it ended.
    pub outcome: Option<Arc<ToolOutcome>>,
}

impl CallView {
    /// The last request for its approval.
    #[must_use]
    pub fn approval(&self) -> Option<&ApprovalView> {
        self.approvals.last()
    }

    /// Whether it was not started too often already to be started again by itself (DUR-014). Starts
    /// up to the last one that got a step recorded have got somewhere.
    #[must_use]
    pub fn may_start_again(&self) -> bool {
        let progressed = self.steps.last().map(|step| step.epoch);
        let in_vain = self.starts.iter().filter(|it| progressed.is_none_or(|at| at < it.epoch));
        in_vain.count() < CALL_STARTS
    }
}

/// A step that is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StepView {
    /// The epoch that recorded it.
    pub epoch: Epoch,
    /// Which step, and what it gave.
    pub output: Arc<StepOutput>,
}

/// A canonical request for approval, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApprovalView {
    /// The request.
    pub request: Arc<ApprovalRequested>,
    /// How it was decided.
    pub verdict: Option<Verdict>,
}

/// One prepared start of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StartView {
    /// The epoch that prepared it.
    pub epoch: Epoch,
    /// What is known of it.
    pub state: StartState,
}

/// What is canonically known of a start.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StartState {
    /// It was prepared.
    Open,
    /// It may have happened, and nobody knows.
    Unknown,
    /// It was unknown and somebody closed the doubt.
    Resolved(Arc<Resolution>),
}
