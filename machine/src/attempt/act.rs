//! Acting: each decision of the classifier, performed on predicted slices.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::effect::{Effect, End};
use super::predict::{Defect, Draft, Predicted};
use super::state::{Setup, Working};
use crate::agent::Bound;
use crate::agent::{ExecutionClass, Resolution};
use crate::effect::{Doubted, External, Reconciliation};
use crate::identity::RunId;
use crate::ledger::{AbortIntent, Command, Mismatch, Ownership, RebindIntent, Reserved};
use crate::record::{
    AbortRequested, ApprovalDecided, Doubt, InputKind, InputRecorded, Record, RecoveryDecided,
    RunRebound, Settlement, SubmissionSettled, ToolSettled, ToolUnknown,
};
use crate::recovery::{AbortStep, Classified, Decided, Decision, Evidence, OwnKnowledge, classify};
use crate::run;

/// How classification goes on after an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Classify again, on the slices as they are predicted to be.
    Again,
    /// The outside has to answer first.
    Wait,
    /// The attempt is over once the pipeline is acknowledged.
    Over(End),
}

use Progress::{Again, Over, Wait};

impl Working {
    /// Classifies, and performs the one decision.
    pub(super) fn act(&mut self, setup: &Setup, draft: &mut Draft) -> Result<Progress, Defect> {
        let row = self.slice.rows.first().ok_or(Defect)?;
        let own = self.own_knowledge();
        let beside = self.slice.rows.get(1..).unwrap_or_default();
        let fold = self.run.projection();
        let evidence = Evidence::gather(row, beside, fold, &own, &self.bound, self.read_at);
        let classified = classify(&evidence);
        match classified.decision {
            Decision::Nothing => return self.leave(draft, End::Settled),
            Decision::AwaitResolution | Decision::AwaitApproval | Decision::AwaitHost => {
                return self.leave(draft, End::Parked);
            }
            Decision::Incompatible(mismatch) => return self.report(setup, draft, mismatch),
            _ if self.has_let_go() => return Ok(Over(End::Settled)),
            _ => {}
        }
        let claims = self.ownership().is_none();
        let owner = self.open(setup, draft)?;
        if claims {
            // A claim says more of its row than could be read: how its last owner ended (DUR-018).
            return Ok(Again);
        }
        self.audit(setup, draft, &classified)?;
        self.perform(setup, draft, owner, classified.decision)
    }

    /// Whether the lane was given back by this very attempt, by finalizing. What is left to do
    /// about the row is an errand for another one, under another epoch.
    fn has_let_go(&self) -> bool {
        self.ownership().is_none() && self.slice.lane.epoch >= self.run.epoch()
    }

    fn own_knowledge(&self) -> OwnKnowledge {
        let harmless = |proof: &Reconciliation| {
            matches!(
                proof,
                Reconciliation::Proven(Resolution::NeverStarted | Resolution::SafeToRepeat)
            )
        };
        let excused = self.proofs.iter().filter(|(_, proof)| harmless(proof));
        let excused: BTreeSet<Doubt> = excused.map(|(doubt, _)| *doubt).collect();
        OwnKnowledge { in_flight: self.run.flights().tools.clone(), excused }
    }

    /// Gives the lane back, if it is held. Whoever never claimed has simply found nothing to do.
    fn leave(&mut self, draft: &mut Draft, end: End) -> Result<Progress, Defect> {
        match self.ownership() {
            Some(owner) => {
                self.ledger(draft, Command::Release { owner })?;
                Ok(Over(end))
            }
            None if draft.commands.is_empty() => Ok(Over(End::Idle)),
            None => Ok(Over(end)),
        }
    }

