//! A model that goes by what it is shown: what a request does not show, it does not know.
//!
//! It calls a tool only if the request advertises it, and with parameters made from the schema that
//! it is shown. Where no rule fits it does not guess: it gives no response, and the run fails. So
//! whatever gets lost on the way to a model breaks the expectation of a scenario.

use std::sync::Arc;

use everstep_machine::agent::{
    Diagnostic, FinishReason, Kept, Message, ModelFault, ModelRequest, ModelResponse, ResponsePart,
    ToolCall, ToolChoice, ToolOutcome,
};
use everstep_machine::identity::ToolName;

use super::fitting;
use crate::scenario::{RuleScript, ThenScript, USUAL_USAGE, WhenScript};

/// What the rules make of a request.
pub(super) fn answer(
    rules: &[RuleScript],
    request: &ModelRequest,
) -> Result<ModelResponse, ModelFault> {
    let seen = Seen::of(request);
    match rules.iter().find(|rule| seen.fits(&rule.when)) {
        Some(rule) => respond(&rule.then, request),
        None => Err(lost("NothingFits", "no rule fits what the request shows")),
    }
}

fn lost(tag: &str, message: &str) -> ModelFault {
    ModelFault::Protocol(Diagnostic::cut(tag, message))
}

fn respond(then: &ThenScript, request: &ModelRequest) -> Result<ModelResponse, ModelFault> {
    let words = then.text.iter().map(|text| Ok(ResponsePart::Text(Arc::from(text.as_str()))));
    let calls = then.calls.iter().enumerate().map(|(index, tool)| {
        let call = call(index, tool, request)?;
        Ok(ResponsePart::Call(call))
    });
    let parts = words.chain(calls).collect::<Result<_, ModelFault>>()?;
    let finish = if then.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    Ok(ModelResponse { parts, finish, usage: Some(USUAL_USAGE) })
}

fn call(index: usize, tool: &ToolName, request: &ModelRequest) -> Result<ToolCall, ModelFault> {
    let shown = match request.tools {
        ToolChoice::Allowed => request.agent.tool(tool),
        ToolChoice::Forbidden => None,
    };
    let Some(shown) = shown else {
        return Err(lost("ToolNotShown", &format!("the request advertises no tool {tool}")));
    };
    let label = Arc::from(format!("call_{index}"));
    Ok(ToolCall { label, tool: tool.clone(), parameters: fitting::value(&shown.parameters) })
}

/// What a request shows.
struct Seen<'a> {
    request: &'a ModelRequest,
    /// What each message says, in order.
    texts: Vec<String>,
    /// The last input.
    asked: Option<&'a str>,
    /// The results of the last response, if no input came after it.
    results: Vec<(&'a ToolName, String)>,
}

impl<'a> Seen<'a> {
    fn of(request: &'a ModelRequest) -> Self {
        let mut seen = Self { request, texts: Vec::new(), asked: None, results: Vec::new() };
        let mut calls = Vec::new();
        for message in request.messages.iter() {
            let text = words(message);
            match message {
                Message::User(input) => {
                    seen.asked = Some(input.as_str());
                    seen.results.clear();
                }
                Message::Assistant(response) => {
                    calls = response.calls().map(|call| &call.tool).collect();
                    seen.results.clear();
                }
                Message::ToolResult { .. } => {
                    let tool = calls.get(seen.results.len());
                    seen.results.extend(tool.map(|tool| (*tool, text.clone())));
                }
                Message::Summary(_) => {}
            }
            seen.texts.push(text);
        }
        seen
    }

    fn fits(&self, when: &WhenScript) -> bool {
        let WhenScript {
            instructions_contain,
            shows,
            last_user_contains,
            tool_result_of,
            result_contains,
            tools_forbidden,
            output_wanted,
            status_shows,
        } = when;
        let is_told = |text: &String| self.request.agent.instructions().contains(text.as_str());
        let is_shown = |text: &String| self.texts.iter().any(|it| it.contains(text.as_str()));
        let is_asked = |text: &String| self.asked.is_some_and(|it| it.contains(text.as_str()));
        let has_result = |tool: &ToolName| self.results.iter().any(|(of, _)| *of == tool);
        let has_found =
            |text: &String| self.results.iter().any(|(_, it)| it.contains(text.as_str()));
        let forbidden = self.request.tools == ToolChoice::Forbidden;
        instructions_contain.as_ref().is_none_or(is_told)
            && shows.as_ref().is_none_or(is_shown)
            && last_user_contains.as_ref().is_none_or(is_asked)
            && tool_result_of.as_ref().is_none_or(has_result)
            && result_contains.as_ref().is_none_or(has_found)
            && tools_forbidden.is_none_or(|it| it == forbidden)
            && output_wanted.is_none_or(|it| it == self.request.output.is_some())
            && status_shows
                .is_none_or(|it| self.request.status.iter().any(|gauge| gauge.dimension == it))
    }
}

/// What a message says, as an adapter would write it.
fn words(message: &Message) -> String {
    match message {
        Message::User(input) => input.as_str().to_owned(),
        Message::Summary(text) => text.to_string(),
        Message::Assistant(response) => {
            let calls =
                response.calls().map(|call| format!("{}({})", call.tool, call.parameters.as_str()));
            response.texts().map(str::to_owned).chain(calls).collect::<Vec<_>>().join("\n")
        }
        Message::ToolResult { outcome, .. } => match &**outcome {
            ToolOutcome::Success(result) => result.as_str().to_owned(),
            ToolOutcome::Truncated(cut) | ToolOutcome::Kept(Kept { cut, .. }) => {
                format!("{} ... {}", cut.head, cut.tail)
            }
            ToolOutcome::Failure(why)
            | ToolOutcome::InvalidInput(why)
            | ToolOutcome::Defect(why) => {
                format!("{}: {}", why.tag(), why.message())
            }
            ToolOutcome::Rejected(why) => why.to_string(),
        },
    }
}
