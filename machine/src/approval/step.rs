//! The rules of approval.

use alloc::vec;
use alloc::vec::Vec;

use super::state::{Allow, Key, Question};
use super::{Answer, Ask, Effect, Grounds, Input, Judgement, QuestionId, Refusal, State};
use crate::contract::{Machine, Step};
use crate::identity::{AgentId, ApprovalId, PrincipalId, SessionId};
use crate::limits::{OPEN_QUESTIONS, OPEN_SESSIONS, QUESTION_WAITERS};

/// The machine of a host's approvals.
pub struct Approval;

impl Machine for Approval {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        let effects = match input {
            Input::Opened { session, principal } => state.opened(session, principal),
            Input::Asked { now, ask } => {
                state.hear(now);
                state.asked(&ask)
            }
            Input::Decided { now, question, answer } => {
                state.hear(now);
                state.decided(question, answer)
            }
            Input::Withdrawn(request) => state.withdrawn(request),
            Input::Revoked(principal) => {
                state.sessions.retain(|_, whose| *whose != principal);
                state.end(&Refusal::Revoked)
            }
            Input::Replaced { session, by } => state.replaced(&session, by),
            Input::Ended(session) => {
                state.sessions.remove(&session);
                state.end(&Refusal::NoSession)
            }
            Input::Closed => {
                state.sessions.clear();
                state.end(&Refusal::HostClosed)
            }
            Input::Promoted(agent) => state.promoted(&agent),
        };
        Step::new(state, effects)
    }
}

impl State {
    fn opened(&mut self, session: SessionId, principal: PrincipalId) -> Vec<Effect> {
        if self.sessions.len() >= OPEN_SESSIONS && !self.sessions.contains_key(&session) {
            self.end_the_oldest();
        }
        let is_free = self.sessions.len() < OPEN_SESSIONS;
        match self.sessions.get(&session) {
            Some(whose) if *whose == principal => Vec::new(),
            None if is_free => {
                self.sessions.insert(session, principal);
                Vec::new()
            }
            Some(_) | None => vec![Effect::TurnAway(session)],
        }
    }

    /// Ends the session with the oldest allow in which nothing is asked: somebody else needs its room.
    fn end_the_oldest(&mut self) {
        let asks = |session: &SessionId| self.questions.values().any(|it| it.session == *session);
        let quiet = self.allows.iter().filter(|(key, _)| !asks(&key.session));
        let oldest = quiet.min_by_key(|(_, allow)| allow.since).map(|(key, _)| key.session.clone());
        if let Some(oldest) = oldest {
            self.sessions.remove(&oldest);
            self.allows.retain(|key, _| key.session != oldest);
        }
    }

    fn asked(&mut self, ask: &Ask) -> Vec<Effect> {
        let request = ask.request;
        if self.waiting.contains_key(&request) {
            // Asked for twice is asked for once.
            return Vec::new();
        }
        let deny = |refusal| vec![Effect::Deny { request, refusal }];
        let allow = |grounds| vec![Effect::Allow { request, grounds }];
        if self.sessions.get(&ask.session) != Some(&ask.principal) {
            return deny(Refusal::NoSession);
        }
        match ask.ruling.judgement {
            Judgement::Deny => return deny(Refusal::Policy(ask.ruling.rule.clone())),
            Judgement::Auto => return allow(Grounds::Policy(ask.ruling.rule.clone())),
            Judgement::Prompt => {}
        }
        let key = Key::of(ask);
        if let Some(known) = key.as_ref().and_then(|key| self.allows.get(key)) {
            return allow(Grounds::Session { original: known.original });
        }
        if let Some(question) = key.as_ref().and_then(|key| self.shared.get(key)).copied() {
            return self.share(question, request);
        }
        if self.questions.len() >= OPEN_QUESTIONS {
            return deny(Refusal::TooMany);
        }
        vec![self.put(ask, key)]
    }

