//! The store's thread: it blocks so that nobody else has to.

//!
//! Between pipelines it glances at whether somebody else has committed: the connection that writes
//! is the one that can tell its own commits from others'.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use everstep_machine::effect::EffectClass;
use everstep_machine::store::{Pipeline, Replies, Shared, StoreFault};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// Pipelines that wait for the store's thread at most; whoever comes then waits for a place.
const PLACES: usize = 1_024;
/// The shortest time between two glances.
const BLINK: Duration = Duration::from_millis(1);

/// A pipeline and who wants its answer.
struct Request {
    pipeline: Pipeline,
    answer: oneshot::Sender<Result<Replies, StoreFault>>,
    /// Whether its fate says anything about how the work goes.
    counts: bool,
    _place: OwnedSemaphorePermit,
}

/// The store's thread is gone: it panicked, and this host is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreGone;

/// Told when a thread has let go of what it held.
pub(crate) type Closed = oneshot::Receiver<()>;

/// Pipelines in a row that the store could not say the fate of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsure {
    /// Those that only read.
    reads: u32,
    /// Those that write. A disk that is full can still be read.
    writes: u32,
}

impl Unsure {
    /// The longer of the two rows.
    pub(crate) fn most(self) -> u32 {
        self.reads.max(self.writes)
    }
}

/// How everybody reaches the store.
#[derive(Clone, Debug)]
pub(crate) struct StoreHandle {
    requests: Sender<Request>,
    places: Arc<Semaphore>,
    unsure: watch::Receiver<Unsure>,
}

impl StoreHandle {
    /// Gives the store a thread. The thread ends when the last handle is dropped; then the store
    /// is closed, and that is told. Every `glance` it calls `changed` if somebody else has
    /// committed.
    pub(crate) fn start(
        store: impl Shared + Send + 'static,
        glance: Duration,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<(Self, Closed)> {
        let (requests, inbox) = channel();
        let (count, unsure) = watch::channel(Unsure::default());
        let (closing, closed) = oneshot::channel();
        thread::Builder::new().name("everstep-store".to_owned()).spawn(move || {
            serve(store, &inbox, &count, glance.max(BLINK), changed);
            // Nobody may be waiting for it.
            let _ = closing.send(());
        })?;
        let places = Arc::new(Semaphore::new(PLACES));
        Ok((Self { requests, places, unsure }, closed))
    }

    /// Executes a pipeline.
    pub(crate) async fn execute(
        &self,
        pipeline: Pipeline,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        self.send(pipeline, true).await
    }

    /// Executes a pipeline of somebody who only looks on, and counts its fate himself: a look that
    /// succeeds says nothing about work that is stuck.
    pub(crate) async fn look(
        &self,
        pipeline: Pipeline,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        self.send(pipeline, false).await
    }

    async fn send(
        &self,
        pipeline: Pipeline,
        counts: bool,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        let (answer, answered) = oneshot::channel();
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| StoreGone)?;
        let request = Request { pipeline, answer, counts, _place: place };
        self.requests.send(request).map_err(|_| StoreGone)?;
        answered.await.map_err(|_| StoreGone)
    }

    /// How many pipelines in a row the store could not say the fate of.
    pub(crate) fn unsure(&self) -> watch::Receiver<Unsure> {
        self.unsure.clone()
    }
}

fn serve(
    mut store: impl Shared,
    inbox: &Receiver<Request>,
    unsure: &watch::Sender<Unsure>,
    glance: Duration,
    changed: impl Fn(),
) {
    let mut last = Instant::now();
    loop {
        match inbox.recv_timeout(glance.saturating_sub(last.elapsed())) {
            Ok(request) => execute(&mut store, request, unsure),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        // Also while there is always something to do.
        if last.elapsed() >= glance {
            last = Instant::now();
            if store.changed_elsewhere() {
                changed();
            }
        }
    }
}

fn execute(store: &mut impl Shared, request: Request, unsure: &watch::Sender<Unsure>) {
    let Request { pipeline, answer, counts, _place } = request;
    let result = store.execute(&pipeline);
    if counts {
        let fails = result == Err(StoreFault::Indeterminate);
        unsure.send_if_modified(|unsure| {
            let count = if writes(&pipeline) { &mut unsure.writes } else { &mut unsure.reads };
            let before = *count;
            *count = if fails { before.saturating_add(1) } else { 0 };
            *count != before
        });
    }
    // Whoever asked may have been called off; what was committed stands all the same.
    let _ = answer.send(result);
}

fn writes(pipeline: &Pipeline) -> bool {
    let classes = pipeline.commands.iter().map(|command| command.kind().class());
    classes.into_iter().any(|class| class == EffectClass::Durable)
}
