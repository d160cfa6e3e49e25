//! One attempt, driven to its end, or to the next boundary when the host stops.
//!
//! A host that stops asks nothing new of the outside. What is out already comes back and is
//! recorded, and when nothing is out any more the lane is given back: from there anybody may go
//! on, since all that the attempt knew is in the log. An authorization that comes back meanwhile
//! is not told to the machine. It would only prepare calls that nobody makes any more, and whoever
//! comes next asks for it again.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use everstep_machine::attempt::{Attempt, Effect, End, Input, Setup, State};
use everstep_machine::contract::Machine;
use everstep_machine::effect::{Answer, EffectClass, External};
use everstep_machine::identity::{ConversationId, Token};
use everstep_machine::ledger::{Command, Ownership};
use everstep_machine::run::Timer;
use everstep_machine::store::{Pipeline, StoreCommand, StoreFault};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use crate::event::Event;
use crate::outside::{Outside, panicked};
use crate::store::StoreHandle;

/// The first wait after a store that did not say how far it got; each further one is twice as
/// long, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// An attempt and everything it has in flight. Dropping it calls all of that off.
pub(crate) struct Drive {
    store: StoreHandle,
    outside: Outside,
    wakes: UnboundedReceiver<()>,
    /// Whether the host stops.
    stop: watch::Receiver<bool>,
    /// Whether this attempt has heard of it. It hears of it only while it is parked, so that what
    /// follows a pipeline is never held back once the pipeline is sent.
    stopping: bool,
    flights: JoinSet<Answer>,
    asked: HashMap<Id, External>,
    renewal: Option<Instant>,
    /// What the run asked to be reminded of.
    timers: Vec<(Instant, Timer)>,
    /// Answers that took no time.
    computed: VecDeque<Answer>,
    wait: Duration,
}

/// What a step's effects have led to.
enum Performed {
    /// The machine is to be told this now.
    Told(Input),
    /// Nothing: somebody has to say something.
    Parked,
    /// The attempt is over.
    Over(End),
}

impl Drive {
    pub(crate) fn new(
        store: StoreHandle,
        outside: Outside,
        wakes: UnboundedReceiver<()>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let (flights, asked, stopping) = (JoinSet::new(), HashMap::new(), false);
        let (timers, computed) = (Vec::new(), VecDeque::new());
        let (renewal, wait) = (None, FIRST_WAIT);
        Self {
            store,
            outside,
            wakes,
            stop,
            stopping,
            flights,
            asked,
            renewal,
            timers,
            computed,
            wait,
        }
    }

    /// Drives the attempt to its end, or to where it can be left. A store that is gone ends it as
    /// a crash would: nothing is told to anybody.
    pub(crate) async fn run(mut self, setup: Setup, token: Token) -> End {
        let lane = setup.lane.clone();
        let mut step = Attempt::step(State::new(setup), Input::Started { token });
        loop {
            let input = match self.perform(step.effects).await {
                Performed::Told(input) => input,
                Performed::Parked => match self.next().await {
                    Some(input) => input,
                    None => return self.leave(lane, step.state.ownership()).await,
                },
                Performed::Over(end) => return end,
            };
            step = Attempt::step(step.state, input);
        }
    }

    /// Gives the lane back at a boundary.
    async fn leave(&self, lane: ConversationId, owner: Option<Ownership>) -> End {
        if let Some(owner) = owner {
            let commands = vec![StoreCommand::Ledger(Command::Release { owner })];
            // A lane that is not given back is free once its lease has run out.
            let _ = self.store.execute(Pipeline { lane, commands }).await;
        }
        End::Idle
    }

