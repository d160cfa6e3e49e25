//! The rules of clearance.

use alloc::vec::Vec;

use super::asking::{member, session};
use super::{Effect, Input, Said, State};
use crate::approval::{self, Approval, QuestionId};
use crate::authority::{self, Authority};
use crate::contract::{Machine, Step};
use crate::effect::{ApprovalQuestion, Asker};
use crate::identity::{ConversationId, PrincipalId, SessionId, TenantId, Timestamp};
use crate::record::Resolver;

/// The machine of a host's clearance.
pub struct Clearances;

impl Machine for Clearances {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        let effects = match input {
            Input::Authority(input) => state.authority_told(input),
            Input::PolicyLaidDown(entries) => {
                state.policy = entries;
                Vec::new()
            }
            Input::Asked { now, asker, questions } => state.asked(now, &asker, &questions),
            // Who may not decide it has not (AUTH-14).
            Input::Decided { question, said, .. } if !state.may_decide(question, &said) => {
                state.undecided(question)
            }
            Input::Decided { now, question, said } => {
                let answer = said.answer;
                if let Some(original) = state.approval.original(question) {
                    state.allowed.insert(original, said.clone());
                }
                state.tell(approval::Input::Decided { now, question, answer }, Some(&said))
            }
            Input::Undecided(question) => state.undecided(question),
            Input::Withdrawn(request) => {
                state.open.remove(&request);
                state.tell(approval::Input::Withdrawn(request), None)
            }
            Input::SessionReplaced { tenant, principal, conversation } => {
                state.replace(&tenant, &principal, &conversation)
            }
            Input::Promoted(agent) => state.tell(approval::Input::Promoted(agent), None),
            Input::Closed => state.tell(approval::Input::Closed, None),
        };
        state.forget_what_is_over();
        Step::new(state, effects)
    }
}

impl State {
    fn authority_told(&mut self, input: authority::Input) -> Vec<Effect> {
        let step = Authority::step(core::mem::take(&mut self.authority), input);
        self.authority = step.state;
        let mut effects = Vec::new();
        for effect in step.effects {
            match effect {
                // Whoever is no member any more has nothing allowed either (AUTH-10).
                authority::Effect::Forget { tenant, principal } => {
                    let who = member(&tenant, &principal);
                    effects.extend(self.tell(approval::Input::Revoked(who), None));
                }
                authority::Effect::Answer { .. } => {}
            }
        }
        effects
    }

    fn asked(
        &mut self,
        now: Timestamp,
        asker: &Asker,
        questions: &[ApprovalQuestion],
    ) -> Vec<Effect> {
        let principal = member(&asker.tenant, &asker.principal);
        let session = session(&principal, &asker.conversation);
        let mut effects = self.tell(approval::Input::Opened { session, principal }, None);
        // Whoever asks again has a lane that another attempt has left: that one's question is over.
        for question in questions {
            if self.open.remove(&question.request).is_some() {
                effects.extend(self.tell(approval::Input::Withdrawn(question.request), None));
            }
        }
        for question in questions {
            let ask = self.ask(asker, question).into();
            self.open.insert(question.request, question.clone());
            effects.extend(self.tell(approval::Input::Asked { now, ask }, None));
        }
        effects
    }

    fn may_decide(&self, question: QuestionId, said: &Said) -> bool {
        let waiters = self.approval.waiters(question).into_iter();
        let mut open = waiters.filter_map(|request| self.open.get(&request));
        let is_somebody = matches!(said.by, Resolver::Person(_) | Resolver::Policy);
        is_somebody && open.all(|about| about.is_for(&said.by))
    }

    /// Whoever waits for a question is left to people.
    fn undecided(&mut self, question: QuestionId) -> Vec<Effect> {
        let mut effects = Vec::new();
        for request in self.approval.waiters(question) {
            self.open.remove(&request);
            effects.push(Effect::Answer { request, answer: None });
            effects.extend(self.tell(approval::Input::Withdrawn(request), None));
        }
        effects
    }

    /// Nothing that was asked or allowed in the old session counts in the new one.
    fn replace(
        &mut self,
        tenant: &TenantId,
        principal: &PrincipalId,
        conversation: &ConversationId,
    ) -> Vec<Effect> {
        let session = session(&member(tenant, principal), conversation);
        self.tell(approval::Input::Replaced { session: session.clone(), by: session }, None)
    }

    /// A session in which nothing is allowed and nothing is asked is as good as none.
    fn forget_what_is_over(&mut self) {
        let originals = self.approval.originals();
        self.allowed.retain(|request, _| originals.contains(request));
        let idle: Vec<SessionId> = self.approval.idle_sessions();
        for session in idle {
            self.tell(approval::Input::Ended(session), None);
        }
    }

    fn tell(&mut self, input: approval::Input, said: Option<&Said>) -> Vec<Effect> {
        let step = Approval::step(core::mem::take(&mut self.approval), input);
        self.approval = step.state;
        step.effects.into_iter().filter_map(|effect| self.told(effect, said)).collect()
    }
}
