//! How each record changes the fold, and what it may not contradict.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::view::{
    ApprovalView, CallView, LateInput, Overhead, Projection, RunView, StartState, StartView,
    StepView, SubmissionView, TurnView,
};
use crate::agent::{Bound, ToolOutcome, Verdict};
use crate::identity::{ApprovalId, Epoch, Sequence, SubmissionId, ToolCallId};
use crate::record::{
    ApprovalDecided, ApprovalRequested, Batch, CanonicalSettlement, Compaction, CompactionCreated,
    Corruption, Doubt, InputKind, InputRecorded, ModelInterrupted, ModelResponded, Record,
    RunRebound, StepRecorded, StoredBatch, SubmissionSettled, ToolPrepared, ToolSettled,
};
use crate::steps;

/// A record that contradicts the records before it. Where it stands is known to the caller.
struct Contradiction;

type Applied = Result<(), Contradiction>;

fn ensure(holds: bool) -> Applied {
    if holds { Ok(()) } else { Err(Contradiction) }
}

impl Projection {
    /// Folds the records of a batch that `epoch` wrote.
    ///
    /// # Errors
    /// A record contradicts the records before it. The fold is then of no further use.
    pub fn apply(&mut self, epoch: Epoch, batch: &Batch) -> Result<(), Corruption> {
        for record in batch.records() {
            let at = self.next;
            self.record(epoch, at, record).map_err(|Contradiction| Corruption::History { at })?;
            self.next = at.next();
        }
        Ok(())
    }

    /// Folds a batch like [`Projection::apply`], or else changes nothing. What it costs depends on
    /// the submissions that the batch speaks of, and not on how many there are.
    ///
    /// # Errors
    /// A record contradicts the records before it.
    pub fn try_apply(&mut self, epoch: Epoch, batch: &Batch) -> Result<(), Corruption> {
        let (created, next) = (self.created.clone(), self.next);
        let transcript = self.transcript.clone();
        let spoken_of: BTreeSet<SubmissionId> =
            batch.records().iter().filter_map(Record::submission).collect();
        let views = spoken_of.into_iter().map(|id| (id, self.submissions.get(&id).cloned()));
        let views: Vec<_> = views.collect();
        let applied = self.apply(epoch, batch);
        if applied.is_err() {
            (self.created, self.next, self.transcript) = (created, next, transcript);
            for (id, view) in views {
                match view {
                    Some(view) => drop(self.submissions.insert(id, view)),
                    None => drop(self.submissions.remove(&id)),
                }
            }
        }
        applied
    }

