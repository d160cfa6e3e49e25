//! What a model answers.

use std::sync::Arc;

use everstep_machine::agent::{
    FinishReason, LostResponse, Message, ModelRequest, ModelResponse, Purpose, ResponsePart,
};
use everstep_machine::identity::DurationMs;

use super::{Outside, bend, host, live};
use crate::cast::{Cast, ModelAnswer};
use crate::scenario::{FaultScript, ModelScript, USUAL_USAGE};

/// Bytes of a summary.
const SUMMARY_BYTES: usize = 256;
/// Bytes of it that repeat what somebody said at once.
const WORDS_BYTES: usize = 48;

impl Outside {
    /// Asks the model, and says how long it took. A planted defect may hide something of the
    /// request from it.
    pub(super) fn ask(&mut self, cast: &Cast, request: &ModelRequest) -> (ModelAnswer, DurationMs) {
        match self.hear(cast, request) {
            Ok(response) => (Ok(response), DurationMs(0)),
            Err(FaultScript { fault, is_silent, used }) => {
                let after = if is_silent { cast.model_timeout() } else { DurationMs(0) };
                (Err(LostResponse { fault, used }), after)
            }
        }
    }

    fn hear(
        &mut self,
        cast: &Cast,
        request: &ModelRequest,
    ) -> Result<Arc<ModelResponse>, FaultScript> {
        let broken = |fault| FaultScript { fault, is_silent: false, used: None };
        let shown = host::prepared(cast.scenario.compactor.as_ref(), request).map_err(broken)?;
        let request = &*bend::request(cast.defect, &shown);
        let (run, turn) = (request.run, request.turn);
        match (request.purpose, &cast.scenario.model) {
            (Purpose::Summarize { .. }, _) => Ok(Arc::new(summary(request))),
            (Purpose::Respond, ModelScript::Scripted) => {
                let fault = cast.scripted(run, turn).and_then(|it| self.meet(run, turn, it));
                fault.map_or_else(|| cast.answer(run, turn), Err)
            }
            (Purpose::Respond, ModelScript::Live(rules)) => {
                let response = Arc::new(live::answer(rules, request).map_err(broken)?);
                self.remember(run, turn, &response);
                Ok(response)
            }
        }
    }
}

/// A summary of what it is shown: the beginning of whatever somebody said, and of the summary
/// before. A model that summarizes goes by what it is shown as well.
fn summary(request: &ModelRequest) -> ModelResponse {
    let mut text = String::from("So far:");
    for message in request.messages.iter() {
        let Message::User(question) = message else { continue };
        let question = question.as_text().unwrap_or_default();
        for line in question.lines() {
            let words = line.strip_prefix("User:").map(|words| cut(words, WORDS_BYTES));
            let earlier = line.strip_prefix("Summary of what came before: So far:");
            text.extend(words.or(earlier));
        }
    }
    let parts = vec![ResponsePart::Text(Arc::from(cut(&text, SUMMARY_BYTES)))];
    ModelResponse { parts, finish: FinishReason::Stop, usage: Some(USUAL_USAGE) }
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}
