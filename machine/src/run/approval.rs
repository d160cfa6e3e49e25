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
use super::{Effect, Liveness, State, clear};
use crate::agent::{RejectionReason, Verdict};
use crate::effect::{ApprovalAnswer, ApprovalQuestion, Clearance, Clearances, External, Subject};
use crate::identity::ApprovalId;
use crate::limits::{APPROVAL_PREVIEW_BYTES, TEXT_BYTES};
use crate::projection::CallView;
use crate::record::{ApprovalDecided, ApprovalRequested, Record};

impl State {
    /// Asks about the calls that somebody is to be asked about and that nobody was asked about.
    pub(super) fn approve(
        &mut self,
        waiting: &[CallView],
        said: &Clearances,
        effects: &mut Effects,
    ) {
        let (Some((run, turn)), Some(asker)) = (self.place(), self.asker()) else { return };
        let questions: Arc<[ApprovalQuestion]> =
            together(waiting.iter().filter_map(|call| self.question(call, said)).collect());
        if questions.is_empty() {
            return self.conclude(waiting, effects);
        }
        self.flights.approver = Some((turn, questions.clone()));
        effects.push(Effect::External(External::Approve { run, turn, asker, questions }));
    }

    /// What to ask about a call, if somebody is to be asked and the question was never put.
    fn question(&self, call: &CallView, said: &Clearances) -> Option<ApprovalQuestion> {
        let tool = self.agent().tool(&call.tool)?;
        let Clearance::Prompt { risk, rule } = clear::of(said, call.id)? else { return None };
        let digest = call.parameters.digest();
        let request = ApprovalId::derive(call.id, digest, said.policy);
        // Each request is put once, also if the policy has become what it was before.
        let is_put = call.approvals.iter().any(|it| it.request.request == request);
        let is_denied = call.approval().is_some_and(|it| it.verdict == Some(Verdict::Denied));
        let preview = call.parameters.redacted(&tool.redact);
        (!is_put && !is_denied).then(|| ApprovalQuestion {
            request,
            call: call.id,
            tool: call.tool.clone(),
            capability: tool.capability.clone(),
            risk: *risk,
            rule: rule.clone(),
            policy: said.policy,
            digest,
            target: clear::target(tool, &preview),
            preview,
            stands_for: 1,
            terms: self.policy().approval.terms.clone(),
        })
    }

    /// Makes canonical what was asked, and in the same batch what was decided at once. Whatever is
    /// left is for people: the run rests, and nobody is told before it is canonical.
    pub(super) fn approved(
        &mut self,
        questions: &[ApprovalQuestion],
        answers: &[ApprovalAnswer],
        effects: &mut Effects,
    ) {
        let asked = questions.iter().map(|it| (self.answer_to(it, answers), it));
        let asked: Vec<(Option<ApprovalAnswer>, &ApprovalQuestion)> = asked.collect();
        let is_open = asked.iter().any(|(answer, _)| answer.is_none());
        let requests = asked.iter().map(|(_, question)| self.requested(question));
        let decisions = asked.iter().filter_map(|(answer, question)| {
            Some(self.decided(question.request, answer.as_ref()?))
        });
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

    /// An answer counts for exactly the parameters that were asked about, from who may give it.
    fn answer_to(
        &self,
        question: &ApprovalQuestion,
        answers: &[ApprovalAnswer],
    ) -> Option<ApprovalAnswer> {
        let about = |it: &&ApprovalAnswer| {
            (it.call, it.digest) == (question.call, question.digest) && question.is_for(&it.by)
        };
        // Of two answers the stricter one counts.
        let said = answers.iter().filter(about).max_by_key(|answer| answer.verdict);
        said.cloned().or_else(|| (!self.suspends).then(|| question.at_once(Verdict::Denied)))
    }

    fn requested(&self, question: &ApprovalQuestion) -> Record {
        let preview = question.preview.as_str();
        let preview = &preview[..preview.floor_char_boundary(APPROVAL_PREVIEW_BYTES)];
        let target = match &question.target {
            Subject::Named(resource) => Some(resource.as_str().into()),
            Subject::Unsaid | Subject::Unresolved => None,
        };
        Record::ApprovalRequested(ApprovalRequested {
            submission: self.submission,
            request: question.request,
            call: question.call,
            parameters: question.digest,
            policy: question.policy,
            capability: question.capability.clone(),
            risk: question.risk,
            rule: question.rule.clone(),
            target,
            preview: preview.into(),
            terms: question.terms.clone(),
        })
    }

    fn decided(&self, request: ApprovalId, answer: &ApprovalAnswer) -> Record {
        Record::ApprovalDecided(ApprovalDecided {
            submission: self.submission,
            request,
            verdict: answer.verdict,
            resolver: answer.by.clone(),
            reason: bounded(&answer.reason),
        })
    }

    /// Everything is decided: the batch goes on as a whole, or not at all.
    fn conclude(&mut self, waiting: &[CallView], effects: &mut Effects) {
        let is_denied =
            |call: &CallView| call.approval().is_some_and(|it| it.verdict == Some(Verdict::Denied));
        if !waiting.iter().any(is_denied) {
            return self.authorize(waiting, effects);
        }
        let reason = |call: &CallView| {
            if is_denied(call) {
                RejectionReason::NotApproved
            } else {
                RejectionReason::BatchRefused
            }
        };
        self.turn_down(waiting, reason, effects);
    }
}

/// A reason that a record can hold: what is longer is cut.
fn bounded(reason: &Arc<str>) -> Arc<str> {
    if reason.len() <= TEXT_BYTES {
        return reason.clone();
    }
    Arc::from(&reason[..reason.floor_char_boundary(TEXT_BYTES)])
}

/// With how many equal ones each stands for.
fn together(mut questions: Vec<ApprovalQuestion>) -> Arc<[ApprovalQuestion]> {
    for at in 0..questions.len() {
        let of = &questions[at];
        let is_same = |it: &&ApprovalQuestion| it.tool == of.tool && it.digest == of.digest;
        let same = questions.iter().filter(is_same).count();
        if of.may_hold_for_session() {
            questions[at].stands_for = u32::try_from(same).unwrap_or(u32::MAX);
        }
    }
    questions.into()
}
