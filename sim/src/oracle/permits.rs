//! What an attempt was allowed to start, as the answers that it got say.

use everstep_machine::agent::{Bound, Verdict};
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
    /// Calls of which the last leg is over and the next has not begun: their handlers rest.
    resting: Vec<ToolCallId>,
    /// What the attempt really has at hand, whatever it was told.
    pub(crate) bound: Option<Bound>,
    /// What was said to the run when the attempt looked; none if it has not since it last asked.
    pub(super) heard: Option<Vec<SubmissionId>>,
}

impl Permits {
    /// Those of an attempt that has this at hand.
    pub(crate) fn of(bound: Bound) -> Self {
        Self { bound: Some(bound), ..Self::default() }
    }

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

    /// An answer came from a call: its handler rests, or it has ended.
    pub(crate) fn hear(&mut self, answer: &Answer) {
        match answer {
            Answer::Step { start, .. } if !self.resting.contains(&start.call) => {
                self.resting.push(start.call);
            }
            Answer::Tool { start, .. } | Answer::Unsure { start } => {
                self.resting.retain(|call| *call != start.call);
            }
            _ => {}
        }
    }

    /// Nothing that is out goes on: no handler rests any more.
    pub(crate) fn cancelled(&mut self) {
        self.resting.clear();
    }

    /// Calls whose handlers rest: they have begun and have not ended.
    pub(crate) fn resting(&self) -> &[ToolCallId] {
        &self.resting
    }

    /// Places are taken back from every call that these are not.
    pub(crate) fn keep_places(&mut self, of: impl Fn(ToolCallId) -> bool) {
        self.placed.retain(|call| of(*call));
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