    /// Folds a whole log from its beginning, as batches that link to each other.
    ///
    /// # Errors
    /// A batch does not link to the one before, or contradicts it.
    pub fn of<'a>(batches: impl IntoIterator<Item = &'a StoredBatch>) -> Result<Self, Corruption> {
        let mut reader = super::Reader::default();
        batches.into_iter().try_for_each(|batch| reader.feed(batch))?;
        Ok(reader.into_projection())
    }

    fn record(&mut self, epoch: Epoch, at: Sequence, record: &Record) -> Applied {
        match record {
            Record::ConversationCreated(it) => {
                ensure(self.created.is_none() && at == Sequence(0))?;
                self.created = Some(Arc::new(it.clone()));
                return Ok(());
            }
            _ => ensure(self.created.is_some())?,
        }
        let submission = record.submission().ok_or(Contradiction)?;
        let view = Arc::make_mut(self.submissions.entry(submission).or_default());
        if gets_anywhere(record) {
            view.productive = Some(epoch);
        }
        match record {
            Record::ConversationCreated(_) => Err(Contradiction),
            Record::InputRecorded(it) => {
                ensure(view.run.is_none() && view.joined.is_none() && view.settled.is_none())?;
                match it.kind {
                    InputKind::First { bound } => view.run = Some(begun(it, bound, at, epoch)),
                    InputKind::Steering { host } | InputKind::FollowUp { host } => {
                        self.join(host, it, at, epoch)?;
                    }
                }
                Ok(())
            }
            Record::ModelResponded(it) => responded(view.running()?, at, it, epoch),
            Record::ModelInterrupted(it) => {
                let run = view.running()?;
                lost(run, it, epoch)
            }
            Record::CompactionCreated(it) => {
                compacted(view.running()?, it, epoch)?;
                self.transcript = it.applied_to(&self.transcript);
                Ok(())
            }
            Record::ApprovalRequested(it) => asked(view.running()?, it),
            Record::ApprovalDecided(it) => decided(view.running()?, it),
            Record::ToolPrepared(it) => prepared(view.running()?, it, epoch),
            Record::StepRecorded(it) => stepped(view.running()?, it, epoch),
            Record::ToolSettled(it) => view.settle_call(it, epoch),
            Record::ToolUnknown(it) => {
                // Of an earlier start too: that a later one never happened says nothing of it.
                let open = |call: &CallView| call.id == it.doubt.call && call.outcome.is_none();
                ensure(view.calls().any(open))?;
                *view.running()?.start(it.doubt, &StartState::Open)? = StartState::Unknown;
                Ok(())
            }
            Record::ToolResolved(it) => {
                let run = view.run.as_mut().ok_or(Contradiction)?;
                let resolved = StartState::Resolved(it.resolution.clone());
                *run.start(it.doubt, &StartState::Unknown)? = resolved;
                Ok(())
            }
            Record::AbortRequested(it) => {
                ensure(view.abort.is_none() && view.settled.is_none())?;
                view.abort = Some(Arc::new(it.clone()));
                Ok(())
            }
            Record::RecoveryDecided(it) => {
                ensure(it.epoch == epoch && view.settled.is_none())?;
                ensure(view.decided.is_none_or(|before| before < epoch))?;
                view.decided = Some(epoch);
                Ok(())
            }
            Record::RunRebound(it) => rebound(view.running()?, at, it),
            Record::SubmissionSettled(it) => self.settle(submission, at, it),
        }
    }

    /// Adds an input to the run of another submission.
    fn join(
        &mut self,
        host: SubmissionId,
        it: &InputRecorded,
        at: Sequence,
        epoch: Epoch,
    ) -> Applied {
        let view = Arc::make_mut(self.submissions.get_mut(&host).ok_or(Contradiction)?);
        view.productive = Some(epoch);
        let run = view.running()?;
        ensure(it.run == run.run && host != it.submission)?;
        let before = run.next_turn();
        run.opened = epoch;
        run.late_inputs.push(LateInput { before, at, input: Arc::new(it.clone()) });
        if let Some(view) = self.submissions.get_mut(&it.submission) {
            Arc::make_mut(view).joined = Some(host);
        }
        Ok(())
    }

    fn settle(&mut self, id: SubmissionId, at: Sequence, it: &SubmissionSettled) -> Applied {
        let hosting = match self.submissions.get(&id).and_then(|view| view.joined) {
            // What has joined a run settles with it, and not before.
            Some(host) => {
                let host = self.submissions.get(&host).ok_or(Contradiction)?;
                ensure(host.settled.is_some())?;
                host.run.as_ref().map(|run| run.run)
            }
            None => None,
        };
        let view = Arc::make_mut(self.submissions.entry(id).or_default());
        let run = view.run.as_ref().map(|run| run.run).or(hosting);
        ensure(view.settled.is_none() && it.run == run)?;
        let digest = it.digest().map_err(|_| Contradiction)?;
        view.settled = Some(CanonicalSettlement::new(id, at, digest, &it.settlement));
        if let Some(run) = &mut view.run {
            run.show(&mut self.transcript);
        }
        view.forget_turns();
        Ok(())
    }
}

/// Whether a record is something that the next owner need not do again (DUR-018). That a call is
/// about to start, or that something was lost, is not: who dies of a call dies behind that.
const fn gets_anywhere(record: &Record) -> bool {
    match record {
        Record::InputRecorded(_)
        | Record::ModelResponded(_)
        | Record::CompactionCreated(_)
        | Record::ApprovalRequested(_)
        | Record::ApprovalDecided(_)
        | Record::StepRecorded(_)
        | Record::ToolSettled(_)
        | Record::ToolResolved(_)
        | Record::RunRebound(_)
        | Record::SubmissionSettled(_) => true,
        Record::ConversationCreated(_)
        | Record::ModelInterrupted(_)
        | Record::ToolPrepared(_)
        | Record::ToolUnknown(_)
        | Record::AbortRequested(_)
        | Record::RecoveryDecided(_) => false,
    }
}

