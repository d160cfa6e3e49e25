//! Processes: what each is for, and what dies with it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use everstep_machine::effect::{Answer, External};
use everstep_machine::identity::{Epoch, Timestamp, ToolCallId};
use everstep_machine::run::Timer;
use everstep_machine::store::{Pipeline, Reply, StoreCommand};
use everstep_machine::{admission, attempt, clearance};

use super::folds::Fold;
use super::gate::Gate;
use super::moment::Spot;
use super::plan::Plan;
use crate::cast::Cast;
use crate::defect::Defect;
use crate::fingerprint::Printed;
use crate::oracle::Permits;
use crate::store::{Executed, Shelf};

/// What a process is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// Serves one call of a client, who repeats it until there is an answer.
    Client(usize),
    /// Serves one client's abort.
    Abort(usize),
    /// Serves the operator, who repeats a resolution until it is recorded.
    Operator,
    /// Runs attempts.
    Worker(usize),
}

/// How far a client or the operator is with its call. It is the person's memory and survives
/// crashes of the process that serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Progress {
    /// Nobody has called yet.
    Idle,
    /// The call is to be made, again perhaps.
    Due,
    /// The call is being served.
    Busy,
    /// There is an answer.
    Done,
}

/// A process.
#[derive(Clone, Debug, Hash)]
pub(super) struct Process {
    pub(super) role: Role,
    pub(super) progress: Progress,
    pub(super) paused: bool,
    /// Whether it has what the agent has become: a worker of a scenario that says so, once it was
    /// started again.
    pub(super) revised: bool,
    /// The task and the place at which it was paused: there it goes on, before anything else.
    pub(super) stopped: Option<(usize, Spot)>,
    pub(super) tasks: Vec<Task>,
    /// The places that its calls share.
    pub(super) gate: Gate,
    /// What it may do, and what was allowed in it for sessions.
    pub(super) clearance: Arc<clearance::State>,
    /// What it remembers of logs, by lane.
    pub(super) folds: Vec<Fold>,
}

impl Process {
    /// A process that begins after something was taken back, or before.
    pub(super) fn new(cast: &Cast, role: Role, progress: Progress, revoked: bool) -> Self {
        let gate = Gate::new(cast);
        let clearances = &cast.clearances;
        let heard = revoked && cast.defect != Some(Defect::RevocationUnheard);
        let clearance = Arc::clone(if heard { &clearances.left } else { &clearances.whole });
        Self {
            role,
            progress,
            paused: false,
            revised: false,
            stopped: None,
            tasks: Vec::new(),
            gate,
            clearance,
            folds: Vec::new(),
        }
    }

    /// Whether it has a task in this lane.
    pub(super) fn works_on(&self, lane: usize) -> bool {
        self.tasks.iter().any(|task| task.lane == lane)
    }
}

/// One machine at work, with everything of it that is under way.
#[derive(Clone, Debug, Hash)]
pub(super) struct Task {
    pub(super) lane: usize,
    pub(super) body: Printed<Body>,
    /// The epoch that an attempt last believed to hold; 0 before.
    pub(super) epoch: Epoch,
    /// What this attempt was allowed to start.
    pub(super) permits: Permits,
    /// What its steps asked for and has not left yet.
    pub(super) plan: Plan,
    /// The pipeline in flight.
    pub(super) sent: Option<Sent>,
    /// External effects in flight, in the order in which they left.
    pub(super) flights: Vec<Flight>,
    /// When the lease needs renewal.
    pub(super) renewal: Option<Timestamp>,
    /// What the run asked to be reminded of, and when.
    pub(super) timers: Vec<(Timestamp, Timer)>,
    /// Whether a wake hint has arrived.
    pub(super) woken: bool,
    /// Whether another owner wrote the lane's rows after this attempt read them: the claim that
    /// follows is valid, but the row is ahead of what the attempt expects.
    pub(super) outrun: bool,
}

