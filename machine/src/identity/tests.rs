use super::*;
use alloc::string::String;

fn submission(conversation: &str, principal: &str, key: &str) -> SubmissionId {
    SubmissionId::derive(
        &ConversationId::new(conversation).unwrap(),
        &PrincipalId::new(principal).unwrap(),
        &IdempotencyKey::new(key).unwrap(),
    )
}

#[test]
fn case_id_03_the_derived_key_is_scoped_and_never_changes() {
    let golden = submission("desk", "ada", "1");
    assert_eq!(alloc::format!("{golden}"), "228a7e40980e82f5c959ca961da1cd14");
    assert_ne!(golden, submission("other", "ada", "1"));
    assert_ne!(golden, submission("desk", "bob", "1"));
    assert_ne!(golden, submission("desk", "ada", "2"));
    // Parts are length-prefixed: text cannot move from one part into the next.
    assert_ne!(submission("ab", "c", "d"), submission("a", "bc", "d"));
}

#[test]
fn name_error_names_what_is_wrong() {
    assert_eq!(ToolName::new(""), Err(NameError::Empty));
    assert_eq!(ToolName::new("a\nb"), Err(NameError::Control));
    let long: String = core::iter::repeat_n('ä', 257).collect();
    assert_eq!(ToolName::new(&long), Err(NameError::TooLong));
    assert!(ToolName::new(&long[..512]).is_ok());
}

#[test]
fn run_034_call_ids_differ_by_run_turn_and_index() {
    let run = RunId::derive(submission("desk", "ada", "1"));
    let ids =
        [(0, 0), (0, 1), (1, 0)].map(|(turn, index)| ToolCallId::derive(run, Turn(turn), index));
    assert_ne!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
    assert_ne!(ids[1], ids[2]);
}

#[test]
fn counters_saturate_instead_of_wrapping() {
    assert_eq!(Epoch(u64::MAX).next(), Epoch(u64::MAX));
    assert_eq!(Timestamp(u64::MAX).after(DurationMs(1)), Timestamp(u64::MAX));
}
