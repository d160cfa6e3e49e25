//! What each family says of itself.

use super::*;
use crate::agent::{Diagnostic, RejectionReason, ToolOutcome, Truncated};
use crate::json::CanonicalJson;
use crate::limits::{DIAGNOSTIC_TAG_CHARS, TEXT_BYTES};
use crate::record::Settlement;

fn diagnostic() -> Diagnostic {
    Diagnostic::cut("CardDeclined", "card 4111 was declined")
}

#[test]
fn run_032_there_is_one_sample_of_every_family() {
    for (index, event) in one_of_each().iter().enumerate() {
        assert_eq!(place(event), index, "{event:?}");
    }
    assert_eq!(one_of_each().len(), 20);
}

#[test]
fn run_002_three_families_are_terminal() {
    let terminal: Vec<_> = one_of_each().iter().filter(|it| it.is_terminal()).map(place).collect();
    assert_eq!(terminal, [17, 18, 19]);
}

#[test]
fn run_031_three_families_only_bring_words() {
    let words: Vec<_> =
        one_of_each().iter().filter_map(|it| Some((place(it), it.words()?.len()))).collect();
    assert_eq!(words, [(3, 12), (4, 7), (7, 10)]);
}

#[test]
fn run_031_progress_is_cut_on_a_character_boundary() {
    let long = "€".repeat(TEXT_BYTES);
    let RunEvent::ToolProgress { call, text } = RunEvent::progress(CALL, &long) else {
        panic!("progress is progress")
    };
    assert_eq!(call, CALL);
    assert_eq!(text.len(), TEXT_BYTES / 3 * 3);
    assert!(long.starts_with(&*text));
}

#[test]
fn run_031_a_tag_is_cut_at_its_bound() {
    let long = "ä".repeat(DIAGNOSTIC_TAG_CHARS + 1);
    assert_eq!(FailureTag::cut(&long).as_str().chars().count(), DIAGNOSTIC_TAG_CHARS);
    assert_eq!(FailureTag::of(&diagnostic()).as_str(), "CardDeclined");
}

#[test]
fn run_032_the_end_of_a_call_tells_its_kind_and_nothing_that_the_tool_said() {
    let json = CanonicalJson::string("secret").unwrap();
    let failed = |kind| RunEvent::ToolCallFailed { call: CALL, kind };
    let succeeded = RunEvent::ToolCallSucceeded { call: CALL };
    let ends = [
        (ToolOutcome::Success(json), succeeded.clone()),
        (ToolOutcome::Truncated(Truncated::of("secret", 2)), succeeded),
        (ToolOutcome::Failure(diagnostic()), failed(FailureKind::Failure)),
        (ToolOutcome::Rejected(RejectionReason::OverBudget), failed(FailureKind::Rejected)),
        (ToolOutcome::InvalidInput(diagnostic()), failed(FailureKind::InvalidInput)),
        (ToolOutcome::Defect(diagnostic()), failed(FailureKind::Defect)),
    ];
    for (outcome, event) in ends {
        assert_eq!(RunEvent::tool_ended(CALL, &outcome), event);
    }
}

#[test]
fn run_002_every_settlement_is_a_terminal_event_without_answer_or_message() {
    let finish = FinishKind::BudgetExhausted(Dimension::Tokens);
    let output = CanonicalJson::string("secret").unwrap();
    let limit = Some(PolicyLimit::RepeatedFailures);
    let tag = FailureTag::cut("CardDeclined");
    let ends = [
        (
            Settlement::Completed { output, finish, disposition: Some(Arc::from("refunded")) },
            RunEvent::RunCompleted { finish, dropped: 0 },
        ),
        (
            Settlement::Failed { diagnostic: diagnostic(), limit },
            RunEvent::RunFailed { tag, limit, dropped: 0 },
        ),
        (Settlement::Aborted, RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 }),
    ];
    for (settlement, event) in ends {
        assert_eq!(RunEvent::run_ended(&settlement), event);
        assert!(event.is_terminal());
    }
}
