//! The outside: models, tools, an authorizer and a reconciler, scripted and truthful.
//!
//! What a scripted model says is a function of submission and turn, and what a live one says is a
//! function of the request, so asking twice is answered twice the same; only the faults that a turn
//! has in its way are met once. What a tool has done is counted, by call and start: that count is what the oracles hold
//! the engine to. The reconciler and the operator look at the same count, so they never lie.
//!
//! **Tombstones.** A call that is declared "never started" gets one: no start of an epoch below
//! it runs any more, also not one that a paused process sends later. Without it, "never started"
//! would only mean "not yet".
//!
//! **Silence.** A start may give no answer at all, whether it did its work or not, and then the
//! host's own patience ends: what comes then is what a host says of it.
//!
//! Deliberately absent: time. An answer says how long it took; waiting is the world's business.

mod bend;
mod calls;
mod fitting;
mod handlers;
mod host;
mod live;
mod model;
mod operator;
mod steps;

use std::sync::Arc;

use everstep_machine::agent::{Diagnostic, ExecutionClass, Resolution, RetryClass, ToolOutcome};
use everstep_machine::effect::{
    Answer, Authorization, Doubted, External, Invocation, Reconciliation,
};
use everstep_machine::identity::{DurationMs, Epoch, ToolCallId, ToolName};
use everstep_machine::limits::TOOL_RETRIES;
use everstep_machine::record::Doubt;

pub use calls::{CallHistory, Outside};

use crate::cast::{Cast, Tool};
use crate::defect::Defect;
use crate::scenario::Silence;

/// What the outside answers, and after how long.
pub(crate) struct Answered {
    pub(crate) answer: Answer,
    pub(crate) after: DurationMs,
    /// What it did to get there.
    pub(crate) deed: Deed,
}

/// What happened outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Nothing that leaves a trace.
    Nothing,
    /// A tool with effects ran.
    Executed(ToolCallId),
    /// The body of this step of a durable call ran.
    Stepped(Doubt, u32),
    /// A tombstone refused a start.
    Refused,
    /// A reconciler proved what it said.
    Proved,
    /// A handler that is a function said two things of this call.
    Contradicted(ToolCallId),
    /// A model was shown a summary of its host's.
    Summarized,
}

impl Outside {
    /// Does what an effect asks for.
    pub(crate) fn perform(&mut self, cast: &Cast, external: &External) -> Answered {
        let at_once = |answer| Answered { answer, after: DurationMs(0), deed: Deed::Nothing };
        match external {
            External::CallModel(request) => {
                let (run, turn, purpose) = (request.run, request.turn, request.purpose);
                let (response, after) = self.ask(cast, request);
                let answer = Answer::Model { run, turn, purpose, response };
                let is_covered = host::covers(cast.scenario.compactor.as_ref(), request);
                let deed = if is_covered { Deed::Summarized } else { Deed::Nothing };
                Answered { answer, after, deed }
            }
            External::Check { run, turn, subject, values } => {
                if cast.defect == Some(Defect::ChecksSkipped) {
                    let verdicts = values.iter().map(|_| None).collect();
                    let (run, turn, subject) = (*run, *turn, *subject);
                    return at_once(Answer::Checked { run, turn, subject, verdicts });
                }
                at_once(cast.checker.answer(*run, *turn, *subject, values))
            }
            // Both are answered by the process: it knows what was allowed in it before.
            External::Clear { .. } => {
                at_once(external.cleared().expect("AUTH-15: it is a question about calls"))
            }
            External::Approve { run, turn, questions, .. } => {
                let (questions, answers) = (Arc::clone(questions), Vec::new());
                at_once(Answer::Approver { run: *run, turn: *turn, questions, answers })
            }
            External::Authorize { run, turn, calls } => {
                let authorization = self.authorize(cast, calls);
                at_once(Answer::Authorizer { run: *run, turn: *turn, authorization })
            }
            // Processes have room for everything.
            External::Permits { run, calls, .. } => {
                let calls = calls.iter().map(|it| it.call).collect();
                at_once(Answer::Permitted { run: *run, calls })
            }
            External::InvokeTool(invocation) => self.invoke(cast, invocation),
            External::NextStep(onward) => self.go_on(cast, onward),
            External::Reconcile(doubted) => self.reconcile(cast, doubted),
        }
    }

    /// Whether the host lets these calls start.
    fn authorize(&self, cast: &Cast, calls: &[ToolCallId]) -> Authorization {
        let allowed = calls.iter().all(|call| {
            let tool = self.tool_of(cast, *call).and_then(|tool| cast.tool(tool));
            tool.is_some_and(|tool| !tool.denied)
        });
        if allowed { Authorization::Allowed } else { Authorization::Denied }
    }

