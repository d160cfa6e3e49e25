//! Settlements and the diagnostics in them: the legal shapes, and nothing else.

use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::agent::{Diagnostic, DiagnosticError, Dimension};
use crate::limits::{DIAGNOSTIC_MESSAGE_BYTES, DIAGNOSTIC_TAG_CHARS};
use samples::RUN;

fn failed(tag: &str, limit: Option<PolicyLimit>) -> Settlement {
    Settlement::Failed { diagnostic: Diagnostic::new(tag, "why").unwrap(), limit }
}

/// A diagnostic as only foreign bytes can hold one.
fn decoded(tag: &str, message: &str) -> Diagnostic {
    postcard::from_bytes(&postcard::to_allocvec(&(tag, message)).unwrap()).unwrap()
}

#[test]
fn settlement_error_limit_without_tag_holds_in_both_directions() {
    let wrong = Err(SettlementError::LimitWithoutTag);
    assert_eq!(failed("BudgetExceeded", None).check(), wrong);
    assert_eq!(failed("Declined", Some(PolicyLimit::Budget(Dimension::Turns))).check(), wrong);
    assert_eq!(
        failed("BudgetExceeded", Some(PolicyLimit::Budget(Dimension::Turns))).check(),
        Ok(())
    );
    assert_eq!(failed("Declined", None).check(), Ok(()));
}

#[test]
fn settlement_error_diagnostic_is_one_over_its_bounds() {
    let tag = "x".repeat(DIAGNOSTIC_TAG_CHARS + 1);
    let message = "x".repeat(DIAGNOSTIC_MESSAGE_BYTES + 1);
    for diagnostic in [decoded(&tag, ""), decoded("", &message)] {
        let settlement = Settlement::Failed { diagnostic, limit: None };
        assert_eq!(settlement.check(), Err(SettlementError::Diagnostic));
    }
}

#[test]
fn settlement_error_disposition_stands_beside_an_ordinary_finish_only() {
    let settled = |finish, word: &str| Settlement::Completed {
        output: json("1"),
        finish,
        disposition: Some(word.into()),
    };
    let exhausted = FinishKind::BudgetExhausted(Dimension::Tokens);
    let long = "x".repeat(crate::limits::IDENTIFIER_CHARS + 1);
    for finish in [FinishKind::ModelStop, FinishKind::Completed] {
        assert_eq!(settled(finish, "refunded").check(), Ok(()));
        assert_eq!(settled(finish, &long).check(), Err(SettlementError::Disposition));
    }
    assert_eq!(settled(exhausted, "refunded").check(), Err(SettlementError::Disposition));
}

#[test]
fn settlement_error_completed_without_run() {
    let output = json("1");
    let settlement =
        Settlement::Completed { output, finish: FinishKind::ModelStop, disposition: None };
    let mut settled = SubmissionSettled { submission: SUBMISSION, run: Some(RUN), settlement };
    assert_eq!(settled.check(), Ok(()));
    settled.run = None;
    assert_eq!(settled.check(), Err(SettlementError::CompletedWithoutRun));
    for settlement in [failed("Incompatible", None), Settlement::Aborted] {
        let settled = SubmissionSettled { submission: SUBMISSION, run: None, settlement };
        assert_eq!(settled.check(), Ok(()), "it can end before it has a run");
    }
}

