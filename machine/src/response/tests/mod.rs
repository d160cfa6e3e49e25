//! Streams and what comes of them, told in short words.

mod bounds;
mod broken;
mod calls;
mod live;
mod properties;
mod strategies;
mod stream;
mod usage;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::agent::{
    FinishReason, LostResponse, ModelFault, ModelResponse, ResponsePart, ToolCall, Usage,
};
use crate::contract::{Machine, Step};
use crate::identity::ToolName;
use crate::json::CanonicalJson;

type Answer = Result<Arc<ModelResponse>, ModelFault>;

const STOP: StreamPart = StreamPart::Finish(FinishReason::Stop);
const TOOL_CALLS: StreamPart = StreamPart::Finish(FinishReason::ToolCalls);

fn words(text: &str) -> Arc<str> {
    Arc::from(text)
}

fn text_start(label: &str) -> StreamPart {
    StreamPart::TextStart { label: words(label) }
}

fn text_delta(label: &str, text: &str) -> StreamPart {
    StreamPart::TextDelta { label: words(label), text: words(text) }
}

fn text_end(label: &str) -> StreamPart {
    StreamPart::TextEnd { label: words(label) }
}

fn reasoning_start(label: &str) -> StreamPart {
    StreamPart::ReasoningStart { label: words(label) }
}

fn reasoning_delta(label: &str, text: &str) -> StreamPart {
    StreamPart::ReasoningDelta { label: words(label), text: words(text) }
}

fn reasoning_end(label: &str, signature: Option<&str>, redacted: bool) -> StreamPart {
    StreamPart::ReasoningEnd { label: words(label), signature: signature.map(words), redacted }
}

fn call_start(label: &str, tool: &str) -> StreamPart {
    StreamPart::CallStart { label: words(label), tool: words(tool) }
}

fn call_delta(label: &str, json: &str) -> StreamPart {
    StreamPart::CallDelta { label: words(label), json: words(json) }
}

fn call_end(label: &str) -> StreamPart {
    StreamPart::CallEnd { label: words(label) }
}

fn whole(label: &str, tool: &str, json: &str) -> WholeCall {
    WholeCall { label: words(label), tool: words(tool), json: words(json) }
}

fn call(label: &str, tool: &str, json: &str) -> StreamPart {
    StreamPart::Call(whole(label, tool, json))
}

fn provider_call(label: &str, tool: &str, json: &str) -> StreamPart {
    StreamPart::ProviderCall(whole(label, tool, json))
}

fn provider_result(label: &str, json: &str) -> StreamPart {
    StreamPart::ProviderResult { label: words(label), json: words(json), failed: false }
}

/// A call as it is declared in a response.
fn declared(label: &str, tool: &str, parameters: &str) -> ToolCall {
    let parameters = CanonicalJson::parse(parameters.as_bytes()).unwrap();
    ToolCall { label: words(label), tool: ToolName::new(tool).unwrap(), parameters }
}

/// Feeds the inputs one after the other: where that leads, and everything that is asked for.
fn feed(inputs: impl IntoIterator<Item = Input>) -> Step<State, Vec<Effect>> {
    let (mut state, mut effects) = (State::new(), Vec::new());
    for input in inputs {
        let step = Reduction::step(state, input);
        state = step.state;
        effects.push(step.effects);
    }
    Step::new(state, effects)
}

/// Every answer that a reduction of these inputs gives, whatever a lost one had used.
fn answers(inputs: impl IntoIterator<Item = Input>) -> Vec<Answer> {
    outcomes(inputs).into_iter().map(|it| it.map_err(|lost| lost.fault)).collect()
}

/// Every answer that a reduction of these inputs gives.
fn outcomes(
    inputs: impl IntoIterator<Item = Input>,
) -> Vec<Result<Arc<ModelResponse>, LostResponse>> {
    let effects = feed(inputs).effects.into_iter().flatten();
    let answer = |effect| match effect {
        Effect::Done(answer) => Some(answer),
        Effect::Show(_) => None,
    };
    effects.filter_map(answer).collect()
}

/// The answer to a stream that comes to its end, start included.
fn reduce(parts: impl IntoIterator<Item = StreamPart>) -> Answer {
    let parts = core::iter::once(StreamPart::Start).chain(parts);
    let mut answers = answers(parts.map(Input::Received).chain([Input::Ended]));
    assert_eq!(answers.len(), 1, "one stream has one answer");
    answers.remove(0)
}

/// The parts of the response that such a stream gives.
fn reduced(parts: impl IntoIterator<Item = StreamPart>) -> Vec<ResponsePart> {
    reduce(parts).unwrap().parts.clone()
}

fn broken(why: ProtocolError) -> Answer {
    Err(why.into())
}
