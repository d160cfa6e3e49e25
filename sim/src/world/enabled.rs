//! Every order of events, not only the calm one.
//!
//! A world that is set free stands at no moment. Instead it says what could happen next, in
//! whichever order: each task of each process moves on its own, workers look at lanes when they
//! like, clients abort and the operator looks when they like, and time may pass although somebody
//! could move. That last one is a fault (a slow process and a paused one look the same), and so
//! are crashes and lost messages.
//!
//! Two things are left to the calm schedule. Hints and timers that are due are delivered at once:
//! until they are, the process that waits for them can be slow. And an abort that the scenario
//! pins to a failpoint may come at any time here.

use everstep_machine::attempt;
use everstep_machine::effect::{CrashPhase, Failpoint};
use everstep_machine::identity::Timestamp;

use super::moment::{LaneIndex, Moment, ProcessIndex, Spot};
use super::operate::wants_people;
use super::process::{FlightProgress, Progress, Role, Task};
use super::{World, occasions};
use crate::fault::Fault;

/// Something that can happen next in a world that was set free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A task goes past a moment.
    Pass(Moment),
    /// A worker looks at the lane with the lowest number that it could claim.
    Start(ProcessIndex),
    /// Somebody asks for an abort, or says something to a run.
    Speak(ProcessIndex),
    /// The operator looks at the first thing that waits for people.
    Look,
    /// Time passes until something that waits for it is due.
    Time,
    /// A fault at a moment.
    Break(Moment, Fault),
}

impl World {
    /// Sets a world free that has just begun: from now on [`World::events`] and
    /// [`World::happens`] lead it, and it stands at no moment any more.
    pub fn set_free(&mut self) {
        self.next = None;
        self.quiesce();
    }

    /// Everything that can happen next, with the faults it takes.
    #[must_use]
    pub fn events(&self) -> Vec<(Event, u8)> {
        let mut events = Vec::new();
        for process in (0..self.processes.len()).map(ProcessIndex) {
            self.add_moves(process, &mut events);
        }
        for (process, _) in occasions(&self.cast) {
            let it = &self.processes[process];
            let may = match it.role {
                Role::Client(client) => self.takes(client),
                _ => true,
            };
            if may && it.progress == Progress::Idle {
                events.push((Event::Speak(ProcessIndex(process)), 0));
            }
        }
        if self.may_look() {
            events.push((Event::Look, 0));
        }
        if self.due_next().is_some() {
            let somebody_moves = events.iter().any(|(_, faults)| *faults == 0);
            events.push((Event::Time, u8::from(somebody_moves)));
        }
        events
    }

    /// Lets one of [`World::events`] happen.
    pub fn happens(&mut self, event: Event) {
        match event {
            Event::Pass(moment) => self.pass(moment),
            Event::Start(process) => {
                self.start(process.0);
            }
            Event::Speak(process) => self.speak(process.0),
            Event::Look => {
                self.ask_operator();
            }
            Event::Time => {
                if let Some(next) = self.due_next() {
                    self.note_time(next);
                    self.clock = next;
                }
            }
            Event::Break(moment, fault) => {
                self.next = Some(moment);
                self.break_at_moment(fault);
                self.next = None;
            }
        }
        self.quiesce();
    }

    /// An event in words.
    #[must_use]
    pub fn tell_event(&self, event: Event) -> String {
        match event {
            Event::Pass(moment) => {
                format!("{}: {}", self.process_name(moment.process), moment.failpoint)
            }
            Event::Start(process) => format!("{}: looks at a lane", self.process_name(process)),
            Event::Speak(process) => format!("{}: is asked for", self.process_name(process)),
            Event::Look => "operator: looks at what waits for people".to_owned(),
            Event::Time => "time passes".to_owned(),
            Event::Break(moment, fault) => {
                let process = self.process_name(moment.process);
                format!("{process}: {fault} at {}", moment.failpoint)
            }
        }
    }

