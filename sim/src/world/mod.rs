//! The world around the machines: processes, a store, an outside, people, and one clock.
//!
//! A world is plain data. It runs the *calm schedule*: in a fixed order, everything that can
//! happen happens, and time moves only when nothing else can. Between two micro-events it stands
//! at a [`Moment`], where an explorer may inject a [`Fault`] before it lets the moment pass.
//!
//! | turn | who |
//! | --- | --- |
//! | 1 | clients, in the scenario's order, who speak at once or when their occasion comes, then aborts that were asked for |
//! | 2 | the operator's request, if one is under way |
//! | 3 | workers by number; their tasks by lane; in a task what has left for the outside, then hints and timers, then the store, then the rest of the outside |
//! | 4 | time: to the next answer, renewal, or lease end that lets somebody claim |
//! | 5 | the operator looks for unknown outcomes: people are slow |
//!
//! **Transactions.** In the strong profile a pipeline commits when the `before` of its last
//! command passes. At every earlier moment of it nothing is committed: a crash leaves nothing and
//! a lost message is a lost request. At the last `after`, everything is committed and only the
//! acknowledgement can be lost. A refusal commits the commands before it.
//!
//! **Frozen processes.** Nothing of a paused process moves, its timers included. A message of its
//! that has left and not happened does not happen either until it is woken: who wants it to
//! happen earlier pauses one moment later. A woken process passes the moment it was paused at,
//! and what it has sent outside happens, before its timers tell it how late it is.
//!
//! **Entropy.** The token of a claim is derived from worker, lane and the lane's epoch when the
//! attempt starts. No two claims share one: a claim raises the epoch, and a later attempt starts
//! at the higher one. Nothing else tells incarnations of a process apart, so worlds that differ
//! only in how often a process died are equal.
//!
//! Deliberately absent: threads, clocks, randomness, and any rule of the protocol.

mod clear;
mod deliver;
mod enabled;
mod folds;
mod gate;
mod inject;
mod moment;
mod operate;
mod pass;
mod plan;
mod print;
mod process;
mod settle;
mod story;

use std::sync::Arc;

use everstep_machine::identity::Timestamp;

pub use enabled::Event;
pub use moment::{LaneIndex, Moment, ProcessIndex};
pub use story::StoryLine;

use crate::cast::Cast;
use crate::defect::Defect;
use crate::fault::{Fault, FaultSet};
use crate::fingerprint::Printed;
use crate::oracle::{Judge, Property, SometimesSet, Violation};
use crate::outside::Outside;
use crate::profile::Profile;
use crate::scenario::{Occasion, Scenario};
use crate::store::Shelf;
use folds::Checkpoint;
use operate::Operator;
use process::{Process, Progress, Role};

/// A world. A clone shares everything that neither side changes afterwards.
#[derive(Clone)]
pub struct World {
    cast: Arc<Cast>,
    clock: Timestamp,
    shelves: Vec<Arc<Shelf>>,
    /// What the store keeps beside each log.
    checkpoints: Vec<Option<Checkpoint>>,
    outside: Outside,
    processes: Vec<Arc<Printed<Process>>>,
    operator: Operator,
    /// For everybody who waits for an occasion, how many arrivals at it are still to come.
    countdowns: Vec<u32>,
    /// Whether something was taken back that was granted.
    revoked: bool,
    /// The moment at which somebody came in between: it is not arrived at again.
    held: Option<Moment>,
    next: Option<Moment>,
    judge: Judge,
    steps: u64,
    story: Option<Vec<StoryLine>>,
}

impl World {
    /// A world in which nothing has happened yet.
    #[must_use]
    pub fn new(scenario: Arc<Scenario>, profile: Profile, defect: Option<Defect>) -> Self {
        let cast = Arc::new(Cast::new(scenario, profile, defect));
        let clients = cast.clients.iter().enumerate().map(|(at, client)| {
            let waits = client.steers.is_some();
            (Role::Client(at), if waits { Progress::Idle } else { Progress::Due })
        });
        let aborts = (0..cast.aborts.len()).map(|it| (Role::Abort(it), Progress::Idle));
        let operator = [(Role::Operator, Progress::Idle)];
        let workers = (0..cast.workers.len()).map(|it| (Role::Worker(it), Progress::Idle));
        let roles = clients.chain(aborts).chain(operator).chain(workers);
        let countdowns = occasions(&cast).map(|(_, occasion)| match occasion {
            Occasion::Every => 0,
            Occasion::At(_, occurrence) => occurrence,
        });
        let mut world = Self {
            clock: Timestamp(0),
            shelves: cast.lanes.iter().cloned().map(Shelf::new).map(Arc::new).collect(),
            checkpoints: vec![None; cast.lanes.len()],
            outside: Outside::default(),
            processes: roles
                .map(|(role, it)| Arc::new(Printed::new(Process::new(&cast, role, it, false))))
                .collect(),
            operator: Operator::default(),
            countdowns: countdowns.collect(),
            revoked: false,
            held: None,
            next: None,
            judge: Judge::new(cast.lanes.len()),
            steps: 0,
            story: None,
            cast,
        };
        world.settle();
        world
    }

