//! One attempt, driven to its end.

use std::collections::HashMap;
use std::time::Duration;

use everstep_machine::attempt::{Attempt, Effect, End, Input, Setup, State};
use everstep_machine::contract::Machine;
use everstep_machine::effect::{Answer, External};
use everstep_machine::identity::Token;
use everstep_machine::store::StoreFault;
use tokio::sync::mpsc::UnboundedReceiver;
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
    flights: JoinSet<Answer>,
    asked: HashMap<Id, External>,
    renewal: Option<Instant>,
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
    pub(crate) fn new(store: StoreHandle, outside: Outside, wakes: UnboundedReceiver<()>) -> Self {
        let (flights, asked) = (JoinSet::new(), HashMap::new());
        Self { store, outside, wakes, flights, asked, renewal: None, wait: FIRST_WAIT }
    }

    /// Drives the attempt to its end. A store that is gone ends it as a crash would: nothing is
    /// told to anybody.
    pub(crate) async fn run(mut self, setup: Setup, token: Token) -> End {
        let mut step = Attempt::step(State::new(setup), Input::Started { token });
        loop {
            let input = match self.perform(step.effects).await {
                Performed::Told(input) => input,
                Performed::Parked => self.next().await,
                Performed::Over(end) => return end,
            };
            step = Attempt::step(step.state, input);
        }
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
                Effect::External(external) => self.send(external),
                Effect::CancelExternals => self.flights.abort_all(),
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

    /// Parks until something happens that the machine is to be told.
    async fn next(&mut self) -> Input {
        loop {
            let renewal = self.renewal;
            let due = async {
                match renewal {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(returned) = self.flights.join_next_with_id() => {
                    if let Some(answer) = self.returned(returned) {
                        return Input::Answered(answer);
                    }
                }
                Some(()) = self.wakes.recv() => {
                    // Several hints say no more than one.
                    while self.wakes.try_recv().is_ok() {}
                    return Input::Woken;
                }
                () = due => {
                    self.renewal = None;
                    return Input::RenewalDue;
                }
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