    /// Lets a call wait for a question that is open.
    fn share(&mut self, question: QuestionId, request: ApprovalId) -> Vec<Effect> {
        let open = self.questions.get_mut(&question);
        let Some(open) = open.filter(|open| open.waiters.len() < QUESTION_WAITERS) else {
            return vec![Effect::Deny { request, refusal: Refusal::TooMany }];
        };
        open.waiters.push(request);
        self.waiting.insert(request, question);
        vec![Effect::Share { question, request }]
    }

    /// Opens a question.
    fn put(&mut self, ask: &Ask, key: Option<Key>) -> Effect {
        let (question, request) = (QuestionId(self.next), ask.request);
        self.next = self.next.saturating_add(1);
        self.waiting.insert(request, question);
        if let Some(key) = &key {
            self.shared.insert(key.clone(), question);
        }
        let open = Question {
            principal: ask.principal.clone(),
            session: ask.session.clone(),
            agent: ask.deed.agent.clone(),
            key,
            original: request,
            waiters: vec![request],
        };
        self.questions.insert(question, open);
        Effect::Ask { question, request }
    }

    fn decided(&mut self, id: QuestionId, answer: Answer) -> Vec<Effect> {
        let Some(question) = self.close(id) else { return vec![Effect::NotOpen(id)] };
        let effect = |request| match answer {
            Answer::Once | Answer::ForSession => {
                Effect::Allow { request, grounds: Grounds::Person(id) }
            }
            Answer::Deny => Effect::Deny { request, refusal: Refusal::Person(id) },
        };
        let effects = question.waiters.iter().copied().map(effect).collect();
        if let (Answer::ForSession, Some(key)) = (answer, question.key) {
            let (agent, original) = (question.agent, question.original);
            self.remember(key, Allow { agent, original, since: self.heard });
        }
        effects
    }

    fn withdrawn(&mut self, request: ApprovalId) -> Vec<Effect> {
        let Some(id) = self.waiting.remove(&request) else { return Vec::new() };
        let Some(question) = self.questions.get_mut(&id) else { return Vec::new() };
        question.waiters.retain(|waiter| *waiter != request);
        if !question.waiters.is_empty() {
            return Vec::new();
        }
        self.close(id);
        vec![Effect::TakeBack(id)]
    }

    fn replaced(&mut self, session: &SessionId, by: SessionId) -> Vec<Effect> {
        let Some(principal) = self.sessions.remove(session) else {
            return vec![Effect::TurnAway(by)];
        };
        let mut effects = self.end(&Refusal::SessionReplaced);
        effects.extend(self.opened(by, principal));
        effects
    }

    /// Ends whatever belongs to a session that is not open any more.
    fn end(&mut self, refusal: &Refusal) -> Vec<Effect> {
        let sessions = &self.sessions;
        self.allows.retain(|key, _| sessions.get(&key.session) == Some(&key.principal));
        let is_over = |it: &Question| sessions.get(&it.session) != Some(&it.principal);
        let over = self.questions.iter().filter(|(_, it)| is_over(it)).map(|(id, _)| *id);
        let over: Vec<QuestionId> = over.collect();
        let mut effects = Vec::new();
        for id in over {
            let waiters = self.close(id).map(|question| question.waiters).unwrap_or_default();
            let deny = |request| Effect::Deny { request, refusal: refusal.clone() };
            effects.extend(waiters.into_iter().map(deny));
            effects.push(Effect::TakeBack(id));
        }
        effects
    }

    /// What was allowed for another definition is forgotten, and what is being asked about it is
    /// answered for those who wait and for nobody else.
    fn promoted(&mut self, agent: &AgentId) -> Vec<Effect> {
        self.allows.retain(|_, allow| allow.agent != *agent);
        for question in self.questions.values_mut().filter(|it| it.agent == *agent) {
            if let Some(key) = question.key.take() {
                self.shared.remove(&key);
            }
        }
        Vec::new()
    }
}