#[test]
fn each_settlement_error_says_what_is_wrong() {
    let said = [
        (SettlementError::LimitWithoutTag, "a limit stands exactly beside its own policy tag"),
        (SettlementError::Diagnostic, "the diagnostic is over its bounds"),
        (
            SettlementError::Disposition,
            "a disposition stands only beside an ordinary finish, and is short",
        ),
        (SettlementError::CompletedWithoutRun, "a completed submission has a run"),
    ];
    for (error, words) in said {
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn dur_002_a_settlement_has_one_of_three_outcomes() {
    let output = json("null");
    let completed =
        Settlement::Completed { output, finish: FinishKind::ModelStop, disposition: None };
    assert_eq!(completed.outcome(), Outcome::Completed);
    assert_eq!(failed("Declined", None).outcome(), Outcome::Failed);
    assert_eq!(Settlement::Aborted.outcome(), Outcome::Aborted);
}

#[test]
fn dur_011_the_digest_of_a_settlement_is_that_of_its_exact_bytes() {
    let settled = |run, settlement| SubmissionSettled { submission: SUBMISSION, run, settlement };
    let digest = |settled: SubmissionSettled| settled.digest().unwrap();
    let aborted = digest(settled(Some(RUN), Settlement::Aborted));
    assert_eq!(aborted, digest(settled(Some(RUN), Settlement::Aborted)));
    assert_ne!(aborted, digest(settled(None, Settlement::Aborted)));
    assert_ne!(aborted, digest(settled(Some(RUN), failed("Declined", None))));
    let illegal = settled(None, failed("BudgetExceeded", None));
    assert_eq!(illegal.digest(), Err(CodecError::Rule { index: 0 }));
}

#[test]
fn dur_011_a_failure_survives_byte_for_byte() {
    let message = "first line\nsecond \u{0} line \u{1f600} ".repeat(400);
    let diagnostic = Diagnostic::new("Declined", &message).unwrap();
    let settlement = Settlement::Failed { diagnostic, limit: None };
    let settled = SubmissionSettled { submission: SUBMISSION, run: Some(RUN), settlement };
    let records = vec![Record::SubmissionSettled(settled)];
    let read = decode_records(&encode_records(&records).unwrap()).unwrap();
    assert_eq!(read, records);
}

#[test]
fn diagnostic_error_tag_too_long_counts_characters() {
    let tag = "ä".repeat(DIAGNOSTIC_TAG_CHARS);
    assert_eq!(Diagnostic::new(&tag, "").map(|it| it.tag().to_string()), Ok(tag.clone()));
    let longer = tag.clone() + "ä";
    assert_eq!(Diagnostic::new(&longer, ""), Err(DiagnosticError::TagTooLong));
    assert_eq!(Diagnostic::cut(&longer, "").tag(), tag);
    let words = DiagnosticError::TagTooLong.to_string();
    assert_eq!(words, "a diagnostic's tag has at most 256 characters");
}

#[test]
fn diagnostic_error_message_too_long_counts_bytes() {
    let message = "x".repeat(DIAGNOSTIC_MESSAGE_BYTES);
    let legal = Diagnostic::new("Tag", &message).unwrap();
    assert_eq!((legal.tag(), legal.message()), ("Tag", &*message));
    let longer = message.clone() + "x";
    assert_eq!(Diagnostic::new("Tag", &longer), Err(DiagnosticError::MessageTooLong));
    assert_eq!(Diagnostic::cut("Tag", &longer), legal);
    let words = DiagnosticError::MessageTooLong.to_string();
    assert_eq!(words, "a diagnostic's message has at most 16384 bytes");
}

#[test]
fn case_mm_07_a_message_is_cut_between_characters_at_each_byte_of_an_emoji() {
    let (emoji, limit) = ("🤖", DIAGNOSTIC_MESSAGE_BYTES);
    for inside in 0..=emoji.len() {
        // The bound falls `inside` bytes into the emoji.
        let kept = "a".repeat(limit - inside);
        let message = kept.clone() + emoji + "tail";
        let cut = Diagnostic::cut("Tag", &message);
        let whole = inside == emoji.len();
        assert_eq!(cut.message(), if whole { kept + emoji } else { kept }, "{inside}");
        assert_eq!(cut.check(), Ok(()));
    }
    for fits in ["", "🤖", "short"] {
        assert_eq!(Diagnostic::cut("Tag", fits).message(), fits);
    }
    // A tag is bounded in characters: letters of any width, and of two UTF-16 units, stay whole.
    let tag = "a".repeat(DIAGNOSTIC_TAG_CHARS - 1) + emoji + emoji;
    let cut = Diagnostic::cut(&tag, "");
    assert_eq!(cut.tag().chars().count(), DIAGNOSTIC_TAG_CHARS);
    assert!(cut.tag().ends_with(emoji));
}
