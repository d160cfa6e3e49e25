//! The one boundary function: what comes next, from the fold alone.

use alloc::string::String;
use alloc::vec::Vec;

use crate::agent::{Diagnostic, ModelResponse, RejectionReason, ToolOutcome};
use crate::identity::{ToolCallId, Turn};
use crate::json::CanonicalJson;
use crate::projection::{RunView, TurnView};
use crate::record::{FinishKind, PolicyLimit, Settlement};

/// What comes next in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the model for this turn: every declared call has its result.
    AskModel(Turn),
    /// These calls of the last response have no result.
    RunCalls(Vec<ToolCallId>),
    /// The run is over.
    Finish(Settlement),
}

/// What comes next. A live and a resumed run ask the same function, so they cannot differ.
#[must_use]
pub fn next(run: &RunView, max_turns: u32) -> Next {
    let unsettled: Vec<ToolCallId> = run.unsettled_calls().map(|call| call.id).collect();
    if !unsettled.is_empty() {
        return Next::RunCalls(unsettled);
    }
    match run.turns.last() {
        Some(last) if last.calls.is_empty() => Next::Finish(answer(&last.response)),
        Some(last) if was_denied(last) => Next::Finish(denied()),
        _ if run.next_turn().0 >= max_turns => Next::Finish(exhausted(max_turns)),
        _ => Next::AskModel(run.next_turn()),
    }
}

fn was_denied(turn: &TurnView) -> bool {
    let denied = ToolOutcome::Rejected(RejectionReason::NotAuthorized);
    turn.calls.iter().any(|call| call.outcome.as_deref() == Some(&denied))
}

fn answer(response: &ModelResponse) -> Settlement {
    let text: String = response.texts().collect();
    CanonicalJson::string(&text).map_or_else(
        |_| failed("OutputTooLarge", "the answer is over the bound of a canonical value"),
        |output| Settlement::Completed { output, finish: FinishKind::ModelStop },
    )
}

fn denied() -> Settlement {
    failed("PolicyDenied", "the host does not authorize a call of the last response")
}

fn exhausted(max_turns: u32) -> Settlement {
    let message = alloc::format!("the run may take {max_turns} turns and has taken them");
    let diagnostic = Diagnostic::cut(PolicyLimit::TAG, &message);
    Settlement::Failed { diagnostic, limit: Some(PolicyLimit::Turns) }
}

/// A failure that no policy limit explains.
pub(super) fn failed(tag: &str, message: &str) -> Settlement {
    Settlement::Failed { diagnostic: Diagnostic::cut(tag, message), limit: None }
}
