//! The rows of a lane, out of its log and what else is known of them (DUR-015, STORE-008).
//!
//! Of what a row says, some repeats the log: there the log's word counts, whatever the row says.
//! Some the ledger alone knows: that a submission was accepted whose input is not canonical yet,
//! its key, what people said that nobody has recorded yet, the settlement that is reserved. That is
//! kept where a row is known, and gone where none is. A row that is made of the log alone has its
//! own id for a key, so its client finds it again by that only.
//!
//! | the log says | the row becomes |
//! | --- | --- |
//! | a settlement | settled |
//! | none, and one is reserved that fits | as it was: the reservation is appended |
//! | doubts that are not closed | unknown, with a mark each |
//! | requests that are not decided | suspended, with a mark each |
//! | an input | running |
//! | an input in the run of another one | joined |
//! | nothing of it | queued, as it was before it began |
//!
//! Who owns the lane is not said here: a lane whose rows are made anew is a new incarnation
//! ([`crate::store::Incarnation`]), and nobody owns it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::approval::{ApprovalMark, ApprovalState, Suspension};
use super::compat::{Compat, Incompatible};
use super::input::Admission;
use super::retry::Chain;
use super::state::{
    AbortIntent, InputMarker, Mark, MarkState, Phase, ResolutionIntent, Row, Settled,
};
use crate::identity::{
    AdmissionSequence, ApprovalId, Epoch, IdempotencyKey, SubmissionId, Timestamp,
};
use crate::json::CanonicalJson;
use crate::projection::{Reader, SubmissionView};
use crate::record::{
    AbortRequested, Corruption, Doubt, InputKind, InputRecorded, Record, StoredBatch,
};

/// A log that is read for what the rows of its lane repeat of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reconstruction {
    reader: Reader,
    /// Every submission, in the order in which the log first speaks of it, and when it does.
    named: Vec<(SubmissionId, Timestamp)>,
    seen: BTreeSet<SubmissionId>,
    /// The inputs of those that fed the run of another one.
    joined: BTreeMap<SubmissionId, InputRecorded>,
    doubted: BTreeMap<Doubt, Timestamp>,
    resolved: BTreeMap<Doubt, ResolutionIntent>,
    asked: BTreeMap<ApprovalId, Timestamp>,
    settled: BTreeMap<SubmissionId, (Epoch, Timestamp)>,
}

impl Reconstruction {
    /// Reads the next batch.
    ///
    /// # Errors
    /// The batch does not follow the one before it ([`Reader::feed`]).
    pub fn feed(&mut self, batch: &StoredBatch) -> Result<(), Corruption> {
        self.reader.feed(batch)?;
        let (at, epoch) = (batch.envelope().committed_at, batch.envelope().epoch);
        for record in batch.batch().records() {
            if let Some(submission) = record.submission()
                && self.seen.insert(submission)
            {
                self.named.push((submission, at));
            }
            self.hear(record, epoch, at);
        }
        Ok(())
    }

    fn hear(&mut self, record: &Record, epoch: Epoch, at: Timestamp) {
        match record {
            Record::InputRecorded(it) if it.kind.host().is_some() => {
                self.joined.insert(it.submission, it.clone());
            }
            Record::ToolUnknown(it) => {
                self.doubted.insert(it.doubt, at);
            }
            Record::ToolResolved(it) => {
                let (principal, reason) = (it.principal.clone(), it.reason.clone());
                let resolution = it.resolution.clone();
                self.resolved.insert(it.doubt, ResolutionIntent { resolution, principal, reason });
            }
            Record::ApprovalRequested(it) => {
                self.asked.insert(it.request, at);
            }
            Record::SubmissionSettled(it) => {
                self.settled.insert(it.submission, (epoch, at));
            }
            Record::ConversationCreated(_)
            | Record::InputRecorded(_)
            | Record::ModelResponded(_)
            | Record::ModelInterrupted(_)
            | Record::ToolPrepared(_)
            | Record::StepRecorded(_)
            | Record::ToolSettled(_)
            | Record::AbortRequested(_)
            | Record::RecoveryDecided(_)
            | Record::RunRebound(_)
            | Record::CompactionCreated(_)
            | Record::ApprovalDecided(_) => {}
        }
    }

