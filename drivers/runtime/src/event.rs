//! Live events: what a person who watches may see, and nothing that anybody depends on.
//!
//! A watcher that is slow misses some. What is canonical is in the log.

use std::sync::Arc;
use std::thread;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::attempt::End;
use everstep_machine::identity::{ConversationId, DurationMs, RunId, ToolName, Turn};
use everstep_machine::response::Delta;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::tool::ToolkitError;

/// Something that is happening.
#[derive(Clone, Debug)]
pub enum Event {
    /// An attempt at a lane has begun.
    AttemptBegan {
        /// Which lane.
        lane: ConversationId,
    },
    /// A model is asked.
    ModelAsked {
        /// The run that asks.
        run: RunId,
        /// Its turn.
        turn: Turn,
    },
    /// A model has said so much of its answer. May never become canonical (DUR-008).
    TextDelta {
        /// The run that asked.
        run: RunId,
        /// The next words.
        text: Arc<str>,
    },
    /// A tool is invoked.
    ToolInvoked {
        /// Which tool.
        tool: ToolName,
    },
    /// A tool has returned.
    ToolReturned {
        /// Which tool.
        tool: ToolName,
        /// How the call ended.
        outcome: Arc<ToolOutcome>,
    },
    /// A tool gave no answer, and nobody knows what became of its call.
    ToolUnsure {
        /// Which tool.
        tool: ToolName,
    },
    /// A reconciler is asked what became of a start.
    Reconciling {
        /// Of which tool.
        tool: ToolName,
    },
    /// The store did not say how far a pipeline got; it is sent again.
    StoreUnsure {
        /// Which lane.
        lane: ConversationId,
    },
    /// This host works on nothing, and can claim nothing before somebody else's lease runs out.
    LeaseAwaited {
        /// For how long.
        wait: DurationMs,
    },
    /// The lanes could not be looked at.
    ScanFailed {
        /// Why.
        why: Arc<str>,
    },
    /// The handlers of this host do not serve the lane's agent: the lane is left to others.
    NotServed {
        /// Which lane.
        lane: ConversationId,
        /// What is missing, by name.
        why: Arc<ToolkitError>,
    },
    /// This host does not know the lane's agent now, or lacks what a claim needs. It looks again.
    LaneDeclined {
        /// Which lane.
        lane: ConversationId,
    },
    /// An attempt is over.
    AttemptEnded {
        /// Which lane.
        lane: ConversationId,
        /// Why.
        end: End,
    },
}

/// Where live events go. Sending never waits.
#[derive(Clone, Debug)]
pub(crate) struct Events(broadcast::Sender<Event>);

/// Events that a slow watcher may be behind before it misses some.
const BACKLOG: usize = 1_024;

impl Events {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }

    pub(crate) fn tell(&self, event: Event) {
        // Nobody may be watching.
        let _ = self.0.send(event);
    }

    /// Tells what a model says before it has said all of it.
    pub(crate) fn tell_delta(&self, run: RunId, delta: Delta) {
        match delta {
            Delta::Text { text, .. } => self.tell(Event::TextDelta { run, text }),
            // Nobody is shown these yet.
            Delta::Reasoning { .. } | Delta::Call { .. } => {}
        }
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}

/// Calls `watcher` with every event from now on, on a thread of its own, since it may block. The
/// thread ends when nobody can tell anything any more. A watcher that is slow misses some, and one
/// that gets no thread misses all: nobody depends on it.
pub(crate) fn pass_on(events: &Events, watcher: impl Fn(Event) + Send + 'static) {
    let mut events = events.watch();
    let pass = move || loop {
        match events.blocking_recv() {
            Ok(event) => watcher(event),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    };
    let _ = thread::Builder::new().name("everstep-watcher".to_owned()).spawn(pass);
}
