//! The micro-event that a moment stands before.

use std::mem;
use std::sync::Arc;

use everstep_machine::effect::{Answer, External, Invocation};
use everstep_machine::identity::Timestamp;
use everstep_machine::record::Doubt;
use everstep_machine::store::{StoreCommand, StoreFault};
use everstep_machine::{attempt, ledger};

use super::World;
use super::moment::{Moment, Spot};
use super::process::{Body, FlightProgress, Task, Transaction};
use crate::profile::Profile;
use crate::store::{Executed, Shelf};

impl World {
    /// Passes a moment.
    pub(super) fn pass(&mut self, moment: Moment) {
        let (process, task) = (moment.process.0, moment.task);
        self.process_mut(process).stopped = None;
        self.note(process, moment.lane.0, || moment.failpoint.to_string());
        match moment.spot {
            Spot::Command(_) => self.pass_command(process, task),
            Spot::Flight(flight) => self.pass_flight(process, task, flight),
        }
    }

    fn pass_command(&mut self, process: usize, task: usize) {
        let Some(sent) = &mut self.process_mut(process).tasks[task].sent else { return };
        if !sent.executed {
            return match self.cast.profile {
                Profile::Weak => self.execute_weak(process, task),
                Profile::Strong => self.execute_strong(process, task),
            };
        }
        if !sent.is_last() {
            sent.at += 1;
            sent.executed = false;
            return;
        }
        let replies = mem::take(&mut sent.replies);
        self.answer_store(process, task, Ok(replies));
    }

    fn execute_weak(&mut self, process: usize, task: usize) {
        let it = &self.processes[process].tasks[task];
        let Some(sent) = &it.sent else { return };
        let (lane, at, pipeline) = (it.lane, sent.at, Arc::clone(&sent.pipeline));
        let command = &pipeline.commands[at];
        let shelf = &mut self.shelves[lane];
        let defect = self.cast.defect;
        let executed = Shelf::execute(shelf, command, self.clock, defect);
        self.committed(process, task, command, &executed);
        self.executed(process, task, executed);
    }

    /// Executes one more command of a transaction, and commits it where it ends.
    fn execute_strong(&mut self, process: usize, task: usize) {
        let it = &mut self.process_mut(process).tasks[task];
        let Some(sent) = &mut it.sent else { return };
        let (lane, at, pipeline) = (it.lane, sent.at, Arc::clone(&sent.pipeline));
        let commands = &pipeline.commands;
        let transaction = sent.transaction.take();
        let shelf = &self.shelves[lane];
        let mut transaction = match transaction {
            Some(begun) if Arc::ptr_eq(&begun.base, shelf) => begun,
            _ => Box::new(Transaction::new(Arc::clone(shelf))),
        };
        while transaction.done.len() <= at {
            let command = &commands[transaction.done.len()];
            let work = &mut transaction.work;
            let executed = Shelf::execute(work, command, self.clock, self.cast.defect);
            let refused = executed.answer.is_err();
            transaction.done.push(executed);
            if refused {
                break;
            }
        }
        let last = transaction.done.len() - 1;
        let refused = transaction.done[last].answer.is_err();
        if refused || last + 1 == commands.len() {
            self.commit(process, task, *transaction);
            return;
        }
        let Some(sent) = &mut self.process_mut(process).tasks[task].sent else { return };
        sent.executed = true;
        sent.transaction = Some(transaction);
    }

    fn commit(&mut self, process: usize, task: usize, transaction: Transaction) {
        let it = &self.processes[process].tasks[task];
        let Some(sent) = &it.sent else { return };
        let (lane, pipeline) = (it.lane, Arc::clone(&sent.pipeline));
        let Transaction { base, work, done } = transaction;
        drop(base);
        self.shelves[lane] = work;
        for (command, executed) in pipeline.commands.iter().zip(done) {
            self.committed(process, task, command, &executed);
            self.executed(process, task, executed);
        }
    }

    /// The oracles and the lane's owners learn what was committed.
    fn committed(
        &mut self,
        process: usize,
        task: usize,
        command: &StoreCommand,
        executed: &Executed,
    ) {
        let it = &self.processes[process].tasks[task];
        let lane = it.lane;
        self.judge.command(&self.cast, lane, command, executed, &it.permits);
        if executed.changed && matches!(command, StoreCommand::Ledger(_)) {
            self.judge.meddle(&self.cast, &self.shelves[lane], self.clock);
        }
        match command {
            StoreCommand::Ledger(
                ledger::Command::Abort { .. }
                | ledger::Command::Resolve { .. }
                | ledger::Command::Decide { .. },
            ) if executed.changed => {
                self.reach_others(process, lane, |other| other.woken = true);
            }
            StoreCommand::Ledger(_) if executed.changed => {
                self.reach_others(process, lane, |other| other.outrun = true);
            }
            StoreCommand::ReadLane(target) => {
                let shelf = Arc::clone(&self.shelves[lane]);
                let it = &mut self.process_mut(process).tasks[task];
                it.outrun = false;
                it.permits.listen(*target, shelf.rows());
            }
            StoreCommand::Ledger(_)
            | StoreCommand::Conversation(_)
            | StoreCommand::ReadLog { .. } => {}
        }
    }