    /// Performs the effects of one step in their order. Behind a pipeline they leave only once it
    /// is acknowledged; any fault of it discards them, and the machine emits them again itself.
    async fn perform(&mut self, effects: Vec<Effect>) -> Performed {
        let mut told = None;
        for effect in effects {
            match effect {
                Effect::Store(pipeline) => {
                    let lane = pipeline.lane.clone();
                    let Ok(answer) = self.store.execute(pipeline).await else {
                        return Performed::Over(End::Defect);
                    };
                    match answer {
                        Ok(_) => self.wait = FIRST_WAIT,
                        Err(StoreFault::Indeterminate) => {
                            self.outside.events.tell(Event::StoreUnsure { lane });
                            sleep(self.wait).await;
                            self.wait = (self.wait * 2).min(LONGEST_WAIT);
                            return Performed::Told(Input::Stored(answer));
                        }
                        Err(StoreFault::Refused { .. } | StoreFault::Corrupt(_)) => {
                            return Performed::Told(Input::Stored(answer));
                        }
                    }
                    told = Some(Input::Stored(answer));
                }
                Effect::External(external) if self.stopping && asks(&external) => {}
                Effect::External(external) => match external.kind().class() {
                    EffectClass::Compute => self.computed.extend(self.outside.compute(external)),
                    EffectClass::Durable
                    | EffectClass::External
                    | EffectClass::Read
                    | EffectClass::Volatile => self.send(external),
                },
                Effect::CancelExternals => self.flights.abort_all(),
                Effect::Schedule { timer, after } => {
                    let due = Instant::now() + Duration::from_millis(after.0);
                    self.timers.push((due, timer));
                }
                Effect::ScheduleRenewal { after } => {
                    self.renewal = Some(Instant::now() + Duration::from_millis(after.0));
                }
                Effect::End(end) => return Performed::Over(end),
            }
        }
        told.map_or(Performed::Parked, Performed::Told)
    }

    fn send(&mut self, external: External) {
        let task = self.flights.spawn(self.outside.clone().perform(external.clone()));
        self.asked.insert(task.id(), external);
    }

    /// Parks until something happens that the machine is to be told; none if the host stops and
    /// nothing is out that could still come back.
    async fn next(&mut self) -> Option<Input> {
        if let Some(answer) = self.computed.pop_front() {
            return Some(Input::Answered(answer));
        }
        loop {
            if self.stopping && self.flights.is_empty() {
                return None;
            }
            let first = self.timers.iter().map(|(due, _)| *due).chain(self.renewal).min();
            let due = async {
                match first {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(returned) = self.flights.join_next_with_id() => {
                    if let Some(answer) = self.returned(returned)
                        && !(self.stopping && matches!(answer, Answer::Authorizer { .. }))
                    {
                        return Some(Input::Answered(answer));
                    }
                }
                Some(()) = self.wakes.recv() => {
                    // Several hints say no more than one.
                    while self.wakes.try_recv().is_ok() {}
                    return Some(Input::Woken);
                }
                () = due => return Some(self.reminded()),
                () = told(&mut self.stop), if !self.stopping => self.stopping = true,
            }
        }
    }

    /// Whatever was due first.
    fn reminded(&mut self) -> Input {
        let first = (0..self.timers.len()).min_by_key(|at| self.timers[*at].0);
        match first {
            Some(at) if self.renewal.is_none_or(|renewal| self.timers[at].0 < renewal) => {
                Input::Due(self.timers.swap_remove(at).1)
            }
            Some(_) | None => {
                self.renewal = None;
                Input::RenewalDue
            }
        }
    }

    /// What a task outside has come to; none if it was called off.
    fn returned(&mut self, returned: Result<(Id, Answer), JoinError>) -> Option<Answer> {
        match returned {
            Ok((id, answer)) => {
                self.asked.remove(&id);
                Some(answer)
            }
            Err(error) => {
                let external = self.asked.remove(&error.id())?;
                error.is_panic().then(|| panicked(&external))
            }
        }
    }
}

/// Whether it begins something. A call that comes while the host stops was prepared before, so its
/// start is in the log: not to make it would leave a doubt.
const fn asks(external: &External) -> bool {
    match external {
        External::CallModel(_)
        | External::Approve { .. }
        | External::Authorize { .. }
        | External::Reconcile(_) => true,
        External::Check { .. } | External::InvokeTool(_) => false,
    }
}

/// Returns when the host stops. One that is gone without a word has stopped as well.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
