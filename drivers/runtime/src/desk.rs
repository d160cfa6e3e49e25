//! The desk: drives the scheduler, and begins the attempts that it asks for.

use std::collections::{BTreeMap, HashMap};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::attempt::{End, Setup};
use everstep_machine::contract::Machine;
use everstep_machine::identity::{ConversationId, Token};
use everstep_machine::scheduler::{Effect, Input, Scheduler, State};
use tokio::sync::{Notify, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::drive::{Drive, told};
use crate::event::Event;
use crate::folds::{Folds, Remembered};
use crate::host::Config;
use crate::inbox::Inputs;
use crate::lookout::Pages;
use crate::news::Herald;
use crate::outside::Outside;
use crate::store::StoreHandle;

/// How an attempt has ended, and what it has folded.
type Over = (End, Option<Remembered>);

/// Drives the scheduler.
pub(crate) struct Desk {
    store: StoreHandle,
    outside: Outside,
    config: Config,
    pages: Pages,
    herald: Herald,
    stop: watch::Receiver<bool>,
    /// Whether the scheduler knows that the host stops.
    stops: bool,
    /// The attempts; none of one that could not be begun.
    attempts: JoinSet<Option<Over>>,
    folds: Folds,
    lanes: HashMap<Id, ConversationId>,
    wakes: BTreeMap<ConversationId, Arc<Notify>>,
    due: Option<Instant>,
    /// When lanes that were declined may be begun with again.
    retries: Vec<(Instant, ConversationId)>,
}

impl Desk {
    pub(crate) fn new(
        store: StoreHandle,
        outside: Outside,
        config: Config,
        pages: Pages,
        herald: Herald,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let folds = Folds::new(config.folds);
        Self {
            store,
            outside,
            config,
            pages,
            herald,
            stop,
            stops: false,
            attempts: JoinSet::new(),
            folds,
            lanes: HashMap::new(),
            wakes: BTreeMap::new(),
            due: None,
            retries: Vec::new(),
        }
    }

    /// Works until the host stops and everything has come to rest.
    pub(crate) async fn run(mut self, mut inputs: Inputs) {
        let mut step = Scheduler::step(State::new(self.config.slots), Input::Started);
        let mut has_looked = false;
        loop {
            if has_looked {
                self.tell_wait(&step.effects);
            }
            for effect in step.effects {
                match effect {
                    Effect::StartAttempt { lane } => self.start(lane),
                    Effect::WakeAttempt { lane } => {
                        // An attempt that has just ended needs no waking.
                        let _ = self.wakes.get(&lane).map(|wake| wake.notify_one());
                    }
                    Effect::Scan { after } => {
                        // The scheduler asks for one page at a time, so there is room.
                        let _ = self.pages.try_send(after);
                    }
                    Effect::ScheduleLook { after } => self.look_after(after.0),
                    Effect::ScheduleRetry { lane, after } => {
                        let due = Instant::now() + Duration::from_millis(after.0);
                        self.retries.push((due, lane));
                    }
                    Effect::Stopped => return,
                }
            }
            let input = self.next(&mut inputs).await;
            has_looked = matches!(input, Input::Scanned(_));
            if matches!(input, Input::ChangedElsewhere) {
                self.herald.changed_elsewhere();
            }
            step = Scheduler::step(step.state, input);
        }
    }

    /// Tells whoever watches that nothing can be done here before somebody else's lease has run
    /// out. Where this host works itself, or looks again, the lease may be its own.
    fn tell_wait(&self, effects: &[Effect]) {
        if let ([Effect::ScheduleLook { after }], true) = (effects, self.lanes.is_empty()) {
            self.outside.events.tell(Event::LeaseAwaited { wait: *after });
        }
    }

    fn look_after(&mut self, wait: u64) {
        let due = Instant::now() + Duration::from_millis(wait);
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    fn start(&mut self, lane: ConversationId) {
        self.outside.events.tell(Event::AttemptBegan { lane: lane.clone() });
        let wake = Arc::new(Notify::new());
        let wakes = Arc::clone(&wake);
        let (store, outside) = (self.store.clone(), self.outside.clone());
        let (stop, producer) = (self.stop.clone(), self.config.producer.clone());
        let (lease, renewal) = (self.config.lease, self.config.renewal);
        let (named, remembered) = (lane.clone(), self.folds.take(&lane));
        let every = self.config.checkpoint;
        let task = self.attempts.spawn(async move {
            // Nobody to work with, or no entropy to claim with: left to others for a while.
            let binding = outside.ports.bindings.binding(&named)?;
            if let Err(why) = outside.ports.serve(&binding.definition) {
                outside.events.tell(Event::NotServed { lane: named, why: Arc::new(why) });
                return None;
            }
            let token = token()?;
            let remembered = match remembered {
                Some(it) => Some(it),
                None if every > 0 => store.checkpoint(named.clone()).await.map(Remembered::of),
                None => None,
            };
            let kept = remembered.as_ref().map(|it| it.kept).unwrap_or_default();
            let fold = remembered.map(|it| it.fold);
            let lane = named.clone();
            let setup = Setup { lane, producer, binding, lease, renewal, watched: true };
            let drive = Drive::new(store.clone(), outside, wakes, stop, setup);
            let (end, fold) = drive.run(token, fold).await;
            let mut remembered = fold.map(|fold| Remembered { fold, kept });
            if let Some(due) = remembered.as_mut().and_then(|it| it.due(&named, every)) {
                store.keep(named, due);
            }
            Some((end, remembered))
        });
        self.lanes.insert(task.id(), lane.clone());
        self.wakes.insert(lane, wake);
    }

    /// Parks until the scheduler is to be told something.
    async fn next(&mut self, inputs: &mut Inputs) -> Input {
        loop {
            let first = (0..self.retries.len()).min_by_key(|at| self.retries[*at].0);
            let retry = first.map(|at| self.retries[at].0);
            tokio::select! {
                Some(ended) = self.attempts.join_next_with_id() => {
                    if let Some(input) = self.ended(ended) {
                        return input;
                    }
                }
                () = told(&mut self.stop), if !self.stops => {
                    self.stops = true;
                    return Input::StopRequested;
                }
                input = inputs.next() => return input,
                () = until(retry) => {
                    if let Some(at) = first {
                        return Input::RetryDue { lane: self.retries.swap_remove(at).1 };
                    }
                }
                () = until(self.due) => {
                    self.due = None;
                    return Input::LookDue;
                }
            }
        }
    }

    /// An attempt that panicked is a bug in this host, and its lane is left alone.
    fn ended(&mut self, ended: Result<(Id, Option<Over>), JoinError>) -> Option<Input> {
        let (id, over) = match ended {
            Ok((id, over)) => (id, over),
            Err(error) => (error.id(), Some((End::Defect, None))),
        };
        let lane = self.lanes.remove(&id)?;
        self.wakes.remove(&lane);
        let Some((end, fold)) = over else {
            self.outside.events.tell(Event::LaneDeclined { lane: lane.clone() });
            return Some(Input::Declined { lane });
        };
        if let Some(fold) = fold {
            self.folds.keep(lane.clone(), fold);
        }
        self.outside.events.tell(Event::AttemptEnded { lane: lane.clone(), end });
        self.herald.ended(&lane, end);
        Some(Input::Ended { lane, end })
    }
}

/// Returns then; never, if there is no then.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => pending().await,
    }
}

/// Fresh entropy for one claim.
fn token() -> Option<Token> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| Token(bytes))
}
