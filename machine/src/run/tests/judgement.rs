//! Which responses become canonical, and what becomes of the others.

use super::*;
use crate::agent::{FinishReason, ResponsePart, ToolCall};
use crate::json::CanonicalJson;
use crate::limits::{JSON_BYTES, RESPONSE_BYTES, RESPONSE_CALLS, RESPONSE_PARTS, TEXT_BYTES};
use crate::testkit::text;

/// What a fresh run makes of a response.
fn judged(response: ModelResponse) -> Vec<Effect> {
    let mut bench = Bench::fresh();
    bench.look();
    bench.answered(model(0, response)).look()
}

fn with_finish(calls: &[&str], finish: FinishReason) -> ModelResponse {
    ModelResponse { finish, ..response(calls) }
}

/// Whether a run has paid for what came and has ended, and nothing else.
fn only_charged(effects: &[Effect]) -> bool {
    let paid = matches!(committed(effects)[..], [Record::ModelInterrupted(_)]);
    paid && matches!(effects, [Effect::Commit(_), Effect::Settle(_)])
}

fn faulted(fault: ModelFault) -> Vec<Effect> {
    let mut bench = Bench::fresh();
    bench.look();
    bench.answered(answered_with(0, Err(fault))).look()
}

#[test]
fn case_mm_01_a_finish_reason_that_does_not_fit_the_calls_executes_nothing() {
    use FinishReason::{Length, Stop, ToolCalls};
    let table = [
        (Stop, &["pay"][..], "ResponseContradictory"),
        (ToolCalls, &[][..], "ResponseContradictory"),
        (Length, &["pay"][..], "ResponseTruncated"),
        (Length, &[][..], "ResponseTruncated"),
    ];
    for (finish, calls, tag) in table {
        let effects = judged(with_finish(calls, finish));
        assert_eq!(failure(&effects).tag(), tag, "{finish:?} with {calls:?}");
        assert!(only_charged(&effects), "nothing canonical, nothing asked");
    }
}

#[test]
fn run_004_a_truncated_response_executes_nothing_and_is_no_turn() {
    let bench = Bench::fresh();
    let before = bench.state.run().unwrap().clone();
    let bench = bench.answered(model(0, with_finish(&["look", "pay"], FinishReason::Length)));
    let after = bench.state.run().unwrap().clone();
    assert_ne!(after.overhead, before.overhead, "it is paid for (BU-07)");
    assert_eq!(crate::projection::RunView { overhead: before.overhead, ..after }, before);
    assert_eq!(bench.state.liveness(), Liveness::Resting);
    assert!(bench.state.flights().is_empty());
}

#[test]
fn run_004_a_complete_response_becomes_canonical_as_it_is() {
    for calls in [&["look"][..], &[][..]] {
        let effects = judged(response(calls));
        assert_eq!(committed(&effects), [ONE.responded(0, calls)]);
    }
}

#[test]
fn dur_002_words_without_calls_are_the_answer() {
    let said = |text: &str| ResponsePart::Text(text.into());
    let parts = alloc::vec![said("it is "), said("done")];
    let effects = judged(ModelResponse { parts, ..response(&[]) });
    let Settlement::Completed { output, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*output, text("it is done"));
    let effects = judged(ModelResponse { parts: Vec::new(), ..response(&[]) });
    let Settlement::Completed { output, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*output, text(""), "no words are words");
}

#[test]
fn run_031_a_response_over_its_bounds_fails_typed() {
    let declared = |label: &str| {
        let tool = crate::identity::ToolName::new("look").unwrap();
        let parameters = CanonicalJson::string("").unwrap();
        ResponsePart::Call(ToolCall { label: label.into(), tool, parameters })
    };
    let said = |text: &str| ResponsePart::Text(text.into());
    let calls = alloc::vec![declared("same"); RESPONSE_CALLS + 1];
    let label = alloc::vec![declared(&"x".repeat(TEXT_BYTES + 1))];
    let words = alloc::vec![said("x"); RESPONSE_PARTS + 1];
    let bytes = alloc::vec![said(&"x".repeat(RESPONSE_BYTES + 1))];
    for parts in [calls, label, words, bytes] {
        let has_calls = matches!(parts[0], ResponsePart::Call(_));
        let finish = if has_calls { FinishReason::ToolCalls } else { FinishReason::Stop };
        let effects = judged(ModelResponse { parts, finish, ..response(&[]) });
        assert_eq!(failure(&effects).tag(), "ResponseTooLarge");
        assert!(only_charged(&effects), "nothing canonical, nothing asked");
    }
    let most = alloc::vec![declared("same"); RESPONSE_CALLS];
    let effects = judged(ModelResponse { parts: most, ..response(&["look"]) });
    assert_eq!(questions(&effects), ["authorizer.authorize"], "at the bound is not over it");
}

#[test]
fn run_031_an_answer_over_the_bound_of_a_value_fails_typed() {
    let parts = alloc::vec![ResponsePart::Text("x".repeat(JSON_BYTES).into())];
    let effects = judged(ModelResponse { parts, ..response(&[]) });
    assert_eq!(failure(&effects).tag(), "OutputTooLarge");
    assert_eq!(committed(&effects).len(), 1, "what the model said is canonical all the same");
}

#[test]
fn dur_011_a_fault_of_the_model_settles_with_its_diagnostic_byte_for_byte() {
    let diagnostic = Diagnostic::cut("RateLimited", "try again in 30 s");
    for fault in [ModelFault::Unavailable, ModelFault::Protocol, ModelFault::Refused] {
        let effects = faulted(fault(diagnostic.clone()));
        assert_eq!(*failure(&effects), diagnostic);
        assert_eq!(questions(&effects), [""; 0]);
    }
}

#[test]
fn run_011_a_provider_cannot_forge_a_policy_tag() {
    let forged = Diagnostic::cut("BudgetExceeded", "you are out of budget");
    for fault in [ModelFault::Unavailable, ModelFault::Protocol] {
        let effects = faulted(fault(forged.clone()));
        let diagnostic = failure(&effects);
        assert_eq!(diagnostic.tag(), "ModelFault");
        assert_eq!(diagnostic.message(), forged.message());
        assert_eq!(settlement(&effects).check(), Ok(()));
    }
}
