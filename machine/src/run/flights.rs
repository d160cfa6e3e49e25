//! What was asked of the outside and is not answered.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::agent::Purpose;
use crate::effect::{Answer, ApprovalQuestion, CheckSubject, External};
use crate::identity::{ToolCallId, Turn};
use crate::projection::RunView;
use crate::record::Doubt;

/// The volatile half of a run: a crash loses it, and nothing depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flights {
    /// The turn that the model is asked for, and what for.
    pub model: Option<(Turn, Purpose)>,
    /// The turn that the model will be asked for again when its pause is over.
    pub retry: Option<Turn>,
    /// The turn of which values are checked, and which.
    pub check: Option<(Turn, CheckSubject)>,
    /// The turn that authority and policy are asked about.
    pub clearance: Option<Turn>,
    /// The turn that the approver is asked about, and what.
    pub approver: Option<(Turn, Arc<[ApprovalQuestion]>)>,
    /// The turn that the authorizer is asked about.
    pub authorizer: Option<Turn>,
    /// The calls that wait for permits. Nothing of them has begun.
    pub asked: BTreeSet<ToolCallId>,
    /// The calls that have their permits and have not started.
    pub permitted: BTreeSet<ToolCallId>,
    /// Whether a host was not told what the run wants: it may keep permits that nobody wants.
    pub untold: bool,
    /// The starts of tools.
    pub tools: BTreeSet<Doubt>,
    /// Of those that are durable, which step is awaited: how many stand before it.
    pub steps: BTreeMap<Doubt, u32>,
}

impl Flights {
    /// Nothing in flight.
    pub(super) const NONE: Self = Self {
        model: None,
        retry: None,
        check: None,
        clearance: None,
        approver: None,
        authorizer: None,
        asked: BTreeSet::new(),
        permitted: BTreeSet::new(),
        untold: false,
        tools: BTreeSet::new(),
        steps: BTreeMap::new(),
    };

    /// Whether nothing is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether the next step of a turn is on its way.
    pub(super) const fn is_asking(&self) -> bool {
        self.model.is_some() || self.retry.is_some() || self.is_judging()
    }

    /// Whether somebody is asked whether a batch may start, or whether an answer is good.
    pub(super) const fn is_judging(&self) -> bool {
        let is_cleared = self.check.is_some() || self.clearance.is_some();
        is_cleared || self.approver.is_some() || self.authorizer.is_some()
    }

    /// Whether an approver is asked exactly this.
    pub(super) fn is_asked(&self, turn: Turn, questions: &[ApprovalQuestion]) -> bool {
        self.approver.as_ref().is_some_and(|(of, asked)| *of == turn && **asked == *questions)
    }

    /// Whether a call runs.
    pub(super) fn runs(&self, call: ToolCallId) -> bool {
        self.tools.iter().any(|it| it.call == call)
    }

    /// How many of a run's own places are taken.
    pub(super) fn places(&self) -> usize {
        self.tools.len() + self.asked.len() + self.permitted.len()
    }

    /// Whether this is the answer of the model that is awaited.
    pub(crate) fn awaits_model(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Model { turn, purpose, .. } => self.model == Some((*turn, *purpose)),
            _ => false,
        }
    }

    /// Whether exactly this step of this start is awaited.
    pub(crate) fn awaits(&self, start: Doubt, ordinal: u32) -> bool {
        self.tools.contains(&start) && self.steps.get(&start) == Some(&ordinal)
    }

    /// A call has ended, or nobody will know how: it is in flight no more. Whether it was.
    pub(crate) fn land(&mut self, start: &Doubt) -> bool {
        self.steps.remove(start);
        self.tools.remove(start)
    }

    /// Takes back what never left.
    pub fn recall(&mut self, external: &External) {
        match external {
            External::CallModel(_) => self.model = None,
            // Who resolves keeps account of that.
            External::Check { subject: CheckSubject::Resolution(_), .. } => {}
            External::Check { .. } => self.check = None,
            External::Clear { .. } => self.clearance = None,
            External::Approve { .. } => self.approver = None,
            External::Authorize { .. } => self.authorizer = None,
            External::Permits { calls, .. } => {
                for it in calls {
                    self.asked.remove(&it.call);
                }
                self.untold = true;
            }
            External::InvokeTool(it) => {
                self.land(&Doubt { call: it.call, start: it.epoch });
            }
            External::NextStep(it) => {
                self.steps.insert(it.start, it.recorded);
            }
            External::Reconcile(_) => {}
        }
    }

    /// Takes back an answer whose consequences were never committed: it is awaited again.
    pub fn restore(&mut self, answer: &Answer) {
        match answer {
            Answer::Model { turn, purpose, .. } => self.model = Some((*turn, *purpose)),
            Answer::Checked { subject: CheckSubject::Resolution(_), .. } => {}
            Answer::Checked { turn, subject, .. } => self.check = Some((*turn, *subject)),
            Answer::Cleared { turn, .. } => self.clearance = Some(*turn),
            Answer::Approver { turn, questions, .. } => {
                self.approver = Some((*turn, questions.clone()));
            }
            Answer::Authorizer { turn, .. } => self.authorizer = Some(*turn),
            Answer::Permitted { calls, .. } => {
                for call in calls {
                    self.permitted.remove(call);
                    self.asked.insert(*call);
                }
            }
            Answer::Tool { start, .. } | Answer::Unsure { start } => {
                self.tools.insert(*start);
            }
            Answer::Step { start, ordinal, .. } => {
                self.tools.insert(*start);
                self.steps.insert(*start, *ordinal);
            }
            Answer::Reconciler { .. } => {}
        }
    }

    /// What a run still waits for.
    #[must_use]
    pub(super) fn awaited_by(mut self, run: Option<&RunView>) -> Self {
        let next = run.map(RunView::next_turn);
        let waiting: Vec<ToolCallId> =
            run.into_iter().flat_map(RunView::unsettled_calls).map(|call| call.id).collect();
        let last = |turn: &Turn| Some(turn.next()) == next;
        self.model = self.model.filter(|(turn, _)| Some(*turn) == next);
        self.retry = self.retry.filter(|turn| Some(*turn) == next);
        self.check = self.check.filter(|(turn, _)| last(turn));
        self.clearance = self.clearance.filter(last);
        self.approver = self.approver.filter(|(turn, _)| last(turn));
        self.authorizer = self.authorizer.filter(last);
        self.asked.retain(|call| waiting.contains(call));
        self.permitted.retain(|call| waiting.contains(call));
        self.tools.retain(|start| waiting.contains(&start.call));
        self.steps.retain(|start, _| waiting.contains(&start.call));
        self
    }
}
