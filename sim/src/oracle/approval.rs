//! Who was asked, what was decided, and what may start because of it (SEC-02, CAP-006, AUTH-13).

use everstep_machine::agent::{Judgement, Verdict};
use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, ApprovalQuestion};
use everstep_machine::identity::{Epoch, ToolCallId, ToolName};
use everstep_machine::record::{ApprovalDecided, Record, Resolver};

use super::{Judge, Permits, Property, Sometimes};
use crate::cast::Cast;

impl Judge {
    /// Whether the policy lets a call through: by itself, or because somebody has approved it.
    pub(super) fn is_let_through(
        &self,
        cast: &Cast,
        lane: usize,
        call: ToolCallId,
        tool: &ToolName,
        parameters: Digest,
    ) -> bool {
        match cast.judgement(tool) {
            Judgement::Auto => true,
            Judgement::Prompt => self.is_approved(cast, lane, call, parameters),
            Judgement::Deny => false,
        }
    }

    /// Whether the log holds an approval of a call with exactly these parameters. A settled
    /// submission forgets its calls: who starts one so late is a zombie, who was allowed to while
    /// it could be.
    pub(super) fn is_approved(
        &self,
        cast: &Cast,
        lane: usize,
        call: ToolCallId,
        parameters: Digest,
    ) -> bool {
        let Some(declared) = cast.declared(call) else { return false };
        let view = self.memory.lanes[lane].fold.submission(declared.submission);
        view.is_some_and(|view| {
            let forgotten = view.settled.is_some() && view.calls().next().is_none();
            let of_call = view.calls().find(|it| it.id == call);
            forgotten
                || of_call.and_then(|it| it.approval()).is_some_and(|it| {
                    it.verdict == Some(Verdict::Approved) && it.request.parameters == parameters
                })
        })
    }

    /// A decision that becomes canonical is one that somebody made.
    pub(super) fn check_decision(
        &mut self,
        cast: &Cast,
        (lane, epoch): (usize, Epoch),
        before: &[Record],
        it: &ApprovalDecided,
        permits: &Permits,
    ) {
        let said = self.memory.decisions.iter().find(|(request, _)| *request == it.request);
        let said = said.map(|(_, verdict)| *verdict);
        let asked = before.iter().find_map(|record| match record {
            Record::ApprovalRequested(asked) if asked.request == it.request => Some(asked),
            _ => None,
        });
        let approves = |call: ToolCallId, parameters| permits.approves(epoch, call, parameters);
        let made = match &it.resolver {
            Resolver::Person(_) => said == Some(it.verdict),
            // In one batch with its request, and never more than it said.
            Resolver::Policy => asked.is_some_and(|asked| {
                it.verdict == Verdict::Denied || approves(asked.call, asked.parameters)
            }),
            // Something alike in this lane was approved, and that is canonical (AUTH-10).
            Resolver::Session { original } => asked.is_some_and(|asked| {
                let alike = (lane, *original, asked.parameters);
                let lasts = cast.scenario.allows_for_session && it.verdict == Verdict::Approved;
                lasts && self.memory.approved.contains(&alike)
            }),
            Resolver::Expiry | Resolver::Abort => said.is_none(),
        };
        if let (Verdict::Approved, Some(asked)) = (it.verdict, asked) {
            self.memory_mut().approved.push((lane, it.request, asked.parameters));
        }
        if matches!(it.resolver, Resolver::Session { .. }) {
            self.note(Sometimes::AllowedBefore);
        }
        if !made {
            self.broken(Property::Decisions, || {
                format!("{it:?} becomes canonical; people said {said:?} of it")
            });
        }
    }

    /// An approver is asked about exactly what the log holds.
    pub(super) fn check_questions(
        &mut self,
        cast: &Cast,
        lane: usize,
        questions: &[ApprovalQuestion],
    ) {
        for question in questions {
            let submission = cast.declared(question.call).map(|call| call.submission);
            let fold = &self.memory.lanes[lane].fold;
            let view = submission.and_then(|submission| fold.submission(submission));
            let call = view.and_then(|view| view.calls().find(|call| call.id == question.call));
            // A settled submission forgets its calls: who asks about one so late is a zombie.
            let Some(call) = call else { continue };
            if call.parameters.digest() != question.digest || call.tool != question.tool {
                self.broken(Property::Approved, || {
                    format!(
                        "the log holds another call than an approver is asked about: {question:?}"
                    )
                });
            }
        }
    }

    pub(super) fn note_approvals(&mut self, answer: &Answer) {
        let Answer::Approver { answers, .. } = answer else { return };
        for answer in answers {
            self.note(match answer.verdict {
                Verdict::Approved => Sometimes::Approved,
                Verdict::Denied => Sometimes::Disapproved,
            });
        }
    }
}
