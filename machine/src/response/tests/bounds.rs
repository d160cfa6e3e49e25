//! Bounds that are hit (RUN-031, SEC-06).

use super::*;
use crate::identity::{SubmissionId, Turn};
use crate::json::JsonError;
use crate::limits::{JSON_BYTES, RESPONSE_BYTES, RESPONSE_PARTS, TEXT_BYTES};
use crate::record::{ModelResponded, Record, encode_records};

const PIECE: usize = 4_096;

/// Checks that a response may become canonical.
#[track_caller]
fn assert_recordable(response: &Arc<ModelResponse>) {
    let (submission, response) = (SubmissionId([0; 16]), Arc::clone(response));
    let record = ModelResponded { submission, turn: Turn(0), response };
    assert!(encode_records(&[Record::ModelResponded(record)]).is_ok());
}

#[test]
fn run_031_parts_are_bounded_whatever_they_are() {
    let most = || (0..RESPONSE_PARTS).flat_map(|_| [text_start(""), text_end("")]);
    let response = reduce(most().chain([STOP])).unwrap();
    assert_eq!(response.parts.len(), RESPONSE_PARTS);
    assert_recordable(&response);
    let more = [
        text_start(""),
        reasoning_start(""),
        call_start("", "look"),
        call("", "look", "{}"),
        provider_call("", "search", "{}"),
        provider_result("", "1"),
    ];
    for one in more {
        assert_eq!(reduce(most().chain([one])), broken(ProtocolError::TooManyParts));
    }
}

#[test]
fn run_031_parts_that_are_never_ended_are_bounded_as_well() {
    let starts = (0..=RESPONSE_PARTS).map(|at| reasoning_start(&alloc::format!("{at}")));
    assert_eq!(reduce(starts), broken(ProtocolError::TooManyParts));
}

/// Words up to the bound, in pieces, and then one byte of any other kind.
#[test]
fn run_031_bytes_are_bounded_to_the_byte_and_all_kinds_count_together() {
    let piece = text_delta("", &"x".repeat(PIECE));
    let most = || {
        let pieces = core::iter::repeat_n(piece.clone(), RESPONSE_BYTES / PIECE);
        [text_start("")].into_iter().chain(pieces)
    };
    let response = reduce(most().chain([text_end(""), STOP])).unwrap();
    assert_eq!(response.bytes(), RESPONSE_BYTES);
    assert_recordable(&response);
    let more = [
        vec![text_delta("", "x")],
        vec![text_start("x")],
        vec![reasoning_start(""), reasoning_delta("", "x")],
        vec![reasoning_start(""), reasoning_end("", Some("x"), false)],
        vec![call_start("", "x")],
        vec![call("", "x", "{}")],
        vec![provider_call("x", "search", "{}")],
    ];
    for parts in more {
        assert_eq!(reduce(most().chain(parts)), broken(ProtocolError::TooManyBytes));
    }
}

#[test]
fn sec_06_labels_of_open_parts_count_too() {
    let label = "l".repeat(TEXT_BYTES - 8);
    let starts = (0..200).map(|at| text_start(&alloc::format!("{at:08}{label}")));
    assert_eq!(reduce(starts), broken(ProtocolError::TooManyBytes));
}

/// `1e19` has twenty digits in the canonical text, and that is what the response holds.
#[test]
fn run_031_json_counts_as_long_as_it_is_kept() {
    let members: Vec<_> = (0..4_000).map(|at| alloc::format!("\"{at}\":1e19")).collect();
    let json = alloc::format!("{{{}}}", members.join(","));
    let kept = CanonicalJson::parse(json.as_bytes()).unwrap().as_str().len();
    assert!(kept > json.len() + 4_000 * 15);
    let (least, most) = (RESPONSE_BYTES / kept, RESPONSE_BYTES / json.len());
    assert!(least < most);
    let calls = |count| (0..count).map(|_| provider_call("", "t", &json)).chain([STOP]);
    let response = reduce(calls(least - 1)).unwrap();
    assert!(response.bytes() <= RESPONSE_BYTES);
    assert_recordable(&response);
    assert_eq!(reduce(calls(least + 1)), broken(ProtocolError::TooManyBytes));
}

/// Spare whitespace is not kept, and yet was read.
#[test]
fn sec_06_what_is_not_kept_of_json_counts_all_the_same() {
    let spare = alloc::format!("{{{}}}", " ".repeat(JSON_BYTES - 2));
    let calls = (0..9).map(|_| call("", "look", &spare));
    assert_eq!(reduce(calls), broken(ProtocolError::TooManyBytes));
}

#[test]
fn sec_06_arguments_over_their_bound_are_refused_without_being_parsed() {
    let long = alloc::format!("{{\"a\":\"{}\"}}", "x".repeat(JSON_BYTES));
    let whole = reduce([call("c", "look", &long)]);
    assert_eq!(whole, broken(ProtocolError::Arguments(JsonError::TooLarge)));
    let pieces = [call_start("c", "look"), call_delta("c", &long), call_end("c")];
    assert_eq!(reduce(pieces), broken(ProtocolError::Arguments(JsonError::TooLarge)));
}
