//! What an attempt was allowed to start, as the answers that it got say.

use everstep_machine::agent::Verdict;
use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, Authorization, External};
use everstep_machine::identity::{Epoch, SubmissionId, ToolCallId};

/// Calls that an attempt may start, each under the epoch that asked.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Permits {
    authorised: Vec<(Epoch, ToolCallId)>,
    /// With the digest of the parameters that were approved.
    approved: Vec<(Epoch, ToolCallId, Digest)>,
    /// Calls of groups that were given places. Most calls need none.
    placed: Vec<ToolCallId>,
    /// What was said to the run when the attempt looked; none if it has not since it last asked.
    pub(super) heard: Option<Vec<SubmissionId>>,
}

impl Permits {
    /// An answer came to whoever asked under an epoch.
    pub(crate) fn learn(&mut self, epoch: Epoch, asked: &External, answer: &Answer) {
        match (asked, answer) {
            (
                External::Authorize { calls, .. },
                Answer::Authorizer { authorization: Authorization::Allowed, .. },
            ) => calls.iter().for_each(|call| self.authorise(epoch, *call)),
            (External::Approve { .. }, Answer::Approver { answers, .. }) => {
                let yes = answers.iter().filter(|answer| answer.verdict == Verdict::Approved);
                yes.for_each(|it| self.approve(epoch, it.call, it.digest));
            }
            _ => {}
        }
    }

    /// A call has its place.
    pub(crate) fn place(&mut self, call: ToolCallId) {
        if !self.has_place(call) {
            self.placed.push(call);
        }
    }

    /// Whether a call was given a place.
    pub(super) fn has_place(&self, call: ToolCallId) -> bool {
        self.placed.contains(&call)
    }

    pub(super) fn authorise(&mut self, epoch: Epoch, call: ToolCallId) {
        self.authorised.push((epoch, call));
    }

    pub(super) fn approve(&mut self, epoch: Epoch, call: ToolCallId, parameters: Digest) {
        self.approved.push((epoch, call, parameters));
    }

    /// Whether the host lets a call start under an epoch.
    pub(super) fn authorises(&self, epoch: Epoch, call: ToolCallId) -> bool {
        self.authorised.contains(&(epoch, call))
    }

    /// Whether an approver let a call start, asked under an epoch about exactly these parameters.
    pub(super) fn approves(&self, epoch: Epoch, call: ToolCallId, parameters: Digest) -> bool {
        self.approved.contains(&(epoch, call, parameters))
    }
}