/// The machine of a task.
#[derive(Clone, Debug, Hash)]
pub(super) enum Body {
    /// An admission.
    Admission(admission::State),
    /// An attempt.
    Attempt(attempt::State),
    /// One pipeline, repeated until it is answered.
    Request(Arc<Printed<Pipeline>>),
    /// Out for a step.
    Away,
}

/// A pipeline on its way through the store.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) pipeline: Arc<Printed<Pipeline>>,
    /// Which command is next.
    pub(super) at: usize,
    /// Whether that command was executed and only its acknowledgement is missing.
    pub(super) executed: bool,
    /// The answers so far.
    pub(super) replies: Vec<Reply>,
    /// In the strong profile: what is executed and not committed.
    pub(super) transaction: Option<Box<Transaction>>,
}

impl Sent {
    pub(super) const fn new(pipeline: Arc<Printed<Pipeline>>) -> Self {
        Self { pipeline, at: 0, executed: false, replies: Vec::new(), transaction: None }
    }

    pub(super) fn commands(&self) -> &[StoreCommand] {
        &self.pipeline.commands
    }

    pub(super) fn is_last(&self) -> bool {
        self.at + 1 == self.commands().len()
    }
}

impl Hash for Sent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { pipeline, at, executed, replies, transaction: _ } = self;
        (pipeline, at, executed).hash(state);
        for reply in replies {
            match reply {
                // The last link of a log names everything before it.
                Reply::Log(page) => {
                    (&page.tail, page.batches.len()).hash(state);
                    page.batches.last().map(|last| last.chain()).hash(state);
                }
                Reply::Ledger(_) | Reply::Conversation(_) | Reply::Lane(_) => reply.hash(state),
            }
        }
    }
}

/// Commands that a strong store has executed and not committed. It follows from the shelf and
/// the pipeline: if somebody else commits meanwhile, it is executed again.
#[derive(Clone, Debug)]
pub(super) struct Transaction {
    pub(super) base: Arc<Shelf>,
    pub(super) work: Arc<Shelf>,
    pub(super) done: Vec<Executed>,
}

impl Transaction {
    pub(super) fn new(base: Arc<Shelf>) -> Self {
        Self { work: Arc::clone(&base), base, done: Vec::new() }
    }
}

/// An external effect in flight.
#[derive(Clone, Debug, Hash)]
pub(super) struct Flight {
    pub(super) external: Arc<Printed<External>>,
    /// The epoch of the attempt that asked.
    pub(super) epoch: Epoch,
    pub(super) progress: FlightProgress,
}

/// How far an external effect is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum FlightProgress {
    /// It has not left.
    Before,
    /// It has left and not happened.
    During,
    /// It has happened; the answer comes then.
    Happened {
        /// What the outside says.
        answer: Answer,
        /// When the answer is there.
        due: Timestamp,
    },
}

impl Flight {
    pub(super) const fn new(external: Arc<Printed<External>>, epoch: Epoch) -> Self {
        Self { external, epoch, progress: FlightProgress::Before }
    }

    /// Whether something of it can happen now.
    pub(super) fn can_go_on(&self, clock: Timestamp) -> bool {
        match &self.progress {
            FlightProgress::Before | FlightProgress::During => true,
            FlightProgress::Happened { due, .. } => *due <= clock,
        }
    }

    /// Whether it is a tool's call that was started under this epoch.
    pub(super) fn is_call(&self, epoch: Epoch) -> bool {
        self.epoch == epoch && self.is_of_a_call()
    }

    pub(super) fn is_of_a_call(&self) -> bool {
        matches!(**self.external, External::InvokeTool(_) | External::NextStep(_))
    }

    /// Whether it is a part of this call.
    pub(super) fn is_of(&self, call: ToolCallId) -> bool {
        match &**self.external {
            External::InvokeTool(it) => it.call == call,
            External::NextStep(it) => it.start.call == call,
            _ => false,
        }
    }

    pub(super) const fn has_happened(&self) -> bool {
        matches!(self.progress, FlightProgress::Happened { .. })
    }
}
