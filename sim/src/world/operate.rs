//! The operator: looks for what waits for people when everything else rests.

use std::collections::BTreeMap;
use std::sync::Arc;

use everstep_machine::identity::{PrincipalId, SubmissionId, Timestamp};
use everstep_machine::ledger::{
    ApprovalMark, Command, DecisionIntent, Mismatch, Phase, RebindIntent, ResolutionIntent, Row,
    Standing,
};
use everstep_machine::record::Doubt;
use everstep_machine::store::{Pipeline, StoreCommand};

use super::World;
use super::process::{Progress, Role};
use crate::fingerprint::Printed;

/// What the operator has in hand.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Operator {
    /// The lane and the one request that is being made.
    pub(super) request: Option<(usize, Arc<Printed<Pipeline>>)>,
    /// Which of the scenario's retries it is about, if it is about one.
    pub(super) retry: Option<usize>,
    /// How many people have been answered who asked for each of them.
    pub(super) answered: BTreeMap<usize, u32>,
}

impl World {
    /// Lets the operator say something of the first thing that waits for people. False if there is
    /// none, or nobody free to ask.
    pub(super) fn ask_operator(&mut self) -> bool {
        let is_free = |role| role == Role::Operator;
        let Some(process) = self.processes.iter().position(|it| is_free(it.role)) else {
            return false;
        };
        let it = &self.processes[process];
        if it.paused || it.progress != Progress::Idle {
            return false;
        }
        let said = self.resolution(process).or_else(|| self.decision(process));
        let said = said.or_else(|| self.rebind(process));
        let Some((lane, command)) = said.or_else(|| self.retry(process)) else { return false };
        let commands = vec![StoreCommand::Ledger(command)];
        let pipeline = Pipeline { lane: self.cast.lanes[lane].clone(), commands };
        self.operator.request = Some((lane, Arc::new(Printed::new(pipeline))));
        self.process_mut(process).progress = Progress::Due;
        true
    }

    /// What is said of the first open doubt.
    fn resolution(&mut self, process: usize) -> Option<(usize, Command)> {
        let (lane, submission, doubt) = self.open_doubt()?;
        let cast = Arc::clone(&self.cast);
        let tool = self.outside.tool_of(&cast, doubt.call).cloned()?;
        let resolution = self.outside.resolve(&cast, doubt, &tool);
        self.note(process, lane, || format!("looks at {doubt:?} and says {resolution:?}"));
        self.judge.resolved(&cast, &self.outside, doubt, &resolution);
        let intent = ResolutionIntent {
            resolution: Arc::new(resolution),
            principal: operator(),
            reason: Arc::from("looked at the outside"),
        };
        Some((lane, Command::Resolve { submission, doubt, intent }))
    }

    /// What is said of the first open request for approval.
    fn decision(&mut self, process: usize) -> Option<(usize, Command)> {
        let (lane, submission, mark) = self.open_request()?;
        let fold = self.judge.fold(lane);
        let call = fold
            .submission(submission)?
            .calls()
            .find(|call| call.approval().is_some_and(|it| it.request.request == mark.request))?;
        let verdict = self.cast.verdict(&call.tool);
        let request = mark.request;
        self.note(process, lane, || format!("is asked about {request:?} and says {verdict:?}"));
        let intent = DecisionIntent {
            verdict,
            principal: mark.approver.unwrap_or_else(operator),
            reason: Arc::from("thought about it"),
        };
        Some((lane, Command::Decide { submission, request, intent }))
    }

    /// What is said of the first run that nobody can go on with: that it is to, as the agent is now.
    fn rebind(&mut self, process: usize) -> Option<(usize, Command)> {
        let (lane, submission, mismatch) = self.wanted_rebind()?;
        self.note(process, lane, || format!("reads that {mismatch} and has it bound anew"));
        let intent = RebindIntent {
            replaces: mismatch.at,
            to: mismatch.found,
            principal: operator(),
            reason: Arc::from("the change does no harm"),
        };
        Some((lane, Command::Rebind { submission, intent }))
    }