    /// Leaves a run alone that is bound to something else, and says so unless that is known. Nothing
    /// is claimed for it: whoever can go on may do so at once, a paused owner among them.
    fn report(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        mismatch: Mismatch,
    ) -> Result<Progress, Defect> {
        if let Some(owner) = self.ownership() {
            self.ledger(draft, Command::Release { owner })?;
        }
        let row = self.slice.rows.first().ok_or(Defect)?;
        if !row.compat.knows(&mismatch) {
            let (submission, epoch) = (self.submission, self.slice.lane.epoch);
            let by = setup.producer.clone();
            self.ledger(draft, Command::Incompatible { submission, epoch, mismatch, by })?;
        }
        Ok(Over(End::Incompatible))
    }

    /// Whoever takes over a run says once an epoch what it decided (DUR-013). A decision that
    /// leaves the log as it is needs no record.
    fn audit(&mut self, setup: &Setup, draft: &mut Draft, classified: &Classified) -> Predicted {
        let epoch = self.run.epoch();
        let Some(view) = self.run.view() else { return Ok(()) };
        let took_over = view.run.as_ref().is_some_and(|run| run.input_epoch < epoch);
        if !took_over || view.decided == Some(epoch) || view.settled.is_some() {
            return Ok(());
        }
        let (submission, row) = (self.submission, classified.row);
        let record = Record::RecoveryDecided(RecoveryDecided { submission, epoch, row });
        self.record(setup, draft, alloc::vec![record])
    }

    fn perform(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        owner: Ownership,
        decision: Decision,
    ) -> Result<Progress, Defect> {
        let submission = self.submission;
        match decision {
            // Opening has made the conversation; the others have returned already.
            Decision::Materialize
            | Decision::Nothing
            | Decision::AwaitResolution
            | Decision::AwaitApproval
            | Decision::AwaitHost
            | Decision::Incompatible(_) => {}
            Decision::RepairReadiness => self.ledger(draft, Command::Ready { submission })?,
            Decision::ApplyInput => self.apply_input(setup, draft)?,
            Decision::RepairInputMarker => self.ledger(draft, Command::MarkInput { owner })?,
            Decision::EnsureUnknown(doubts) => {
                self.ledger(draft, Command::MarkUnknown { owner, doubts })?;
            }
            Decision::CoverUnknown(doubts) => {
                self.ledger(draft, Command::CoverUnknown { owner, doubts })?;
            }
            Decision::EnsureSuspended(requests) => {
                self.ledger(draft, Command::Suspend { owner, requests })?;
            }
            Decision::ExpireApprovals(requests) => {
                self.ledger(draft, Command::Expire { owner, requests })?;
            }
            Decision::DecideApprovals(decided) => {
                let decided = decided.into_iter().map(|it| self.decided_record(it)).collect();
                self.record(setup, draft, decided)?;
            }
            Decision::CoverApprovals(requests) => {
                self.ledger(draft, Command::CoverApprovals { owner, requests })?;
            }
            Decision::ApplyResolutions(intents) => return self.resolve(setup, draft, &intents),
            Decision::Reconcile(doubts) => return self.reconcile(setup, draft, &doubts),
            Decision::SettleAborted(step) => self.abort(setup, draft, owner, step)?,
            Decision::RepairJoin(joined) => {
                for joined in joined {
                    self.ledger(draft, Command::MarkJoined { owner, joined })?;
                }
            }
            Decision::RevertJoin(joining) => {
                for joining in joining {
                    self.ledger(draft, Command::RevertJoin { owner, joining })?;
                }
            }
            Decision::SettleJoined(settlements) => {
                for settlement in settlements {
                    self.ledger(draft, Command::SettleJoined { owner, settlement })?;
                }
            }
            Decision::AppendReserved(reserved) => self.append_reserved(setup, draft, &reserved)?,
            Decision::FinalizeFromHistory(settlement) => {
                self.ledger(draft, Command::Finalize { owner, settlement })?;
            }
            Decision::Rebind(intent, from) => {
                let record = self.rebound_record(intent, from);
                self.record(setup, draft, alloc::vec![record])?;
            }
            Decision::CoverIncompatible => {
                self.ledger(draft, Command::CoverIncompatible { owner })?;
            }
            Decision::EndIncompatible(mismatch) => {
                self.charge_the_dead(setup, draft)?;
                self.reserve(draft, run::incompatible(&mismatch))?;
            }
            Decision::GiveUp => {
                self.charge_the_dead(setup, draft)?;
                self.reserve(draft, run::poison())?;
            }
            Decision::ResumeBatch(_) | Decision::ResumeTurn => {
                let now = self.read_at;
                self.drive(setup, draft, run::Input::Resumed { now })?;
            }
        }
        Ok(Again)
    }

