//! How events are spelled, pinned to their version.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::{from_str, from_value, json, to_string};

use super::*;
use crate::limits::{DIAGNOSTIC_TAG_CHARS, RESPONSE_BYTES, TEXT_BYTES};

const C: &str = "c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1";
const S: &str = "11111111111111111111111111111111";

/// Version 1: the text of each event of [`one_of_each`], with `C` and `S` for the ids.
const VERSION_1: [&str; 20] = [
    r#"{"type":"run_started","submission":"S"}"#,
    r#"{"type":"turn_started","turn":3}"#,
    r#"{"type":"model_started","turn":3,"retry":1}"#,
    r#"{"type":"text_delta","text":"Let me\n\"see\""}"#,
    r#"{"type":"reasoning_delta","text":"12 €?"}"#,
    r#"{"type":"tool_call_declared","call":"C","tool":"refund"}"#,
    r#"{"type":"tool_call_started","call":"C"}"#,
    r#"{"type":"tool_progress","call":"C","text":"half of it"}"#,
    r#"{"type":"tool_step_recorded","call":"C","step":"charge"}"#,
    r#"{"type":"tool_call_succeeded","call":"C"}"#,
    r#"{"type":"tool_call_failed","call":"C","kind":"invalid_input"}"#,
    r#"{"type":"tool_call_unknown","call":"C"}"#,
    r#"{"type":"approval_requested","call":"C"}"#,
    r#"{"type":"budget_warning","gauge":{"dimension":"tool_calls","used":8,"limit":10}}"#,
    r#"{"type":"context_compacted","kind":"results_cleared"}"#,
    r#"{"type":"input_received","submission":"S"}"#,
    r#"{"type":"turn_completed","turn":3,"usage":{"input_tokens":30,"cache_read_tokens":20,"cache_write_tokens":5,"output_tokens":7,"cost_micros":99}}"#,
    r#"{"type":"run_completed","finish":"model_stop","dropped":0}"#,
    r#"{"type":"run_failed","tag":"BudgetExceeded","limit":{"budget":"cost"},"dropped":4}"#,
    r#"{"type":"run_interrupted","why":"ownership_lost","dropped":0}"#,
];

fn golden(index: usize) -> String {
    VERSION_1[index].replace("\"C\"", &format!("\"{C}\"")).replace("\"S\"", &format!("\"{S}\""))
}

fn enveloped() -> Enveloped {
    source().envelope(EventSequence(7), Timestamp(1_700_000_000_000), fact(3))
}

/// The envelope's text, with one piece of it replaced.
fn changed(from: &str, to: &str) -> String {
    let whole = to_string(&enveloped()).unwrap();
    assert!(whole.contains(from), "{from} is in {whole}");
    whole.replace(from, to)
}

fn complaint(text: &str) -> String {
    from_str::<Enveloped>(text).expect_err("it is refused").to_string()
}

#[test]
fn run_032_the_text_of_every_family_is_that_of_version_1() {
    assert_eq!(EVENT_VERSION, 1, "a new version needs its own texts beside these");
    for (index, event) in one_of_each().into_iter().enumerate() {
        assert_eq!(to_string(&event).unwrap(), golden(index));
        assert_eq!(from_str::<RunEvent>(&golden(index)).unwrap(), event);
    }
}

#[test]
fn run_032_the_envelope_names_version_run_conversation_agent_sequence_and_time() {
    let text = r#"{"version":1,"run":"2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a","conversation":"desk","agent":"clerk","sequence":7,"at":1700000000000,"event":{"type":"turn_started","turn":3}}"#;
    assert_eq!(to_string(&enveloped()).unwrap(), text);
    assert_eq!(from_str::<Enveloped>(text).unwrap(), enveloped());
}

