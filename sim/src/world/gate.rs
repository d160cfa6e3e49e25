//! The places of a host: calls of a group of tools wait until there is one (RUN-009).
//!
//! A process has the same machine as a host does. It hands out a place before a call is prepared,
//! and has it back when the call has ended, when nobody wants it to start any more, or when whoever
//! made it is gone. A durable call keeps its place while it rests.

use std::collections::BTreeSet;

use everstep_machine::attempt;
use everstep_machine::contract::Machine;
use everstep_machine::effect::{Answer, External, Wanting};
use everstep_machine::identity::{AgentId, GroupName, RunId, ToolCallId};
use everstep_machine::permits::{Input, Limits, Permits, State, Ticket};

use super::World;
use super::process::{Process, Task};
use crate::cast::Cast;
use crate::defect::Defect;
use crate::oracle::Sometimes;

/// The places of one process, and who has them or waits.
#[derive(Clone, Debug, Hash)]
pub(super) struct Gate {
    permits: State,
    calls: Vec<Held>,
}

/// A call that has a place or waits for one.
#[derive(Clone, Copy, Debug, Hash)]
struct Held {
    ticket: Ticket,
    lane: usize,
    run: RunId,
    call: ToolCallId,
    how: How,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum How {
    /// It waits for its place.
    Waits,
    /// It has its place and has not begun.
    Granted,
    /// It has begun. Whether its handler rests: nothing of it is under way, and it goes on.
    Begun { rests: bool },
}

impl Gate {
    pub(super) fn new(cast: &Cast) -> Self {
        let groups = cast.scenario.groups.iter().map(|it| (it.name.clone(), it.places));
        let limits = Limits {
            agent: usize::MAX,
            group: usize::MAX,
            groups: groups.collect(),
            host: usize::MAX,
        };
        Self { permits: State::new(limits), calls: Vec::new() }
    }

    /// A number that no call of this process has.
    fn ticket(&self) -> Ticket {
        let free = (0..).find(|n| self.calls.iter().all(|it| it.ticket != Ticket(*n)));
        Ticket(free.unwrap_or_default())
    }

    /// Whether a call has its place, or needs none. One that has not waits from now on.
    fn has_place(
        &mut self,
        call: ToolCallId,
        agent: &AgentId,
        group: Option<&GroupName>,
        (lane, run): (usize, RunId),
    ) -> bool {
        if let Some(held) = self.calls.iter().find(|it| it.lane == lane && it.call == call) {
            return held.how != How::Waits;
        }
        let is_limited = |group: &&GroupName| self.permits.limits().groups.contains_key(*group);
        let Some(group) = group.filter(is_limited) else { return true };
        let ticket = self.ticket();
        self.calls.push(Held { ticket, lane, run, call, how: How::Waits });
        let (agent, group) = (agent.clone(), Some(group.clone()));
        self.tell(Input::Asked { ticket, agent, group });
        let how = &mut self.calls.last_mut().expect("it was pushed").how;
        let is_granted = self.permits.holds(ticket);
        if is_granted {
            *how = How::Granted;
        }
        is_granted
    }

    fn give_back(&mut self, which: impl Fn(&Held) -> bool) {
        let over: Vec<Ticket> =
            self.calls.iter().filter(|it| which(it)).map(|it| it.ticket).collect();
        self.calls.retain(|it| !over.contains(&it.ticket));
        over.into_iter().for_each(|ticket| self.tell(Input::Released(ticket)));
    }

    fn tell(&mut self, input: Input) {
        self.permits = Permits::step(self.permits.clone(), input).state;
    }

    /// Somebody who waited and has its place now.
    fn next(&mut self) -> Option<Held> {
        let Self { permits, calls } = self;
        let mut waiting = calls.iter_mut().filter(|it| it.how == How::Waits);
        let held = waiting.find(|it| permits.holds(it.ticket))?;
        held.how = How::Granted;
        Some(*held)
    }
}

impl Held {
    const fn has_begun(&self) -> bool {
        matches!(self.how, How::Begun { .. })
    }
}

impl Process {
    /// Calls want to start, and no others of their run: those that have their places at once.
    /// Whoever is in no group that has so many places needs none.
    pub(super) fn permit(&mut self, lane: usize, asked: &External) -> Vec<ToolCallId> {
        let External::Permits { run, agent, calls } = asked else { return Vec::new() };
        let is_wanted = |held: &Held| calls.iter().any(|it| it.call == held.call);
        self.gate.give_back(|held| held.lane == lane && !held.has_begun() && !is_wanted(held));
        let mut granted = Vec::new();
        for Wanting { call, group } in calls {
            if self.gate.has_place(*call, agent, group.as_ref(), (lane, *run)) {
                granted.push(*call);
            }
        }
        granted
    }

