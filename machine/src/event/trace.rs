//! Whether a whole trace makes sense: an oracle.

use alloc::collections::BTreeMap;

use super::{Enveloped, EventSequence, FailureKind, RunEvent};
use crate::identity::{ToolCallId, Turn};

/// What is wrong with a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TraceFault {
    /// The numbers do not rise by one from 0.
    #[error("event {found} stands where {expected} belongs")]
    Sequence {
        /// The number that belongs there.
        expected: EventSequence,
        /// The number that stands there.
        found: EventSequence,
    },
    /// An event comes from another run, conversation or agent than the first, or has another
    /// version.
    #[error("event {0} comes from elsewhere")]
    Elsewhere(EventSequence),
    /// The trace does not begin with the beginning of the run.
    #[error("the run does not begin")]
    NotBegun,
    /// The run begins again.
    #[error("event {0} begins the run again")]
    BegunTwice(EventSequence),
    /// There is no terminal event (RUN-002).
    #[error("the run does not end")]
    NotEnded,
    /// Something follows the terminal event, a second one perhaps (RUN-002).
    #[error("event {0} comes after the end of the run")]
    AfterEnd(EventSequence),
    /// Events found no place: the trace is not whole.
    #[error("{0} events were dropped")]
    Dropped(u64),
    /// A turn begins that is not above the one before.
    #[error("event {at} begins turn {turn} after that turn or a later one")]
    TurnNotAbove {
        /// Which event.
        at: EventSequence,
        /// Which turn.
        turn: Turn,
    },
    /// A turn is completed that is not open: it has not begun, or was completed.
    #[error("event {at} completes turn {turn}, which is not open")]
    TurnNotOpen {
        /// Which event.
        at: EventSequence,
        /// Which turn.
        turn: Turn,
    },
    /// A call is declared again (RUN-034).
    #[error("event {0} declares a call again")]
    DeclaredTwice(EventSequence),
    /// Something happens to a call that no event declared.
    #[error("event {0} is about a call that was not declared")]
    NotDeclared(EventSequence),
    /// A call starts again, and its earlier start is not in doubt (RUN-014).
    #[error("event {0} starts a call again that runs")]
    StartedTwice(EventSequence),
    /// Approval of a call is asked for while it runs.
    #[error("event {0} asks for approval of a call that runs")]
    AskedTooLate(EventSequence),
    /// A call gets a result, or says how far it is, and does not run.
    #[error("event {0} is about a call that was not started")]
    NotStarted(EventSequence),
    /// Something happens to a call that has ended, a second end perhaps (ARC-03).
    #[error("event {0} is about a call that has ended")]
    CallEnded(EventSequence),
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Declared,
    Running,
    Doubted,
    Ended,
}

/// What the events so far say.
#[derive(Default)]
struct Heard {
    turn: Option<Turn>,
    is_open: bool,
    has_ended: bool,
    calls: BTreeMap<ToolCallId, Call>,
}

/// Whether this is one whole trace of one run.
///
/// | what | rule |
/// | --- | --- |
/// | numbers | they rise by one from 0; all events come from one source |
/// | run | it begins with the first event, ends with the last, and does both once (RUN-002) |
/// | turns | they rise; a turn is completed while it is the open one |
/// | calls | declared, then started, then ended, each once; a call that was turned down or fits no tool ends without a start; a call in doubt may start again, or end |
/// | progress, steps | only of a call that runs (AB-07) |
///
/// # Errors
/// The first fault, in the order of the events.
pub fn check_trace(events: &[Enveloped]) -> Result<(), TraceFault> {
    let first = events.first().ok_or(TraceFault::NotBegun)?;
    let mut heard = Heard::default();
    let mut expected = EventSequence(0);
    for event in events {
        if event.sequence != expected {
            return Err(TraceFault::Sequence { expected, found: event.sequence });
        }
        if !is_beside(event, first) {
            return Err(TraceFault::Elsewhere(event.sequence));
        }
        heard.hear(event.sequence, &event.event)?;
        expected = expected.next();
    }
    if heard.has_ended { Ok(()) } else { Err(TraceFault::NotEnded) }
}

fn is_beside(event: &Enveloped, first: &Enveloped) -> bool {
    event.version == first.version
        && event.run == first.run
        && event.conversation == first.conversation
        && event.agent == first.agent
}

