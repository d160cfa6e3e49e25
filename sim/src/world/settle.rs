//! What follows by itself: from a micro-event to the next moment.

use std::sync::Arc;

use everstep_machine::agent::{Binding, Bound};
use everstep_machine::digest::Hasher;
use everstep_machine::effect::{CrashPhase, EffectKind, Failpoint};
use everstep_machine::identity::{DurationMs, Epoch, Timestamp, Token};
use everstep_machine::ledger::Phase;
use everstep_machine::limits::{LEASE_MS, RENEWAL_MS};
use everstep_machine::run::Timer;
use everstep_machine::store::Pipeline;
use everstep_machine::{admission, attempt};

use super::moment::{LaneIndex, Moment, ProcessIndex, Spot};
use super::plan::{Action, Plan};
use super::process::{Body, Flight, FlightProgress, Progress, Role, Task};
use super::{World, occasions};
use crate::defect::Defect;
use crate::fault::Fault;
use crate::fingerprint::Printed;
use crate::oracle::{Permits, Property};
use crate::scenario::Occasion;

/// What a look at a process found.
enum Look {
    /// It stands at a moment.
    Stands(Moment),
    /// It did something that is no moment.
    Moved,
    /// It has nothing to do now.
    Rests,
}

impl World {
    /// Runs on to the next moment.
    pub(super) fn settle(&mut self) {
        self.next = None;
        while self.is_within_bound() {
            match self.look() {
                Look::Stands(moment) if self.interrupts(moment) => {}
                Look::Stands(moment) => {
                    self.next = Some(moment);
                    return;
                }
                Look::Moved => {}
                Look::Rests => {
                    if !self.pass_time() && !self.ask_operator() && !self.outwait() {
                        return;
                    }
                }
            }
        }
    }

    pub(super) fn is_within_bound(&mut self) -> bool {
        self.steps += 1;
        let bound = self.cast.step_bound;
        if self.steps > bound {
            self.judge.broken(Property::Liveness, || {
                format!("nothing has come to an end after {bound} steps")
            });
            return false;
        }
        true
    }

    fn look(&mut self) -> Look {
        for process in 0..self.processes.len() {
            if self.processes[process].paused {
                continue;
            }
            match self.look_at(process) {
                Look::Rests => {}
                found => return found,
            }
        }
        Look::Rests
    }

    fn look_at(&mut self, process: usize) -> Look {
        let it = &self.processes[process];
        if let Some((task, spot)) = it.stopped {
            return self.stands(process, task, spot);
        }
        for task in 0..it.tasks.len() {
            match self.look_at_task(process, task) {
                Look::Rests => {}
                found => return found,
            }
        }
        if self.start(process) { Look::Moved } else { Look::Rests }
    }

    /// What has left for the outside comes first, since no process can hold it back.
    fn look_at_task(&mut self, process: usize, task: usize) -> Look {
        let it = &self.processes[process].tasks[task];
        let on_its_way = |flight: &Flight| flight.progress == FlightProgress::During;
        if let Some(flight) = it.flights.iter().position(on_its_way) {
            return self.stands(process, task, Spot::Flight(flight));
        }
        if it.woken {
            self.process_mut(process).tasks[task].woken = false;
            self.tell(process, task, attempt::Input::Woken);
            return Look::Moved;
        }
        if it.renewal.is_some_and(|due| due <= self.clock) {
            self.process_mut(process).tasks[task].renewal = None;
            self.tell(process, task, attempt::Input::RenewalDue);
            return Look::Moved;
        }
        if let Some(timer) = self.take_timer(process, task) {
            self.tell(process, task, attempt::Input::Due(timer));
            return Look::Moved;
        }
        let it = &self.processes[process].tasks[task];
        it.next_spot(self.clock).map_or(Look::Rests, |spot| self.stands(process, task, spot))
    }

    /// A timer of the task's run that is due; it is due once.
    pub(super) fn take_timer(&mut self, process: usize, task: usize) -> Option<Timer> {
        let clock = self.clock;
        let timers = &self.processes[process].tasks[task].timers;
        let at = timers.iter().position(|(due, _)| *due <= clock)?;
        Some(self.process_mut(process).tasks[task].timers.remove(at).1)
    }

    fn stands(&self, process: usize, task: usize, spot: Spot) -> Look {
        let it = &self.processes[process].tasks[task];
        let Some(failpoint) = it.failpoint(spot) else { return Look::Rests };
        let (process, lane) = (ProcessIndex(process), LaneIndex(it.lane));
        Look::Stands(Moment { failpoint, process, lane, task, spot })
    }

    /// Gives an idle process its next task.
    pub(super) fn start(&mut self, process: usize) -> bool {
        let it = &self.processes[process];
        let due = it.progress == Progress::Due;
        match it.role {
            Role::Client(client) if due => self.start_client(process, client),
            Role::Abort(abort) if due => {
                let abort = &self.cast.aborts[abort];
                let (lane, pipeline) = (abort.lane, Arc::clone(&abort.pipeline));
                self.start_request(process, lane, pipeline);
            }
            Role::Operator if due => {
                let Some((lane, pipeline)) = self.operator.request.clone() else { return false };
                self.start_request(process, lane, pipeline);
            }
            Role::Worker(worker) => return self.start_attempt(process, worker),
            Role::Client(_) | Role::Abort(_) | Role::Operator => return false,
        }
        true
    }

