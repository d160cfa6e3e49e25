//! What approval leads to.

use super::{QuestionId, Rule};
use crate::identity::{ApprovalId, SessionId};

/// Why a call may start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Grounds {
    /// The policy asks nobody.
    Policy(Rule),
    /// A person has said so.
    Person(QuestionId),
    /// A person has said so before, about the same thing in this session.
    Session {
        /// The request that was decided then.
        original: ApprovalId,
    },
}

/// Why a call may not start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The policy denies it.
    Policy(Rule),
    /// A person has said no.
    Person(QuestionId),
    /// The session is not open, or not this principal's.
    NoSession,
    /// The session has been replaced since the question was put.
    SessionReplaced,
    /// The principal's authority is revoked.
    Revoked,
    /// The host is closing.
    HostClosed,
    /// As many questions are open, or as many calls wait for this one, as may.
    TooMany,
}

/// What the host is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The call may start.
    Allow {
        /// The call's request.
        request: ApprovalId,
        /// Why.
        grounds: Grounds,
    },
    /// The call may not start.
    Deny {
        /// The call's request.
        request: ApprovalId,
        /// Why not.
        refusal: Refusal,
    },
    /// Show people a question.
    Ask {
        /// Its number.
        question: QuestionId,
        /// The request whose call it shows.
        request: ApprovalId,
    },
    /// The call waits for a question that people are shown already.
    Share {
        /// Its number.
        question: QuestionId,
        /// The call's request.
        request: ApprovalId,
    },
    /// Take a question back: nobody waits for it any more.
    TakeBack(QuestionId),
    /// Tell whoever answered that the question is not open: it was answered or taken back before.
    NotOpen(QuestionId),
    /// Tell whoever opened the session that it is not open: there are too many, or it is somebody
    /// else's.
    TurnAway(SessionId),
}
