//! Approval: what was canonically decided counts; then a policy may decide at once; the rest waits
//! for people.
//!
//! ```text
//! a call of a tool that asks --asked, decided at once--> decided      one batch (CAP-006)
//!                            --asked, not decided------> the run rests, and its row is suspended
//! every call decided --> one is denied: no call of the batch starts
//!                    --> all are approved: the host is asked
//! ```
//!
//! A decision counts for exactly the parameters and the version of the policy that it was asked
//! under (AUTH-13). A denial stands whatever the policy says by now (AP-03).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::Effects;
use super::{Effect, Liveness, State};
use crate::agent::{ApprovalRule, RejectionReason, ToolOutcome, Verdict};
use crate::effect::{ApprovalAnswer, ApprovalQuestion, External};
use crate::identity::ApprovalId;
use crate::limits::APPROVAL_PREVIEW_BYTES;
use crate::projection::CallView;
use crate::record::{ApprovalDecided, ApprovalRequested, Record, Resolver};

impl State {
    /// Asks about the calls whose tools want that and that nobody was asked about.
    pub(super) fn approve(&mut self, waiting: &[CallView], effects: &mut Effects) {
        let Some((run, turn)) = self.place() else { return };
        let questions: Vec<ApprovalQuestion> =
            waiting.iter().filter_map(|call| self.question(call)).collect();
        if questions.is_empty() {
            return self.conclude(waiting, effects);
        }
        self.flights.approver = Some(turn);
        effects.push(Effect::External(External::Approve { run, turn, questions }));
    }

    /// What to ask about a call, if its tool wants that and the question was never put.
    fn question(&self, call: &CallView) -> Option<ApprovalQuestion> {
        let tool = self.agent().tool(&call.tool)?;
        let digest = call.parameters.digest();
        let request = ApprovalId::derive(call.id, digest, self.agent().approval_digest());
        let is_put = call
            .approval()
            .is_some_and(|it| it.request.request == request || it.verdict == Some(Verdict::Denied));
        (tool.approval == ApprovalRule::Ask && !is_put).then(|| ApprovalQuestion {
            request,
            call: call.id,
            tool: call.tool.clone(),
            risk: tool.risk,
            digest,
            preview: call.parameters.redacted(&tool.redact),
        })
    }

    /// Makes canonical what was asked, and in the same batch what was decided at once. Whatever is
    /// left is for people: the run rests, and nobody is told before it is canonical.
    pub(super) fn approved(&mut self, answers: &[ApprovalAnswer], effects: &mut Effects) {
        let waiting = self.waiting();
        let questions = waiting.iter().filter_map(|call| self.question(call));
        let asked = questions.map(|it| (self.verdict_on(&it, answers), it));
        let asked: Vec<(Option<Verdict>, ApprovalQuestion)> = asked.collect();
        let is_open = asked.iter().any(|(verdict, _)| verdict.is_none());
        let requests = asked.iter().map(|(_, question)| self.requested(question));
        let decisions = asked
            .iter()
            .filter_map(|(verdict, question)| Some(self.at_once(question.request, (*verdict)?)));
        let records: Vec<Record> = requests.chain(decisions).collect();
        if !records.is_empty() {
            self.commit(records, effects);
        }
        if is_open {
            self.liveness = Liveness::Resting;
        } else {
            let waiting = self.waiting();
            self.conclude(&waiting, effects);
        }
    }

    /// An answer counts for exactly the parameters that were asked about.
    fn verdict_on(
        &self,
        question: &ApprovalQuestion,
        answers: &[ApprovalAnswer],
    ) -> Option<Verdict> {
        let about = |it: &&ApprovalAnswer| (it.call, it.digest) == (question.call, question.digest);
        let said = answers.iter().filter(about).map(|answer| answer.verdict);
        // Of two answers the stricter one counts.
        said.max().or((!self.suspends).then_some(Verdict::Denied))
    }

    fn requested(&self, question: &ApprovalQuestion) -> Record {
        let preview = question.preview.as_str();
        let preview = &preview[..preview.floor_char_boundary(APPROVAL_PREVIEW_BYTES)];
        Record::ApprovalRequested(ApprovalRequested {
            submission: self.submission,
            request: question.request,
            call: question.call,
            parameters: question.digest,
            policy: self.agent().approval_digest(),
            risk: question.risk,
            preview: preview.into(),
            terms: self.policy().approval.clone(),
        })
    }

    fn at_once(&self, request: ApprovalId, verdict: Verdict) -> Record {
        Record::ApprovalDecided(ApprovalDecided {
            submission: self.submission,
            request,
            verdict,
            resolver: Resolver::Policy,
            reason: "decided at once".into(),
        })
    }

    /// Everything is decided: the batch goes on as a whole, or not at all.
    fn conclude(&mut self, waiting: &[CallView], effects: &mut Effects) {
        let is_denied =
            |call: &CallView| call.approval().is_some_and(|it| it.verdict == Some(Verdict::Denied));
        if !waiting.iter().any(is_denied) {
            return self.authorize(waiting, effects);
        }
        let denied = waiting.iter().map(|call| {
            let reason = if is_denied(call) {
                RejectionReason::NotApproved
            } else {
                RejectionReason::BatchRefused
            };
            self.settled(call.id, Arc::new(ToolOutcome::Rejected(reason)))
        });
        let records = denied.collect();
        self.close(records, effects);
    }
}
