//! The operator: looks for unknown outcomes when everything else rests.

use std::sync::Arc;

use everstep_machine::identity::{PrincipalId, SubmissionId};
use everstep_machine::ledger::{Command, ResolutionIntent};
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
}

impl World {
    /// Lets the operator decide the first open doubt. False if there is none, or nobody free to
    /// ask.
    pub(super) fn ask_operator(&mut self) -> bool {
        let is_free = |role| role == Role::Operator;
        let Some(process) = self.processes.iter().position(|it| is_free(it.role)) else {
            return false;
        };
        let it = &self.processes[process];
        if it.paused || it.progress != Progress::Idle {
            return false;
        }
        let Some((lane, submission, doubt)) = self.open_doubt() else { return false };
        let cast = Arc::clone(&self.cast);
        let Some(tool) = self.outside.tool_of(&cast, doubt.call).cloned() else { return false };
        let resolution = self.outside.resolve(&cast, doubt, &tool);
        self.note(process, lane, || format!("looks at {doubt:?} and says {resolution:?}"));
        self.judge.resolved(&cast, &self.outside, doubt, &resolution);
        let intent = ResolutionIntent {
            resolution: Arc::new(resolution),
            principal: operator(),
            reason: Arc::from("looked at the outside"),
        };
        let command = Command::Resolve { submission, doubt, intent };
        let commands = vec![StoreCommand::Ledger(command)];
        let pipeline = Pipeline { lane: self.cast.lanes[lane].clone(), commands };
        self.operator.request = Some((lane, Arc::new(Printed::new(pipeline))));
        self.process_mut(process).progress = Progress::Due;
        true
    }

    fn open_doubt(&self) -> Option<(usize, SubmissionId, Doubt)> {
        self.shelves.iter().enumerate().find_map(|(lane, shelf)| {
            shelf.rows().iter().find_map(|row| {
                let mark = row.marks.iter().find(|mark| mark.is_open())?;
                Some((lane, row.admission.submission, mark.doubt))
            })
        })
    }
}

fn operator() -> PrincipalId {
    PrincipalId::new("operator").expect("ARC-09: the operator's name is short and plain")
}