    /// A call begins.
    pub(super) fn note_start(&mut self, lane: usize, external: &External) {
        let External::InvokeTool(it) = external else { return };
        let mut calls = self.gate.calls.iter_mut();
        if let Some(held) = calls.find(|held| held.lane == lane && held.call == it.call) {
            held.how = How::Begun { rests: false };
        }
    }

    /// Nothing of a lane is to begin any more.
    pub(super) fn wait_no_more(&mut self, lane: usize) {
        self.gate.give_back(|held| held.lane == lane && !held.has_begun());
    }

    /// A handler rests, or has nothing more to say.
    pub(super) fn note_rest(&mut self, answer: &Answer) {
        let (start, rests) = match answer {
            Answer::Step { start, .. } => (*start, true),
            Answer::Tool { start, .. } | Answer::Unsure { start } => (*start, false),
            _ => return,
        };
        let begun = |it: &&mut Held| it.call == start.call && it.has_begun();
        self.gate.calls.iter_mut().filter(begun).for_each(|it| it.how = How::Begun { rests });
    }

    /// The judge knows of no place that was given back.
    fn note_places(&mut self) {
        let Self { tasks, gate, .. } = self;
        for task in tasks {
            let lane = task.lane;
            let is_held = |held: &Held, call| (held.lane, held.call) == (lane, call);
            task.permits.keep_places(|call| gate.calls.iter().any(|held| is_held(held, call)));
        }
    }

    /// Takes back the places of calls that are over.
    fn take_back(&mut self) {
        let Self { tasks, gate, .. } = self;
        gate.give_back(|held| {
            let task = tasks.iter().find(|task| task.lane == held.lane);
            let is_there = task.is_some_and(|task| match held.how {
                How::Waits | How::Granted | How::Begun { rests: true } => true,
                How::Begun { rests: false } => {
                    task.flights.iter().any(|flight| flight.is_of(held.call))
                }
            });
            !is_there
        });
    }
}

impl Task {
    /// The calls that have begun and have not ended: one of their legs is under way, or their
    /// handlers rest.
    fn begun(&self) -> BTreeSet<ToolCallId> {
        let legs = self.flights.iter().filter_map(|flight| match &**flight.external {
            External::InvokeTool(it) => Some(it.call),
            External::NextStep(it) => Some(it.start.call),
            _ => None,
        });
        legs.chain(self.permits.resting().iter().copied()).collect()
    }
}

impl World {
    /// What is answered at once to a question for places; none if all of them have to wait.
    pub(super) fn permit(
        &mut self,
        (process, task): (usize, usize),
        lane: usize,
        asked: &External,
    ) -> Option<Answer> {
        let External::Permits { run, calls: wanted, .. } = asked else { return None };
        let calls = if self.cast.defect == Some(Defect::PlacesForgotten) {
            wanted.iter().map(|it| it.call).collect()
        } else {
            self.process_mut(process).permit(lane, asked)
        };
        let grouped = wanted.iter().filter(|it| it.group.is_some() && calls.contains(&it.call));
        for it in grouped {
            self.process_mut(process).tasks[task].permits.place(it.call);
        }
        (!calls.is_empty()).then_some(Answer::Permitted { run: *run, calls })
    }

    /// Places that are free go to who waits for them, and the judge counts who runs.
    pub(super) fn pass_places_on(&mut self, process: usize) {
        if self.cast.scenario.groups.is_empty() {
            return;
        }
        self.process_mut(process).take_back();
        if self.cast.defect != Some(Defect::PlacesForgotten) {
            self.process_mut(process).note_places();
        }
        while let Some(held) = self.process_mut(process).gate.next() {
            let tasks = &self.processes[process].tasks;
            if let Some(task) = tasks.iter().position(|task| task.lane == held.lane) {
                self.process_mut(process).tasks[task].permits.place(held.call);
                let answer = Answer::Permitted { run: held.run, calls: vec![held.call] };
                self.tell(process, task, attempt::Input::Answered(answer));
            }
        }
        let it = &self.processes[process];
        if it.gate.calls.iter().any(|held| held.how == How::Waits) {
            self.judge.note(Sometimes::Queued);
        }
        let begun = it.tasks.iter().flat_map(Task::begun);
        let tools = begun.filter_map(|call| self.outside.tool_of(&self.cast, call).cloned());
        let tools: Vec<_> = tools.collect();
        self.judge.in_groups(&self.cast, &tools);
    }
}
