//! The streams of a host's runs: who tells them, and where they are found.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use everstep_machine::event::{EventSequence, RunEvent, Source};
use everstep_machine::identity::{RunId, Timestamp};
use everstep_machine::response::Delta;

use crate::run_stream::{RunEvents, RunStream};

/// Traces that a host keeps; beyond them the oldest is forgotten.
const TRACES: usize = 1_024;

/// The streams of the runs of one host. Copies are the same streams.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<Desk>>);

#[derive(Default)]
struct Desk {
    traces: HashMap<RunId, RunEvents>,
    /// In the order in which they began.
    order: VecDeque<RunId>,
}

impl Streams {
    /// Begins the trace of a run anew: an earlier one was another attempt's.
    pub(crate) fn begin(&self, source: Source) {
        let mut desk = self.desk();
        let run = source.run;
        if desk.traces.insert(run, RunEvents::new(source)).is_none() {
            desk.order.push_back(run);
        }
        if desk.order.len() > TRACES
            && let Some(oldest) = desk.order.pop_front()
        {
            desk.traces.remove(&oldest);
        }
    }

    /// One more event of a run. What comes too late is dropped, and counted by its log.
    pub(crate) fn tell(&self, run: RunId, event: RunEvent) {
        let trace = self.desk().traces.get(&run).cloned();
        if let Some(trace) = trace {
            let _ = trace.tell(now(), event);
        }
    }

    /// What a model says before it has said all of it.
    pub(crate) fn tell_delta(&self, run: RunId, delta: &Delta) {
        match delta {
            Delta::Text { text, .. } => self.tell(run, RunEvent::TextDelta { text: text.clone() }),
            Delta::Reasoning { text, .. } => {
                self.tell(run, RunEvent::ReasoningDelta { text: text.clone() });
            }
            // A call is told when it is declared.
            Delta::Call { .. } => {}
        }
    }

    /// The events of a run from an offset on, if this host has told any.
    pub(crate) fn stream(&self, run: RunId, from: EventSequence) -> Option<RunStream> {
        self.desk().traces.get(&run).map(|trace| trace.stream(from))
    }

    /// A panic elsewhere leaves sound logs behind.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the wall clock reads: for whoever watches, and for nothing that decides anything.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("traces", &self.desk().order.len()).finish()
    }
}
