//! Sessions, what is allowed in them, and what people are being asked.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Ask, Fingerprint, QuestionId, Rule};
use crate::identity::{AgentId, ApprovalId, DurationMs, PrincipalId, SessionId, Timestamp};
use crate::limits::{
    OPEN_QUESTIONS, OPEN_SESSIONS, QUESTION_WAITERS, SESSION_ALLOW_MS, SESSION_ALLOWS,
};

/// What an allow is for, and who may share a question: all four have to be equal (AUTH-12).
/// The agent's revision and its grants are in the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) principal: PrincipalId,
    pub(super) session: SessionId,
    pub(super) fingerprint: Fingerprint,
    pub(super) rule: Rule,
}

impl Key {
    /// The key of a call; none if an answer about it holds for this call alone.
    pub(super) fn of(ask: &Ask) -> Option<Self> {
        if !ask.may_be_remembered() {
            return None;
        }
        Some(Self {
            principal: ask.principal.clone(),
            session: ask.session.clone(),
            fingerprint: ask.deed.fingerprint(ask.ruling.risk).ok()?,
            rule: ask.ruling.rule.clone(),
        })
    }
}

/// What a person has allowed for a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Allow {
    pub(super) agent: AgentId,
    pub(super) original: ApprovalId,
    pub(super) since: Timestamp,
}

/// A question that is open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    pub(super) principal: PrincipalId,
    pub(super) session: SessionId,
    pub(super) agent: AgentId,
    /// Under which others may share it; none if its answer is for the one who waits.
    pub(super) key: Option<Key>,
    /// Whose call is shown.
    pub(super) original: ApprovalId,
    /// Never empty.
    pub(super) waiters: Vec<ApprovalId>,
}

/// The approvals of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) heard: Timestamp,
    pub(super) sessions: BTreeMap<SessionId, PrincipalId>,
    pub(super) allows: BTreeMap<Key, Allow>,
    pub(super) questions: BTreeMap<QuestionId, Question>,
    pub(super) shared: BTreeMap<Key, QuestionId>,
    pub(super) waiting: BTreeMap<ApprovalId, QuestionId>,
    pub(super) next: u64,
}

impl State {
    /// What is allowed for sessions.
    #[must_use]
    pub fn allows(&self) -> usize {
        self.allows.len()
    }

    /// Questions that are open.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.questions.len()
    }

    /// Who waits for a question.
    #[must_use]
    pub fn waiters(&self, question: QuestionId) -> Vec<ApprovalId> {
        self.questions.get(&question).map(|it| it.waiters.clone()).unwrap_or_default()
    }

    /// The request whose call a question shows.
    #[must_use]
    pub fn original(&self, question: QuestionId) -> Option<ApprovalId> {
        self.questions.get(&question).map(|it| it.original)
    }

    /// The requests because of which something is allowed for a session.
    #[must_use]
    pub fn originals(&self) -> BTreeSet<ApprovalId> {
        self.allows.values().map(|allow| allow.original).collect()
    }

    /// The sessions in which nothing is allowed and nothing is asked.
    #[must_use]
    pub fn idle_sessions(&self) -> Vec<SessionId> {
        let allowed = self.allows.keys().map(|key| &key.session);
        let used: BTreeSet<&SessionId> =
            allowed.chain(self.questions.values().map(|it| &it.session)).collect();
        self.sessions.keys().filter(|session| !used.contains(session)).cloned().collect()
    }

    /// Takes note of the time. What is over is forgotten; and if the clock has gone back, everything
    /// that was allowed is, for nobody knows any more how long ago that was (AUTH-10).
    pub(super) fn hear(&mut self, now: Timestamp) {
        if now < self.heard {
            self.allows.clear();
        }
        self.heard = now;
        self.allows.retain(|_, allow| now < allow.since.after(DurationMs(SESSION_ALLOW_MS)));
    }

    /// Remembers an allow. If there are too many, the oldest is forgotten.
    pub(super) fn remember(&mut self, key: Key, allow: Allow) {
        self.allows.insert(key, allow);
        if self.allows.len() > SESSION_ALLOWS {
            let oldest = self.allows.iter().min_by_key(|(_, allow)| allow.since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.allows.remove(&oldest);
            }
        }
    }

    /// Takes a question out, with everything that leads to it.
    pub(super) fn close(&mut self, id: QuestionId) -> Option<Question> {
        let question = self.questions.remove(&id)?;
        for waiter in &question.waiters {
            self.waiting.remove(waiter);
        }
        if let Some(key) = &question.key {
            self.shared.remove(key);
        }
        Some(question)
    }

    /// What holds in every state. The first that does not, in words.
    ///
    /// # Errors
    /// An invariant is broken: a bug of this machine.
    pub fn check(&self) -> Result<(), &'static str> {
        let is_open = |session: &SessionId, principal: &PrincipalId| {
            self.sessions.get(session) == Some(principal)
        };
        let hours = DurationMs(SESSION_ALLOW_MS);
        let waiters: BTreeSet<(ApprovalId, QuestionId)> = self
            .questions
            .iter()
            .flat_map(|(id, question)| question.waiters.iter().map(|waiter| (*waiter, *id)))
            .collect();
        let keyed = self.questions.iter().filter_map(|(id, it)| Some((it.key.clone()?, *id)));
        let holds = [
            (
                self.allows.keys().all(|key| is_open(&key.session, &key.principal)),
                "AUTH-12: an allow outlives its session",
            ),
            (
                self.allows
                    .values()
                    .all(|it| it.since <= self.heard && self.heard < it.since.after(hours)),
                "AUTH-10: an allow is too old, or of the future",
            ),
            (
                self.questions.values().all(|it| is_open(&it.session, &it.principal)),
                "AP-23: a question outlives its session",
            ),
            (keyed.collect::<BTreeMap<_, _>>() == self.shared, "AUTH-11: one question a key"),
            (
                waiters == self.waiting.iter().map(|(waiter, id)| (*waiter, *id)).collect(),
                "AUTH-11: one question a waiter",
            ),
            (
                self.questions.values().all(|it| !it.waiters.is_empty()),
                "AUTH-11: a question for nobody",
            ),
            (
                self.allows.len() <= SESSION_ALLOWS
                    && self.sessions.len() <= OPEN_SESSIONS
                    && self.questions.len() <= OPEN_QUESTIONS
                    && self.questions.values().all(|it| it.waiters.len() <= QUESTION_WAITERS),
                "ARC-05: a bound is exceeded",
            ),
        ];
        holds.into_iter().find(|(is_kept, _)| !is_kept).map_or(Ok(()), |(_, broken)| Err(broken))
    }
}
