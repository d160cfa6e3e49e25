//! Streams that break a rule.

use alloc::string::ToString;

use super::*;
use crate::agent::Diagnostic;
use crate::identity::NameError;
use crate::json::JsonError;
use crate::limits::TEXT_BYTES;

/// The words that begin a stream whose rule is broken later.
fn after_words(parts: impl IntoIterator<Item = StreamPart>) -> Answer {
    let begin = [text_start("t"), text_delta("t", "kept by nobody"), text_end("t")];
    reduce(begin.into_iter().chain(parts))
}

/// Checks that a stream is refused, before its end, for one reason.
#[track_caller]
fn refuses(parts: impl IntoIterator<Item = StreamPart>, why: ProtocolError) {
    assert_eq!(after_words(parts), broken(why));
}

#[test]
fn run_004_a_stream_without_its_finish_was_cut() {
    assert_eq!(answers([Input::Ended]), [broken(ProtocolError::Cut)]);
    assert_eq!(reduce([]), broken(ProtocolError::Cut));
    refuses([], ProtocolError::Cut);
    refuses([call("c", "refund", "{}")], ProtocolError::Cut);
    refuses([call_start("c", "refund"), call_delta("c", "{")], ProtocolError::Cut);
}

#[test]
fn protocol_error_not_started_whatever_comes_first() {
    for part in
        [text_start("t"), call("c", "refund", "{}"), StreamPart::Usage(Usage::default()), STOP]
    {
        let inputs = [Input::Received(part), Input::Received(StreamPart::Start), Input::Ended];
        assert_eq!(answers(inputs), [broken(ProtocolError::NotStarted)]);
    }
}

#[test]
fn protocol_error_started_twice() {
    assert_eq!(reduce([StreamPart::Start, STOP]), broken(ProtocolError::StartedTwice));
    refuses([StreamPart::Start, STOP], ProtocolError::StartedTwice);
}

#[test]
fn protocol_error_after_finish_whatever_comes_last() {
    let late = [
        StreamPart::Start,
        text_start("t"),
        call("c", "refund", "{}"),
        StreamPart::Usage(Usage::default()),
        STOP,
        TOOL_CALLS,
    ];
    for part in late {
        refuses([STOP, part], ProtocolError::AfterFinish);
    }
}

#[test]
fn protocol_error_label_open_for_two_parts_of_one_kind() {
    refuses([text_start("a"), text_start("a")], ProtocolError::LabelOpen);
    refuses([reasoning_start("a"), reasoning_start("a")], ProtocolError::LabelOpen);
    refuses([call_start("a", "refund"), call_start("a", "look")], ProtocolError::LabelOpen);
    refuses([call_start("a", "refund"), call("a", "refund", "{}")], ProtocolError::LabelOpen);
}

#[test]
fn protocol_error_label_unknown_for_a_piece_or_an_end_of_nothing() {
    let lost = [
        text_delta("a", "x"),
        text_delta("a", ""),
        text_end("a"),
        reasoning_delta("a", "x"),
        reasoning_end("a", None, false),
        call_delta("a", "{}"),
        call_end("a"),
    ];
    for part in lost {
        refuses([part.clone()], ProtocolError::LabelUnknown);
        refuses([text_start("b"), reasoning_start("b"), part], ProtocolError::LabelUnknown);
    }
    refuses([text_start("a"), text_end("a"), text_delta("a", "x")], ProtocolError::LabelUnknown);
    refuses([text_start("a"), text_end("a"), text_end("a")], ProtocolError::LabelUnknown);
    refuses([text_start("a"), reasoning_delta("a", "x")], ProtocolError::LabelUnknown);
    refuses([call("a", "refund", "{}"), call_end("a")], ProtocolError::LabelUnknown);
}

#[test]
fn protocol_error_part_not_ended_at_the_finish() {
    for part in [text_start("a"), reasoning_start("a"), call_start("a", "refund")] {
        refuses([part, STOP], ProtocolError::PartNotEnded);
    }
    refuses([text_start("a"), text_start("b"), text_end("a"), STOP], ProtocolError::PartNotEnded);
}

#[test]
fn protocol_error_tool_name_of_a_call_of_any_kind() {
    let names = [("", NameError::Empty), ("a\nb", NameError::Control)];
    for (name, why) in names {
        refuses([call_start("c", name)], ProtocolError::ToolName(why));
        refuses([call("c", name, "{}")], ProtocolError::ToolName(why));
        refuses([provider_call("c", name, "{}")], ProtocolError::ToolName(why));
    }
}

