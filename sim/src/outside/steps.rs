//! Handlers of durable tools, entered and let go on: each does its steps up to the first that has to
//! be recorded.
//!
//! A handler that rests is nothing but the steps it has done. They are those of its script, so the
//! world keeps no handler: who lets it go on says how many there are.

use std::sync::Arc;

use everstep_machine::agent::{StepOutput, ToolOutcome};
use everstep_machine::effect::{Answer, Onward};
use everstep_machine::identity::DurationMs;
use everstep_machine::record::Doubt;
use everstep_machine::steps::{Asked, Entry};

use super::{Answered, Deed, Outside, broken};
use crate::cast::{Cast, Tool};
use crate::defect::Defect;

impl Outside {
    /// A handler is entered and given what is recorded.
    pub(super) fn enter(
        &mut self,
        cast: &Cast,
        script: &Tool,
        start: Doubt,
        recorded: &[Arc<StepOutput>],
    ) -> Answered {
        let recorded = if cast.defect == Some(Defect::StepsForgotten) {
            Vec::new()
        } else {
            recorded.to_vec()
        };
        self.leg(script, start, recorded)
    }

    /// A handler that rests goes on: its step is recorded.
    pub(super) fn go_on(&mut self, cast: &Cast, onward: &Onward) -> Answered {
        let Onward { start, recorded, .. } = *onward;
        let tool = self.tool_of(cast, start.call).and_then(|tool| cast.tool(tool));
        let Some(script) = tool else {
            let (outcome, after) = (broken("there is no such tool"), DurationMs(0));
            let answer = Answer::Tool { start, outcome };
            return Answered { answer, after, deed: Deed::Refused };
        };
        let steps = script.steps(self.is_first(start));
        let done = steps.iter().take(recorded as usize + 1).cloned().collect();
        self.leg(script, start, done)
    }

    /// From what is recorded to the next step, or to the end.
    fn leg(&mut self, script: &Tool, start: Doubt, recorded: Vec<Arc<StepOutput>>) -> Answered {
        let after = script.latency;
        let ended = |outcome| Answered {
            answer: Answer::Tool { start, outcome },
            after,
            deed: Deed::Nothing,
        };
        let mut entry = Entry::new(recorded);
        for step in script.steps(self.is_first(start)) {
            match entry.ask(step.step.clone()) {
                Ok(Asked::Recorded(_)) => {}
                Ok(Asked::Run) => match entry.succeeded(StepOutput::clone(step)) {
                    Ok(Some((ordinal, output))) => {
                        self.run_body(start, ordinal);
                        let answer = Answer::Step { start, ordinal, output };
                        return Answered { answer, after, deed: Deed::Stepped(start, ordinal) };
                    }
                    Ok(None) => return ended(broken("no step runs")),
                    Err(fault) => return ended(defect(&fault.diagnostic())),
                },
                Err(fault) => return ended(defect(&fault.diagnostic())),
            }
        }
        ended(
            entry.end().map_or_else(
                || self.ends_at_last(script, start.call),
                |it| defect(&it.diagnostic()),
            ),
        )
    }
}

fn defect(why: &everstep_machine::agent::Diagnostic) -> Arc<ToolOutcome> {
    Arc::new(ToolOutcome::Defect(why.clone()))
}
