//! Clients: submitting, and why there is no answer.

use everstep_machine::admission::{self, AdmissionMachine, Call, Receipt, Rejection};
use everstep_machine::attempt::End;
use everstep_machine::contract::Machine;
use everstep_machine::store::StoreFault;
use tokio::time::sleep;

use crate::host::Host;
use crate::news::NoMoreNews;
use crate::store::StoreGone;

/// Why a client gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Nothing was accepted.
    #[error("{0}")]
    Rejected(Rejection),
    /// The store's thread has ended.
    #[error("the store's thread has ended; start the host again")]
    StoreGone,
    /// The host works no more: it was stopped, or it has broken.
    #[error("the host works no more; start one again")]
    Stopped,
    /// The store has not said what became of what it was to do, again and again.
    #[error("the store does not say whether it reads and writes; what was accepted stands")]
    StoreUnsure,
    /// The store refuses a reading, or it is corrupt.
    #[error("{0}")]
    Store(StoreFault),
    /// The tenant has a policy, and who submits is no member of it (SEC-01).
    #[error("the principal does not belong to the tenant")]
    NotAMember,
    /// There is no such submission.
    #[error("there is no such submission")]
    NoSuchSubmission,
    /// The lane is left alone by this host, after this end of an attempt.
    #[error("the lane is left alone: {0}")]
    Quarantined(End),
}

/// Who tells no news any more works no more.
impl From<NoMoreNews> for HostError {
    fn from(NoMoreNews: NoMoreNews) -> Self {
        Self::Stopped
    }
}

impl From<StoreGone> for HostError {
    fn from(StoreGone: StoreGone) -> Self {
        Self::StoreGone
    }
}

/// Pipelines in a row whose fate is unknown, until a client is told so.
pub(crate) const PATIENCE: u32 = 6;

/// How long to wait before something is sent again.
pub(crate) const RESEND: std::time::Duration = std::time::Duration::from_millis(50);

impl Host {
    /// Submits, and returns when the submission is durable (DUR-001). The same call again gets
    /// the same receipt.
    ///
    /// # Errors
    /// The principal does not belong to its tenant, which has a policy; the conversation is another
    /// tenant's; the store refuses the call, or is gone.
    pub async fn submit(&self, call: Call) -> Result<Receipt, HostError> {
        if !self.clearance().admits(&call.tenant, &call.principal) {
            return Err(HostError::NotAMember);
        }
        let lane = call.conversation.clone();
        let state = admission::State::new(call);
        let mut step = AdmissionMachine::step(state, admission::Input::Started);
        loop {
            match step.effects.pop() {
                Some(admission::Effect::Store(pipeline)) => {
                    let answer = self.store().execute(pipeline).await?;
                    if answer == Err(StoreFault::Indeterminate) {
                        self.check_store()?;
                        sleep(RESEND).await;
                    }
                    let input = admission::Input::Stored(answer);
                    step = AdmissionMachine::step(step.state, input);
                }
                Some(admission::Effect::Accept(receipt)) => {
                    self.hint(lane);
                    return Ok(receipt);
                }
                Some(admission::Effect::Reject(why)) => return Err(HostError::Rejected(why)),
                None => unreachable!("DUR-001: an admission asks for something until it is over"),
            }
        }
    }

    pub(crate) fn check_store(&self) -> Result<(), HostError> {
        if self.store().unsure().borrow().most() < PATIENCE {
            Ok(())
        } else {
            Err(HostError::StoreUnsure)
        }
    }
}