#[test]
fn arc_02_arguments_that_are_no_complete_object_are_no_call() {
    let end = JsonError::Syntax { at: 5 };
    refuses(
        [call_start("c", "refund"), call_delta("c", "{\"a\":"), call_end("c")],
        ProtocolError::Arguments(end),
    );
    refuses([call("c", "refund", "{\"a\":")], ProtocolError::Arguments(end));
    refuses([provider_call("c", "search", "{\"a\":")], ProtocolError::Arguments(end));
    let nothing = ProtocolError::Arguments(JsonError::Syntax { at: 0 });
    refuses([call_start("c", "refund"), call_end("c")], nothing);
    for json in ["null", "[]", "7", "\"{}\""] {
        refuses([call("c", "refund", json)], ProtocolError::ArgumentsNotObject);
        refuses([provider_call("c", "search", json)], ProtocolError::ArgumentsNotObject);
    }
}

#[test]
fn run_030_a_result_answers_a_call_of_the_provider_before_it_once() {
    let why = ProtocolError::ResultWithoutCall;
    refuses([provider_result("s", "1")], why);
    refuses([provider_result("s", "1"), provider_call("s", "search", "{}")], why);
    refuses([call("s", "search", "{}"), provider_result("s", "1")], why);
    refuses([provider_call("s", "search", "{}"), provider_result("other", "1")], why);
    let twice = [provider_result("s", "1"), provider_result("s", "1")];
    refuses([provider_call("s", "search", "{}")].into_iter().chain(twice), why);
}

#[test]
fn protocol_error_result_that_is_no_json() {
    refuses(
        [provider_call("s", "search", "{}"), provider_result("s", "[1")],
        ProtocolError::Result(JsonError::Syntax { at: 2 }),
    );
}

#[test]
fn sec_06_a_label_is_bounded_whatever_it_names() {
    let long = "l".repeat(TEXT_BYTES + 1);
    let named = [
        text_start(&long),
        reasoning_start(&long),
        call_start(&long, "refund"),
        call(&long, "refund", "{}"),
        provider_call(&long, "search", "{}"),
        provider_result(&long, "1"),
    ];
    for part in named {
        refuses([part], ProtocolError::LabelTooLong);
    }
    assert!(after_words([call(&long[1..], "refund", "{}"), TOOL_CALLS]).is_ok());
}

#[test]
fn dur_008_a_broken_stream_is_answered_at_once_and_leaves_nothing_behind() {
    let inputs =
        [StreamPart::Start, text_start("t"), call("c", "refund", "[1"), text_end("t"), STOP];
    let step = feed(inputs.into_iter().map(Input::Received).chain([Input::Ended]));
    let answered = Effect::Done(Err(ModelFault::from(ProtocolError::Arguments(
        JsonError::Syntax { at: 2 },
    ))
    .into()));
    assert_eq!(step.effects, [vec![], vec![], vec![answered], vec![], vec![], vec![]]);
    assert_eq!(step.state, State::Done);
}

#[test]
fn protocol_error_has_a_tag_of_its_own_and_never_a_word_of_the_provider() {
    let json = JsonError::Depth;
    let all = [
        (ProtocolError::NotStarted, "StreamNotStarted"),
        (ProtocolError::StartedTwice, "StreamStartedTwice"),
        (ProtocolError::AfterFinish, "StreamAfterFinish"),
        (ProtocolError::Cut, "StreamCut"),
        (ProtocolError::LabelOpen, "LabelOpen"),
        (ProtocolError::LabelUnknown, "LabelUnknown"),
        (ProtocolError::LabelTooLong, "LabelTooLong"),
        (ProtocolError::PartNotEnded, "PartNotEnded"),
        (ProtocolError::ToolName(NameError::Empty), "ToolNameInvalid"),
        (ProtocolError::Arguments(json), "ArgumentsIncomplete"),
        (ProtocolError::ArgumentsNotObject, "ArgumentsNotObject"),
        (ProtocolError::Result(json), "ProviderResultInvalid"),
        (ProtocolError::ResultWithoutCall, "ProviderResultUnasked"),
        (ProtocolError::UsageImpossible, "UsageImpossible"),
        (ProtocolError::UsageFell, "UsageFell"),
        (ProtocolError::TooManyParts, "ResponseParts"),
        (ProtocolError::TooManyCalls, "ResponseCalls"),
        (ProtocolError::TooManyBytes, "ResponseBytes"),
    ];
    for (error, tag) in all {
        let diagnostic = Diagnostic::new(tag, &error.to_string()).unwrap();
        assert_eq!(ModelFault::from(error), ModelFault::Protocol(diagnostic));
        assert_eq!(all.iter().filter(|(_, other)| *other == tag).count(), 1);
        assert!(!ModelFault::from(error).is_transient());
    }
}
