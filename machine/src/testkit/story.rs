//! A log that a test tells record by record, and the rows beside it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::agent::{binding, call, submission, text};
use crate::admission::creation;
use crate::agent::{
    Allowance, ApprovalTerms, Bound, Diagnostic, FinishReason, ModelResponse, Resolution,
    ResponsePart, Risk, ToolCall, ToolOutcome, Usage, Verdict,
};
use crate::approval::{Entry, Layer, Rule};
use crate::digest::Digest;
use crate::identity::{
    AdmissionSequence, ApprovalId, Epoch, PrincipalId, ProducerId, RunId, Sequence, SubmissionId,
    Timestamp, ToolCallId, ToolName, Turn,
};
use crate::ledger::{AbortIntent, Admission, Chain, Compat, Phase, ResolutionIntent, Row};
use crate::projection::{Projection, RunView, SubmissionView};
use crate::record::{
    AbortRequested, ApprovalDecided, ApprovalRequested, Batch, Compaction, CompactionCreated,
    Corruption, Doubt, Envelope, FinishKind, InputKind, InputRecorded, ModelInterrupted,
    ModelResponded, Record, RecoveryDecided, Resolver, RunRebound, Settlement, StepRecorded,
    StoredBatch, SubmissionSettled, ToolPrepared, ToolResolved, ToolSettled, ToolUnknown,
};

/// A submission of ada's in the conversation `main`, by its key; each method is one record of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tale(pub(crate) &'static str);

impl Tale {
    pub(crate) fn submission(self) -> SubmissionId {
        submission(self.0)
    }

    pub(crate) fn run(self) -> RunId {
        RunId::derive(self.submission())
    }

    /// The call at `index` of the response of a turn.
    pub(crate) fn call(self, turn: u32, index: usize) -> ToolCallId {
        ToolCallId::derive(self.run(), Turn(turn), index)
    }

    /// The start of a call under an epoch.
    pub(crate) fn start(self, turn: u32, index: usize, epoch: u64) -> Doubt {
        Doubt { call: self.call(turn, index), start: Epoch(epoch) }
    }

    pub(crate) fn input(self) -> Record {
        Record::InputRecorded(InputRecorded {
            submission: self.submission(),
            principal: PrincipalId::new("ada").unwrap(),
            run: self.run(),
            input: text(self.0),
            kind: InputKind::First { bound: binding().bound() },
            at: Timestamp(1_000),
            allowance: Allowance::default(),
        })
    }

    /// The model declares these calls, or answers in words if there are none.
    pub(crate) fn responded(self, turn: u32, calls: &[&str]) -> Record {
        let response = Arc::new(response(calls));
        let submission = self.submission();
        Record::ModelResponded(ModelResponded { submission, turn: Turn(turn), response })
    }

    pub(crate) fn interrupted(self, turn: u32, epoch: u64) -> Record {
        self.interrupted_again(turn, epoch, 0)
    }

    /// The same, after so many others of this turn.
    pub(crate) fn interrupted_again(self, turn: u32, epoch: u64, ordinal: u32) -> Record {
        Record::ModelInterrupted(ModelInterrupted {
            submission: self.submission(),
            turn: Turn(turn),
            epoch: Epoch(epoch),
            ordinal,
            lost_tokens: 0,
            lost_cost_micros: 0,
        })
    }

    /// Everything up to a record is made smaller before a turn, free of charge.
    pub(crate) fn compacted(self, turn: u32, through: u64, compaction: Compaction) -> Record {
        let (turn, through) = (Turn(turn), Sequence(through));
        let submission = self.submission();
        let usage = None;
        Record::CompactionCreated(CompactionCreated {
            submission,
            turn,
            through,
            compaction,
            usage,
        })
    }

