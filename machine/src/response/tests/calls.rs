//! Calls: their arguments and their labels.

use alloc::format;
use alloc::string::String;

use super::*;
use crate::json::JsonError;
use crate::limits::{JSON_DEPTH, JSON_ENTRIES, RESPONSE_CALLS};

/// A call that comes in pieces.
fn pieces(label: &str, tool: &str, json: &[&str]) -> Vec<StreamPart> {
    let mut parts = vec![call_start(label, tool)];
    parts.extend(json.iter().map(|piece| call_delta(label, piece)));
    parts.push(call_end(label));
    parts
}

fn calls(parts: impl IntoIterator<Item = StreamPart>) -> Vec<ToolCall> {
    let response = reduce(parts.into_iter().chain([TOOL_CALLS])).unwrap();
    response.calls().cloned().collect()
}

/// The arguments cut at every byte, behind the cut each finish there is, or none.
#[test]
fn case_mm_01_arguments_cut_at_any_byte_are_no_call_whatever_the_finish_says() {
    let json = r#"{"amount":-12.5e1,"to":{"name":"Ada \"A\" L","tags":[true,null]}}"#;
    let finishes = [
        Some(FinishReason::Stop),
        Some(FinishReason::ToolCalls),
        Some(FinishReason::Length),
        Some(FinishReason::Withheld),
        None,
    ];
    for finish in finishes {
        let finish = finish.map(StreamPart::Finish);
        for cut in 0..json.len() {
            let ended = pieces("c", "refund", &[&json[..cut]]);
            let open = ended[..2].to_vec();
            let whole = vec![call("c", "refund", &json[..cut])];
            for parts in [ended, open, whole] {
                let answer = reduce(parts.into_iter().chain(finish.clone()));
                assert!(matches!(answer, Err(ModelFault::Protocol(_))), "{answer:?}");
            }
        }
        let complete = pieces("c", "refund", &[json]).into_iter().chain(finish.clone());
        assert_eq!(reduce(complete).is_ok(), finish.is_some());
    }
}

#[test]
fn case_mm_03_two_calls_of_one_label_are_two_calls() {
    for other in ["{\"amount\":1}", "{\"amount\":2}"] {
        let first = pieces("1", "refund", &["{\"amount\":1}"]);
        let second = pieces("1", "refund", &[other]);
        let expected = [declared("1", "refund", "{\"amount\":1}"), declared("1", "refund", other)];
        assert_eq!(calls(first.iter().cloned().chain(second)), expected);
        assert_eq!(calls(first.into_iter().chain([call("1", "refund", other)])), expected);
    }
}

#[test]
fn case_mm_03_two_calls_of_one_label_at_once_are_refused_whole() {
    let parts = [call_start("1", "refund"), call_start("1", "refund"), call_delta("1", "{}")];
    assert_eq!(reduce(parts), broken(ProtocolError::LabelOpen));
}

#[test]
fn case_mm_05_a_label_that_never_changes_hides_no_call() {
    let json = |step| format!("{{\"step\":{step}}}");
    let found = calls((0..50).flat_map(|step| pieces("call_0", "look", &[&json(step)])));
    let expected: Vec<_> = (0..50).map(|step| declared("call_0", "look", &json(step))).collect();
    assert_eq!(found, expected);
}

#[test]
fn run_034_calls_stand_in_the_order_in_which_they_began_whichever_ends_first() {
    let found = calls([
        call_start("b", "look"),
        call_start("", "refund"),
        call_delta("", "{\"n\":2"),
        call("b ", "look", "{\"n\":3}"),
        call_delta("b", "{\"n\":"),
        call_delta("", "}"),
        call_end(""),
        call_delta("b", "1}"),
        call_end("b"),
    ]);
    assert_eq!(
        found,
        [
            declared("b", "look", "{\"n\":1}"),
            declared("", "refund", "{\"n\":2}"),
            declared("b ", "look", "{\"n\":3}"),
        ]
    );
}

#[test]
fn case_mm_07_half_a_surrogate_pair_is_refused_and_a_pair_in_two_pieces_is_a_letter() {
    let half = pieces("c", "say", &["{\"a\":\"\\ud99c\"}"]);
    let why = ProtocolError::Arguments(JsonError::LoneSurrogate { at: 6 });
    assert_eq!(reduce(half), broken(why));
    let pair = r#"{"a":"\ud83d\ude00"}"#;
    for cut in 0..=pair.len() {
        let found = calls(pieces("c", "say", &[&pair[..cut], &pair[cut..]]));
        assert_eq!(found, [declared("c", "say", "{\"a\":\"😀\"}")]);
    }
}

#[test]
fn case_mm_09_arguments_over_a_bound_of_json_are_refused_by_name() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(JSON_DEPTH), "]".repeat(JSON_DEPTH));
    let members: Vec<String> = (0..=JSON_ENTRIES).map(|at| format!("\"{at}\":0")).collect();
    let wide = format!("{{{}}}", members.join(","));
    let abuses = [
        (deep.as_str(), JsonError::Depth),
        (wide.as_str(), JsonError::Entries),
        ("{\"a\":1,\"a\":2}", JsonError::DuplicateKey { at: 7 }),
        ("{\"a\":1e400}", JsonError::NumberOutOfRange { at: 5 }),
        ("{} {}", JsonError::TrailingData { at: 3 }),
        ("{\"a\":NaN}", JsonError::Syntax { at: 5 }),
    ];
    for (json, why) in abuses {
        assert_eq!(reduce(pieces("c", "refund", &[json])), broken(ProtocolError::Arguments(why)));
    }
}

#[test]
fn case_mm_09_calls_of_one_response_are_bounded() {
    let most = (0..RESPONSE_CALLS).flat_map(|_| pieces("c", "look", &["{}"]));
    assert_eq!(calls(most.clone()).len(), RESPONSE_CALLS);
    let more = [call_start("c", "look"), call("c", "look", "{}")];
    for one in more {
        let answer = reduce(most.clone().chain([one]));
        assert_eq!(answer, broken(ProtocolError::TooManyCalls));
    }
}

#[test]
fn run_030_calls_of_the_provider_take_no_place_of_the_hosts_calls() {
    let own = (0..RESPONSE_CALLS).map(|_| call("c", "look", "{}"));
    let providers = (0..RESPONSE_CALLS).map(|_| provider_call("c", "search", "{}"));
    assert_eq!(calls(providers.chain(own)).len(), RESPONSE_CALLS);
}
