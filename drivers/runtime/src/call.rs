//! One start of a call: its handler, which may rest on the way (DUR-010).
//!
//! The handler of a durable tool that has done a step rests until the step is recorded: it is not
//! polled, so nothing of it happens meanwhile, and who drops it has stopped it between two steps. What
//! lies between two rests is a leg, and each leg is an effect of its own, with failpoints of its own.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use everstep_machine::agent::{ExecutionClass, ToolOutcome};
use everstep_machine::effect::{Answer, Invocation};
use everstep_machine::identity::ToolName;
use everstep_machine::record::Doubt;

use crate::event::{Event, Events};
use crate::outside::Came;
use crate::permits::Permit;
use crate::ports::{BoxFuture, Handlers};
use crate::steps::{Handed, Record};
use crate::tool::{Ended, Live};

/// A call that was started and has not ended. Dropping it stops its handler.
pub(crate) struct Call {
    start: Doubt,
    tool: ToolName,
    /// Locked by nobody but its owner: it makes the call fit to be shared.
    work: Mutex<BoxFuture<Ended>>,
    /// Where its steps come from, if it is durable.
    record: Option<Record>,
    /// The step that is being recorded.
    handed: Option<Handed>,
    events: Events,
    _permit: Option<Permit>,
}

impl Call {
    /// Begins a call. Nothing of it happens before its first leg.
    pub(crate) fn begin(
        handlers: &dyn Handlers,
        invocation: Invocation,
        live: Live,
        events: Events,
        permit: Option<Permit>,
    ) -> Self {
        let start = Doubt { call: invocation.call, start: invocation.epoch };
        let tool = invocation.tool.clone();
        let (live, record) = match invocation.class {
            ExecutionClass::Durable => {
                let (recorder, record) = Record::of(invocation.call, invocation.steps.clone());
                (live.recorded(recorder), Some(record))
            }
            ExecutionClass::Readonly | ExecutionClass::Idempotent | ExecutionClass::Ordinary => {
                (live, None)
            }
        };
        let work = Mutex::new(handlers.invoke(invocation, live));
        Self { start, tool, work, record, handed: None, events, _permit: permit }
    }

    /// Which start it is.
    pub(crate) const fn start(&self) -> Doubt {
        self.start
    }

    /// The step that it rests for is recorded.
    pub(crate) fn recorded(mut self) -> Self {
        if let (Some(record), Some(handed)) = (&self.record, self.handed.take()) {
            record.recorded(handed);
        }
        self
    }

    /// Runs up to the next step that has to be recorded, or to the end.
    pub(crate) async fn leg(mut self) -> Came {
        let start = self.start;
        let work = self.work.get_mut().unwrap_or_else(PoisonError::into_inner);
        let next = async {
            match &mut self.record {
                Some(record) => record.next().await,
                None => pending().await,
            }
        };
        let ended = tokio::select! {
            biased;
            ended = work => ended,
            handed = next => {
                let (ordinal, output) = handed.step();
                self.handed = Some(handed);
                let answer = Answer::Step { start, ordinal, output };
                return Came { answer, resting: Some(self) };
            }
        };
        self.over(ended).into()
    }

    /// What the call has come to. Whatever its handler says, one that did not keep to the record is
    /// a defect.
    fn over(self, ended: Ended) -> Answer {
        let (start, tool) = (self.start, self.tool);
        match ended {
            Ended::Outcome(outcome) => {
                let fault = self.record.and_then(|record| record.fault());
                let outcome = fault.map_or(outcome, |it| ToolOutcome::Defect(it.diagnostic()));
                let outcome = Arc::new(outcome);
                let told = Arc::clone(&outcome);
                self.events.tell(Event::ToolReturned { tool, outcome: told });
                Answer::Tool { start, outcome }
            }
            Ended::Unsure(_) => {
                self.events.tell(Event::ToolUnsure { tool });
                Answer::Unsure { start }
            }
        }
    }
}
