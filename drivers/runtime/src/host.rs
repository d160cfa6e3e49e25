//! The host: the scheduler, driven, and the attempts it asks for.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::time::Duration;

use everstep_machine::attempt::{End, Setup};
use everstep_machine::contract::Machine;
use everstep_machine::event::EventSequence;
use everstep_machine::identity::{
    ConversationId, DurationMs, ProducerId, RunId, SubmissionId, Token,
};
use everstep_machine::limits::{AGENT_CALLS, GROUP_CALLS, HOST_CALLS, LEASE_MS, RENEWAL_MS};
use everstep_machine::permits::Limits;
use everstep_machine::scheduler::{Effect, Input, Scheduler, State};
use everstep_machine::store::Store;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use crate::drive::Drive;
use crate::event::{Event, Events, pass_on};
use crate::failpoint::Failpoints;
use crate::lookout::{self, LookOut, Pages, Sighting};
use crate::outside::Outside;
use crate::permits::Gate;
use crate::ports::Ports;
use crate::run_stream::RunStream;
use crate::store::{Closed, StoreHandle};
use crate::streams::Streams;

/// How long the threads of a host that has stopped may take to close what they hold.
const CLOSING: Duration = Duration::from_secs(2);

/// How a host works.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of this process, as claims and batches will bear it.
    pub producer: ProducerId,
    /// How many lanes are worked on at once.
    pub slots: usize,
    /// How many calls run at once, over all lanes.
    pub permits: Limits,
    /// How long a lease lasts: how long after a crash the lane stays closed.
    pub lease: DurationMs,
    /// After how long a lease is renewed; well below [`Config::lease`].
    pub renewal: DurationMs,
    /// How often the look-out glances at whether another process has committed something.
    pub glance: Duration,
    /// How long what is out may take to come back when the host stops.
    pub grace: Duration,
    /// Where this process ends, if a test says so.
    pub failpoints: Failpoints,
}

impl Config {
    /// Leases as [`everstep_machine::limits`] has them, four lanes at once, four glances a second,
    /// two seconds of grace.
    #[must_use]
    pub fn new(producer: ProducerId) -> Self {
        Self {
            producer,
            slots: 4,
            permits: Limits {
                agent: AGENT_CALLS,
                group: GROUP_CALLS,
                groups: BTreeMap::new(),
                host: HOST_CALLS,
            },
            lease: DurationMs(LEASE_MS),
            renewal: DurationMs(RENEWAL_MS),
            glance: Duration::from_millis(250),
            grace: Duration::from_secs(2),
            failpoints: Failpoints::disarmed(),
        }
    }
}

/// That something has changed, and which lanes are left alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    pub(crate) lost: BTreeMap<ConversationId, End>,
}

/// A host at work. Dropping it calls off what it has in flight, as a crash would.
#[derive(Debug)]
pub struct Host {
    store: StoreHandle,
    inbox: UnboundedSender<Input>,
    events: Events,
    streams: Streams,
    news: watch::Receiver<News>,
    stopping: watch::Sender<bool>,
    grace: Duration,
    desk: JoinHandle<()>,
    threads: Option<Threads>,
}

/// When the threads of a host have closed what they hold.
#[derive(Debug)]
struct Threads {
    lookout: Closed,
    store: Closed,
}

impl Host {
    /// Starts a host inside an async runtime: a thread for the store, one for the look-out, and
    /// tasks for everything else.
    ///
    /// # Errors
    /// The operating system gives no threads.
    pub fn start(
        store: impl Store + Send + 'static,
        lookout: impl LookOut,
        ports: Ports,
        config: Config,
    ) -> io::Result<Self> {
        let (store, store_closed) = StoreHandle::start(store)?;
        let (inbox, inputs) = unbounded_channel();
        let (events, (news, subscribed)) = (Events::new(), watch::channel(News::default()));
        let tell = teller(inbox.clone(), events.clone(), news.clone());
        let (pages, lookout_closed) = lookout::start(lookout, config.glance, tell)?;
        let (stopping, stop) = watch::channel(false);
        let (grace, failpoints) = (config.grace, config.failpoints.clone());
        let gate = Gate::new(config.permits.clone());
        let streams = Streams::default();
        let told = streams.clone();
        let outside = Outside { ports, failpoints, events: events.clone(), gate, streams };
        let desk = Desk {
            store: store.clone(),
            outside,
            config,
            pages,
            news,
            stop,
            attempts: JoinSet::new(),
            lanes: HashMap::new(),
            wakes: BTreeMap::new(),
            due: None,
            retries: Vec::new(),
        };
        let desk = tokio::spawn(desk.run(inputs));
        let threads = Some(Threads { lookout: lookout_closed, store: store_closed });
        let news = subscribed;
        let streams = told;
        Ok(Self { store, inbox, events, streams, news, stopping, grace, desk, threads })
    }