    fn apply_input(&mut self, setup: &Setup, draft: &mut Draft) -> Predicted {
        let row = self.slice.rows.first().ok_or(Defect)?;
        let record = InputRecorded {
            submission: self.submission,
            principal: row.admission.principal.clone(),
            run: RunId::derive(self.submission),
            input: row.admission.input.clone(),
            kind: InputKind::First { bound: self.bound },
            at: self.read_at,
            allowance: row.admission.allowance,
        };
        self.record(setup, draft, alloc::vec![Record::InputRecorded(record)])
    }

    /// Fixes the settlement. Appending and finalizing it are decisions of their own.
    pub(super) fn reserve(&mut self, draft: &mut Draft, settlement: Settlement) -> Predicted {
        let owner = self.ownership().ok_or(Defect)?;
        let run = self.run.run().map(|run| run.run);
        let record = SubmissionSettled { submission: self.submission, run, settlement };
        let digest = record.digest().map_err(|_| Defect)?;
        let reserved = Reserved { record: Arc::new(record), digest };
        self.ledger(draft, Command::Reserve { owner, reserved })
    }

    fn abort(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        owner: Ownership,
        step: AbortStep,
    ) -> Predicted {
        match step {
            AbortStep::Audit { .. } if self.keep_returned(setup, draft)? => Ok(()),
            AbortStep::Audit { request, doubts, decided } => {
                let lost = self.run.died_with_an_owner(self.has_own_agent());
                let request = request.map(|intent| self.abort_record(intent));
                let doubts = doubts.into_iter().map(|doubt| self.unknown_record(doubt));
                let decided = decided.into_iter().map(|it| self.decided_record(it));
                let records = request.into_iter().chain(lost).chain(doubts).chain(decided);
                let records: Vec<Record> = records.collect();
                self.record(setup, draft, records)
            }
            AbortStep::Mark(doubts) => self.ledger(draft, Command::MarkUnknown { owner, doubts }),
            AbortStep::Reserve => self.reserve(draft, Settlement::Aborted),
        }
    }

    /// Whether it has the agent that the run is bound to.
    fn has_own_agent(&self) -> bool {
        self.run.run().is_none_or(|run| run.bound == self.bound)
    }

    /// Records what may have been asked by an owner that died, before a run ends that nobody goes on
    /// with (BU-07).
    fn charge_the_dead(&mut self, setup: &Setup, draft: &mut Draft) -> Predicted {
        match self.run.died_with_an_owner(self.has_own_agent()) {
            Some(record) => self.record(setup, draft, alloc::vec![record]),
            None => Ok(()),
        }
    }

    fn abort_record(&self, AbortIntent { principal, reason }: AbortIntent) -> Record {
        Record::AbortRequested(AbortRequested { submission: self.submission, principal, reason })
    }

    fn decided_record(&self, decided: Decided) -> Record {
        let Decided { request, verdict, resolver, reason } = decided;
        let submission = self.submission;
        Record::ApprovalDecided(ApprovalDecided { submission, request, verdict, resolver, reason })
    }

    fn rebound_record(&self, intent: RebindIntent, from: Bound) -> Record {
        let RebindIntent { replaces, to, principal, reason } = intent;
        let submission = self.submission;
        Record::RunRebound(RunRebound { submission, replaces, from, to, principal, reason })
    }

    fn unknown_record(&self, doubt: Doubt) -> Record {
        Record::ToolUnknown(ToolUnknown { submission: self.submission, doubt })
    }

