//! The two ends of a call's record: the handler's and the host's.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_machine::agent::StepOutput;
use everstep_machine::identity::ToolCallId;
use everstep_machine::steps::{Entry, StepFault};
use tokio::sync::{mpsc, oneshot};

/// The handler's end. Copies lead to the same record.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    call: ToolCallId,
    entry: Arc<Mutex<Entry>>,
    hand: mpsc::UnboundedSender<Handed>,
}

/// The host's end.
#[derive(Debug)]
pub(crate) struct Record {
    entry: Arc<Mutex<Entry>>,
    handed: mpsc::UnboundedReceiver<Handed>,
}

/// A step that is to be recorded.
#[derive(Debug)]
pub(crate) struct Handed {
    ordinal: u32,
    output: Arc<StepOutput>,
    recorded: oneshot::Sender<()>,
}

impl Record {
    /// The record of a call of which these steps are recorded, and its handler's end.
    pub(crate) fn of(call: ToolCallId, steps: Vec<Arc<StepOutput>>) -> (Recorder, Self) {
        let entry = Arc::new(Mutex::new(Entry::new(steps)));
        // One step at a time: the machine refuses a second one.
        let (hand, handed) = mpsc::unbounded_channel();
        (Recorder { call, entry: Arc::clone(&entry), hand }, Self { entry, handed })
    }

    /// The next step that is to be recorded. Nothing is lost if this is dropped while it waits.
    pub(crate) async fn next(&mut self) -> Handed {
        match self.handed.recv().await {
            Some(handed) => handed,
            // No handler is left who could hand one in.
            None => pending().await,
        }
    }

    /// A step is committed: its handler may go on.
    pub(crate) fn recorded(&self, handed: Handed) {
        lock(&self.entry).recorded(handed.output);
        // A handler that has stopped waiting finds it recorded.
        let _ = handed.recorded.send(());
    }

    /// What is wrong with what the handler has asked for, now that it has ended.
    pub(crate) fn fault(&self) -> Option<StepFault> {
        lock(&self.entry).end()
    }
}

impl Recorder {
    pub(crate) const fn call(&self) -> ToolCallId {
        self.call
    }

    pub(crate) fn entry(&self) -> MutexGuard<'_, Entry> {
        lock(&self.entry)
    }

    /// Hands a step in and returns when it is recorded. False if nobody records it any more.
    pub(crate) async fn record(&self, ordinal: u32, output: Arc<StepOutput>) -> bool {
        let (recorded, is_recorded) = oneshot::channel();
        let handed = Handed { ordinal, output, recorded };
        self.hand.send(handed).is_ok() && is_recorded.await.is_ok()
    }

    /// Whether nothing is recorded, and nothing was wrong.
    pub(crate) fn is_blank(&self) -> bool {
        let entry = self.entry();
        !entry.has_recorded() && entry.end().is_none()
    }
}

impl Handed {
    /// How many steps stand before it, and the step.
    pub(crate) fn step(&self) -> (u32, Arc<StepOutput>) {
        (self.ordinal, Arc::clone(&self.output))
    }
}

/// A panic elsewhere leaves a sound entry behind: each change of it is whole.
fn lock(entry: &Mutex<Entry>) -> MutexGuard<'_, Entry> {
    entry.lock().unwrap_or_else(PoisonError::into_inner)
}
