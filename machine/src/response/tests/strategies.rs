//! Random parts, in no order that means anything, and random responses that keep every rule.

use proptest::prelude::*;

use super::*;
use crate::agent::{Diagnostic, ProviderResult, Reasoning};

pub(super) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Few, so that they meet.
fn label() -> impl Strategy<Value = Arc<str>> {
    prop::sample::select(vec!["", "0", "call_0"]).prop_map(words)
}

fn text() -> impl Strategy<Value = Arc<str>> {
    prop::sample::select(vec!["", "a", "ä€", "😀 and more words", "\"\\\n"]).prop_map(words)
}

fn object() -> impl Strategy<Value = Arc<str>> {
    let objects = vec!["{}", " { } ", "{\"b\":1.0,\"a\":[]}", "{\"a\":{\"b\":\"\\ud83d\\ude00\"}}"];
    prop::sample::select(objects).prop_map(words)
}

fn json() -> impl Strategy<Value = Arc<str>> {
    let others = vec!["", "null", "[1,2]", "{\"a\":", "1e5", "\"\\ud83d\""];
    prop_oneof![object(), prop::sample::select(others).prop_map(words)]
}

fn tool() -> impl Strategy<Value = Arc<str>> {
    prop::sample::select(vec!["look", "look", "refund", "refund", ""]).prop_map(words)
}

pub(super) fn finish() -> impl Strategy<Value = FinishReason> {
    use FinishReason::{Length, Stop, ToolCalls, Withheld};
    prop::sample::select(vec![Stop, ToolCalls, Length, Withheld])
}

fn usage() -> impl Strategy<Value = Usage> {
    (0..6_u64, 0..4_u64, 0..4_u64).prop_map(|(input_tokens, cache_read_tokens, output_tokens)| {
        Usage { input_tokens, cache_read_tokens, output_tokens, ..Usage::default() }
    })
}

fn signature() -> impl Strategy<Value = Option<Arc<str>>> {
    prop::option::of(text())
}

fn whole_call() -> impl Strategy<Value = WholeCall> {
    (label(), tool(), json()).prop_map(|(label, tool, json)| WholeCall { label, tool, json })
}

/// Any part, in no order that means anything.
pub(super) fn part() -> impl Strategy<Value = StreamPart> {
    prop_oneof![
        1 => Just(StreamPart::Start),
        3 => label().prop_map(|label| StreamPart::TextStart { label }),
        3 => (label(), text()).prop_map(|(label, text)| StreamPart::TextDelta { label, text }),
        3 => label().prop_map(|label| StreamPart::TextEnd { label }),
        3 => label().prop_map(|label| StreamPart::ReasoningStart { label }),
        3 => (label(), text())
            .prop_map(|(label, text)| StreamPart::ReasoningDelta { label, text }),
        3 => (label(), signature(), any::<bool>()).prop_map(|(label, signature, redacted)| {
            StreamPart::ReasoningEnd { label, signature, redacted }
        }),
        3 => (label(), tool()).prop_map(|(label, tool)| StreamPart::CallStart { label, tool }),
        3 => (label(), json()).prop_map(|(label, json)| StreamPart::CallDelta { label, json }),
        3 => label().prop_map(|label| StreamPart::CallEnd { label }),
        2 => whole_call().prop_map(StreamPart::Call),
        2 => whole_call().prop_map(StreamPart::ProviderCall),
        2 => (label(), json(), any::<bool>())
            .prop_map(|(label, json, failed)| StreamPart::ProviderResult { label, json, failed }),
        1 => usage().prop_map(StreamPart::Usage),
        2 => finish().prop_map(StreamPart::Finish),
    ]
}

pub(super) fn input() -> impl Strategy<Value = Input> {
    let fault = ModelFault::Unavailable(Diagnostic::cut("Reset", "the connection was reset"));
    prop_oneof![
        20 => part().prop_map(Input::Received),
        1 => Just(Input::Ended),
        1 => Just(Input::Failed(fault)),
    ]
}

fn sound_call() -> impl Strategy<Value = ToolCall> {
    (label(), prop::sample::select(vec!["look", "refund"]), object())
        .prop_map(|(label, tool, json)| declared(&label, tool, &json))
}

/// One part of a response that keeps the rules of a stream, with what it brings along.
fn sound_parts() -> impl Strategy<Value = Vec<ResponsePart>> {
    let result = prop::option::of((json(), any::<bool>()));
    prop_oneof![
        text().prop_map(|text| vec![ResponsePart::Text(text)]),
        (text(), signature(), any::<bool>()).prop_map(|(text, signature, redacted)| {
            vec![ResponsePart::Reasoning(Reasoning { text, signature, redacted })]
        }),
        sound_call().prop_map(|call| vec![ResponsePart::Call(call)]),
        (sound_call(), result).prop_map(|(call, result)| {
            let result = result.and_then(|(json, failed)| {
                let result = CanonicalJson::parse(json.as_bytes()).ok()?;
                let label = call.label.clone();
                Some(ResponsePart::ProviderResult(ProviderResult { label, result, failed }))
            });
            [ResponsePart::ProviderCall(call)].into_iter().chain(result).collect()
        }),
    ]
}

pub(super) fn sound_response() -> impl Strategy<Value = ModelResponse> {
    let usage = prop::option::of(usage().prop_filter("possible", Usage::is_possible));
    (prop::collection::vec(sound_parts(), 0..8), finish(), usage)
        .prop_map(|(parts, finish, usage)| ModelResponse { parts: parts.concat(), finish, usage })
}
