//! A whole response as the stream it could have come in.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{StreamPart, WholeCall};
use crate::agent::{ModelResponse, ResponsePart, ToolCall};

/// The parts in which a whole response would be streamed, from [`StreamPart::Start`] to
/// [`StreamPart::Finish`], for models that are scripted.
///
/// Reducing them gives the same response again, if it keeps the rules of a stream: it is within
/// its bounds, the arguments of its calls are objects, and a provider's results follow their
/// calls.
#[must_use]
pub fn parts_of(response: &ModelResponse) -> Vec<StreamPart> {
    let mut parts = alloc::vec![StreamPart::Start];
    response.parts.iter().for_each(|part| stream(part, &mut parts));
    parts.extend(response.usage.map(StreamPart::Usage));
    parts.push(StreamPart::Finish(response.finish));
    parts
}

/// Words and thoughts have no label in a response, and need none: one ends before the next begins.
fn stream(part: &ResponsePart, parts: &mut Vec<StreamPart>) {
    match part {
        ResponsePart::Text(text) => {
            let label: Arc<str> = Arc::default();
            parts.extend([
                StreamPart::TextStart { label: label.clone() },
                StreamPart::TextDelta { label: label.clone(), text: text.clone() },
                StreamPart::TextEnd { label },
            ]);
        }
        ResponsePart::Reasoning(it) => {
            let label: Arc<str> = Arc::default();
            let (signature, redacted) = (it.signature.clone(), it.redacted);
            parts.extend([
                StreamPart::ReasoningStart { label: label.clone() },
                StreamPart::ReasoningDelta { label: label.clone(), text: it.text.clone() },
                StreamPart::ReasoningEnd { label, signature, redacted },
            ]);
        }
        ResponsePart::Call(call) => parts.push(StreamPart::Call(whole(call))),
        ResponsePart::ProviderCall(call) => parts.push(StreamPart::ProviderCall(whole(call))),
        ResponsePart::ProviderResult(it) => parts.push(StreamPart::ProviderResult {
            label: it.label.clone(),
            json: Arc::from(it.result.as_str()),
            failed: it.failed,
        }),
    }
}

fn whole(call: &ToolCall) -> WholeCall {
    let (label, tool) = (call.label.clone(), Arc::from(call.tool.as_str()));
    WholeCall { label, tool, json: Arc::from(call.parameters.as_str()) }
}
