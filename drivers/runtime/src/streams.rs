//! The streams of a host's runs: who tells them, and where they are found.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use everstep_machine::event::{EventSequence, RunEvent, Source};
use everstep_machine::identity::{RunId, Timestamp};
use everstep_machine::response::Delta;

use crate::run_stream::{RunEvents, RunStream, SoleEvents};

/// Traces that a host keeps; beyond them the oldest is forgotten.
const TRACES: usize = 1_024;

/// The streams of the runs of one host. Copies are the same streams.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<Desk>>);

#[derive(Default)]
struct Desk {
    traces: HashMap<RunId, Trace>,
    /// In the order in which they began.
    order: VecDeque<RunId>,
}

/// How the events of a run are told.
#[derive(Clone)]
enum Trace {
    /// To any number of watchers, and nobody waits for them.
    ToAll(RunEvents),
    /// To one consumer, who is waited for.
    ToOne(SoleEvents),
}

impl Streams {
    /// Begins the trace of a run anew: an earlier one was another attempt's.
    pub(crate) fn begin(&self, source: Source) {
        self.keep(source.run, Trace::ToAll(RunEvents::new(source)));
    }

    /// Begins the trace of a run that has one consumer. At most `queue` events wait to be read.
    pub(crate) fn begin_for_one(&self, source: Source, queue: usize) -> RunStream {
        let run = source.run;
        let (events, stream) = RunStream::sole(source, queue);
        self.keep(run, Trace::ToOne(events));
        stream
    }

    fn keep(&self, run: RunId, trace: Trace) {
        let mut desk = self.desk();
        if desk.traces.insert(run, trace).is_none() {
            desk.order.push_back(run);
        }
        if desk.order.len() > TRACES
            && let Some(oldest) = desk.order.pop_front()
        {
            desk.traces.remove(&oldest);
        }
    }

    /// One more event of a run, without waiting for anybody. What comes too late is dropped, and
    /// counted by its log; what the one consumer has no room for is dropped as well.
    pub(crate) fn tell(&self, run: RunId, event: RunEvent) {
        match self.trace(run) {
            Some(Trace::ToAll(trace)) => drop(trace.tell(now(), event)),
            Some(Trace::ToOne(trace)) => drop(trace.tell_if_there_is_room(now(), event)),
            None => {}
        }
    }

    /// One more event of a run, once its one consumer has room for it. Nobody else is waited for.
    pub(crate) async fn tell_in_turn(&self, run: RunId, event: RunEvent) {
        match self.trace(run) {
            // Whether anybody listens is not what a run depends on.
            Some(Trace::ToOne(trace)) => drop(trace.tell(now(), event).await),
            Some(Trace::ToAll(_)) | None => self.tell(run, event),
        }
    }

    /// What a model says before it has said all of it.
    pub(crate) async fn tell_delta(&self, run: RunId, delta: &Delta) {
        let event = match delta {
            Delta::Text { text, .. } => RunEvent::TextDelta { text: text.clone() },
            Delta::Reasoning { text, .. } => RunEvent::ReasoningDelta { text: text.clone() },
            // A call is told when it is declared.
            Delta::Call { .. } => return,
        };
        self.tell_in_turn(run, event).await;
    }

    /// The events of a run from an offset on, if this host has told any, and to more than one.
    pub(crate) fn stream(&self, run: RunId, from: EventSequence) -> Option<RunStream> {
        match self.trace(run)? {
            Trace::ToAll(trace) => Some(trace.stream(from)),
            Trace::ToOne(_) => None,
        }
    }

    fn trace(&self, run: RunId) -> Option<Trace> {
        self.desk().traces.get(&run).cloned()
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
