//! What a machine has asked for and waits for: tasks outside, computations, and timers.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::time::Duration;

use everstep_machine::effect::{Answer, EffectClass, External};
use everstep_machine::identity::DurationMs;
use everstep_machine::record::Doubt;
use everstep_machine::run::Timer;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use crate::call::Call;
use crate::outside::{Came, Outside, panicked};
use crate::tool::Canceller;

/// How long tools may take to stop by themselves.
const PATIENCE: Duration = Duration::from_secs(3);

/// Everything that is under way for one machine. Dropping it calls all of it off.
pub(crate) struct InFlight {
    outside: Outside,
    canceller: Canceller,
    tasks: JoinSet<Came>,
    /// Durable calls that wait for a step to be recorded. Nothing of them runs.
    resting: HashMap<Doubt, Call>,
    asked: HashMap<Id, External>,
    /// Answers that took no time.
    computed: VecDeque<Answer>,
    timers: Vec<(Instant, Timer)>,
}

/// Something that a machine has waited for.
pub(crate) enum Arrival {
    /// An answer.
    Answer(Answer),
    /// A timer went off.
    Due(Timer),
}

impl InFlight {
    pub(crate) fn new(outside: Outside) -> Self {
        let (tasks, resting, asked) = (JoinSet::new(), HashMap::new(), HashMap::new());
        let (canceller, computed, timers) = (Canceller::new(), VecDeque::new(), Vec::new());
        Self { outside, canceller, tasks, resting, asked, computed, timers }
    }

    pub(crate) const fn outside(&self) -> &Outside {
        &self.outside
    }

    /// Asks the outside, or computes.
    pub(crate) fn ask(&mut self, external: External) {
        match external.kind().class() {
            EffectClass::Compute => self.computed.extend(self.outside.compute(external)),
            EffectClass::Durable
            | EffectClass::External
            | EffectClass::Read
            | EffectClass::Volatile => {
                let called_off = self.canceller.cancellation();
                let resting = match &external {
                    External::NextStep(it) => self.resting.remove(&it.start),
                    _ => None,
                };
                let work = self.outside.clone().perform(external.clone(), called_off, resting);
                let task = self.tasks.spawn(work);
                self.asked.insert(task.id(), external);
            }
        }
    }

    /// Sets a timer.
    pub(crate) fn remind(&mut self, timer: Timer, after: DurationMs) {
        self.timers.push((Instant::now() + Duration::from_millis(after.0), timer));
    }

    /// Calls off what runs outside.
    pub(crate) fn call_off(&mut self) {
        self.tasks.abort_all();
        self.resting.clear();
    }

    /// Calls everything off and returns when all of it has ended (RUN-008).
    ///
    /// Tools are told first, and dropped when they do not stop by themselves in time.
    pub(crate) async fn shut_down(&mut self) {
        self.timers.clear();
        self.resting.clear();
        self.canceller.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // Models and people are not waited for at all: they have nothing to clean up here.
        if timeout(PATIENCE, ended).await.is_err() {
            self.tasks.shutdown().await;
        }
    }

    /// Whether nothing runs outside. A call that rests does not.
    pub(crate) fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.computed.is_empty()
    }

    /// Waits for what comes first. Nothing is lost if it is dropped while it waits.
    pub(crate) async fn next(&mut self) -> Arrival {
        if let Some(answer) = self.computed.pop_front() {
            return Arrival::Answer(answer);
        }
        loop {
            let first = (0..self.timers.len()).min_by_key(|at| self.timers[*at].0);
            let due = first.map(|at| self.timers[at].0);
            let due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                Some(returned) = self.tasks.join_next_with_id() => {
                    if let Some(answer) = self.returned(returned) {
                        return Arrival::Answer(answer);
                    }
                }
                () = due => {
                    if let Some(at) = first {
                        return Arrival::Due(self.timers.swap_remove(at).1);
                    }
                }
            }
        }
    }

    /// What a task outside has come to; none if it was called off.
    fn returned(&mut self, returned: Result<(Id, Came), JoinError>) -> Option<Answer> {
        match returned {
            Ok((id, Came { answer, resting })) => {
                self.asked.remove(&id);
                self.resting.extend(resting.map(|call| (call.start(), call)));
                Some(answer)
            }
            Err(error) => {
                let external = self.asked.remove(&error.id())?;
                error.is_panic().then(|| panicked(&external))
            }
        }
    }
}
