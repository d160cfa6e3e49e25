//! Durable tools of agent files: each step may append a line to a file, and gives what the file says.

use std::path::Path;
use std::time::Duration;

use everstep_machine::agent::{Diagnostic, ToolOutcome};
use everstep_machine::effect::Invocation;
use everstep_machine::identity::StepKey;
use everstep_runtime::{Ended, StepError, Steps, blocking, pause};
use everstep_sim::scenario::{AgentStep, AgentTool};
use serde_json::Value;

use crate::output;

use super::append::{Line, NotAppended, append};

/// Why a step gave nothing.
struct Broken {
    why: Diagnostic,
    /// Whether its line, or a part of it, may be there.
    is_unsure: bool,
}

/// Makes a call step by step.
pub(super) async fn handle(tool: AgentTool, invocation: Invocation, steps: Steps) -> Ended {
    for step in &tool.steps {
        let named = &step.output.step;
        let body = async |key| perform(&tool, step, &invocation, key).await;
        match steps.run::<Value, Broken>(named.name.as_str(), named.version, body).await {
            Ok(_) => {}
            Err(StepError::Failed(Broken { why, is_unsure: true })) => return Ended::Unsure(why),
            Err(StepError::Failed(Broken { why, is_unsure: false })) => {
                return Ended::Outcome(ToolOutcome::Failure(why));
            }
            Err(StepError::Fault(fault)) => {
                output::note(&format!("{}: {fault}", tool.definition.name));
                return Ended::Outcome(ToolOutcome::Defect(fault.diagnostic()));
            }
            Err(StepError::Stopped) => {
                let why = Diagnostic::cut("Stopped", "the call was called off");
                return Ended::Unsure(why);
            }
        }
    }
    Ended::Outcome(tool.outcome)
}

/// The body of a step: its line is there once, however often it runs.
async fn perform(
    tool: &AgentTool,
    step: &AgentStep,
    invocation: &Invocation,
    key: StepKey,
) -> Result<Value, Broken> {
    if tool.latency.0 > 0 {
        pause(Duration::from_millis(tool.latency.0)).await;
    }
    if let Some(path) = step.append.clone() {
        let name = &step.output.step.name;
        let (line, place) = (Line::of_step(key, name, invocation), path.clone());
        let appended = blocking(move || append(Path::new(&path), &line)).await;
        appended.map_err(|not| {
            let (why, is_unsure) = match not {
                NotAppended::Untouched(why) => (why, false),
                NotAppended::Unsure(why) => (why, true),
            };
            let tool = &tool.definition.name;
            output::note(&format!("{tool}: step {name} appends nothing to {place}: {why}"));
            // The kind only: what the system says may hold more than may be stored.
            Broken { why: Diagnostic::cut("AppendFailed", &why.kind().to_string()), is_unsure }
        })?;
    }
    let given = serde_json::from_str(step.output.output.as_str());
    let invalid = |_| Broken { why: Diagnostic::cut("OutputInvalid", "no JSON"), is_unsure: false };
    given.map_err(invalid)
}
