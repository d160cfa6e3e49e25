//! What a process may do: what is granted in it, who is asked, and what is taken back.
//!
//! A process has the same machine as a host does. It is asked before anybody is asked about a batch,
//! once more when a call begins or goes on, and it keeps what was allowed for a session as long as the
//! process lives. What is granted no more every process hears at once, one that is paused before it
//! does anything else.

use std::sync::Arc;

use everstep_machine::agent::{RejectionReason, ToolOutcome};
use everstep_machine::authority::{Action, Outcome};
use everstep_machine::clearance::{Clearances, Effect, Input, State};
use everstep_machine::contract::Machine;
use everstep_machine::effect::{Answer, ApprovalAnswer, ApprovalQuestion, Asker, External};
use everstep_machine::record::Doubt;

use super::World;
use crate::defect::Defect;
use crate::oracle::Sometimes;

impl World {
    /// What is answered at once to a question about calls.
    pub(super) fn clear(&mut self, process: usize, asked: &External) -> Option<Answer> {
        let External::Clear { run, turn, asker, calls } = asked else { return None };
        let said = self.processes[process].clearance.clear(asker, calls);
        Some(Answer::Cleared { run: *run, turn: *turn, said })
    }

    /// What an approver answers, and what was allowed before.
    pub(super) fn approve(
        &mut self,
        process: usize,
        asker: &Asker,
        questions: &Arc<[ApprovalQuestion]>,
    ) -> Vec<ApprovalAnswer> {
        let now = self.clock;
        let asked =
            Input::Asked { now, asker: Box::new(asker.clone()), questions: Arc::clone(questions) };
        let mut told = self.tell_clearance(process, asked);
        let mut answers = Vec::new();
        while let Some(effect) = told.pop() {
            match effect {
                Effect::Ask { question, about } => {
                    let input = match self.cast.approve(&about) {
                        Some(said) => Input::Decided { now, question, said },
                        None => Input::Undecided(question),
                    };
                    told.extend(self.tell_clearance(process, input));
                }
                Effect::Answer { answer, .. } => answers.extend(answer),
                Effect::TakeBack(_) => {}
            }
        }
        answers
    }

    fn tell_clearance(&mut self, process: usize, input: Input) -> Vec<Effect> {
        let held = &mut self.process_mut(process).clearance;
        let step = Clearances::step(State::clone(held), input);
        *held = Arc::new(step.state);
        step.effects
    }

    /// Why nothing of an effect happens, if nothing does: what it takes is not granted any more.
    pub(super) fn is_stopped_at_the_door(
        &mut self,
        process: usize,
        external: &External,
    ) -> Option<Answer> {
        let action = action(external)?;
        if self.cast.defect == Some(Defect::DoorUnwatched) {
            return None;
        }
        let Outcome::Denied(denial) = self.processes[process].clearance.may(action).outcome else {
            return None;
        };
        self.judge.note(Sometimes::StoppedAtTheDoor);
        match external {
            External::InvokeTool(it) => {
                let reason = RejectionReason::NotGranted(denial.layer());
                let start = Doubt { call: it.call, start: it.epoch };
                Some(Answer::Tool { start, outcome: Arc::new(ToolOutcome::Rejected(reason)) })
            }
            External::NextStep(it) => Some(Answer::Unsure { start: it.start }),
            _ => None,
        }
    }

    /// Whether what an effect takes is granted, whatever its process has heard.
    pub(super) fn is_granted(&self, external: &External) -> bool {
        let clearances = &self.cast.clearances;
        let truth = if self.revoked { &clearances.left } else { &clearances.whole };
        action(external).is_none_or(|action| truth.may(action).is_allowed())
    }

    pub(super) fn could_revoke(&self) -> bool {
        !self.revoked && !self.cast.clearances.revocation.is_empty()
    }

    /// Takes back what the scenario says.
    pub(super) fn revoke(&mut self) {
        self.revoked = true;
        if self.cast.defect == Some(Defect::RevocationUnheard) {
            return;
        }
        for process in 0..self.processes.len() {
            for input in self.cast.clearances.revocation.clone() {
                self.tell_clearance(process, input);
            }
        }
    }
}

fn action(external: &External) -> Option<&Action> {
    match external {
        External::InvokeTool(it) => it.action.as_deref(),
        External::NextStep(it) => it.action.as_deref(),
        _ => None,
    }
}
