//! The places of a host: calls of a group of tools wait until there is one (RUN-009).
//!
//! A process has the same machine as a host does. It hands out a place before anything of a call
//! happens, and has it back when the call has ended, or when whoever made it is gone. A durable call
//! keeps its place while it rests.

use everstep_machine::contract::Machine;
use everstep_machine::effect::{Answer, External};
use everstep_machine::identity::GroupName;
use everstep_machine::permits::{Effect, Input, Limits, Permits, State, Ticket};
use everstep_machine::record::Doubt;

use super::World;
use super::process::{Flight, FlightProgress, Process};
use crate::cast::Cast;
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
    start: Doubt,
    /// Whether its handler rests: nothing of it is under way, and it goes on.
    rests: bool,
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

    /// Nobody has used a place, and nobody waits.
    pub(super) const fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    /// A number that no call of this process has.
    fn ticket(&self) -> Ticket {
        let free = (0..).find(|n| self.calls.iter().all(|it| it.ticket != Ticket(*n)));
        Ticket(free.unwrap_or_default())
    }

    fn tell(&mut self, input: Input) -> Vec<Ticket> {
        let step = Permits::step(self.permits.clone(), input);
        self.permits = step.state;
        step.effects.into_iter().map(|Effect::Grant(ticket)| ticket).collect()
    }
}

impl Process {
    /// A call wants to start. Whether it has to wait for a place.
    pub(super) fn has_to_wait(&mut self, lane: usize, external: &External) -> bool {
        let External::InvokeTool(it) = external else { return false };
        let limits = |group: &GroupName| self.gate.permits.limits().groups.contains_key(group);
        let Some(group) = it.group.clone().filter(limits) else { return false };
        let (ticket, start) = (self.gate.ticket(), Doubt { call: it.call, start: it.epoch });
        self.gate.calls.push(Held { ticket, lane, start, rests: false });
        let agent = it.agent.clone();
        let granted = self.gate.tell(Input::Asked { ticket, agent, group: Some(group) });
        !granted.contains(&ticket)
    }

    /// A handler rests, or has nothing more to say.
    pub(super) fn note_rest(&mut self, answer: &Answer) {
        let (start, rests) = match answer {
            Answer::Step { start, .. } => (*start, true),
            Answer::Tool { start, .. } | Answer::Unsure { start } => (*start, false),
            _ => return,
        };
        let calls = self.gate.calls.iter_mut().filter(|it| it.start == start);
        calls.for_each(|it| it.rests = rests);
    }

    /// Takes back the places of calls that are over, and lets begin who waited for them.
    pub(super) fn pass_places_on(&mut self) {
        let is_there = |held: &Held| {
            let task = self.tasks.iter().find(|task| task.lane == held.lane);
            task.is_some_and(|task| {
                held.rests || task.flights.iter().any(|flight| flight.is_of(held.start))
            })
        };
        let over: Vec<Held> =
            self.gate.calls.iter().copied().filter(|held| !is_there(held)).collect();
        for held in over {
            self.gate.calls.retain(|it| it.ticket != held.ticket);
            for ticket in self.gate.tell(Input::Released(held.ticket)) {
                self.begin(ticket);
            }
        }
    }

    fn begin(&mut self, ticket: Ticket) {
        let Some(held) = self.gate.calls.iter().find(|it| it.ticket == ticket).copied() else {
            return;
        };
        let mut flights = self.tasks.iter_mut().flat_map(|task| &mut task.flights);
        let waits =
            |it: &&mut Flight| it.progress == FlightProgress::Waiting && it.is_of(held.start);
        if let Some(flight) = flights.find(waits) {
            flight.progress = FlightProgress::Before;
        }
    }
}

impl World {
    /// Places that are free go to who waits for them, and the judge counts who runs.
    pub(super) fn pass_places_on(&mut self, process: usize) {
        if self.processes[process].gate.is_idle() {
            return;
        }
        self.process_mut(process).pass_places_on();
        let it = &self.processes[process];
        let flights = || it.tasks.iter().flat_map(|task| &task.flights);
        if flights().any(|flight| flight.progress == FlightProgress::Waiting) {
            self.judge.note(Sometimes::Queued);
        }
        let under_way = flights().filter(|flight| flight.progress != FlightProgress::Waiting);
        let tools = under_way.filter_map(|flight| match &**flight.external {
            External::InvokeTool(it) => Some(it.tool.clone()),
            _ => None,
        });
        let tools: Vec<_> = tools.collect();
        self.judge.in_groups(&self.cast, &tools);
    }
}
