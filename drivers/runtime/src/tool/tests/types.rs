//! What goes into a handler and what comes out of it.

use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{
    ExecutionClass, FailureMode, Judgement, Pointer, RetryClass, Risk, Schema,
};
use everstep_machine::effect::Reconciliation;
use everstep_machine::identity::{DurationMs, GroupName};

use super::*;

fn refund() -> Tool {
    Tool::new("refund", |refund: Refund, _: ToolContext| async move {
        match refund.cents {
            0 => Err(RefundError::NoSuchOrder),
            cents if cents > 500 => Err(RefundError::TooMuch { most: 500 }),
            cents => Ok(Receipt { order: refund.order, left: 500 - i64::from(cents) }),
        }
    })
}

#[test]
fn arc_01_run_003_a_handler_gets_its_own_type_and_its_result_is_canonical() {
    let ended = call(refund(), r#"{"order":"o-1","cents":120}"#);
    assert_eq!(ended, success(r#"{"order":"o-1","left":380}"#));
}

#[test]
fn run_003_what_does_not_decode_never_reaches_the_handler() {
    #[derive(Deserialize, JsonSchema)]
    struct Even {
        // The schema says less than the decoder wants.
        #[serde(deserialize_with = "even")]
        number: u32,
    }
    fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let number = u32::deserialize(deserializer)?;
        let odd = || serde::de::Error::custom(format!("{number} is odd"));
        if number % 2 == 0 { Ok(number) } else { Err(odd()) }
    }
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let tool = || {
        let counted = Arc::clone(&counted);
        Tool::new("half", move |even: Even, _| {
            counted.up();
            async move { Ok::<_, NoFailure>(even.number / 2) }
        })
    };
    let Ended::Outcome(ToolOutcome::InvalidInput(why)) = call(tool(), r#"{"number":3}"#) else {
        panic!("3 is odd")
    };
    assert_eq!(why.tag(), "InvalidInput");
    assert!(why.message().contains("3 is odd"), "{}", why.message());
    let secret = call(tool().redact("/number"), r#"{"number":3}"#);
    let Ended::Outcome(ToolOutcome::InvalidInput(why)) = secret else { panic!("3 is odd") };
    assert!(!why.message().contains('3'), "{}", why.message());
    assert_eq!(count.so_far(), 0);
    assert_eq!(call(tool(), r#"{"number":4}"#), success("2"));
    assert_eq!(count.so_far(), 1);
}

#[test]
fn cap_003_cap_004_schemas_say_what_the_types_say() {
    let definition = definition(refund());
    let parameters = json(
        r#"{"title":"Refund","type":"object","required":["order","cents"],
            "properties":{"order":{"type":"string"},
                          "cents":{"type":"integer","format":"uint32","minimum":0}}}"#,
    );
    assert_eq!(definition.parameters.json(), &parameters);
    assert!(definition.success.json().as_str().contains("\"left\""));
    assert!(definition.fails_with.json().as_str().contains("NoSuchOrder"));
}

#[test]
fn cap_004_a_failure_that_the_tool_does_not_declare_is_a_defect_of_the_call() {
    #[derive(Serialize, JsonSchema)]
    struct Closed {
        #[schemars(range(max = 24))]
        until: u32,
    }
    let closed = |until| {
        Tool::new("open", move |(): (), _| async move { Err::<(), _>(Closed { until }) })
            .redact("/until")
    };
    assert!(matches!(call(closed(9), "null"), Ended::Outcome(ToolOutcome::Failure(_))));
    let Ended::Outcome(ToolOutcome::Defect(why)) = call(closed(25), "null") else {
        panic!("no day has an hour 25")
    };
    assert_eq!(why.tag(), "FailureInvalid");

    let mut definition =
        ToolDefinition::new(ToolName::new("lookup").unwrap(), ExecutionClass::Readonly);
    definition.fails_with = Schema::parse(br#"{"enum":["closed",{"code":7}]}"#).unwrap();
    let fails = |words: &'static str| {
        Tool::dynamic(definition.clone(), move |_, _| async move {
            Err(Diagnostic::cut("Why", words).into())
        })
    };
    assert_eq!(call(fails("closed"), "null"), failure("Why", "closed"));
    assert_eq!(call(fails(r#"{"code":7}"#), "null"), failure("Why", r#"{"code":7}"#));
    let ended = call(fails("open"), "null");
    assert!(matches!(ended, Ended::Outcome(ToolOutcome::Defect(_))), "{ended:?}");
}

#[test]
fn sec_03_everything_that_is_declared_stands_in_the_definition() {
    let tool = refund()
        .description("Gives money back.")
        .class(ExecutionClass::Idempotent)
        .risk(Risk::High)
        .resource("/order")
        .group("payments")
        .timeout(Duration::from_secs(10))
        .retry(RetryClass::Transient)
        .result_bytes(10_000)
        .redact("/card/number")
        .redact("/cvc")
        .failure(FailureMode::Error)
        .approval(Judgement::Prompt)
        .reconciler(|_| async { Reconciliation::Unprovable });
    let told = definition(tool);
    let place = |text| Pointer::new(text).unwrap();
    let expected = ToolDefinition {
        reconciles: true,
        description: "Gives money back.".into(),
        parameters: told.parameters.clone(),
        success: told.success.clone(),
        fails_with: told.fails_with.clone(),
        risk: Risk::High,
        resource: Some(place("/order")),
        group: Some(GroupName::new("payments").unwrap()),
        timeout: DurationMs(10_000),
        retry: RetryClass::Transient,
        result_bytes: 10_000,
        redact: vec![place("/card/number"), place("/cvc")],
        failure: FailureMode::Error,
        approval: Judgement::Prompt,
        ..ToolDefinition::new(ToolName::new("refund").unwrap(), ExecutionClass::Idempotent)
    };
    assert_eq!(told, expected);
    assert_eq!(definition(refund()).class, ExecutionClass::Ordinary, "what declares nothing");
}

#[test]
fn cap_004_a_result_that_is_no_canonical_value_is_a_defect_of_the_call() {
    let defect = |tool| match call(tool, "null") {
        Ended::Outcome(ToolOutcome::Defect(why)) => {
            assert_eq!(why.tag(), "OutputInvalid");
            why.message().to_owned()
        }
        other => panic!("{other:?}"),
    };
    let large = Tool::new("large", |(): (), _| async { Ok::<_, NoFailure>(u128::MAX) });
    assert!(defect(large).contains("does not fit 64 bits"));
    // No number at all: `serde_json` writes null, which fits no number.
    let nan = Tool::new("nan", |(): (), _| async { Ok::<_, NoFailure>(f64::NAN) });
    assert!(defect(nan).contains("value is not of type \"number\""));
    let exact = Tool::new("exact", |(): (), _| async { Ok::<_, NoFailure>(0.1 + 0.2) });
    assert_eq!(call(exact, "null"), success("0.30000000000000004"));
}

#[test]
fn run_019_a_result_over_every_bound_is_kept_in_part_unless_something_must_not_be_seen() {
    let tool = || {
        let text = "x".repeat(2_000_000);
        Tool::new("long", move |(): (), _| {
            let text = text.clone();
            async move { Ok::<_, NoFailure>(text) }
        })
    };
    let Ended::Outcome(ToolOutcome::Truncated(cut)) = call(tool().result_bytes(100), "null") else {
        panic!("two million bytes are too many")
    };
    assert_eq!((cut.head.len(), cut.tail.len(), cut.bytes), (50, 50, 2_000_002));
    let ended = call(tool().redact("/secret"), "null");
    assert!(matches!(ended, Ended::Outcome(ToolOutcome::Defect(_))), "{ended:?}");
}

#[test]
fn case_id_05_numbers_reach_a_handler_exactly() {
    let echo = || Tool::new("echo", |number: f64, _| async move { Ok::<_, NoFailure>(number) });
    for text in ["0.1", "1.7976931348623157e-300", "5e-324", "0.30000000000000004"] {
        assert_eq!(call(echo(), text), success(text));
    }
    let whole = Tool::new("whole", |number: u64, _| async move { Ok::<_, NoFailure>(number) });
    assert_eq!(call(whole, "18446744073709551615"), success("18446744073709551615"));
}

#[test]
fn cap_004_a_dynamic_tool_is_held_to_the_schemas_it_carries() {
    let mut definition =
        ToolDefinition::new(ToolName::new("lookup").unwrap(), ExecutionClass::Readonly);
    definition.success = Schema::parse(br#"{"type":"integer"}"#).unwrap();
    let lookup = definition.clone();
    let tool = || {
        Tool::dynamic(lookup.clone(), |parameters, _| async move {
            match parameters.as_str() {
                "0" => Err(Diagnostic::cut("Zero", "nothing there").into()),
                _ => Ok(parameters),
            }
        })
    };
    assert_eq!(call(tool(), "12"), success("12"));
    assert_eq!(call(tool(), "0"), failure("Zero", "nothing there"));
    let Ended::Outcome(ToolOutcome::Defect(why)) = call(tool(), "\"a\"") else {
        panic!("a text is no integer")
    };
    assert_eq!(why.tag(), "OutputInvalid");

    definition.parameters = Schema::parse(br#"{"type":"string"}"#).unwrap();
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let strict = Tool::dynamic(definition.clone(), move |parameters, _| {
        counted.up();
        async move { Ok(parameters) }
    });
    let Ended::Outcome(ToolOutcome::InvalidInput(why)) = call(strict, "12") else {
        panic!("a number is no text")
    };
    assert_eq!(why.message(), "at the top: value is not of type \"string\"");
    assert_eq!(count.so_far(), 0);
}

#[test]
fn dur_009_a_handler_is_told_the_key_and_the_epoch_of_its_call() {
    let tool = Tool::new("key", |(): (), context: ToolContext| async move {
        let key = context.call().to_string();
        Ok::<_, NoFailure>((key, context.epoch().0))
    });
    let key = ToolCallId([7; 16]);
    assert_eq!(call(tool, "null"), success(&format!("[\"{key}\",3]")));
}