    fn invoke(&mut self, cast: &Cast, invocation: &Invocation) -> Answered {
        let Invocation { call, epoch, tool, class, steps, .. } = invocation;
        let start = Doubt { call: *call, start: *epoch };
        let reply = |outcome, after, deed| Answered {
            answer: Answer::Tool { start, outcome },
            after,
            deed,
        };
        let Some(script) = cast.tool(tool) else {
            return reply(broken("there is no such tool"), DurationMs(0), Deed::Refused);
        };
        if self.is_tombstoned(*call, *epoch) {
            return reply(broken("tombstoned"), DurationMs(0), Deed::Refused);
        }
        let tries = match script.retry {
            RetryClass::Never => 1,
            RetryClass::Transient if cast.defect == Some(Defect::TriesForgotten) => 1,
            RetryClass::Transient => 1 + TOOL_RETRIES,
        };
        if self.try_in_vain(*call, script, tries) == tries {
            let why = Diagnostic::cut("Passing", "it failed for a passing reason");
            let outcome = fitting_end(cast, tool, ToolOutcome::Failure(why));
            return reply(Arc::new(outcome), script.latency, Deed::Nothing);
        }
        let Ok(outcome) = self.ends(cast, script, invocation) else {
            let why = "the handler of a tool is no pure function";
            return reply(broken(why), script.latency, Deed::Contradicted(*call));
        };
        let is_silent =
            script.latency > script.timeout || self.silences(*call) < script.silent_starts;
        let is_undone = is_silent && script.silence == Silence::Undone;
        let mut entered = None;
        let deed = match class {
            _ if is_undone => Deed::Nothing,
            ExecutionClass::Readonly => Deed::Nothing,
            ExecutionClass::Idempotent | ExecutionClass::Ordinary => {
                self.execute(*call, *epoch);
                Deed::Executed(*call)
            }
            ExecutionClass::Durable => {
                self.execute(*call, *epoch);
                entered.insert(self.enter(cast, script, start, steps)).deed
            }
        };
        if is_silent {
            self.fall_silent(*call, *epoch);
            return self.unanswered(cast, script, start, *class, deed);
        }
        if let Some(entered) = entered {
            return entered;
        }
        reply(outcome, script.latency, deed)
    }

    /// What a host says when the time for an answer is over: what has no effect has failed, and
    /// of anything else nobody knows.
    fn unanswered(
        &mut self,
        cast: &Cast,
        script: &Tool,
        start: Doubt,
        class: ExecutionClass,
        deed: Deed,
    ) -> Answered {
        let words = Diagnostic::cut("Timeout", "the tool did not answer in time");
        let failed = Answer::Tool { start, outcome: Arc::new(ToolOutcome::Failure(words)) };
        let answer = match (class, cast.defect) {
            (ExecutionClass::Readonly, _) | (_, Some(Defect::SilenceCalledFailure)) => failed,
            (ExecutionClass::Ordinary, Some(Defect::SilenceRepeated)) => {
                self.execute(start.call, start.start);
                let deed = Deed::Executed(start.call);
                let answer = Answer::Tool { start, outcome: Arc::clone(&script.outcome) };
                return Answered { answer, after: script.timeout, deed };
            }
            (
                ExecutionClass::Idempotent | ExecutionClass::Ordinary | ExecutionClass::Durable,
                _,
            ) => Answer::Unsure { start },
        };
        Answered { answer, after: script.timeout, deed }
    }

    fn reconcile(&mut self, cast: &Cast, doubted: &Doubted) -> Answered {
        let Doubted { doubt, tool, asking } = doubted;
        let reconciliation = match cast.tool(tool) {
            Some(script) if script.reconciles => {
                Reconciliation::Proven(if self.has_executed(*doubt) {
                    self.honest(script, doubt.call)
                } else {
                    self.bury(cast.defect, doubt.call, *asking);
                    Resolution::NeverStarted
                })
            }
            Some(_) | None => Reconciliation::Unprovable,
        };
        let deed = match &reconciliation {
            Reconciliation::Proven(_) => Deed::Proved,
            Reconciliation::Unprovable => Deed::Nothing,
        };
        let answer = Answer::Reconciler { doubt: *doubt, reconciliation };
        Answered { answer, after: DurationMs(0), deed }
    }

    /// Keeps every start of an epoch below `below` from running, unless the world is defective.
    fn bury(&mut self, defect: Option<Defect>, call: ToolCallId, below: Epoch) {
        if defect != Some(Defect::NeverStartedWithoutTombstone) {
            self.tombstone(call, below);
        }
    }
}

/// What a host makes of an end that is none that its tool declares (CAP-004).
fn fitting_end(cast: &Cast, tool: &ToolName, outcome: ToolOutcome) -> ToolOutcome {
    match cast.binding.definition.tool(tool) {
        Some(tool) => cast.checker.outcome(tool, outcome),
        None => outcome,
    }
}

fn broken(why: &str) -> Arc<ToolOutcome> {
    Arc::new(ToolOutcome::Defect(Diagnostic::cut("Refused", why)))
}

#[cfg(test)]
mod tests;
