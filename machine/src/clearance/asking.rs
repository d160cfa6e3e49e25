//! How a question is put to [`crate::approval`]: for which session, and about what exactly.

use alloc::format;
use alloc::vec::Vec;

use super::State;
use crate::agent::Judgement;
use crate::approval::{Ask, Deed, Ruling};
use crate::digest::{Digest, Hasher};
use crate::effect::{ApprovalQuestion, Asker, Subject};
use crate::identity::{ConversationId, PrincipalId, SessionId, TenantId};
use crate::json::CanonicalJson;

/// The session of a principal in a conversation, as long as the host lives.
pub(super) fn session(principal: &PrincipalId, conversation: &ConversationId) -> SessionId {
    let name = Hasher::new("everstep/session")
        .bytes(principal.as_str().as_bytes())
        .bytes(conversation.as_str().as_bytes())
        .digest();
    SessionId::new(&format!("{name}")).expect("ID-01: a digest is short and plain")
}

/// A principal of one tenant: whoever has the same name in another one is somebody else.
pub(super) fn member(tenant: &TenantId, principal: &PrincipalId) -> PrincipalId {
    let name = Hasher::new("everstep/member")
        .bytes(tenant.as_str().as_bytes())
        .bytes(principal.as_str().as_bytes())
        .digest();
    PrincipalId::new(&format!("{name}")).expect("ID-01: a digest is short and plain")
}

impl State {
    /// What is asked about a call: everything that an answer for the session is bound to (AUTH-12).
    pub(super) fn ask(&self, asker: &Asker, question: &ApprovalQuestion) -> Ask {
        let bound = asker.binding.bound();
        let revision =
            Hasher::new("everstep/revision").bytes(&bound.definition.0).bytes(&bound.tools.0);
        let granted = self.authority.policy(&asker.tenant);
        let target = match &question.target {
            Subject::Named(resource) => Some(resource.clone()),
            Subject::Unsaid | Subject::Unresolved => None,
        };
        let parameters = format!("{}", question.digest);
        let action =
            CanonicalJson::string(&parameters).expect("CAP-003: a digest in words is a short text");
        let principal = member(&asker.tenant, &asker.principal);
        Ask {
            request: question.request,
            session: session(&principal, &asker.conversation),
            principal,
            deed: Deed {
                agent: asker.binding.definition.id().clone(),
                revision: revision.digest(),
                snapshot: granted.map_or(Digest::ZERO, crate::authority::Policy::digest),
                tool: question.tool.clone(),
                capability: question.capability.clone(),
                action,
                targets: target.into_iter().collect::<Vec<_>>(),
                policy: question.policy,
            },
            ruling: Ruling {
                judgement: Judgement::Prompt,
                risk: question.risk,
                rule: question.rule.clone(),
            },
            is_resolved: question.target != Subject::Unresolved,
        }
    }
}