    /// The log as it is read so far.
    #[must_use]
    pub const fn log(&self) -> &Reader {
        &self.reader
    }

    /// Every row of the lane, in the order of the lane. `known` are the rows that are known, in
    /// their order; they may say less than the log, or more. What the log alone knows stands before
    /// them: it has begun already.
    #[must_use]
    pub fn rows(&self, known: &[Arc<Row>]) -> Vec<Arc<Row>> {
        let known_ids: BTreeSet<_> = known.iter().map(|row| row.admission.submission).collect();
        let alone = self.named.iter().filter(|(id, _)| !known_ids.contains(id));
        let alone = alone.filter_map(|(id, at)| self.alone(*id, *at)).map(Arc::new);
        let all = alone.chain(known.iter().cloned());
        let placed = (0_u64..).zip(all).map(|(place, row)| {
            let row = Row { sequence: AdmissionSequence(place), ..self.row(&row) };
            Arc::new(row)
        });
        placed.collect()
    }

    /// A row that the log alone knows, before its log is heard. None if the log does not say whose
    /// it is.
    fn alone(&self, submission: SubmissionId, at: Timestamp) -> Option<Row> {
        let created = self.reader.projection().created()?;
        let view = self.reader.projection().submission(submission)?;
        let joined = self.joined.get(&submission);
        let recorded = view.run.as_ref().map(|run| &*run.input).or(joined);
        let (principal, input, allowance) = match (recorded, &view.abort) {
            (Some(it), _) => (it.principal.clone(), it.input.clone(), it.allowance),
            (None, Some(abort)) => {
                let nothing = CanonicalJson::from_canonical("null").ok()?;
                (abort.principal.clone(), nothing, crate::agent::Allowance::default())
            }
            (None, None) => return None,
        };
        let agent = created.agent.clone();
        let steers = joined.and_then(|it| match it.kind {
            InputKind::Steering { host } => Some(host),
            InputKind::First { .. } | InputKind::FollowUp { .. } => None,
        });
        let admission = Admission {
            submission,
            principal,
            tenant: created.tenant.clone(),
            key: IdempotencyKey::new(&submission.to_string()).ok()?,
            payload: Admission::payload_of(&agent, &input, &allowance, steers),
            agent,
            input,
            allowance,
            steers,
        };
        Some(Row {
            admission: Arc::new(admission),
            sequence: AdmissionSequence(0),
            admitted_at: at,
            claims: 0,
            fruitless: Vec::new(),
            phase: Phase::Ready,
            abort: None,
            marks: Vec::new(),
            approvals: Vec::new(),
            chain: Chain::default(),
            compat: Compat::default(),
        })
    }

    /// A row that says what the log says. Nobody is said to have died of it.
    fn row(&self, known: &Row) -> Row {
        let nothing = SubmissionView::default();
        let view = self.reader.projection().submission(known.admission.submission);
        let view = view.unwrap_or(&nothing);
        let marks = self.marks(view, &known.marks);
        let mut row = Row {
            fruitless: Vec::new(),
            abort: known.abort.clone().or_else(|| view.abort.as_deref().map(intent)),
            marks,
            ..known.clone()
        };
        if let Some(ended) = self.ended(view, known) {
            (row.phase, row.compat) = (ended, row.compat.ended());
            return row;
        }
        row.compat = compat(view, &known.compat);
        row.approvals = self.approvals(view, &known.approvals);
        row.phase = if let Some(host) = view.joined {
            Phase::Joined { host }
        } else if view.run.is_none() {
            not_begun(&known.phase)
        } else if row.is_doubtful() {
            Phase::Unknown
        } else if row.approvals.iter().all(ApprovalMark::is_closed) {
            Phase::Running(InputMarker::Applied)
        } else {
            Phase::Suspended
        };
        row
    }