    /// Delivers what is due and starts what people asked for.
    fn quiesce(&mut self) {
        'again: while self.is_within_bound() {
            for process in 0..self.processes.len() {
                if self.deliver_due(process) {
                    continue 'again;
                }
                let it = &self.processes[process];
                let is_person = !matches!(it.role, Role::Worker(_));
                if is_person && it.progress == Progress::Due && self.start(process) {
                    continue 'again;
                }
            }
            return;
        }
    }

    fn deliver_due(&mut self, process: usize) -> bool {
        for task in 0..self.processes[process].tasks.len() {
            let it = &self.processes[process].tasks[task];
            if it.woken {
                self.process_mut(process).tasks[task].woken = false;
                self.tell(process, task, attempt::Input::Woken);
                return true;
            }
            if it.renewal.is_some_and(|due| due <= self.clock) {
                self.process_mut(process).tasks[task].renewal = None;
                self.tell(process, task, attempt::Input::RenewalDue);
                return true;
            }
            if let Some(timer) = self.take_timer(process, task) {
                self.tell(process, task, attempt::Input::Due(timer));
                return true;
            }
        }
        false
    }

    /// What one process can do, and what can be done to it.
    fn add_moves(&self, process: ProcessIndex, events: &mut Vec<(Event, u8)>) {
        let it = &self.processes[process.0];
        let mut alive = None;
        for (at, task) in it.tasks.iter().enumerate() {
            for (spot, failpoint) in task.stands_anywhere(self.clock) {
                let lane = LaneIndex(task.lane);
                let moment = Moment { failpoint, process, lane, task: at, spot };
                alive.get_or_insert(moment);
                events.push((Event::Pass(moment), 0));
                if matches!(spot, Spot::Command(_)) {
                    events.push((Event::Break(moment, Fault::Lose), 1));
                }
                if failpoint.phase == CrashPhase::During {
                    events.push((Event::Break(moment, Fault::CrashDone), 1));
                }
            }
        }
        // Wherever its tasks stand, a process that crashes leaves the same world.
        events.extend(alive.map(|moment| (Event::Break(moment, Fault::Crash), 1)));
        let claimable = |lane: usize| self.may_begin(process.0, lane);
        if matches!(it.role, Role::Worker(_)) && (0..self.shelves.len()).any(claimable) {
            events.push((Event::Start(process), 0));
        }
    }

    fn may_look(&self) -> bool {
        let operator = self.processes.iter().find(|process| process.role == Role::Operator);
        let is_free = operator.is_some_and(|process| process.progress == Progress::Idle);
        let mut shelves = self.shelves.iter();
        let waits = shelves.any(|shelf| {
            let now = shelf.lane().time(self.clock);
            shelf.rows().iter().any(|row| wants_people(row, now))
        });
        is_free && (waits || self.wanted_retry().is_some() || self.wanted_rebind().is_some())
    }

    /// The next time at which something is due that nobody needs to move for.
    fn due_next(&self) -> Option<Timestamp> {
        let tasks = self.processes.iter().flat_map(|process| &process.tasks);
        let timers = tasks.flat_map(|task| {
            let answers = task.flights.iter().filter_map(|flight| match &flight.progress {
                FlightProgress::Before | FlightProgress::During => None,
                FlightProgress::Happened { due, .. } => Some(*due),
            });
            answers.chain(task.renewal).chain(task.timers.iter().map(|(due, _)| *due))
        });
        let leases = self.shelves.iter().filter_map(|shelf| shelf.wakes_at());
        let next = timers.chain(leases).filter(|time| *time > self.clock).min();
        next.or_else(|| if self.may_look() { None } else { self.outwaited() })
    }
}

impl Task {
    /// Everywhere the task stands: at its pipeline, and at each of its effects outside.
    fn stands_anywhere(&self, clock: Timestamp) -> impl Iterator<Item = (Spot, Failpoint)> {
        let command = self.sent.as_ref().map(|sent| Spot::Command(sent.at));
        let flights = self.flights.iter().enumerate();
        let ready = flights.filter(move |(_, flight)| flight.can_go_on(clock));
        let spots = command.into_iter().chain(ready.map(|(at, _)| Spot::Flight(at)));
        spots.filter_map(|spot| Some((spot, self.failpoint(spot)?)))
    }
}
