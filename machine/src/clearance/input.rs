//! What clearance is told, and what it leads to.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::agent::Entries;
use crate::approval::{Answer, QuestionId};
use crate::authority;
use crate::effect::{ApprovalAnswer, ApprovalQuestion, Asker};
use crate::identity::{AgentId, ApprovalId, ConversationId, PrincipalId, TenantId, Timestamp};
use crate::record::Resolver;

/// What somebody who was asked says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Said {
    /// Whether the call may start, and whether that holds for more than this one.
    pub answer: Answer,
    /// Who says so: a person or a policy. Anything else is no answer.
    pub by: Resolver,
    /// Why: at most [`crate::limits::TEXT_BYTES`] of it are kept.
    pub reason: Arc<str>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Authority is told something.
    Authority(authority::Input),
    /// The host has this layer of the policy of approvals, instead of any that it had.
    PolicyLaidDown(Entries),
    /// Calls want to start, and somebody is to be asked about them.
    Asked {
        /// When, by the host's clock.
        now: Timestamp,
        /// For whom they are made.
        asker: Box<Asker>,
        /// About each.
        questions: Arc<[ApprovalQuestion]>,
    },
    /// Somebody has answered.
    Decided {
        /// When, by the host's clock.
        now: Timestamp,
        /// Which question.
        question: QuestionId,
        /// What was said.
        said: Said,
    },
    /// Nobody is there who decides at once: whoever waits is left to people.
    Undecided(QuestionId),
    /// A call does not want to start any more.
    Withdrawn(ApprovalId),
    /// A principal's session in a conversation is over, and another one in its place.
    SessionReplaced {
        /// In which tenant.
        tenant: TenantId,
        /// The principal.
        principal: PrincipalId,
        /// The conversation.
        conversation: ConversationId,
    },
    /// The definition of an agent was promoted, or rolled back.
    Promoted(AgentId),
    /// The host closes: every session is over.
    Closed,
}

/// What the host is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Put a question to whoever decides at once.
    Ask {
        /// Its number.
        question: QuestionId,
        /// The call that it shows.
        about: ApprovalQuestion,
    },
    /// A request has its answer; none if it is left to people.
    Answer {
        /// The request.
        request: ApprovalId,
        /// The answer.
        answer: Option<ApprovalAnswer>,
    },
    /// Take a question back: nobody waits for it any more.
    TakeBack(QuestionId),
}