    /// Calls `watcher` with every live event from now on, as long as the host lives, on a thread of
    /// its own: it may block. One that is slow misses some.
    pub fn on_event(&self, watcher: impl Fn(Event) + Send + 'static) {
        pass_on(&self.events, watcher);
    }

    /// The live events of a submission's run from an offset on (RUN-032); none as long as this
    /// host has not worked on it. An attempt that takes the run over begins a trace of its own.
    #[must_use]
    pub fn watch(&self, submission: SubmissionId, from: EventSequence) -> Option<RunStream> {
        self.streams.stream(RunId::derive(submission), from)
    }

    /// Says that a lane has changed.
    pub fn hint(&self, lane: ConversationId) {
        // A host that has stopped wants no hints.
        let _ = self.inbox.send(Input::Hinted { lane });
    }

    /// Stops (OPS-03): no lane is claimed and nothing is asked of the outside any more. What is
    /// out already has [`Config::grace`] to come back; it is recorded, and the lane is given back,
    /// so that whoever comes next need not wait for the lease. What is not back by then is
    /// dropped, as a crash would drop it, and its lane is free once the lease has run out.
    ///
    /// Returns when the look-out and the store are closed, or two seconds after the rest if a
    /// pipeline that is being executed takes so long. Correctness needs none of this.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        let works = self.inbox.send(Input::StopRequested).is_ok();
        if works && timeout(self.grace, &mut self.desk).await.is_err() {
            self.desk.abort();
            // It was called off, or it panicked: either way everything in it is dropped.
            let _ = (&mut self.desk).await;
        }
        if let Some(Threads { lookout, store }) = self.threads.take() {
            // The store comes last, so that it can tidy up what it shares with those who only
            // look. A thread that panicked has closed what it held as well.
            let closed = async {
                let _ = lookout.await;
                drop(self);
                let _ = store.await;
            };
            let _ = timeout(CLOSING, closed).await;
        }
    }

    pub(crate) fn store(&self) -> &StoreHandle {
        &self.store
    }

    pub(crate) fn news(&self) -> watch::Receiver<News> {
        self.news.clone()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.desk.abort();
    }
}

/// Passes on what the look-out sees, on its thread.
fn teller(
    inbox: UnboundedSender<Input>,
    events: Events,
    news: watch::Sender<News>,
) -> impl Fn(Sighting) + Send + 'static {
    move |sighting| {
        let input = match sighting {
            Sighting::Page(findings) => Input::Scanned(findings),
            Sighting::Failed(why) => {
                events.tell(Event::ScanFailed { why });
                Input::ScanFailed
            }
            Sighting::Changed => {
                news.send_modify(|_| {});
                Input::ChangedElsewhere
            }
        };
        // A host that has stopped does not look any more.
        let _ = inbox.send(input);
    }
}

/// Drives the scheduler.
struct Desk {
    store: StoreHandle,
    outside: Outside,
    config: Config,
    pages: Pages,
    news: watch::Sender<News>,
    stop: watch::Receiver<bool>,
    attempts: JoinSet<Option<End>>,
    lanes: HashMap<Id, ConversationId>,
    wakes: BTreeMap<ConversationId, UnboundedSender<()>>,
    due: Option<Instant>,
    /// When lanes that were declined may be begun with again.
    retries: Vec<(Instant, ConversationId)>,
}

