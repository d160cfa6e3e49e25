//! What approval is told and asked.

use alloc::boxed::Box;

use super::{Deed, Ruling};
use crate::agent::Risk;
use crate::authority::CapabilityKey;
use crate::identity::{AgentId, ApprovalId, PrincipalId, SessionId, Timestamp};

/// A question that people are shown, numbered in the life of a host and never used again in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u64);

/// A call that is about to start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// Its own request: named by call, parameters and policy (AUTH-13).
    pub request: ApprovalId,
    /// In which session.
    pub session: SessionId,
    /// For whom.
    pub principal: PrincipalId,
    /// What it does.
    pub deed: Deed,
    /// What the policy says about it.
    pub ruling: Ruling,
    /// Whether it is known what exactly would run; not so of a command that another one makes up.
    pub is_resolved: bool,
}

impl Ask {
    /// Whether an answer may hold for more than this one call: never for a secret, for anything
    /// critical, or for what nobody has seen yet (AUTH-04, AUTH-10).
    #[must_use]
    pub fn may_be_remembered(&self) -> bool {
        let takes_secret = self.deed.capability.as_ref().is_some_and(CapabilityKey::is_secret);
        self.is_resolved && self.ruling.risk < Risk::Critical && !takes_secret
    }
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Yes, to those who wait for the question now.
    Once,
    /// Yes, and to whatever is the same in this session for a while.
    ForSession,
    /// No.
    Deny,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A principal has a session now.
    Opened {
        /// The session.
        session: SessionId,
        /// Whose.
        principal: PrincipalId,
    },
    /// A call is about to start.
    Asked {
        /// When, by the host's clock.
        now: Timestamp,
        /// The call.
        ask: Box<Ask>,
    },
    /// A person has answered.
    Decided {
        /// When, by the host's clock.
        now: Timestamp,
        /// Which question.
        question: QuestionId,
        /// What was said.
        answer: Answer,
    },
    /// A call does not want to start any more.
    Withdrawn(ApprovalId),
    /// A principal's authority is revoked, in all of its sessions.
    Revoked(PrincipalId),
    /// A session is over, and another one of the same principal in its place.
    Replaced {
        /// The session that is over.
        session: SessionId,
        /// The one in its place.
        by: SessionId,
    },
    /// A session is over.
    Ended(SessionId),
    /// The host closes: every session is over.
    Closed,
    /// The definition of an agent was promoted, or rolled back.
    Promoted(AgentId),
}
