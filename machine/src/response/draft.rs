//! A response that is not complete, and the rules of its parts.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::open::{Growing, Open};
use super::{Delta, ProtocolError, WholeCall};
use crate::agent::{
    FinishReason, ModelResponse, ProviderResult, Reasoning, ResponsePart, ToolCall, Usage,
};
use crate::identity::ToolName;
use crate::json::CanonicalJson;
use crate::limits::{RESPONSE_BYTES, RESPONSE_CALLS, RESPONSE_PARTS, TEXT_BYTES};

/// What has come of a response so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Draft {
    /// In the order in which they began; none for one that has not ended.
    parts: Vec<Option<ResponsePart>>,
    texts: Open<Growing>,
    thoughts: Open<Growing>,
    calls: Open<GrowingCall>,
    /// Calls that have begun.
    declared: usize,
    /// How many calls of the provider wait for their result under each label.
    unanswered: BTreeMap<Arc<str>, usize>,
    /// Bytes of everything that came, each label counted where its part begins. Never less than
    /// the bytes of the response that comes of it.
    bytes: usize,
    usage: Option<Usage>,
}

/// A call whose arguments are not complete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GrowingCall {
    tool: ToolName,
    arguments: Growing,
}

/// What of a part is shown.
type Shown = Result<Option<Delta>, ProtocolError>;

impl Draft {
    pub(super) fn text_starts(&mut self, label: Arc<str>) -> Shown {
        let part = self.begin(&label)?;
        self.texts.begin(label, Growing::new(part)).map(|()| None)
    }

    pub(super) fn text_goes_on(&mut self, label: &str, text: Arc<str>) -> Shown {
        self.count(text.len())?;
        let growing = self.texts.of(label)?;
        growing.text.push_str(&text);
        let part = growing.part;
        Ok((!text.is_empty()).then_some(Delta::Text { part, text }))
    }

    pub(super) fn text_ends(&mut self, label: &str) -> Shown {
        let Growing { part, text } = self.texts.end(label)?;
        self.complete(part, ResponsePart::Text(Arc::from(text)))
    }

    pub(super) fn reasoning_starts(&mut self, label: Arc<str>) -> Shown {
        let part = self.begin(&label)?;
        self.thoughts.begin(label, Growing::new(part)).map(|()| None)
    }

    pub(super) fn reasoning_goes_on(&mut self, label: &str, text: Arc<str>) -> Shown {
        self.count(text.len())?;
        let growing = self.thoughts.of(label)?;
        growing.text.push_str(&text);
        let part = growing.part;
        Ok((!text.is_empty()).then_some(Delta::Reasoning { part, text }))
    }

    pub(super) fn reasoning_ends(
        &mut self,
        label: &str,
        signature: Option<Arc<str>>,
        redacted: bool,
    ) -> Shown {
        self.count(signature.as_ref().map_or(0, |it| it.len()))?;
        let Growing { part, text } = self.thoughts.end(label)?;
        let text = Arc::from(text);
        self.complete(part, ResponsePart::Reasoning(Reasoning { text, signature, redacted }))
    }

    pub(super) fn call_starts(&mut self, label: Arc<str>, tool: &str) -> Shown {
        let (part, call, tool) = self.declare(&label, tool)?;
        let growing = GrowingCall { tool: tool.clone(), arguments: Growing::new(part) };
        self.calls.begin(label, growing)?;
        Ok(Some(Delta::Call { part, call, tool }))
    }

    pub(super) fn call_goes_on(&mut self, label: &str, json: &str) -> Shown {
        self.count(json.len())?;
        self.calls.of(label)?.arguments.text.push_str(json);
        Ok(None)
    }

    pub(super) fn call_ends(&mut self, label: Arc<str>) -> Shown {
        let GrowingCall { tool, arguments: Growing { part, text } } = self.calls.end(&label)?;
        let parameters = self.parameters(&text)?;
        self.complete(part, ResponsePart::Call(ToolCall { label, tool, parameters }))
    }

    pub(super) fn call(&mut self, call: WholeCall) -> Shown {
        let WholeCall { label, tool, json } = call;
        if self.calls.has(&label) {
            return Err(ProtocolError::LabelOpen);
        }
        let (part, call, tool) = self.declare(&label, &tool)?;
        self.count(json.len())?;
        let parameters = self.parameters(&json)?;
        let shown = Delta::Call { part, call, tool: tool.clone() };
        self.complete(part, ResponsePart::Call(ToolCall { label, tool, parameters }))?;
        Ok(Some(shown))
    }