    fn start_client(&mut self, process: usize, client: usize) {
        let cast = Arc::clone(&self.cast);
        let client = &cast.clients[client];
        let state = admission::State::new(client.call.clone());
        let task = self.add_task(process, client.lane, Body::Admission(state));
        self.tell_client(process, task, admission::Input::Started);
    }

    fn start_request(&mut self, process: usize, lane: usize, pipeline: Arc<Printed<Pipeline>>) {
        let task = self.add_task(process, lane, Body::Request(Arc::clone(&pipeline)));
        self.process_mut(process).tasks[task].plan.add([Action::Store(pipeline)]);
        self.pump(process, task);
    }

    /// A worker looks at a lane without a failpoint: what it sees is only a hint.
    fn start_attempt(&mut self, process: usize, worker: usize) -> bool {
        let claimable = |lane: &usize| self.may_begin(process, *lane);
        let Some(lane) = (0..self.shelves.len()).find(claimable) else { return false };
        let (binding, bound) = self.at_hand(process);
        let (binding, permits) = (Arc::clone(binding), Permits::of(*bound));
        // A host that does not see the change says of what it has that it is what it was.
        let is_hidden = self.cast.defect == Some(Defect::RevisionHidden);
        let binding = if is_hidden { Arc::clone(&self.cast.binding) } else { binding };
        let setup = attempt::Setup {
            lane: self.cast.lanes[lane].clone(),
            producer: self.cast.workers[worker].clone(),
            binding,
            lease: DurationMs(LEASE_MS),
            renewal: DurationMs(RENEWAL_MS),
            watched: false,
        };
        let token = self.token(worker, lane);
        let state = match self.remembered(process, lane) {
            Some(fold) => attempt::State::remembering(setup, fold),
            None => attempt::State::new(setup),
        };
        let task = self.add_task(process, lane, Body::Attempt(state));
        self.process_mut(process).tasks[task].permits = permits;
        self.note(process, lane, || "an attempt starts".to_owned());
        self.tell(process, task, attempt::Input::Started { token });
        true
    }

    /// What a worker has at hand.
    fn at_hand(&self, process: usize) -> (&Arc<Binding>, &Bound) {
        match &self.cast.revised {
            Some(revised) if self.processes[process].revised => (&revised.binding, &revised.bound),
            Some(_) | None => (&self.cast.binding, &self.cast.bound),
        }
    }

    /// Whether a worker may begin an attempt at a lane that could do anything there: one that was met
    /// with another binding is left to others, as a host leaves it for a while.
    pub(super) fn may_begin(&self, process: usize, lane: usize) -> bool {
        !self.processes[process].works_on(lane)
            && self.shelves[lane].candidate(self.clock).is_some()
            && self.waits_for_binding(process, lane).is_none()
    }

    /// Until when a worker leaves the lane to others.
    fn waits_for_binding(&self, process: usize, lane: usize) -> Option<Timestamp> {
        let shelf = &self.shelves[lane];
        let (row, now) = (shelf.candidate(self.clock)?, shelf.lane().time(self.clock));
        row.waits_for_binding(self.at_hand(process).1, now)
    }

    /// When somebody comes once more to a run that nobody who came could go on with.
    pub(super) fn outwaited(&self) -> Option<Timestamp> {
        // Whoever is held up goes on before a week is over: people, and owners that have what it needs.
        // Where a scenario says otherwise, they wake when all is over.
        let outlasts = self.cast.revised.as_ref().is_some_and(|it| it.outlasts_pauses);
        if self.paused().is_some() && !outlasts {
            return None;
        }
        let workers = (0..self.processes.len()).filter(|process| {
            let it = &self.processes[*process];
            matches!(it.role, Role::Worker(_)) && !it.paused
        });
        let waits = workers.flat_map(|process| {
            let lanes = (0..self.shelves.len())
                .filter(move |lane| !self.processes[process].works_on(*lane));
            lanes.filter_map(move |lane| self.waits_for_binding(process, lane))
        });
        waits.min()
    }

    /// Moves time to where a run has waited long enough for somebody who can go on with it. People
    /// are faster.
    fn outwait(&mut self) -> bool {
        let Some(next) = self.outwaited() else { return false };
        self.note_time(next);
        self.clock = next;
        true
    }

    fn token(&self, worker: usize, lane: usize) -> Token {
        let hasher = Hasher::new("everstep/sim/token")
            .number(worker as u64)
            .number(lane as u64)
            .number(self.shelves[lane].lane().epoch.0);
        Token(hasher.id())
    }

