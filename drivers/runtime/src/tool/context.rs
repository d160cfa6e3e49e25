//! What a handler is told beside its parameters.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::effect::Invocation;
use everstep_machine::identity::{Epoch, ToolCallId};
use tokio::time::Instant;

use super::cancel::Cancellation;
use crate::state::State;
use crate::steps::{Recorder, Steps};

/// Bytes of one report of progress that are passed on.
const PROGRESS_BYTES: usize = 4 * 1024;

type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// How a running call is tied to those who wait for it.
#[derive(Clone)]
pub struct Live {
    cancellation: Cancellation,
    report: Option<Report>,
    recorder: Option<Recorder>,
    state: State,
}

impl Live {
    /// A call that can be called off and that nobody watches.
    #[must_use]
    pub const fn new(cancellation: Cancellation) -> Self {
        Self { cancellation, report: None, recorder: None, state: State::none() }
    }

    /// The same, watched: `report` is called with each report of progress, and must not wait.
    #[must_use]
    pub fn watched(self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { report: Some(Arc::new(report)), ..self }
    }

    /// The same of a durable call, whose steps are recorded here.
    pub(crate) fn recorded(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The same of a call that can reach state.
    pub(crate) fn keeping(self, state: Option<State>) -> Self {
        Self { state: state.unwrap_or(State::none()), ..self }
    }

    /// The state of the call's agent and run (CAP-012). In a run without a store there is none, and
    /// everything that is asked of it is refused.
    #[must_use]
    pub fn state(&self) -> State {
        self.state.clone()
    }

    /// The steps of the call, for a handler of a durable tool (DUR-010). Of any other call nobody
    /// records steps, and to ask for one is a defect of it.
    #[must_use]
    pub fn steps(&self) -> Steps {
        Steps::new(self.recorder.clone())
    }

    /// Whether a handler may be given another try that says that nothing happened: a step that is
    /// recorded has happened.
    pub(super) fn may_try_again(&self) -> bool {
        self.recorder.as_ref().is_none_or(Recorder::is_blank)
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("cancellation", &self.cancellation).finish_non_exhaustive()
    }
}

/// What a handler is told beside its parameters. A copy is about the same call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    call: ToolCallId,
    epoch: Epoch,
    deadline: Instant,
    live: Live,
}

impl ToolContext {
    pub(super) const fn new(invocation: &Invocation, deadline: Instant, live: Live) -> Self {
        Self { call: invocation.call, epoch: invocation.epoch, deadline, live }
    }

    /// The call. An idempotent tool uses it as the key under which its effect happens once: a
    /// call that is started again has the same.
    #[must_use]
    pub const fn call(&self) -> ToolCallId {
        self.call
    }

    /// The epoch of this start. Whoever has promised that the call can no longer start below a
    /// higher one refuses it.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// How much of the tool's time is left, all its tries together.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Says how far the call has come, in at most 4 KiB. Whoever watches may see it; it is part of
    /// no record, and nothing waits for it.
    pub fn progress(&self, words: &str) {
        if let Some(report) = &self.live.report {
            report(&words[..words.floor_char_boundary(PROGRESS_BYTES)]);
        }
    }

    /// Whether the call has been called off.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.live.cancellation.is_cancelled()
    }

    /// Returns when the call is called off (RUN-008). A handler that can stop early stops then; it
    /// is dropped a little later in any case. A host with a store drops it without a word: what it
    /// has done is in doubt then, and is told by the log.
    pub async fn cancelled(&self) {
        self.live.cancellation.cancelled().await;
    }

    /// The state of the call's agent and run (CAP-012). In a run without a store there is none, and
    /// everything that is asked of it is refused.
    #[must_use]
    pub fn state(&self) -> State {
        self.live.state()
    }

    /// The steps of the call.
    pub(super) fn steps(&self) -> Steps {
        self.live.steps()
    }

    pub(super) fn may_try_again(&self) -> bool {
        self.live.may_try_again()
    }

    pub(super) const fn deadline(&self) -> Instant {
        self.deadline
    }
}
