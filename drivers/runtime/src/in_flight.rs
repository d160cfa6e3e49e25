//! What a machine has asked for and waits for: tasks outside, computations, and timers.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::time::Duration;

use everstep_machine::effect::{Answer, EffectClass, External, Wanting};
use everstep_machine::identity::{AgentId, DurationMs, RunId};
use everstep_machine::limits::CALL_OFF_MS;
use everstep_machine::record::Doubt;
use everstep_machine::run::Timer;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use crate::call::Call;
use crate::outside::{Came, Handed, Outside, panicked};
use crate::permits::Permits;
use crate::tool::Canceller;

/// How long tools may take to stop by themselves.
const PATIENCE: Duration = Duration::from_millis(CALL_OFF_MS);

/// How long what is dropped may take to be gone.
const STOPPING: Duration = Duration::from_secs(1);

/// Everything that is under way for one machine. Dropping it calls all of it off.
pub(crate) struct InFlight {
    outside: Outside,
    canceller: Canceller,
    tasks: JoinSet<Came>,
    /// The permits of calls that have not started, granted or not.
    permits: Permits,
    /// Durable calls that wait for a step to be recorded. Nothing of them runs.
    resting: HashMap<Doubt, Call>,
    asked: HashMap<Id, (External, AbortHandle)>,
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
        let permits = Permits::of(outside.gate.clone());
        Self { outside, canceller, tasks, permits, resting, asked, computed, timers }
    }

    pub(crate) const fn outside(&self) -> &Outside {
        &self.outside
    }

    /// Asks the outside, or computes.
    pub(crate) fn ask(&mut self, external: External) {
        if let External::Permits { run, agent, calls } = &external {
            return self.permit(*run, agent, calls);
        }
        if let External::Clear { run, turn, asker, calls } = &external {
            let said = self.outside.ports.clearance.clear(asker, calls);
            return self.computed.push_back(Answer::Cleared { run: *run, turn: *turn, said });
        }
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
                let permit = match &external {
                    External::InvokeTool(it) => self.permits.take(it.call),
                    _ => None,
                };
                let handed = Handed { cancellation: called_off, resting, permit };
                let work = self.outside.clone().perform(external.clone(), handed);
                let task = self.tasks.spawn(work);
                self.asked.insert(task.id(), (external, task));
            }
        }
    }

    /// Sets a timer.
    pub(crate) fn remind(&mut self, timer: Timer, after: DurationMs) {
        self.timers.push((Instant::now() + Duration::from_millis(after.0), timer));
    }

    /// Asks for permits. What there is room for is granted at once, together.
    fn permit(&mut self, run: RunId, agent: &AgentId, calls: &[Wanting]) {
        let mut granted = Vec::new();
        for (call, waits) in self.permits.ask(agent, calls) {
            match waits {
                None => granted.push(call),
                Some(grant) => {
                    let question = External::Permits { run, agent: agent.clone(), calls: vec![] };
                    let task = self.tasks.spawn(async move {
                        // The sender goes only with the permit: then nobody wants the call any more.
                        let calls = grant.await.map(|()| call).into_iter().collect();
                        Came::from(Answer::Permitted { run, calls })
                    });
                    self.asked.insert(task.id(), (question, task));
                }
            }
        }
        if !granted.is_empty() {
            self.computed.push_back(Answer::Permitted { run, calls: granted });
        }
    }

    /// No call that has not begun is to begin: its permits go to others.
    pub(crate) fn wait_for_no_permits(&mut self) {
        self.permits.give_back();
        self.stop(|external| matches!(external, External::Permits { .. }));
    }

    /// Tells tools that nobody wants them any more, and stops everything else. A tool that stops by
    /// itself may say what came of it.
    pub(crate) fn call_off(&mut self) {
        self.permits.give_back();
        self.resting.clear();
        self.canceller.cancel();
        self.stop(|it| !matches!(it, External::InvokeTool(_) | External::NextStep(_)));
    }

    /// Stops whatever runs outside, and returns when it has stopped: nothing of a run goes on behind
    /// its end. A handler that blocks its thread is not waited for.
    pub(crate) async fn cancel(&mut self) {
        self.permits.give_back();
        self.resting.clear();
        let _ = timeout(STOPPING, self.tasks.shutdown()).await;
        self.asked.clear();
    }

    fn stop(&self, which: impl Fn(&External) -> bool) {
        let stopped = self.asked.values().filter(|(external, _)| which(external));
        stopped.for_each(|(_, task)| task.abort());
    }

    /// Calls everything off and returns when all of it has ended (RUN-008).
    ///
    /// Tools are told first, and dropped when they do not stop by themselves in time.
    pub(crate) async fn shut_down(&mut self) {
        self.timers.clear();
        self.call_off();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(PATIENCE, ended).await.is_err() {
            self.tasks.shutdown().await;
        }
    }

    /// Whether nothing runs outside. A call that rests, or waits for permits or for people, does not.
    pub(crate) fn is_idle(&self) -> bool {
        let waits = |external: &External| {
            matches!(external, External::Permits { .. } | External::Approve { .. })
        };
        self.asked.values().all(|(external, _)| waits(external)) && self.computed.is_empty()
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
                let (external, _) = self.asked.remove(&error.id())?;
                error.is_panic().then(|| panicked(&external))
            }
        }
    }
}
