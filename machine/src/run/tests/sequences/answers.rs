//! What a random world answers.

use super::*;
use crate::agent::{ToolChoice, Usage, Verdict};
use crate::json::CanonicalJson;

const BATCHES: [&[&str]; 7] = [
    &[],
    &["look"],
    &["pay"],
    &["look", "file", "pay"],
    &["pay", "pay", "look", "look"],
    &["nothing", "look"],
    &["file", "file"],
];

pub(super) fn answer(external: &External, how: u8) -> Answer {
    match external {
        External::CallModel(request) => {
            let (run, turn, purpose) = (request.run, request.turn, request.purpose);
            let response = respond(request.tools, how).map_err(Into::into);
            Answer::Model { run, turn, purpose, response }
        }
        External::Check { run, turn, subject, values } => {
            let fits = |at: usize| !how.is_multiple_of(5) || at != 0;
            let verdict = |at| (!fits(at)).then(|| Diagnostic::cut("Schema", "no"));
            let verdicts = (0..values.len()).map(verdict).collect();
            Answer::Checked { run: *run, turn: *turn, subject: *subject, verdicts }
        }
        External::Clear { .. } => external.cleared().unwrap(),
        External::Approve { run, turn, questions, .. } => {
            let denied = how.is_multiple_of(4);
            let verdict = if denied { Verdict::Denied } else { Verdict::Approved };
            let answers = questions.iter().map(|it| it.at_once(verdict)).collect();
            Answer::Approver { run: *run, turn: *turn, questions: questions.clone(), answers }
        }
        External::Authorize { run, turn, .. } => {
            let denied = how.is_multiple_of(6);
            let authorization = if denied { Authorization::Denied } else { Authorization::Allowed };
            Answer::Authorizer { run: *run, turn: *turn, authorization }
        }
        External::Permits { .. } => external.permitted().unwrap(),
        External::InvokeTool(it) => {
            let start = Doubt { call: it.call, start: it.epoch };
            let why = || Diagnostic::cut("No", "no");
            let outcome = match how % 5 {
                0 => ToolOutcome::Failure(why()),
                1 => ToolOutcome::Defect(why()),
                2 => return Answer::Unsure { start },
                _ => ToolOutcome::Success(CanonicalJson::string("yes").unwrap()),
            };
            Answer::Tool { start, outcome: Arc::new(outcome) }
        }
        External::NextStep(it) => panic!("{it:?}: no tool of this agent is durable"),
        External::Reconcile(it) => panic!("{it:?}: the run reconciles nothing"),
    }
}

fn respond(tools: ToolChoice, how: u8) -> Result<Arc<ModelResponse>, ModelFault> {
    let why = || Diagnostic::cut("Model", "no");
    match how % 11 {
        0 => Err(ModelFault::Unavailable(why())),
        1 => Err(ModelFault::RateLimited { diagnostic: why(), retry_after: None }),
        2 if how > 200 => Err(ModelFault::Protocol(why())),
        3 if how > 200 => Err(ModelFault::ContextLength(why())),
        // Now and then a model calls tools although it may not.
        4 if how > 100 => Ok(Arc::new(response(&["look"]))),
        _ => {
            let calls = match tools {
                ToolChoice::Allowed => BATCHES[usize::from(how) % BATCHES.len()],
                ToolChoice::Forbidden => &[],
            };
            let tokens = u64::from(how % 16);
            let usage = Usage { output_tokens: tokens, cost_micros: tokens, ..Usage::default() };
            Ok(Arc::new(ModelResponse { usage: Some(usage), ..response(calls) }))
        }
    }
}
