//! What machines are told, and what leaves a task because of it.

use std::sync::Arc;

use everstep_machine::contract::Machine;
use everstep_machine::effect::{EffectClass, External};
use everstep_machine::run::Timer;
use everstep_machine::store::{Replies, StoreFault};
use everstep_machine::{admission, attempt};

use super::World;
use super::plan::Action;
use super::process::{Body, Flight, Progress, Role, Sent};
use crate::fingerprint::Printed;
use crate::oracle::Sometimes;

impl World {
    /// Tells an attempt what happened.
    pub(super) fn tell(&mut self, process: usize, task: usize, input: attempt::Input) {
        if self.tell_on(process, task, input) {
            self.compare(process, task);
        }
    }

    /// Tells an attempt what happened and lets leave what may. False if the task has ended.
    fn tell_on(&mut self, process: usize, task: usize, input: attempt::Input) -> bool {
        let it = &mut self.process_mut(process).tasks[task];
        match it.body.replace(Body::Away) {
            Body::Attempt(state) => {
                let step = attempt::Attempt::step(state, input);
                it.epoch = step.state.ownership().map_or(it.epoch, |owner| owner.epoch);
                it.body = Printed::new(Body::Attempt(step.state));
                it.plan.add(step.effects.into_iter().map(Action::from));
            }
            other => it.body = Printed::new(other),
        }
        self.pump(process, task)
    }

    /// Tells an admission what happened.
    pub(super) fn tell_client(&mut self, process: usize, task: usize, input: admission::Input) {
        let it = &mut self.process_mut(process).tasks[task];
        match it.body.replace(Body::Away) {
            Body::Admission(state) => {
                let step = admission::AdmissionMachine::step(state, input);
                it.body = Printed::new(Body::Admission(step.state));
                it.plan.add(step.effects.into_iter().map(Action::from));
            }
            other => it.body = Printed::new(other),
        }
        self.pump(process, task);
    }

    /// The store's answer to the pipeline in flight arrives, or its loss is noticed.
    pub(super) fn answer_store(
        &mut self,
        process: usize,
        task: usize,
        answer: Result<Replies, StoreFault>,
    ) {
        let it = &mut self.process_mut(process).tasks[task];
        it.sent = None;
        match &answer {
            Ok(_) => it.plan.acknowledge(),
            Err(_) => it.plan.discard(),
        }
        if answer.is_ok() && !self.pump(process, task) {
            return;
        }
        if answer.is_ok() {
            self.compare(process, task);
        }
        match &*self.processes[process].tasks[task].body {
            Body::Attempt(_) => self.tell(process, task, attempt::Input::Stored(answer)),
            Body::Admission(_) => {
                self.tell_client(process, task, admission::Input::Stored(answer));
            }
            Body::Request(pipeline) => {
                let again = Action::Store(Arc::clone(pipeline));
                self.answer_request(process, task, &answer, again);
            }
            Body::Away => {}
        }
    }

    /// Whoever asked for one thing is answered, or asks for it again.
    fn answer_request(
        &mut self,
        process: usize,
        task: usize,
        answer: &Result<Replies, StoreFault>,
        again: Action,
    ) {
        if *answer == Err(StoreFault::Indeterminate) {
            self.process_mut(process).tasks[task].plan.add([again]);
            self.pump(process, task);
        } else {
            self.finish(process, task);
        }
    }

    /// Lets leave what may. False if the task has ended.
    pub(super) fn pump(&mut self, process: usize, task: usize) -> bool {
        let goes_on = self.pump_on(process, task);
        self.pass_places_on(process);
        goes_on
    }

    fn pump_on(&mut self, process: usize, task: usize) -> bool {
        while let Some(action) = self.process_mut(process).tasks[task].plan.take() {
            let clock = self.clock;
            let lane = self.processes[process].tasks[task].lane;
            let it = &mut self.process_mut(process).tasks[task];
            match action {
                Action::Store(pipeline) => {
                    assert!(!pipeline.commands.is_empty(), "ARC-10: a pipeline asks for something");
                    it.sent = Some(Sent::new(pipeline));
                }
                Action::External(external) if external.kind().class() == EffectClass::Compute => {
                    // A computation is the same everywhere and takes no time: nothing crashes in
                    // the middle of it.
                    let answer = self.outside.perform(&self.cast, &external).answer;
                    return self.tell_on(process, task, attempt::Input::Answered(answer));
                }
                Action::External(external) if external.kind().class() == EffectClass::Volatile => {
                    let cleared = self.clear(process, &external);
                    let permitted = || self.permit((process, task), lane, &external);
                    if let Some(answer) = cleared.or_else(permitted) {
                        return self.tell_on(process, task, attempt::Input::Answered(answer));
                    }
                }
                Action::External(external) => {
                    let process = self.process_mut(process);
                    process.note_start(lane, &external);
                    let it = &mut process.tasks[task];
                    let epoch = it.epoch;
                    let asked = match &**external {
                        External::CallModel(request) => Some(request.run),
                        _ => None,
                    };
                    it.flights.push(Flight::new(external, epoch));
                    let calls = it.flights.iter().filter(|flight| flight.is_call(epoch)).count();
                    self.judge.in_flight(&self.cast, calls);
                    if let Some(run) = asked {
                        self.judge.note_out(lane, epoch, run);
                    }
                }
                // A tool that was told may still go on, and may still answer.
                Action::CallOff => {
                    it.flights.retain(|it| it.has_happened() || it.is_of_a_call());
                    self.process_mut(process).wait_no_more(lane);
                }
                Action::CancelExternals => {
                    it.flights.retain(Flight::has_happened);
                    it.permits.cancelled();
                    self.process_mut(process).wait_no_more(lane);
                }
                Action::ScheduleRenewal(after) => it.renewal = Some(clock.after(after)),
                Action::Tell => {}
                Action::Schedule(timer, after) => {
                    it.timers.push((clock.after(after), timer));
                    if matches!(timer, Timer::Retry(_)) {
                        self.judge.note(Sometimes::Paused);
                    }
                }
                Action::End(end) => {
                    self.note(process, lane, || format!("the attempt ends: {end:?}"));
                    self.judge.ended(end);
                    self.remember(process, task);
                    self.finish(process, task);
                    return false;
                }
                Action::Accept(receipt) => {
                    self.note(process, lane, || "the client has its receipt".to_owned());
                    self.judge.receipt(&self.shelves[lane], receipt);
                    self.finish(process, task);
                    return false;
                }
                Action::Reject(why) => {
                    self.note(process, lane, || format!("the client is turned away: {why}"));
                    self.judge.rejected(why);
                    self.finish(process, task);
                    return false;
                }
            }
        }
        true
    }

    /// A task has ended by itself.
    fn finish(&mut self, process: usize, task: usize) {
        let process = self.process_mut(process);
        process.tasks.remove(task);
        process.progress = match process.role {
            Role::Client(_) | Role::Abort(_) => Progress::Done,
            Role::Operator | Role::Worker(_) => Progress::Idle,
        };
        if process.role == Role::Operator {
            self.answer_operator();
        }
    }

    /// Compares what an attempt believes with what is stored.
    fn compare(&mut self, process: usize, task: usize) {
        let it = &self.processes[process].tasks[task];
        if let Body::Attempt(state) = &*it.body
            && it.sent.is_none()
            && !it.plan.has_pipeline()
        {
            self.judge.compare(it.lane, &self.shelves[it.lane], state, it.outrun);
        }
    }
}