impl Heard {
    fn hear(&mut self, at: EventSequence, event: &RunEvent) -> Result<(), TraceFault> {
        if self.has_ended {
            return Err(TraceFault::AfterEnd(at));
        }
        self.has_ended = event.is_terminal();
        let is_first = at == EventSequence(0);
        match event {
            RunEvent::RunStarted { .. } if is_first => Ok(()),
            RunEvent::RunStarted { .. } => Err(TraceFault::BegunTwice(at)),
            _ if is_first => Err(TraceFault::NotBegun),
            RunEvent::TurnStarted { turn } => self.begin(at, *turn),
            RunEvent::TurnCompleted { turn, .. } => self.complete(at, *turn),
            RunEvent::ToolCallDeclared { call, .. } => self.declare(at, *call),
            RunEvent::ToolCallStarted { call } => self.moved(at, *call, |call| match call {
                Call::Declared | Call::Doubted => Ok(Call::Running),
                Call::Running => Err(TraceFault::StartedTwice(at)),
                Call::Ended => Err(TraceFault::CallEnded(at)),
            }),
            RunEvent::ToolProgress { call, .. } | RunEvent::ToolStepRecorded { call, .. } => self
                .moved(at, *call, |call| match call {
                    Call::Running => Ok(Call::Running),
                    Call::Declared | Call::Doubted => Err(TraceFault::NotStarted(at)),
                    Call::Ended => Err(TraceFault::CallEnded(at)),
                }),
            RunEvent::ToolCallUnknown { call } => self.moved(at, *call, |call| match call {
                Call::Declared | Call::Running | Call::Doubted => Ok(Call::Doubted),
                Call::Ended => Err(TraceFault::CallEnded(at)),
            }),
            RunEvent::ApprovalRequested { call } => self.moved(at, *call, |call| match call {
                Call::Declared | Call::Doubted => Ok(call),
                Call::Running => Err(TraceFault::AskedTooLate(at)),
                Call::Ended => Err(TraceFault::CallEnded(at)),
            }),
            RunEvent::ToolCallSucceeded { call } => self.end(at, *call, true),
            RunEvent::ToolCallFailed { call, kind } => self.end(at, *call, needs_start(*kind)),
            RunEvent::RunCompleted { dropped, .. }
            | RunEvent::RunFailed { dropped, .. }
            | RunEvent::RunInterrupted { dropped, .. } => match dropped {
                0 => Ok(()),
                events => Err(TraceFault::Dropped(*events)),
            },
            RunEvent::ModelStarted { .. }
            | RunEvent::TextDelta { .. }
            | RunEvent::ReasoningDelta { .. }
            | RunEvent::BudgetWarning { .. }
            | RunEvent::ContextCompacted { .. }
            | RunEvent::InputReceived { .. } => Ok(()),
        }
    }

    fn begin(&mut self, at: EventSequence, turn: Turn) -> Result<(), TraceFault> {
        if self.turn.is_some_and(|last| turn <= last) {
            return Err(TraceFault::TurnNotAbove { at, turn });
        }
        (self.turn, self.is_open) = (Some(turn), true);
        Ok(())
    }

    fn complete(&mut self, at: EventSequence, turn: Turn) -> Result<(), TraceFault> {
        if !self.is_open || self.turn != Some(turn) {
            return Err(TraceFault::TurnNotOpen { at, turn });
        }
        self.is_open = false;
        Ok(())
    }

    fn declare(&mut self, at: EventSequence, call: ToolCallId) -> Result<(), TraceFault> {
        match self.calls.insert(call, Call::Declared) {
            None => Ok(()),
            Some(_) => Err(TraceFault::DeclaredTwice(at)),
        }
    }

    fn end(
        &mut self,
        at: EventSequence,
        call: ToolCallId,
        started: bool,
    ) -> Result<(), TraceFault> {
        self.moved(at, call, |call| match call {
            Call::Declared if started => Err(TraceFault::NotStarted(at)),
            Call::Declared | Call::Running | Call::Doubted => Ok(Call::Ended),
            Call::Ended => Err(TraceFault::CallEnded(at)),
        })
    }

    fn moved(
        &mut self,
        at: EventSequence,
        call: ToolCallId,
        to: impl FnOnce(Call) -> Result<Call, TraceFault>,
    ) -> Result<(), TraceFault> {
        let call = self.calls.get_mut(&call).ok_or(TraceFault::NotDeclared(at))?;
        *call = to(*call)?;
        Ok(())
    }
}

/// Whether a call that ends like this has run.
const fn needs_start(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Failure | FailureKind::Defect => true,
        FailureKind::Rejected | FailureKind::InvalidInput => false,
    }
}