#[test]
fn run_032_every_kind_reason_and_dimension_has_a_text_and_is_read_back() {
    let mut events = Vec::new();
    for kind in [
        FailureKind::Failure,
        FailureKind::Rejected,
        FailureKind::InvalidInput,
        FailureKind::Defect,
    ] {
        events.push(RunEvent::ToolCallFailed { call: CALL, kind });
    }
    for dimension in [
        Dimension::Turns,
        Dimension::ToolCalls,
        Dimension::Tokens,
        Dimension::Cost,
        Dimension::Duration,
    ] {
        let gauge = Gauge { dimension, used: u64::MAX, limit: 0 };
        events.push(RunEvent::BudgetWarning { gauge });
        let limit = Some(PolicyLimit::Budget(dimension));
        events.push(RunEvent::RunFailed { tag: FailureTag::cut(""), limit, dropped: 0 });
        let finish = FinishKind::BudgetExhausted(dimension);
        events.push(RunEvent::RunCompleted { finish, dropped: u64::MAX });
    }
    let limits = [None, Some(PolicyLimit::RepeatedFailures)];
    events.extend(limits.map(|limit| RunEvent::RunFailed {
        tag: FailureTag::cut("x"),
        limit,
        dropped: 0,
    }));
    events.push(RunEvent::RunCompleted { finish: FinishKind::Completed, dropped: 0 });
    events.push(RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 });
    events.push(RunEvent::ContextCompacted { kind: CompactionKind::Summarized });
    events.push(RunEvent::TurnCompleted { turn: Turn(0), usage: None });
    let mut texts: Vec<_> = events.iter().map(|event| to_string(event).unwrap()).collect();
    for (text, event) in texts.iter().zip(&events) {
        assert_eq!(from_str::<RunEvent>(text).unwrap(), *event, "{text}");
    }
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), events.len(), "no two have one text");
    assert!(texts.iter().any(|text| text.contains(r#""finish":{"budget_exhausted":"duration"}"#)));
}

#[test]
fn arc_09_another_version_is_refused_before_anything_else() {
    let newer = changed(r#""version":1"#, r#""version":2"#);
    let newer = newer.replace("turn_started", "turn_dreamt");
    let why = complaint(&newer);
    assert!(why.contains("events of version 2; only version 1 is read"), "{why}");
}

#[test]
fn arc_09_an_id_that_is_none_is_refused() {
    let id = "2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a";
    for other in [
        "",
        &id[1..],
        &id[2..],
        &format!("{id}2a"),
        &id.replacen('a', "A", 1),
        &id.replacen('a', "g", 1),
    ] {
        let why = complaint(&changed(id, other));
        assert!(why.contains("32 lower-case hexadecimal digits"), "{other}: {why}");
    }
}

#[test]
fn arc_09_what_is_over_its_bound_or_unknown_is_refused() {
    let over = |bytes: usize| "x".repeat(bytes + 1);
    let words = [
        (json!({"type": "text_delta", "text": over(RESPONSE_BYTES)}), "words of more than"),
        (json!({"type": "reasoning_delta", "text": over(RESPONSE_BYTES)}), "words of more than"),
        (
            json!({"type": "tool_progress", "call": C, "text": over(TEXT_BYTES)}),
            "words of more than",
        ),
        (
            json!({"type": "run_failed", "tag": over(DIAGNOSTIC_TAG_CHARS), "limit": null, "dropped": 0}),
            "the tag of a failure is over its bound",
        ),
        (json!({"type": "tool_call_declared", "call": C, "tool": ""}), "cannot be empty"),
        (json!({"type": "turn_dreamt", "turn": 3}), "unknown variant"),
        (json!({"turn": 3}), "missing field `type`"),
        (json!({"type": "run_completed", "finish": "ModelStop", "dropped": 0}), "unknown variant"),
    ];
    for (value, expected) in words {
        let why = from_value::<RunEvent>(value).expect_err(expected).to_string();
        assert!(why.contains(expected), "{why}");
    }
    let most = json!({"type": "tool_progress", "call": C, "text": &over(TEXT_BYTES)[1..]});
    assert!(from_value::<RunEvent>(most).is_ok(), "exactly the bound is within it");
}