impl SubmissionView {
    fn running(&mut self) -> Result<&mut RunView, Contradiction> {
        ensure(self.settled.is_none())?;
        self.run.as_mut().ok_or(Contradiction)
    }

    /// Records the one result of a call. After the settlement only a call that was in doubt can
    /// still get one, and it changes no outcome.
    fn settle_call(&mut self, it: &ToolSettled, epoch: Epoch) -> Applied {
        let is_settled = self.settled.is_some();
        let run = self.run.as_mut().ok_or(Contradiction)?;
        let call = run.call(it.call)?;
        let was_in_doubt = call.starts.last().is_some_and(|start| start.state != StartState::Open);
        ensure(call.outcome.is_none() && (was_in_doubt || !is_settled))?;
        // What is kept beside the log is no part of what the log means.
        call.outcome = Some(match &*it.outcome {
            ToolOutcome::Kept(kept) => Arc::new(ToolOutcome::Kept(kept.named())),
            _ => it.outcome.clone(),
        });
        // Nobody enters its handler any more.
        call.steps = Vec::new();
        run.opened = epoch;
        self.forget_turns();
        Ok(())
    }

    /// A settled submission needs its turns only if a call ever was in doubt: its row may still
    /// have to learn how the doubt was closed.
    fn forget_turns(&mut self) {
        let doubted = self.doubts().next().is_some() || self.resolved().next().is_some();
        let done = self.settled.is_some() && !doubted;
        if let Some(run) = self.run.as_mut().filter(|_| done) {
            run.turns.clear();
        }
    }
}

impl RunView {
    fn call(&mut self, id: ToolCallId) -> Result<&mut CallView, Contradiction> {
        let calls = self.turns.iter_mut().flat_map(|turn| &mut turn.calls);
        calls.into_iter().find(|call| call.id == id).ok_or(Contradiction)
    }

    fn start(
        &mut self,
        doubt: Doubt,
        expected: &StartState,
    ) -> Result<&mut StartState, Contradiction> {
        let starts = &mut self.call(doubt.call)?.starts;
        let start = starts.iter_mut().find(|start| start.epoch == doubt.start);
        let state = &mut start.ok_or(Contradiction)?.state;
        ensure(state == expected).map(|()| state)
    }
}

fn begun(it: &InputRecorded, bound: Bound, at: Sequence, epoch: Epoch) -> RunView {
    RunView {
        run: it.run,
        input: Arc::new(it.clone()),
        input_at: at,
        bound,
        bound_at: at,
        late_inputs: Vec::new(),
        input_epoch: epoch,
        opened: epoch,
        overhead: Overhead::default(),
        compacted: None,
        summarized: None,
        turns: Vec::new(),
    }
}

/// A run is bound anew from what it was bound to, and each binding is replaced once.
fn rebound(run: &mut RunView, at: Sequence, it: &RunRebound) -> Applied {
    ensure((it.from, it.replaces) == (run.bound, run.bound_at))?;
    (run.bound, run.bound_at) = (it.to, at);
    Ok(())
}

/// Questions for a turn come to nothing one after the other, while no call is open.
fn lost(run: &mut RunView, it: &ModelInterrupted, epoch: Epoch) -> Applied {
    ensure(it.epoch == epoch && it.turn == run.next_turn())?;
    ensure(it.ordinal == run.overhead.lost)?;
    run.opened = epoch;
    run.overhead.lost = run.overhead.lost.saturating_add(1);
    run.overhead.add(it.lost_tokens, it.lost_cost_micros);
    Ok(())
}