    /// Does something to every other process's attempt at the lane.
    fn reach_others(&mut self, process: usize, lane: usize, act: fn(&mut Task)) {
        let others = (0..self.processes.len()).filter(|other| *other != process);
        for other in others {
            let attempts =
                |task: &Task| task.lane == lane && matches!(*task.body, Body::Attempt(_));
            if self.processes[other].tasks.iter().any(attempts) {
                let tasks = &mut self.process_mut(other).tasks;
                tasks.iter_mut().filter(|task| attempts(task)).for_each(act);
            }
        }
    }

    /// A command was executed, or refused: then the refusal is the answer to the pipeline.
    fn executed(&mut self, process: usize, task: usize, executed: Executed) {
        let Some(sent) = &mut self.process_mut(process).tasks[task].sent else { return };
        match executed.answer {
            Ok(reply) => {
                sent.replies.push(reply);
                sent.executed = true;
            }
            Err(why) => {
                let fault = StoreFault::Refused { at: sent.replies.len(), why };
                self.note_task(process, task, || fault.to_string());
                self.answer_store(process, task, Err(fault));
            }
        }
    }

    fn pass_flight(&mut self, process: usize, task: usize, flight: usize) {
        let it = &mut self.process_mut(process).tasks[task];
        let this = &mut it.flights[flight];
        match &this.progress {
            FlightProgress::Before => {
                this.progress = FlightProgress::During;
            }
            FlightProgress::During => {
                let (answer, due) = self.happen(process, task, flight);
                if self.is_deadly(process, task, flight) {
                    self.note_task(process, task, || "the call kills its process".to_owned());
                    return self.crash(process);
                }
                let this = &mut self.process_mut(process).tasks[task].flights[flight];
                this.progress = FlightProgress::Happened { answer, due };
            }
            FlightProgress::Happened { .. } => {
                let progress = it.flights.remove(flight).progress;
                if let FlightProgress::Happened { answer, .. } = progress {
                    self.process_mut(process).note_rest(&answer);
                    self.tell(process, task, attempt::Input::Answered(answer));
                }
            }
        }
    }

    /// Whether what happened is a call that kills who made it.
    fn is_deadly(&mut self, process: usize, task: usize, flight: usize) -> bool {
        let external = &self.processes[process].tasks[task].flights[flight].external;
        let External::InvokeTool(Invocation { call, epoch, .. }) = &***external else {
            return false;
        };
        let start = Doubt { call: *call, start: *epoch };
        self.outside.kills(&self.cast, start)
    }

    /// An external effect happens.
    pub(super) fn happen(
        &mut self,
        process: usize,
        task: usize,
        flight: usize,
    ) -> (Answer, Timestamp) {
        let external = Arc::clone(&self.processes[process].tasks[task].flights[flight].external);
        if let Some(answer) = self.is_stopped_at_the_door(process, &external) {
            self.note_task(process, task, || "it is not granted any more".to_owned());
            return (answer, self.clock);
        }
        let mut answered = self.outside.perform(&self.cast, &external);
        if let External::Approve { run, turn, asker, questions } = &**external {
            let answers = self.approve(process, asker, questions);
            let (run, turn, questions) = (*run, *turn, Arc::clone(questions));
            answered.answer = Answer::Approver { run, turn, questions, answers };
        }
        if !self.is_granted(&external) {
            self.judge.not_granted(&external, answered.deed);
        }
        let it = &self.processes[process].tasks[task];
        let flight = &it.flights[flight];
        self.judge.happened(
            &self.cast,
            it.lane,
            &self.outside,
            &flight.external,
            &answered,
            &it.permits,
        );
        let (epoch, external) = (flight.epoch, Arc::clone(&flight.external));
        self.judge.note_asked(it.lane, epoch, &external, &answered.answer);
        self.judge.check_effect(&self.cast, it.lane, epoch, &external, &it.permits);
        self.note_task(process, task, || format!("answered with {:?}", answered.answer));
        let permits = &mut self.process_mut(process).tasks[task].permits;
        permits.learn(epoch, &external, &answered.answer);
        permits.hear(&answered.answer);
        permits.asked(&external);
        (answered.answer, self.clock.after(answered.after))
    }
}
