//! The host: what it is started with, what it offers, and how it stops.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::Bound;
use everstep_machine::event::EventSequence;
use everstep_machine::identity::{ConversationId, DurationMs, ProducerId, RunId, SubmissionId};
use everstep_machine::limits::{AGENT_CALLS, GROUP_CALLS, HOST_CALLS, LEASE_MS, RENEWAL_MS};
use everstep_machine::permits::Limits;
use everstep_machine::store::Shared;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::clearance::Clearance;
use crate::desk::Desk;
use crate::event::{Event, Events, pass_on};
use crate::failpoint::Failpoints;
use crate::inbox::Inbox;
use crate::lookout::{self, LookOut, Page};
use crate::news::News;
use crate::outside::Outside;
use crate::permits::Gate;
use crate::ports::{Bindings, Ports};
use crate::run_stream::RunStream;
use crate::store::{Closed, StoreHandle};
use crate::streams::Streams;
use crate::tool::ToolkitError;

/// How long the threads of a host that has stopped may take to close what they hold.
const CLOSING: Duration = Duration::from_secs(2);

/// Bytes of what was folded, unless it is said otherwise.
const FOLDS: usize = 32 << 20;

/// Records between two checkpoints, unless it is said otherwise: some dozens of submissions.
const CHECKPOINT: u64 = 512;

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
    /// How often the store is asked whether another process has committed something.
    pub glance: Duration,
    /// About how many bytes of what was folded are remembered between attempts, so that a long
    /// conversation is not read from its beginning for each of them.
    pub folds: usize,
    /// After how many records of a lane what was folded of them is kept in the store, so that a
    /// process that begins anew reads only what came since (STORE-007); 0 for never.
    pub checkpoint: u64,
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
            folds: FOLDS,
            checkpoint: CHECKPOINT,
            grace: Duration::from_secs(2),
            failpoints: Failpoints::disarmed(),
        }
    }
}

/// Why a host was not started. Nothing has begun then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Handlers or reconciler do not serve an agent (CAP-001, CAP-002).
    #[error(transparent)]
    NotServed(#[from] ToolkitError),
    /// The operating system gives no threads.
    #[error("the operating system gives no threads: {0}")]
    NoThreads(#[from] io::Error),
}

/// A host at work. Dropping it calls off what it has in flight, as a crash would.
pub struct Host {
    store: StoreHandle,
    inbox: Inbox,
    events: Events,
    streams: Streams,
    news: News,
    bindings: Arc<dyn Bindings>,
    clearance: Clearance,
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
    /// A tool of an agent that is known beforehand has no handler, one that does not do what is
    /// declared, or no reconciler; an answer cannot be checked; or the operating system gives no
    /// threads.
    pub fn start(
        store: impl Shared + Send + 'static,
        lookout: impl LookOut,
        ports: Ports,
        config: Config,
    ) -> Result<Self, StartError> {
        for binding in ports.bindings.agents() {
            ports.serve(&binding.definition)?;
        }
        let ((inbox, inputs), (news, herald)) = (Inbox::new(), News::new());
        let (events, streams) = (Events::new(), Streams::default());
        let mailbox = inbox.clone();
        let changed = move || mailbox.changed_elsewhere();
        let (store, store_closed) = StoreHandle::start(store, config.glance, changed)?;
        let tell = page_teller(inbox.clone(), events.clone());
        let (pages, lookout_closed) = lookout::start(lookout, tell)?;
        let (stopping, stop) = watch::channel(false);
        let (grace, failpoints) = (config.grace, config.failpoints.clone());
        let gate = Gate::new(config.permits.clone());
        let (watched, told) = (events.clone(), streams.clone());
        let (bindings, clearance) = (Arc::clone(&ports.bindings), ports.clearance.clone());
        let outside =
            Outside { ports, failpoints, events: watched, gate, streams: told, state: None };
        let desk = Desk::new(store.clone(), outside, config, pages, herald, stop);
        let desk = tokio::spawn(desk.run(inputs));
        let threads = Some(Threads { lookout: lookout_closed, store: store_closed });
        Ok(Self {
            store,
            inbox,
            events,
            streams,
            news,
            bindings,
            clearance,
            stopping,
            grace,
            desk,
            threads,
        })
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
        self.inbox.hint(lane);
    }

    /// Stops (OPS-03): no lane is claimed and its runs begin nothing new. What is out already
    /// has [`Config::grace`] to come back; it is recorded, and the lane is given back, so that
    /// whoever comes next need not wait for the lease. What is not back by then is dropped, as a
    /// crash would drop it, and its lane is free once the lease has run out.
    ///
    /// Returns when the look-out and the store are closed, or two seconds after the rest if a
    /// pipeline that is being executed takes so long. Correctness needs none of this.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        if timeout(self.grace, &mut self.desk).await.is_err() {
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

    /// What runs of a lane would go on under here.
    pub(crate) fn bound(&self, lane: &ConversationId) -> Option<Bound> {
        // Bindings that panic cost the lane its attempt, and not whoever waits for it.
        let known = catch_unwind(AssertUnwindSafe(|| self.bindings.binding(lane)));
        known.ok().flatten().map(|binding| binding.bound())
    }

    pub(crate) const fn clearance(&self) -> &Clearance {
        &self.clearance
    }

    pub(crate) const fn news(&self) -> &News {
        &self.news
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("grace", &self.grace).finish_non_exhaustive()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.desk.abort();
        self.clearance.close();
    }
}

/// Passes on what the look-out sees, on its thread.
fn page_teller(inbox: Inbox, events: Events) -> impl Fn(Page) + Send + 'static {
    move |page| {
        if let Err(why) = &page {
            events.tell(Event::ScanFailed { why: Arc::clone(why) });
        }
        inbox.page(page);
    }
}