    /// Finds out what became of starts in doubt: by class, then by asking; what nobody can prove
    /// is unknown (DUR-009). All of them in one decision.
    fn reconcile(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        doubts: &[Doubt],
    ) -> Result<Progress, Defect> {
        if doubts.iter().any(|doubt| self.needs_a_successor(setup, *doubt)) {
            return self.leave(draft, End::Unanswered);
        }
        for doubt in doubts {
            self.examine(setup, draft, *doubt)?;
        }
        if !self.asked.is_empty() {
            return Ok(Wait);
        }
        let (mut settled, mut unknown) = (Vec::new(), Vec::new());
        for doubt in doubts {
            match self.proofs.get(doubt) {
                Some(Reconciliation::Proven(resolution)) => {
                    let result = self.result_record(*doubt, resolution);
                    settled.extend(result.map(|record| alloc::vec![record]));
                }
                Some(Reconciliation::Unprovable) => unknown.push(self.unknown_record(*doubt)),
                None => return Err(Defect),
            }
        }
        self.record_groups(setup, draft, settled)?;
        if !unknown.is_empty() {
            self.record(setup, draft, unknown)?;
        }
        Ok(Again)
    }

    /// Whether a start of this very epoch gave no answer, and is to be asked about or made again.
    /// "Never started" keeps starts of earlier epochs from happening, and no others: only under a
    /// later epoch is it worth anything, so the lane is let go.
    fn needs_a_successor(&self, setup: &Setup, doubt: Doubt) -> bool {
        let is_new = doubt.start == self.run.epoch() && !self.proofs.contains_key(&doubt);
        let view = self.run.view();
        let call = view.and_then(|view| view.calls().find(|call| call.id == doubt.call));
        is_new
            && call.is_some_and(|call| {
                let definition = &setup.binding.definition;
                let reconciles = definition.tool(&call.tool).is_some_and(|tool| tool.reconciles);
                let repeats = definition.class_of(&call.tool) != ExecutionClass::Ordinary;
                call.may_start_again() && (reconciles || repeats)
            })
    }

    fn examine(&mut self, setup: &Setup, draft: &mut Draft, doubt: Doubt) -> Predicted {
        if self.proofs.contains_key(&doubt) || self.asked.contains(&doubt) {
            return Ok(());
        }
        let view = self.run.view().ok_or(Defect)?;
        let call = view.calls().find(|call| call.id == doubt.call).ok_or(Defect)?;
        // Who has another definition knows neither its class nor whom to ask.
        let is_own = view.run.as_ref().is_some_and(|run| run.bound == self.bound);
        if !is_own || !call.may_start_again() {
            self.proofs.insert(doubt, Reconciliation::Unprovable);
            return Ok(());
        }
        let tool = call.tool.clone();
        let definition = setup.binding.definition.tool(&tool);
        let reconciles = definition.is_some_and(|tool| tool.reconciles);
        match setup.binding.definition.class_of(&tool) {
            // A durable one is entered again: what is recorded of it is not run again (DUR-010).
            ExecutionClass::Readonly | ExecutionClass::Idempotent | ExecutionClass::Durable => {
                let proof = Reconciliation::Proven(Resolution::SafeToRepeat);
                self.proofs.insert(doubt, proof);
            }
            ExecutionClass::Ordinary if reconciles => {
                self.asked.insert(doubt);
                let asking = self.run.epoch();
                let question = External::Reconcile(Doubted { doubt, tool, asking });
                draft.after.push(Effect::External(question));
            }
            ExecutionClass::Ordinary => {
                self.proofs.insert(doubt, Reconciliation::Unprovable);
            }
        }
        Ok(())
    }

    pub(super) fn result_record(&self, doubt: Doubt, resolution: &Resolution) -> Option<Record> {
        let (submission, call) = (self.submission, doubt.call);
        let outcome = self.run.kept(call, Arc::new(resolution.outcome()?));
        Some(Record::ToolSettled(ToolSettled { submission, call, outcome }))
    }
}