    fn add_task(&mut self, process: usize, lane: usize, body: Body) -> usize {
        let process = self.process_mut(process);
        process.progress = Progress::Busy;
        let at = process.tasks.partition_point(|task| task.lane < lane);
        process.tasks.insert(
            at,
            Task {
                lane,
                body: Printed::new(body),
                epoch: Epoch(0),
                permits: Permits::default(),
                plan: Plan::default(),
                sent: None,
                flights: Vec::new(),
                renewal: None,
                timers: Vec::new(),
                woken: false,
                outrun: false,
            },
        );
        at
    }

    /// Whether somebody whose occasion this is comes in between now.
    fn interrupts(&mut self, moment: Moment) -> bool {
        if self.held == Some(moment) {
            return false;
        }
        let mut interrupts = false;
        let cast = Arc::clone(&self.cast);
        for (at, (process, occasion)) in occasions(&cast).enumerate() {
            let Occasion::At(failpoint, _) = occasion else { continue };
            if failpoint != moment.failpoint || self.countdowns[at] == 0 {
                continue;
            }
            self.countdowns[at] -= 1;
            if self.countdowns[at] == 0 {
                self.speak(process);
                interrupts = true;
            }
        }
        if interrupts {
            self.held = Some(moment);
        }
        interrupts
    }

    /// Somebody who waited for an occasion asks for an abort, or says something to a run, now.
    pub(super) fn speak(&mut self, process: usize) {
        let (lane, what) = match self.processes[process].role {
            Role::Abort(abort) => (self.cast.aborts[abort].lane, "an abort is asked for"),
            Role::Client(client) => (self.cast.clients[client].lane, "it is said to the run"),
            Role::Operator | Role::Worker(_) => return,
        };
        self.process_mut(process).progress = Progress::Due;
        self.note(process, lane, || what.to_owned());
    }

    /// Who waits for no occasion in particular and could speak now: of the aborts, or of those
    /// who say something to a run that takes it.
    pub(super) fn could_speak(&self, wanted: Fault) -> Option<usize> {
        let people = occasions(&self.cast).filter(|(_, it)| *it == Occasion::Every);
        let could = |process: &usize| {
            let it = &self.processes[*process];
            let may = match it.role {
                Role::Abort(_) => wanted == Fault::Abort,
                Role::Client(client) => wanted == Fault::Steer && self.takes(client),
                Role::Operator | Role::Worker(_) => false,
            };
            may && it.progress == Progress::Idle
        };
        people.map(|(process, _)| process).find(could)
    }

    /// Whether the run that a client speaks to takes what is said to it.
    pub(super) fn takes(&self, client: usize) -> bool {
        let client = &self.cast.clients[client];
        let host = client.steers.and_then(|(host, _)| self.shelves[client.lane].row(host));
        host.is_some_and(|host| {
            let is_open =
                matches!(host.phase, Phase::Running(_) | Phase::Unknown | Phase::Suspended);
            is_open && host.abort.is_none()
        })
    }

    /// Moves time to the next thing that waits for it.
    fn pass_time(&mut self) -> bool {
        let awake = self.processes.iter().filter(|process| !process.paused);
        let timers = awake.flat_map(|process| &process.tasks).filter_map(Task::waits_until);
        let leases = self.shelves.iter().enumerate().filter_map(|(lane, shelf)| {
            let free = self.processes.iter().any(|process| {
                matches!(process.role, Role::Worker(_))
                    && !process.paused
                    && !process.works_on(lane)
            });
            shelf.wakes_at().filter(|_| free)
        });
        let Some(next) = timers.chain(leases).filter(|time| *time > self.clock).min() else {
            return false;
        };
        self.note_time(next);
        self.clock = next;
        true
    }
}

impl Task {
    /// Where the task goes on, if it can now: the store first.
    fn next_spot(&self, clock: Timestamp) -> Option<Spot> {
        if let Some(sent) = &self.sent {
            return Some(Spot::Command(sent.at));
        }
        self.flights.iter().position(|flight| flight.can_go_on(clock)).map(Spot::Flight)
    }

    /// The failpoint of a place where the task stands.
    pub(super) fn failpoint(&self, spot: Spot) -> Option<Failpoint> {
        Some(match spot {
            Spot::Command(at) => {
                let sent = self.sent.as_ref()?;
                let phase = if sent.executed { CrashPhase::After } else { CrashPhase::Before };
                Failpoint::new(sent.commands().get(at)?.kind(), phase)
            }
            Spot::Flight(at) => {
                let flight = self.flights.get(at)?;
                let phase = match &flight.progress {
                    FlightProgress::Before => CrashPhase::Before,
                    FlightProgress::During => CrashPhase::During,
                    FlightProgress::Happened { .. } => CrashPhase::After,
                };
                Failpoint::new(EffectKind::External(flight.external.kind()), phase)
            }
        })
    }

    /// The next time at which the task goes on by itself.
    fn waits_until(&self) -> Option<Timestamp> {
        let answers = self.flights.iter().filter_map(|flight| match &flight.progress {
            FlightProgress::Before | FlightProgress::During => None,
            FlightProgress::Happened { due, .. } => Some(*due),
        });
        let timers = self.timers.iter().map(|(due, _)| *due);
        answers.chain(self.renewal).chain(timers).min()
    }
}