    pub(super) fn provider_call(&mut self, call: WholeCall) -> Shown {
        let WholeCall { label, tool, json } = call;
        let part = self.begin(&label)?;
        let tool = self.tool(&tool)?;
        self.count(json.len())?;
        let parameters = self.parameters(&json)?;
        *self.unanswered.entry(label.clone()).or_default() += 1;
        self.complete(part, ResponsePart::ProviderCall(ToolCall { label, tool, parameters }))
    }

    /// A label may name several calls, and each of them has one result: a second one would be
    /// shown to the provider as an answer to nothing.
    pub(super) fn provider_result(&mut self, label: Arc<str>, json: &str, failed: bool) -> Shown {
        let part = self.begin(&label)?;
        let waiting = self.unanswered.get_mut(&label).filter(|waiting| **waiting > 0);
        *waiting.ok_or(ProtocolError::ResultWithoutCall)? -= 1;
        self.count(json.len())?;
        let result = CanonicalJson::parse(json.as_bytes()).map_err(ProtocolError::Result)?;
        self.count_spelling(json, &result)?;
        self.complete(part, ResponsePart::ProviderResult(ProviderResult { label, result, failed }))
    }

    /// Takes over what was used so far (BU-05).
    pub(super) fn used(&mut self, usage: Usage) -> Shown {
        if !usage.is_possible() {
            return Err(ProtocolError::UsageImpossible);
        }
        if self.usage.is_some_and(|before| fell(before, usage)) {
            return Err(ProtocolError::UsageFell);
        }
        self.usage = Some(usage);
        Ok(None)
    }

    /// What was said last to be used.
    pub(super) const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The whole response, if every part of it has ended.
    pub(super) fn finish(self, finish: FinishReason) -> Result<ModelResponse, ProtocolError> {
        let parts: Option<Vec<ResponsePart>> = self.parts.into_iter().collect();
        let parts = parts.ok_or(ProtocolError::PartNotEnded)?;
        Ok(ModelResponse { parts, finish, usage: self.usage })
    }

    /// The place of one more part.
    fn begin(&mut self, label: &str) -> Result<usize, ProtocolError> {
        if label.len() > TEXT_BYTES {
            return Err(ProtocolError::LabelTooLong);
        }
        if self.parts.len() == RESPONSE_PARTS {
            return Err(ProtocolError::TooManyParts);
        }
        self.count(label.len())?;
        self.parts.push(None);
        Ok(self.parts.len() - 1)
    }

    /// The place of one more call, its place among the calls, and its tool.
    fn declare(
        &mut self,
        label: &str,
        tool: &str,
    ) -> Result<(usize, usize, ToolName), ProtocolError> {
        let part = self.begin(label)?;
        let call = self.declared;
        if call == RESPONSE_CALLS {
            return Err(ProtocolError::TooManyCalls);
        }
        self.declared += 1;
        Ok((part, call, self.tool(tool)?))
    }

    fn tool(&mut self, name: &str) -> Result<ToolName, ProtocolError> {
        self.count(name.len())?;
        ToolName::new(name).map_err(ProtocolError::ToolName)
    }

    /// The arguments of a call: one whole JSON object, or there is no call (ARC-02).
    fn parameters(&mut self, json: &str) -> Result<CanonicalJson, ProtocolError> {
        let parameters = CanonicalJson::parse(json.as_bytes()).map_err(ProtocolError::Arguments)?;
        if !parameters.as_str().starts_with('{') {
            return Err(ProtocolError::ArgumentsNotObject);
        }
        self.count_spelling(json, &parameters)?;
        Ok(parameters)
    }

    /// Canonical text can be longer than what came, and it is what the response holds.
    fn count_spelling(&mut self, came: &str, kept: &CanonicalJson) -> Result<(), ProtocolError> {
        self.count(kept.as_str().len().saturating_sub(came.len()))
    }

    /// So many bytes more.
    fn count(&mut self, bytes: usize) -> Result<(), ProtocolError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > RESPONSE_BYTES { Err(ProtocolError::TooManyBytes) } else { Ok(()) }
    }

    fn complete(&mut self, part: usize, whole: ResponsePart) -> Shown {
        self.parts[part] = Some(whole);
        Ok(None)
    }
}

/// Whether less is said to be used than before, of anything.
fn fell(before: Usage, now: Usage) -> bool {
    let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_micros } =
        now;
    input_tokens < before.input_tokens
        || cache_read_tokens < before.cache_read_tokens
        || cache_write_tokens < before.cache_write_tokens
        || output_tokens < before.output_tokens
        || cost_micros < before.cost_micros
}