    /// Where the calm schedule stands; none when it has nothing left to do.
    #[must_use]
    pub const fn moment(&self) -> Option<Moment> {
        self.next
    }

    /// What can be injected at this moment.
    #[must_use]
    pub fn faults(&self) -> FaultSet {
        self.possible_faults()
    }

    /// Injects a fault at this moment, before it passes.
    ///
    /// # Panics
    /// The fault is not among [`World::faults`].
    pub fn inject(&mut self, fault: Fault) {
        assert!(self.faults().contains(fault), "DUR-019: only a possible fault is injected");
        self.break_at_moment(fault);
        self.settle();
    }

    /// Passes the moment: the micro-event that it stands before happens, and then everything that
    /// follows by itself, up to the next moment.
    pub fn advance(&mut self) {
        if let Some(moment) = self.next.take() {
            self.held = self.held.filter(|held| *held != moment);
            self.pass(moment);
            self.settle();
        }
    }

    /// Where the calm schedule has nothing left to do: wakes a paused process. False if there is
    /// none, which is the end.
    pub fn drain(&mut self) -> bool {
        if self.next.is_some() || self.paused().is_none() {
            return false;
        }
        self.wake();
        self.settle();
        true
    }

    /// The first broken property. It stays, whatever happens afterwards.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        self.judge.violation()
    }

    /// Asks the oracles of the end: is everything settled, listed and verified?
    pub fn conclude(&mut self) {
        let idle = self.processes.iter().all(|process| process.tasks.is_empty());
        if !idle {
            let unfinished = self.unfinished();
            self.judge.broken(Property::Liveness, || unfinished);
        }
        self.judge.conclude(&self.cast, &self.shelves);
    }

    fn unfinished(&self) -> String {
        let busy = self.processes.iter().enumerate().filter(|(_, it)| !it.tasks.is_empty());
        let names: Vec<_> = busy.map(|(at, _)| self.process_name(ProcessIndex(at))).collect();
        format!("nothing can happen any more, and still at work: {}", names.join(", "))
    }

    /// 128 bits over everything that can influence the future, and over what the oracles
    /// remember: worlds with equal fingerprints have equal futures. What has already happened
    /// sometimes ([`World::reached`]) is not covered, nor is the story.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.print()
    }

    /// What sometimes happens and has happened here.
    #[must_use]
    pub const fn reached(&self) -> SometimesSet {
        self.judge.reached()
    }

    /// The store's time.
    #[must_use]
    pub const fn clock(&self) -> Timestamp {
        self.clock
    }

    /// What is stored of each conversation, in the order of [`LaneIndex`].
    pub fn shelves(&self) -> impl Iterator<Item = &Shelf> {
        self.shelves.iter().map(Arc::as_ref)
    }

    /// What has happened outside.
    #[must_use]
    pub const fn outside(&self) -> &Outside {
        &self.outside
    }

    /// How a process is called in reports.
    #[must_use]
    pub fn process_name(&self, process: ProcessIndex) -> String {
        let submissions = &self.cast.scenario.submissions;
        match self.processes[process.0].role {
            Role::Client(at) => format!("client {}", submissions[at].name),
            Role::Abort(at) => {
                let submission = self.cast.scenario.aborts[at].submission;
                format!("abort {} of {}", at + 1, submissions[submission].name)
            }
            Role::Operator => "operator".to_owned(),
            Role::Worker(at) => self.cast.workers[at].as_str().to_owned(),
        }
    }

    fn process_mut(&mut self, process: usize) -> &mut Process {
        let process: &mut Printed<Process> = Arc::make_mut(&mut self.processes[process]);
        process
    }
}

/// The processes of people who wait for an occasion, and for which: aborts, and those who say
/// something to a run.
fn occasions(cast: &Cast) -> impl Iterator<Item = (usize, Occasion)> {
    let aborts = cast.aborts.iter().enumerate();
    let aborts = aborts.map(|(at, abort)| (cast.clients.len() + at, abort.moment));
    let clients = cast.clients.iter().enumerate();
    let steering = clients.filter_map(|(at, client)| Some((at, client.steers?.1)));
    aborts.chain(steering)
}

#[cfg(test)]
mod tests;