    /// The phase of a row whose outcome is fixed.
    fn ended(&self, view: &SubmissionView, known: &Row) -> Option<Phase> {
        match (&view.settled, &known.phase) {
            (Some(canonical), Phase::Settled(settled)) if settled.digest == canonical.digest() => {
                Some(known.phase.clone())
            }
            (Some(canonical), _) => {
                let nobody = (Epoch(0), Timestamp(0));
                let (epoch, at) = *self.settled.get(&canonical.submission()).unwrap_or(&nobody);
                Some(Phase::Settled(Settled {
                    digest: canonical.digest(),
                    outcome: canonical.outcome(),
                    given_up: canonical.is_given_up(),
                    epoch,
                    at,
                }))
            }
            (None, Phase::Terminalizing(reserved)) => {
                let fits = reserved.record.run == view.run.as_ref().map(|run| run.run);
                fits.then(|| known.phase.clone())
            }
            (None, _) => None,
        }
    }

    /// One mark for every doubt of the log, with what people said of it.
    fn marks(&self, view: &SubmissionView, known: &[Mark]) -> Vec<Mark> {
        let open = view.doubts().map(|doubt| (doubt, false));
        let closed = view.resolved().map(|doubt| (doubt, true));
        let marks = open.chain(closed).map(|(doubt, is_closed)| {
            let mark = known.iter().find(|mark| mark.doubt == doubt);
            let at = self.doubted.get(&doubt).copied().unwrap_or_default();
            let said = mark.and_then(|mark| match &mark.state {
                MarkState::Open => None,
                MarkState::Intended(said) | MarkState::Closed(said) => Some(said),
            });
            let state = match (said.or_else(|| self.resolved.get(&doubt)), is_closed) {
                (Some(said), true) => MarkState::Closed(said.clone()),
                (Some(said), false) => MarkState::Intended(said.clone()),
                (None, _) => MarkState::Open,
            };
            Mark { doubt, since: mark.map_or(at, |mark| mark.since), state }
        });
        let mut marks: Vec<Mark> = marks.collect();
        marks.sort_unstable_by_key(|mark| mark.doubt);
        marks
    }

    /// One mark for every request that waits, and those that are kept of decided ones.
    fn approvals(&self, view: &SubmissionView, known: &[ApprovalMark]) -> Vec<ApprovalMark> {
        let decided: BTreeSet<ApprovalId> = view.decided_approvals().collect();
        let kept = known.iter().filter(|mark| decided.contains(&mark.request)).map(|mark| {
            let said = match &mark.state {
                ApprovalState::Intended(said) => Some(said.clone()),
                ApprovalState::Closed(said) => said.clone(),
                ApprovalState::Open | ApprovalState::Expired => None,
            };
            ApprovalMark { state: ApprovalState::Closed(said), ..mark.clone() }
        });
        let waits = view.open_approvals().map(|it| {
            let mark = known.iter().find(|mark| mark.request == it.request);
            match mark.filter(|mark| !mark.is_closed()) {
                Some(mark) => mark.clone(),
                None => self.asked_anew(Suspension::of(it)),
            }
        });
        let mut marks: Vec<ApprovalMark> = kept.chain(waits).collect();
        marks.sort_unstable_by_key(|mark| mark.request);
        marks
    }

    fn asked_anew(&self, suspension: Suspension) -> ApprovalMark {
        let Suspension { request, expiry, approver } = suspension;
        let since = self.asked.get(&request).copied().unwrap_or_default();
        let expires_at = expiry.map(|expiry| since.after(expiry));
        ApprovalMark { request, since, expires_at, approver, state: ApprovalState::Open }
    }
}

/// What is known of bindings, as far as it is about what the run is bound to now.
fn compat(view: &SubmissionView, known: &Compat) -> Compat {
    let is_of_it = |it: &Incompatible| {
        let run = view.run.as_ref().map(|run| (run.bound_at, run.bound));
        run == Some((it.mismatch.at, it.mismatch.expected))
    };
    Compat { incompatible: known.incompatible.clone().filter(is_of_it), ..known.clone() }
}

fn intent(requested: &AbortRequested) -> AbortIntent {
    AbortIntent { principal: requested.principal.clone(), reason: requested.reason.clone() }
}

/// The phase of a row of whose input the log knows nothing.
fn not_begun(known: &Phase) -> Phase {
    match known {
        Phase::Admitted | Phase::Ready | Phase::Running(InputMarker::Missing) => known.clone(),
        Phase::Running(InputMarker::Applied)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_)
        | Phase::Settled(_) => Phase::Ready,
    }
}