    /// The first run that waits for its binding, if the operator is one who has runs bound anew. Not
    /// back to what the agent was.
    pub(super) fn wanted_rebind(&self) -> Option<(usize, SubmissionId, Mismatch)> {
        let revised = self.cast.revised.as_ref().filter(|it| it.rebinds)?.bound;
        self.shelves.iter().enumerate().find_map(|(lane, shelf)| {
            shelf.rows().iter().find_map(|row| {
                let open =
                    matches!(row.phase, Phase::Running(_) | Phase::Unknown | Phase::Suspended);
                let known =
                    row.compat.incompatible.as_ref().filter(|_| open && row.abort.is_none())?;
                let mismatch = known.mismatch;
                let said = row.compat.rebind.as_ref().is_some_and(|it| it.allows(&mismatch));
                let wanted = mismatch.found == revised && !said;
                wanted.then_some((lane, row.admission.submission, mismatch))
            })
        })
    }

    /// What is said of the first submission that was given up and is to be tried again.
    fn retry(&mut self, process: usize) -> Option<(usize, Command)> {
        let at = self.wanted_retry()?;
        let cast = Arc::clone(&self.cast);
        let (retry, already) = (&cast.retries[at], self.answered(at));
        let (lane, command) = (retry.successor.lane, retry.command(already));
        self.note(process, lane, || format!("looks at what was given up and says {command:?}"));
        self.operator.retry = Some(at);
        Some((lane, command))
    }

    fn answered(&self, retry: usize) -> u32 {
        self.operator.answered.get(&retry).copied().unwrap_or_default()
    }

    /// The first of the scenario's retries that somebody asks for now: as long as the submission is
    /// listed, and until everybody has asked who is to.
    pub(super) fn wanted_retry(&self) -> Option<usize> {
        (0..self.cast.retries.len()).find(|at| {
            let retry = &self.cast.retries[*at];
            let row = self.shelves[retry.successor.lane].row(retry.dead);
            row.is_some_and(|row| match &row.chain.retried {
                None => row.standing() == Standing::GivenUp,
                Some(_) => self.answered(*at) < retry.people,
            })
        })
    }

    /// The operator is answered.
    pub(super) fn answer_operator(&mut self) {
        let Operator { request, retry, answered } = &mut self.operator;
        *request = None;
        if let Some(at) = retry.take() {
            *answered.entry(at).or_default() += 1;
        }
    }

    fn open_doubt(&self) -> Option<(usize, SubmissionId, Doubt)> {
        self.shelves.iter().enumerate().find_map(|(lane, shelf)| {
            shelf.rows().iter().find_map(|row| {
                let mark = row.marks.iter().find(|mark| mark.is_open())?;
                Some((lane, row.admission.submission, mark.doubt))
            })
        })
    }

    fn open_request(&self) -> Option<(usize, SubmissionId, ApprovalMark)> {
        self.shelves.iter().enumerate().find_map(|(lane, shelf)| {
            let now = shelf.lane().time(self.clock);
            shelf.rows().iter().find_map(|row| {
                let mark = wanted(row, now).next()?.clone();
                Some((lane, row.admission.submission, mark))
            })
        })
    }
}

/// Whether somebody can say something of a row at this time.
pub(super) fn wants_people(row: &Row, now: Timestamp) -> bool {
    row.marks.iter().any(|mark| mark.is_open()) || wanted(row, now).next().is_some()
}

/// The requests that can still be decided at this time, as far as the row says.
fn wanted(row: &Row, now: Timestamp) -> impl Iterator<Item = &ApprovalMark> {
    let open = row.phase == Phase::Suspended && row.abort.is_none();
    row.approvals.iter().filter(move |mark| open && mark.is_open() && !mark.is_expired(now))
}

fn operator() -> PrincipalId {
    PrincipalId::new("operator").expect("ARC-09: the operator's name is short and plain")
}