/// Context is made smaller between two turns, and only what earlier runs left of it.
fn compacted(run: &mut RunView, it: &CompactionCreated, epoch: Epoch) -> Applied {
    ensure(it.turn == run.next_turn() && run.unsettled_calls().next().is_none())?;
    ensure(it.through < run.input_at)?;
    let usage = it.usage.unwrap_or_default();
    run.overhead.add(usage.tokens(), usage.cost_micros);
    run.opened = epoch;
    run.compacted = Some(it.turn);
    match it.compaction {
        Compaction::ResultsCleared => {}
        Compaction::Summarized(_) => run.summarized = Some(it.turn),
    }
    Ok(())
}

fn responded(run: &mut RunView, at: Sequence, it: &ModelResponded, epoch: Epoch) -> Applied {
    ensure(it.turn == run.next_turn() && run.unsettled_calls().next().is_none())?;
    let calls = it.response.calls().enumerate().map(|(index, call)| CallView {
        id: ToolCallId::derive(run.run, it.turn, index),
        label: call.label.clone(),
        tool: call.tool.clone(),
        parameters: call.parameters.clone(),
        starts: Vec::new(),
        steps: Vec::new(),
        approvals: Vec::new(),
        outcome: None,
    });
    let calls = calls.collect();
    let (turn, response) = (it.turn, it.response.clone());
    let overhead = core::mem::take(&mut run.overhead);
    run.opened = epoch;
    run.turns.push(TurnView { turn, at, overhead, response, calls });
    Ok(())
}

/// A call that has not started is asked about once under each version of the policy, and again only
/// when the earlier request is decided.
fn asked(run: &mut RunView, it: &ApprovalRequested) -> Applied {
    let call = run.call(it.call)?;
    let is_own = it.request == ApprovalId::derive(it.call, it.parameters, it.policy);
    ensure(is_own && it.parameters == call.parameters.digest())?;
    ensure(call.outcome.is_none())?;
    let is_new =
        |before: &ApprovalView| before.verdict.is_some() && before.request.request != it.request;
    ensure(call.approvals.iter().all(is_new))?;
    call.approvals.push(ApprovalView { request: Arc::new(it.clone()), verdict: None });
    Ok(())
}

/// A request is decided once.
fn decided(run: &mut RunView, it: &ApprovalDecided) -> Applied {
    let calls = run.turns.iter_mut().flat_map(|turn| &mut turn.calls);
    let mut asked = calls.filter_map(|call| call.approvals.last_mut());
    let approval = asked.find(|approval| approval.request.request == it.request);
    let approval = approval.ok_or(Contradiction)?;
    ensure(approval.verdict.is_none())?;
    approval.verdict = Some(it.verdict);
    Ok(())
}

/// Steps follow each other, each named once, and are recorded by the start that runs (DUR-010).
fn stepped(run: &mut RunView, it: &StepRecorded, epoch: Epoch) -> Applied {
    let call = run.call(it.call)?;
    let runs = |last: &StartView| last.epoch == epoch && last.state == StartState::Open;
    ensure(call.outcome.is_none() && call.starts.last().is_some_and(runs))?;
    let recorded = call.steps.iter().map(|step| &*step.output);
    ensure(it.ordinal as usize == call.steps.len())?;
    steps::follows(recorded, &it.output).map_err(|_| Contradiction)?;
    call.steps.push(StepView { epoch, output: it.output.clone() });
    Ok(())
}

/// A call starts at most once in an epoch, and never again once it has ended or is unknown.
fn prepared(run: &mut RunView, it: &ToolPrepared, epoch: Epoch) -> Applied {
    let call = run.call(it.call)?;
    let fits = it.epoch == epoch && it.tool == call.tool;
    let last = call.starts.last();
    let is_in_doubt = call.starts.iter().any(|start| start.state == StartState::Unknown);
    let may_start = !is_in_doubt && last.is_none_or(|last| last.epoch < epoch);
    ensure(fits && call.outcome.is_none() && may_start)?;
    ensure(it.parameters == call.parameters.digest())?;
    // Nothing starts that somebody was asked about and did not approve (AUTH-15).
    ensure(call.approval().is_none_or(|it| it.verdict == Some(Verdict::Approved)))?;
    call.starts.push(StartView { epoch, state: StartState::Open });
    Ok(())
}
