//! What is kept of a result: nothing that nobody is to see, not more than fits, cut once.

use super::*;
use crate::agent::{ExecutionClass, FailureMode, Pointer, ToolDefinition, Truncated};
use crate::identity::{Token, ToolName};
use crate::json::CanonicalJson;
use crate::testkit::{bound, policy, text};

fn bench(failure: FailureMode) -> Bench {
    let tool = ToolDefinition {
        result_bytes: 20,
        redact: alloc::vec![Pointer::new("/secret").unwrap()],
        failure,
        ..ToolDefinition::new(ToolName::new("look").unwrap(), ExecutionClass::Readonly)
    };
    let bench = Bench::of(bound(alloc::vec![tool], policy())).responds(0, &["look"]).authorized(0);
    Bench { effects: Vec::new(), ..bench }
}

fn kept(outcome: ToolOutcome) -> ToolOutcome {
    let answer = Answer::Tool { start: ONE.start(0, 0, 1), outcome: Arc::new(outcome) };
    let effects = bench(FailureMode::Return).answered(answer).look();
    match &committed(&effects)[..] {
        [Record::ToolSettled(it)] => ToolOutcome::clone(&it.outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn run_019_a_result_that_fits_is_kept_whole_and_a_longer_one_by_its_ends() {
    let fits = text(&"x".repeat(18));
    assert_eq!(kept(ToolOutcome::Success(fits.clone())), ToolOutcome::Success(fits));
    let long = text(&alloc::format!("{}{}", "a".repeat(30), "z".repeat(30)));
    let expected = Truncated { head: "\"aaaaaaaaa".into(), tail: "zzzzzzzzz\"".into(), bytes: 62 };
    let ToolOutcome::Kept(found) = kept(ToolOutcome::Success(long.clone())) else {
        panic!("it is longer than 20 bytes")
    };
    assert_eq!(found.cut, expected);
    assert_eq!(found.digest, crate::digest::Digest::plain(long.as_str().as_bytes()));
    assert_eq!(found.whole.bytes(), Some(long.as_str().as_bytes()), "on its way to a store");
}

/// Nobody holds what an ephemeral run would name: it names nothing, and shows the same (STORE-009).
#[test]
fn store_009_a_run_that_nobody_keeps_names_no_artifact() {
    let look = |keeps: bool| {
        let mut bench = bench(FailureMode::Return);
        bench.state.keeps = keeps;
        let outcome = Arc::new(ToolOutcome::Success(text(&"x".repeat(40))));
        ToolOutcome::clone(&bench.state.kept(ONE.call(0, 0), outcome))
    };
    let (ToolOutcome::Kept(named), ToolOutcome::Truncated(cut)) = (look(true), look(false)) else {
        panic!("{:?}, {:?}", look(true), look(false))
    };
    assert_eq!(named.cut, cut);
    let call = crate::testkit::call("1", "hello");
    let (state, _) = State::ephemeral(&call, Timestamp(1_000), Token([1; 16])).unwrap();
    assert!(!state.keeps);
}

#[test]
fn run_019_a_cut_splits_no_character() {
    let cut = Truncated::of(&"é".repeat(40), 21);
    assert_eq!((&*cut.head, &*cut.tail, cut.bytes), ("ééééé", "ééééé", 80));
    let all = Truncated::of("ab", 100);
    assert_eq!((&*all.head, &*all.tail), ("ab", ""), "nothing is kept twice");
}

#[test]
fn arc_12_what_nobody_is_to_see_never_becomes_canonical() {
    let result = CanonicalJson::parse(br#"{"secret":"4111"}"#).unwrap();
    let ToolOutcome::Kept(found) = kept(ToolOutcome::Success(result)) else {
        panic!("the words that stand for it are longer than 20 bytes")
    };
    let whole = core::str::from_utf8(found.whole.bytes().unwrap()).unwrap();
    assert!(![&*found.cut.head, &found.cut.tail, whole].iter().any(|it| it.contains("4111")));
}

#[test]
fn cap_004_the_failure_mode_of_a_tool_decides_whether_its_failure_ends_the_run() {
    let failure = |bench: Bench| {
        let why = Diagnostic::cut("Declined", "the card was declined");
        let outcome = Arc::new(ToolOutcome::Failure(why));
        bench.answered(Answer::Tool { start: ONE.start(0, 0, 1), outcome }).look()
    };
    assert_eq!(questions(&failure(bench(FailureMode::Return))), ["model.call"]);
    let effects = failure(bench(FailureMode::Error));
    assert_eq!((super::failure(&effects).tag(), committed(&effects).len()), ("Declined", 1));
}

/// A tool that nobody declares says nothing about what of its result may be seen (ARC-12).
#[test]
fn arc_12_of_a_result_of_a_tool_that_is_not_declared_nothing_is_kept_but_that_it_came() {
    let bench = bench(FailureMode::Return);
    let secret = CanonicalJson::parse(br#"{"secret":"4111"}"#).unwrap();
    let unknown = ONE.call(7, 0);
    let outcome = Arc::new(ToolOutcome::Success(secret.clone()));
    let nothing = Truncated { head: "".into(), tail: "".into(), bytes: 17 };
    assert_eq!(*bench.state.kept(unknown, outcome), ToolOutcome::Truncated(nothing));
    let said = Arc::new(crate::agent::Resolution::Completed(secret));
    let kept = bench.state.kept_of(unknown, &said);
    assert_eq!(*kept, crate::agent::Resolution::Completed(CanonicalJson::null()));
}