    /// The request about a call with the parameters that [`response`] gives its tool.
    pub(crate) fn request(self, call: ToolCallId, tool: &str) -> ApprovalRequested {
        let (parameters, policy) = (text(tool).digest(), Digest::ZERO);
        ApprovalRequested {
            submission: self.submission(),
            request: ApprovalId::derive(call, parameters, policy),
            call,
            parameters,
            policy,
            capability: None,
            risk: Risk::High,
            rule: Rule { layer: Layer::Metadata, entry: Entry::Declared },
            target: None,
            preview: "".into(),
            terms: ApprovalTerms::default(),
        }
    }

    pub(crate) fn asked(self, call: ToolCallId, tool: &str) -> Record {
        Record::ApprovalRequested(self.request(call, tool))
    }

    pub(crate) fn decision(self, request: ApprovalId, verdict: Verdict) -> Record {
        Record::ApprovalDecided(ApprovalDecided {
            submission: self.submission(),
            request,
            verdict,
            resolver: Resolver::Policy,
            reason: "".into(),
        })
    }

    pub(crate) fn rebound(self, replaces: u64, from: Bound, to: Bound) -> Record {
        Record::RunRebound(RunRebound {
            submission: self.submission(),
            replaces: Sequence(replaces),
            from,
            to,
            principal: PrincipalId::new("ada").unwrap(),
            reason: "no harm".into(),
        })
    }

    /// A call with the parameters that [`response`] gives its tool is about to start.
    pub(crate) fn prepared(self, start: Doubt, tool: &str) -> Record {
        Record::ToolPrepared(ToolPrepared {
            submission: self.submission(),
            call: start.call,
            epoch: start.start,
            tool: ToolName::new(tool).unwrap(),
            parameters: text(tool).digest(),
        })
    }

    /// A step of [`super::BOOK`] is recorded behind so many others.
    pub(crate) fn step(self, call: ToolCallId, ordinal: u32, name: &str) -> Record {
        let (submission, output) = (self.submission(), super::step(name));
        let digest = output.output.digest();
        Record::StepRecorded(StepRecorded { submission, call, ordinal, output, digest })
    }

    pub(crate) fn tool_settled(self, call: ToolCallId, outcome: ToolOutcome) -> Record {
        let (submission, outcome) = (self.submission(), Arc::new(outcome));
        Record::ToolSettled(ToolSettled { submission, call, outcome })
    }

    pub(crate) fn unknown(self, doubt: Doubt) -> Record {
        Record::ToolUnknown(ToolUnknown { submission: self.submission(), doubt })
    }

    pub(crate) fn resolved(self, doubt: Doubt, resolution: Resolution) -> Record {
        let ResolutionIntent { resolution, principal, reason } = intent(resolution);
        let submission = self.submission();
        Record::ToolResolved(ToolResolved { submission, doubt, resolution, principal, reason })
    }

    pub(crate) fn abort_requested(self) -> Record {
        let AbortIntent { principal, reason } = abort();
        let submission = self.submission();
        Record::AbortRequested(AbortRequested { submission, principal, reason })
    }

    pub(crate) fn decided(self, epoch: u64, row: u8) -> Record {
        let (submission, epoch) = (self.submission(), Epoch(epoch));
        Record::RecoveryDecided(RecoveryDecided { submission, epoch, row })
    }

    /// The settlement of a submission whose input is canonical.
    pub(crate) fn settled(self, settlement: Settlement) -> Record {
        let (submission, run) = (self.submission(), Some(self.run()));
        Record::SubmissionSettled(SubmissionSettled { submission, run, settlement })
    }

    /// The row, in a phase that the caller chooses, without intents and marks.
    pub(crate) fn row(self, phase: Phase) -> Row {
        let call = call(self.0, self.0);
        let admission = Admission {
            submission: self.submission(),
            principal: call.principal,
            tenant: call.tenant,
            key: call.key,
            agent: call.binding.definition.id().clone(),
            payload: Digest::ZERO,
            input: call.input,
            allowance: call.allowance,
            steers: None,
        };
        Row {
            admission: Arc::new(admission),
            sequence: AdmissionSequence(0),
            admitted_at: Timestamp(1_000),
            claims: 1,
            fruitless: Vec::new(),
            phase,
            abort: None,
            marks: Vec::new(),
            approvals: Vec::new(),
            chain: Chain::default(),
            compat: Compat::default(),
        }
    }
}

