//! A host as one principal of one tenant sees it (SEC-01).
//!
//! Whoever embeds a host has authenticated its callers before it makes one of these. From then on
//! nothing is admitted, shown or told across tenants: an id is never an authority. Membership is looked
//! at again with each question, so that a principal who is revoked is a stranger from the next one on.

use everstep_machine::admission::{Call, Receipt};
use everstep_machine::event::EventSequence;
use everstep_machine::identity::{ConversationId, PrincipalId, SubmissionId, TenantId};

use crate::client::HostError;
use crate::host::Host;
use crate::run_stream::RunStream;
use crate::wait::Standing;

/// One principal of one tenant, at a host.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    host: &'a Host,
    tenant: TenantId,
    principal: PrincipalId,
}

impl Host {
    /// The host as a principal of a tenant sees it. Who it is must be known: that is the embedder's to
    /// find out.
    #[must_use]
    pub const fn caller(&self, tenant: TenantId, principal: PrincipalId) -> Caller<'_> {
        Caller { host: self, tenant, principal }
    }
}

impl Caller<'_> {
    /// Submits as this principal, whatever the call says of it (DUR-001).
    ///
    /// # Errors
    /// The tenant has a policy and the principal is no member of it; the conversation is another
    /// tenant's; or the store refuses the call, or is gone.
    pub async fn submit(&self, call: Call) -> Result<Receipt, HostError> {
        let (tenant, principal) = (self.tenant.clone(), self.principal.clone());
        self.host.submit(Call { tenant, principal, ..call }).await
    }

    /// Waits as [`Host::wait`] does, for a submission of this tenant.
    ///
    /// # Errors
    /// There is no such submission in this tenant, or what [`Host::wait`] says.
    pub async fn wait(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
    ) -> Result<Standing, HostError> {
        self.owns(lane, submission).await?;
        let standing = self.host.wait(lane, submission).await?;
        self.is_known().map(|()| standing)
    }

    /// The live events of a submission of this tenant, as [`Host::watch`] has them. Whoever is revoked
    /// meanwhile keeps what was opened before: drop it then.
    ///
    /// # Errors
    /// There is no such submission in this tenant, or the store cannot be read.
    pub async fn watch(
        &self,
        lane: &ConversationId,
        submission: SubmissionId,
        from: EventSequence,
    ) -> Result<Option<RunStream>, HostError> {
        self.owns(lane, submission).await?;
        Ok(self.host.watch(submission, from))
    }

    /// Of what is another tenant's nothing is said, not even that it is there.
    async fn owns(&self, lane: &ConversationId, submission: SubmissionId) -> Result<(), HostError> {
        self.is_known()?;
        let row = self.host.row(lane, submission).await?;
        let is_own = row.admission.tenant == self.tenant;
        is_own.then_some(()).ok_or(HostError::NoSuchSubmission)
    }

    fn is_known(&self) -> Result<(), HostError> {
        let is_known = self.host.clearance().admits(&self.tenant, &self.principal);
        is_known.then_some(()).ok_or(HostError::NotAMember)
    }
}
