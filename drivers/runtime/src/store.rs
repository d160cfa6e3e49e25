//! The store's thread: it blocks so that nobody else has to.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use everstep_machine::effect::EffectClass;
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};
use tokio::sync::{oneshot, watch};

/// A pipeline and who wants its answer.
struct Request {
    pipeline: Pipeline,
    answer: oneshot::Sender<Result<Replies, StoreFault>>,
}

/// The store's thread is gone: it panicked, and this host is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreGone;

/// Told when a thread has let go of what it held.
pub(crate) type Closed = oneshot::Receiver<()>;

/// How everybody reaches the store.
#[derive(Clone, Debug)]
pub(crate) struct StoreHandle {
    requests: Sender<Request>,
    unsure: watch::Receiver<u32>,
}

impl StoreHandle {
    /// Gives the store a thread. The thread ends when the last handle is dropped; then the store
    /// is closed, and that is told.
    pub(crate) fn start(store: impl Store + Send + 'static) -> io::Result<(Self, Closed)> {
        let (requests, inbox) = channel();
        let (count, unsure) = watch::channel(0);
        let (closing, closed) = oneshot::channel();
        thread::Builder::new().name("everstep-store".to_owned()).spawn(move || {
            serve(store, &inbox, &count);
            // Nobody may be waiting for it.
            let _ = closing.send(());
        })?;
        Ok((Self { requests, unsure }, closed))
    }

    /// Executes a pipeline.
    pub(crate) async fn execute(
        &self,
        pipeline: Pipeline,
    ) -> Result<Result<Replies, StoreFault>, StoreGone> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Request { pipeline, answer }).map_err(|_| StoreGone)?;
        answered.await.map_err(|_| StoreGone)
    }

    /// How many writing pipelines in a row the store could not say the fate of.
    pub(crate) fn unsure(&self) -> watch::Receiver<u32> {
        self.unsure.clone()
    }
}

fn serve(mut store: impl Store, inbox: &Receiver<Request>, unsure: &watch::Sender<u32>) {
    while let Ok(Request { pipeline, answer }) = inbox.recv() {
        let result = store.execute(&pipeline);
        if writes(&pipeline) {
            let fails = result == Err(StoreFault::Indeterminate);
            unsure.send_if_modified(|count| {
                let before = *count;
                *count = if fails { before.saturating_add(1) } else { 0 };
                *count != before
            });
        }
        // Whoever asked may have been called off; what was committed stands all the same.
        let _ = answer.send(result);
    }
}

fn writes(pipeline: &Pipeline) -> bool {
    let classes = pipeline.commands.iter().map(|command| command.kind().class());
    classes.into_iter().any(|class| class == EffectClass::Durable)
}
