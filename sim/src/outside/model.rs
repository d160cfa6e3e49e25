//! What a model answers.

use std::sync::Arc;

use everstep_machine::agent::{
    FinishReason, Message, ModelRequest, ModelResponse, Purpose, ResponsePart,
};

use super::{Outside, bend, live};
use crate::cast::{Cast, ModelAnswer};
use crate::scenario::{ModelScript, USUAL_USAGE};

/// Bytes of a summary.
const SUMMARY_BYTES: usize = 1_024;

impl Outside {
    /// Asks the model. A planted defect may hide something of the request from it.
    pub(super) fn ask(&mut self, cast: &Cast, request: &ModelRequest) -> ModelAnswer {
        let request = &*bend::request(cast.defect, request);
        let (run, turn) = (request.run, request.turn);
        match (request.purpose, &cast.scenario.model) {
            (Purpose::Summarize { .. }, _) => Ok(Arc::new(summary(request))),
            (Purpose::Respond, ModelScript::Scripted) => {
                let fault = cast.scripted(run, turn).and_then(|it| self.meet(run, turn, it));
                fault.map_or_else(|| cast.answer(run, turn), Err)
            }
            (Purpose::Respond, ModelScript::Live(rules)) => {
                let response = Arc::new(live::answer(rules, request)?);
                self.remember(run, turn, &response);
                Ok(response)
            }
        }
    }
}

/// A summary of what it is shown: every input and every earlier summary, cut at its bound.
fn summary(request: &ModelRequest) -> ModelResponse {
    let mut text = String::from("So far:");
    for message in request.messages.iter() {
        match message {
            Message::User(input) => {
                text.push(' ');
                text.push_str(input.as_str());
            }
            Message::Summary(earlier) => {
                text.push(' ');
                text.push_str(earlier);
            }
            Message::Assistant(_) | Message::ToolResult { .. } => {}
        }
    }
    text.truncate(text.floor_char_boundary(SUMMARY_BYTES.min(text.len())));
    let parts = vec![ResponsePart::Text(Arc::from(text))];
    ModelResponse { parts, finish: FinishReason::Stop, usage: Some(USUAL_USAGE) }
}
