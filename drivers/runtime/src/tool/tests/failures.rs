//! How tools fail, and when they are tried again.

use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::RetryClass;
use tokio::time::Instant;

use super::*;

/// A tool that fails in one way.
fn failing<E: HandlerError + Clone + Sync>(error: E) -> Tool {
    Tool::new("fail", move |(): (), _| {
        let error = error.clone();
        async move { Err::<(), E>(error) }
    })
}

#[test]
fn cap_003_a_failure_is_recorded_under_the_name_of_its_variant() {
    assert_eq!(
        call(failing(RefundError::NoSuchOrder), "null"),
        failure("NoSuchOrder", "\"NoSuchOrder\"")
    );
    let ended = call(failing(RefundError::TooMuch { most: 5 }), "null");
    assert_eq!(ended, failure("TooMuch", r#"{"TooMuch":{"most":5}}"#));

    #[derive(Clone, Serialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Inside {
        Busy { minutes: u8 },
    }
    let ended = call(failing(Inside::Busy { minutes: 3 }), "null");
    assert_eq!(ended, failure("Busy", r#"{"kind":"Busy","minutes":3}"#));

    #[derive(Clone, Serialize, JsonSchema)]
    #[serde(tag = "type", content = "of", rename_all = "snake_case")]
    enum Beside {
        /// Documented variants have other schemas.
        NotFound(u8),
    }
    let ended = call(failing(Beside::NotFound(1)), "null");
    assert_eq!(ended, failure("not_found", r#"{"of":1,"type":"not_found"}"#));

    #[derive(Clone, Serialize, JsonSchema)]
    enum Documented {
        /// The first.
        One,
        /// The second.
        #[allow(dead_code)]
        Two,
    }
    assert_eq!(call(failing(Documented::One), "null"), failure("One", "\"One\""));
}

#[test]
fn cap_003_a_failure_without_variants_is_recorded_under_the_name_of_its_type() {
    #[derive(Clone, Serialize, JsonSchema)]
    struct Limit {
        most: u8,
    }
    assert_eq!(call(failing(Limit { most: 3 }), "null"), failure("Limit", r#"{"most":3}"#));

    #[derive(Clone, Serialize, JsonSchema)]
    struct Words(String);
    let ended = call(failing(Words("no such file".into())), "null");
    assert_eq!(ended, failure("Words", "\"no such file\""));
}

#[test]
fn sec_04_what_nobody_is_to_see_is_in_no_failure() {
    #[derive(Clone, Serialize, JsonSchema)]
    struct Declined {
        card: String,
        why: &'static str,
    }
    let error = Declined { card: "4111".into(), why: "expired" };
    let ended = call(failing(error).redact("/card"), "null");
    assert_eq!(ended, failure("Declined", r#"{"card":"[redacted]","why":"expired"}"#));
}

#[test]
fn run_019_a_long_failure_is_cut() {
    #[derive(Clone, Serialize, JsonSchema)]
    struct Long(String);
    let Ended::Outcome(ToolOutcome::Failure(why)) = call(failing(Long("é".repeat(20_000))), "null")
    else {
        panic!("it fails")
    };
    assert_eq!(why.tag(), "Long");
    assert!(why.check().is_ok());
    let Ended::Outcome(ToolOutcome::Defect(why)) =
        call(failing(Long("x".repeat(2_000_000))), "null")
    else {
        panic!("it is no canonical value")
    };
    assert_eq!(why.tag(), "OutputInvalid");
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Busy {
    tries: u32,
}

/// A tool that has no effect at first, and how often it was called.
fn busy(passes_after: u32) -> (Tool, Arc<Count>) {
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let tool = Tool::new("busy", move |(): (), _| {
        let before = counted.up();
        async move {
            let busy = Busy { tries: before + 1 };
            if before < passes_after { Err(Failed::HadNoEffect(busy)) } else { Ok("done") }
        }
    });
    (tool, count)
}

#[test]
fn run_014_a_tool_that_had_no_effect_is_tried_again_at_most_twice_with_pauses() {
    let (tool, count) = busy(2);
    run(async {
        let began = Instant::now();
        assert_eq!(called(tool.retry(RetryClass::Transient), "null").await, success("\"done\""));
        assert_eq!(began.elapsed(), Duration::from_millis(500 + 1_000));
    });
    assert_eq!(count.so_far(), 3);
    let (tool, count) = busy(3);
    let ended = call(tool.retry(RetryClass::Transient), "null");
    assert_eq!((ended, count.so_far()), (failure("Busy", r#"{"tries":3}"#), 3));
    let (tool, count) = busy(1);
    assert_eq!((call(tool, "null"), count.so_far()), (failure("Busy", r#"{"tries":1}"#), 1));
}

#[test]
fn run_014_no_pause_is_longer_than_the_time_that_is_left() {
    let (tool, count) = busy(9);
    let tool = tool.retry(RetryClass::Transient).timeout(Duration::from_millis(1_200));
    run(async {
        let began = Instant::now();
        assert_eq!(called(tool, "null").await, failure("Busy", r#"{"tries":2}"#));
        assert_eq!(began.elapsed(), Duration::from_millis(500));
    });
    assert_eq!(count.so_far(), 2);
}

#[test]
fn run_014_a_failure_that_may_have_had_an_effect_is_never_tried_again() {
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let tool = Tool::new("pay", move |(): (), _| {
        let tries = counted.up() + 1;
        async move { Err::<(), _>(Failed::from(Busy { tries })) }
    });
    let ended = call(tool.retry(RetryClass::Transient), "null");
    assert_eq!((ended, count.so_far()), (failure("Busy", r#"{"tries":1}"#), 1));
}
