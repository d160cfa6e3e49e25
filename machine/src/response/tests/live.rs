//! What is shown on the way.

use super::*;

/// Everything that is shown of a stream, part by part.
fn shown(parts: impl IntoIterator<Item = StreamPart>) -> Vec<Delta> {
    let parts = core::iter::once(StreamPart::Start).chain(parts);
    let effects = feed(parts.map(Input::Received)).effects.into_iter().flatten();
    let delta = |effect| match effect {
        Effect::Show(delta) => Some(delta),
        Effect::Done(_) => None,
    };
    effects.filter_map(delta).collect()
}

fn tool(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

#[test]
fn dur_008_pieces_are_shown_as_they_come_with_the_place_they_will_have() {
    let deltas = shown([
        reasoning_start("r"),
        text_start("t"),
        text_delta("t", "One "),
        reasoning_delta("r", "hm"),
        text_delta("t", "moment"),
        text_end("t"),
        reasoning_end("r", Some("sealed"), false),
        provider_call("s", "search", "{}"),
        provider_result("s", "1"),
        call_start("c", "look"),
        call_delta("c", "{}"),
        call_end("c"),
        call("c", "refund", "{}"),
        StreamPart::Usage(Usage::default()),
        TOOL_CALLS,
    ]);
    assert_eq!(
        deltas,
        [
            Delta::Text { part: 1, text: words("One ") },
            Delta::Reasoning { part: 0, text: words("hm") },
            Delta::Text { part: 1, text: words("moment") },
            Delta::Call { part: 4, call: 0, tool: tool("look") },
            Delta::Call { part: 5, call: 1, tool: tool("refund") },
        ]
    );
}

#[test]
fn run_031_an_empty_piece_is_no_event() {
    let parts =
        [text_start("t"), text_delta("t", ""), reasoning_start("r"), reasoning_delta("r", "")];
    assert_eq!(shown(parts), []);
}

#[test]
fn arc_02_a_call_that_comes_to_nothing_may_be_shown_and_its_arguments_never_are() {
    let parts = [call_start("c", "refund"), call_delta("c", "{\"amount\":"), call_end("c")];
    assert_eq!(shown(parts), [Delta::Call { part: 0, call: 0, tool: tool("refund") }]);
    assert_eq!(shown([call("c", "refund", "{\"amount\":")]), []);
}
