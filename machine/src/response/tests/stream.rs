//! Streams that keep the rules, and transports that do not.

use super::*;
use crate::agent::{Diagnostic, ProviderResult, Reasoning};

#[test]
fn arc_04_the_parts_of_a_response_are_those_that_came_in_the_order_in_which_they_began() {
    let response = reduce([
        reasoning_start("r"),
        reasoning_delta("r", "I could "),
        text_start("t"),
        text_delta("t", "One "),
        reasoning_delta("r", "look."),
        call_start("c", "look"),
        call_delta("c", "{\"at\":"),
        text_delta("t", "moment."),
        text_end("t"),
        call_delta("c", " 1 }"),
        call_end("c"),
        reasoning_end("r", Some("sealed"), true),
        TOOL_CALLS,
    ]);
    let (text, signature) = (words("I could look."), Some(words("sealed")));
    let parts = vec![
        ResponsePart::Reasoning(Reasoning { text, signature, redacted: true }),
        ResponsePart::Text(words("One moment.")),
        ResponsePart::Call(declared("c", "look", "{\"at\":1}")),
    ];
    let finish = FinishReason::ToolCalls;
    assert_eq!(response, Ok(Arc::new(ModelResponse { parts, finish, usage: None })));
}

#[test]
fn an_empty_part_is_a_part_and_an_empty_response_a_response() {
    let parts = [text_start(""), text_end(""), reasoning_start(""), reasoning_end("", None, true)];
    let thought = Reasoning { text: words(""), signature: None, redacted: true };
    assert_eq!(
        reduced(parts.into_iter().chain([STOP])),
        [ResponsePart::Text(words("")), ResponsePart::Reasoning(thought)]
    );
    assert_eq!(reduced([STOP]), []);
}

#[test]
fn run_034_parts_of_several_kinds_share_a_label_without_meeting() {
    let parts = reduced([
        text_start("0"),
        reasoning_start("0"),
        call_start("0", "look"),
        text_delta("0", "words"),
        call_delta("0", "{}"),
        reasoning_delta("0", "thoughts"),
        reasoning_end("0", None, false),
        text_end("0"),
        call_end("0"),
        TOOL_CALLS,
    ]);
    let thought = Reasoning { text: words("thoughts"), signature: None, redacted: false };
    assert_eq!(
        parts,
        [
            ResponsePart::Text(words("words")),
            ResponsePart::Reasoning(thought),
            ResponsePart::Call(declared("0", "look", "{}")),
        ]
    );
}

#[test]
fn run_004_the_finish_reason_is_handed_on_as_it_came() {
    let reasons =
        [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length, FinishReason::Withheld];
    for reason in reasons {
        let response = reduce([call("c", "look", "{}"), StreamPart::Finish(reason)]).unwrap();
        assert_eq!(response.finish, reason);
    }
}

#[test]
fn run_030_what_the_provider_runs_is_recorded_apart_from_what_the_host_runs() {
    let failed =
        StreamPart::ProviderResult { label: words("s"), json: words("null"), failed: true };
    let response = reduce([
        provider_call("s", "search", "{\"q\":\"a\"}"),
        provider_call("s", "search", "{\"q\":\"b\"}"),
        call("s", "look", "{}"),
        provider_result("s", "[ 1 ]"),
        failed,
        provider_call("t", "search", "{}"),
        TOOL_CALLS,
    ]);
    let result = |json: &str, failed| {
        let result = CanonicalJson::parse(json.as_bytes()).unwrap();
        ResponsePart::ProviderResult(ProviderResult { label: words("s"), result, failed })
    };
    let response = response.unwrap();
    assert_eq!(
        response.parts,
        [
            ResponsePart::ProviderCall(declared("s", "search", "{\"q\":\"a\"}")),
            ResponsePart::ProviderCall(declared("s", "search", "{\"q\":\"b\"}")),
            ResponsePart::Call(declared("s", "look", "{}")),
            result("[1]", false),
            result("null", true),
            ResponsePart::ProviderCall(declared("t", "search", "{}")),
        ]
    );
    assert_eq!(response.calls().count(), 1);
    assert_eq!(response.provider_calls().count(), 3);
}

/// A transport that breaks, at every place of a stream, the one behind the finish included.
#[test]
fn dur_008_a_transport_that_breaks_leaves_its_fault_and_nothing_else() {
    let fault = ModelFault::Unavailable(Diagnostic::cut("Reset", "the connection was reset"));
    let stream = [
        StreamPart::Start,
        text_start("t"),
        text_delta("t", "One moment"),
        text_end("t"),
        call("c", "refund", "{}"),
        TOOL_CALLS,
    ];
    for received in 0..=stream.len() {
        let parts = stream[..received].iter().cloned().map(Input::Received);
        let breaks = [Input::Failed(fault.clone()), Input::Ended, Input::Failed(fault.clone())];
        assert_eq!(answers(parts.chain(breaks)), [Err(fault.clone())]);
    }
    assert!(fault.is_transient());
}

#[test]
fn run_004_the_answer_comes_with_the_end_and_not_with_the_finish() {
    let step = feed([StreamPart::Start, STOP].map(Input::Received));
    assert!(!step.state.is_done());
    assert_eq!(step.effects, [vec![], vec![]]);
    let step = Reduction::step(step.state, Input::Ended);
    assert!(step.state.is_done());
    let empty = ModelResponse { parts: vec![], finish: FinishReason::Stop, usage: None };
    assert_eq!(step.effects, [Effect::Done(Ok(Arc::new(empty)))]);
}

#[test]
fn what_comes_after_the_answer_changes_nothing() {
    let late = [
        Input::Received(StreamPart::Start),
        Input::Received(text_start("t")),
        Input::Received(STOP),
        Input::Ended,
        Input::Failed(ProtocolError::Cut.into()),
    ];
    for input in late {
        let step = Reduction::step(State::Done, input);
        assert_eq!((step.state, step.effects), (State::Done, vec![]));
    }
}
