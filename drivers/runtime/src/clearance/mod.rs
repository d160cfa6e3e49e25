//! What a host lets its runs do, and what it has been told for a session.
//!
//! The machine is [`everstep_machine::clearance`]; here it is locked, and its questions are put to an
//! [`Approver`](crate::Approver).

mod asking;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use everstep_machine::agent::{Entries, RejectionReason};
use everstep_machine::approval::QuestionId;
use everstep_machine::authority::{self, Action, Grant, Outcome, Policy};
use everstep_machine::clearance::{Clearances, Effect, Input, State};
use everstep_machine::contract::Machine;
use everstep_machine::effect::{ApprovalAnswer, ApprovalQuestion, Asker, Proposed};
use everstep_machine::identity::{
    AgentId, ApprovalId, ConversationId, PrincipalId, TenantId, Timestamp,
};
use tokio::sync::oneshot;

/// The clearance of a host: what is granted in it, what its own layer of the policy of approvals says,
/// and what people have allowed for sessions. Clones are one and the same, so that whoever keeps one
/// can take back what was granted: that counts from the next call on, and for a call that has not
/// begun yet (SEC-02).
///
/// Nothing is granted to begin with. A tool that declares no capability takes none, so an agent without
/// any works with a clearance that was told nothing.
#[derive(Clone, Default)]
pub struct Clearance(Arc<Mutex<Desk>>);

struct Desk {
    state: State,
    /// How long something has been allowed counts from here: no other clock has a say in it.
    began: Instant,
    /// Who waits for a request. Several tasks may, if a lane was left and claimed again.
    waiting: HashMap<ApprovalId, Vec<oneshot::Sender<Option<ApprovalAnswer>>>>,
}

/// A question that whoever decides at once is to be shown.
struct Put {
    question: QuestionId,
    about: ApprovalQuestion,
}

impl Clearance {
    /// One in which this principal belongs to this tenant, which has this policy.
    #[must_use]
    pub fn of(tenant: &TenantId, principal: &PrincipalId, policy: Policy) -> Self {
        let clearance = Self::default();
        clearance.join(tenant.clone(), principal.clone());
        clearance.lay_down(tenant.clone(), policy);
        clearance
    }

    /// A principal belongs to a tenant from now on.
    pub fn join(&self, tenant: TenantId, principal: PrincipalId) {
        self.authority(authority::Input::Joined { tenant, principal });
    }

    /// A principal does not belong to a tenant any more. Whatever was allowed in its sessions is
    /// forgotten, and what is being asked in them is denied.
    pub fn revoke(&self, tenant: TenantId, principal: PrincipalId) {
        self.authority(authority::Input::Revoked { tenant, principal });
    }

    /// A tenant has this policy, instead of any that it had. From then on only its members get
    /// anything done in it.
    pub fn lay_down(&self, tenant: TenantId, policy: Policy) {
        self.authority(authority::Input::PolicyLaidDown { tenant, policy });
    }

    /// One of a tenant's defaults is taken back.
    pub fn take_back(&self, tenant: TenantId, grant: Grant) {
        self.authority(authority::Input::GrantRevoked { tenant, component: None, grant });
    }

    /// The host's own layer of the policy of approvals. It makes calls stricter, never less strict
    /// (AUTH-06).
    pub fn set_policy(&self, layer: Entries) {
        self.desk().tell(Input::PolicyLaidDown(layer));
    }

    /// A principal's session in a conversation is over, and another one in its place: nothing that was
    /// allowed in it counts any more, and what is being asked in it is denied (AUTH-10).
    pub fn replace_session(
        &self,
        tenant: TenantId,
        principal: PrincipalId,
        conversation: ConversationId,
    ) {
        self.desk().tell(Input::SessionReplaced { tenant, principal, conversation });
    }

    /// An agent's definition was promoted, or rolled back: what was allowed for it is forgotten.
    pub fn promoted(&self, agent: AgentId) {
        self.desk().tell(Input::Promoted(agent));
    }

    /// Whether a principal's submissions are taken: a tenant that has a policy lets its members in, and
    /// nobody else (SEC-01).
    pub(crate) fn admits(&self, tenant: &TenantId, principal: &PrincipalId) -> bool {
        self.desk().state.admits(tenant, principal)
    }

    /// The host closes.
    pub(crate) fn close(&self) {
        self.desk().tell(Input::Closed);
    }

    /// What is said of calls before anybody is asked.
    pub(crate) fn clear(
        &self,
        asker: &Asker,
        calls: &[Proposed],
    ) -> everstep_machine::effect::Clearances {
        self.desk().state.clear(asker, calls)
    }

    /// Why an action may not be done now, if it may not.
    pub(crate) fn refuses(&self, action: &Action) -> Option<RejectionReason> {
        match self.desk().state.may(action).outcome {
            Outcome::Allowed { .. } => None,
            Outcome::Denied(denial) => Some(RejectionReason::NotGranted(denial.layer())),
        }
    }

    fn authority(&self, input: authority::Input) {
        self.desk().tell(Input::Authority(input));
    }

    /// A panic while it was held leaves a sound state behind: it is replaced whole.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Desk {
    fn default() -> Self {
        Self { state: State::default(), began: Instant::now(), waiting: HashMap::new() }
    }
}

impl Desk {
    fn now(&self) -> Timestamp {
        Timestamp(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Tells the machine, passes answers on to who waits for them, and gives back what is to be put.
    fn tell(&mut self, input: Input) -> Vec<Put> {
        // Of a copy: should the machine panic, what was granted and denied stands.
        let step = Clearances::step(self.state.clone(), input);
        self.state = step.state;
        let mut put = Vec::new();
        for effect in step.effects {
            match effect {
                Effect::Ask { question, about } => put.push(Put { question, about }),
                Effect::Answer { request, answer } => {
                    for waiter in self.waiting.remove(&request).unwrap_or_default() {
                        // Who has stopped waiting asks again when it wants to know.
                        let _ = waiter.send(answer.clone());
                    }
                }
                // Whoever shows it has its answers by now, and shows it no more.
                Effect::TakeBack(_) => {}
            }
        }
        put
    }
}

impl fmt::Debug for Clearance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clearance").finish_non_exhaustive()
    }
}