/// A response that declares these calls, all under one label, or answers in words.
pub(crate) fn response(calls: &[&str]) -> ModelResponse {
    let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let call = |tool: &&str| {
        ResponsePart::Call(ToolCall {
            label: "same".into(),
            tool: ToolName::new(tool).unwrap(),
            parameters: text(tool),
        })
    };
    let mut parts: Vec<_> = calls.iter().map(call).collect();
    parts.push(ResponsePart::Text("done".into()));
    ModelResponse { parts, finish, usage: Some(Usage::default()) }
}

pub(crate) fn success(result: &str) -> ToolOutcome {
    ToolOutcome::Success(text(result))
}

pub(crate) fn completed() -> Settlement {
    Settlement::Completed { output: text("done"), finish: FinishKind::ModelStop, disposition: None }
}

pub(crate) fn failed(tag: &str) -> Settlement {
    Settlement::Failed { diagnostic: Diagnostic::cut(tag, "why"), limit: None }
}

pub(crate) fn abort() -> AbortIntent {
    AbortIntent { principal: PrincipalId::new("ada").unwrap(), reason: "changed my mind".into() }
}

pub(crate) fn intent(resolution: Resolution) -> ResolutionIntent {
    ResolutionIntent {
        resolution: Arc::new(resolution),
        principal: PrincipalId::new("operator").unwrap(),
        reason: "looked".into(),
    }
}

/// A log, and the fold of it that grew with it.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) batches: Vec<StoredBatch>,
    pub(crate) fold: Projection,
    pub(crate) epoch: Epoch,
}

impl Story {
    /// A conversation that was created under epoch 0 and holds nothing else. The next batch is
    /// written by epoch 1.
    pub(crate) fn new() -> Self {
        let call = call("1", "");
        let created = creation(&binding(), &call.conversation, &call.tenant).unwrap();
        let mut story = Self { batches: Vec::new(), fold: Projection::default(), epoch: Epoch(0) };
        story.fold.apply(Epoch(0), &created).unwrap();
        story.commit(created);
        story.at(1)
    }

    /// Goes on under another epoch.
    pub(crate) fn at(mut self, epoch: u64) -> Self {
        self.epoch = Epoch(epoch);
        self
    }

    /// Appends one batch of records that must fit.
    pub(crate) fn tell(mut self, records: impl IntoIterator<Item = Record>) -> Self {
        self.try_tell(records.into_iter().collect()).expect("the records fit the story");
        self
    }

    /// Appends one batch of records, if they contradict nothing; otherwise nothing changes.
    pub(crate) fn try_tell(&mut self, records: Vec<Record>) -> Result<(), Corruption> {
        let batch = Batch::new(&call("1", "").conversation, records).unwrap();
        self.fold.try_apply(self.epoch, &batch)?;
        self.commit(batch);
        Ok(())
    }

    fn commit(&mut self, batch: Batch) {
        let last = self.batches.last();
        let envelope = Envelope {
            conversation: batch.conversation().clone(),
            first_sequence: last.map(StoredBatch::next_sequence).unwrap_or_default(),
            epoch: self.epoch,
            producer: ProducerId::new("worker").unwrap(),
            committed_at: Timestamp(1_000),
            previous: last.map_or(Digest::ZERO, StoredBatch::chain),
        };
        self.batches.push(StoredBatch::commit(envelope, batch));
    }

    /// What is canonical about a submission.
    pub(crate) fn view(&self, tale: Tale) -> &SubmissionView {
        self.fold.submission(tale.submission()).expect("the story speaks of it")
    }

    pub(crate) fn run(&self, tale: Tale) -> &RunView {
        self.view(tale).run.as_ref().expect("its input is canonical")
    }
}