impl Desk {
    async fn run(mut self, mut inputs: UnboundedReceiver<Input>) {
        let mut step = Scheduler::step(State::new(self.config.slots), Input::Started);
        loop {
            for effect in step.effects {
                match effect {
                    Effect::StartAttempt { lane } => self.start(lane),
                    Effect::WakeAttempt { lane } => {
                        // An attempt that has just ended needs no waking.
                        let _ = self.wakes.get(&lane).map(|wake| wake.send(()));
                    }
                    Effect::Scan { after } => {
                        // A look-out that panicked sees nothing; hints still come through.
                        let _ = self.pages.send(after);
                    }
                    Effect::ScheduleLook { after } => {
                        self.outside.events.tell(Event::LeaseAwaited { wait: after });
                        self.due = Some(Instant::now() + Duration::from_millis(after.0));
                    }
                    Effect::ScheduleRetry { lane, after } => {
                        let due = Instant::now() + Duration::from_millis(after.0);
                        self.retries.push((due, lane));
                    }
                    Effect::Stopped => return,
                }
            }
            step = Scheduler::step(step.state, self.next(&mut inputs).await);
        }
    }

    fn start(&mut self, lane: ConversationId) {
        self.outside.events.tell(Event::AttemptBegan { lane: lane.clone() });
        let (wake, wakes) = unbounded_channel();
        let (store, outside) = (self.store.clone(), self.outside.clone());
        let (stop, producer) = (self.stop.clone(), self.config.producer.clone());
        let (lease, renewal) = (self.config.lease, self.config.renewal);
        let named = lane.clone();
        let task = self.attempts.spawn(async move {
            // Nobody to work with, or no entropy to claim with: left to others for a while.
            let binding = outside.ports.bindings.binding(&named)?;
            let token = token()?;
            let setup = Setup { lane: named, producer, binding, lease, renewal, watched: true };
            Some(Drive::new(store, outside, wakes, stop, setup).run(token).await)
        });
        self.lanes.insert(task.id(), lane.clone());
        self.wakes.insert(lane, wake);
    }

    /// Parks until the scheduler is to be told something.
    async fn next(&mut self, inputs: &mut UnboundedReceiver<Input>) -> Input {
        loop {
            let due = self.due;
            let first = (0..self.retries.len()).min_by_key(|at| self.retries[*at].0);
            let retry = first.map(|at| (self.retries[at].0, at));
            let retry = async {
                match retry {
                    Some((due, at)) => {
                        sleep_until(due).await;
                        at
                    }
                    None => std::future::pending().await,
                }
            };
            let due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(ended) = self.attempts.join_next_with_id() => {
                    if let Some(input) = self.ended(ended) {
                        return input;
                    }
                }
                Some(input) = inputs.recv() => return input,
                at = retry => {
                    return Input::RetryDue { lane: self.retries.swap_remove(at).1 };
                }
                () = due => {
                    self.due = None;
                    return Input::LookDue;
                }
            }
        }
    }

    /// An attempt that panicked is a bug in this host, and its lane is left alone.
    fn ended(&mut self, ended: Result<(Id, Option<End>), JoinError>) -> Option<Input> {
        let (id, end) = match ended {
            Ok((id, end)) => (id, end),
            Err(error) => (error.id(), Some(End::Defect)),
        };
        let lane = self.lanes.remove(&id)?;
        self.wakes.remove(&lane);
        let Some(end) = end else {
            self.outside.events.tell(Event::LaneDeclined { lane: lane.clone() });
            return Some(Input::Declined { lane });
        };
        self.outside.events.tell(Event::AttemptEnded { lane: lane.clone(), end });
        self.news.send_modify(|news| match end {
            End::Corrupt(_) | End::Defect => {
                news.lost.insert(lane.clone(), end);
            }
            End::Idle | End::Settled | End::Parked | End::Unanswered | End::Superseded => {}
        });
        Some(Input::Ended { lane, end })
    }
}

/// Fresh entropy for one claim.
fn token() -> Option<Token> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| Token(bytes))
}
