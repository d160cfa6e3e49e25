//! What handlers see of their steps.

use std::cell::Cell;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep_machine::agent::{ExecutionClass, NamedStep, StepOutput, ToolDefinition, ToolOutcome};
use everstep_machine::effect::Invocation;
use everstep_machine::identity::{AgentId, Epoch, RunId, StepKey, StepName, ToolCallId, ToolName};
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::STEP_OUTPUT_BYTES;
use everstep_machine::steps::StepFault;

use super::{Record, StepError, Steps};
use crate::tool::ToolFault;
use crate::{
    Canceller, Ended, Handlers, Live, NoFailure, Tool, ToolContext, Toolkit, ToolkitFault, Tools,
    block_on,
};

const CALL: ToolCallId = ToolCallId([7; 16]);

type Given<T> = Result<T, StepError<&'static str>>;

fn named(name: &str, version: u32) -> NamedStep {
    NamedStep { name: StepName::new(name).unwrap(), version }
}

/// A recorded step in its version 1.
fn recorded(name: &str, gave: &str) -> Arc<StepOutput> {
    let output = CanonicalJson::parse(gave.as_bytes()).unwrap();
    Arc::new(StepOutput { step: named(name, 1), output })
}

/// What a handler comes to that is given these steps, each of its own being recorded at once; what was
/// recorded, and what is wrong with the call.
fn entered<T, F: Future<Output = T>>(
    given: &[Arc<StepOutput>],
    handler: impl FnOnce(Steps) -> F,
) -> (T, Vec<String>, Option<StepFault>) {
    block_on(async {
        let (recorder, mut record) = Record::of(CALL, given.to_vec());
        let mut work = std::pin::pin!(handler(Steps::new(Some(recorder))));
        let mut kept = Vec::new();
        let result = loop {
            tokio::select! {
                biased;
                result = &mut work => break result,
                handed = record.next() => {
                    let (ordinal, output) = handed.step();
                    let said = output.output.as_str();
                    kept.push(format!("{ordinal} {} {said}", output.step));
                    record.recorded(handed);
                }
            }
        };
        (result, kept, record.fault())
    })
    .unwrap()
}

#[test]
fn dur_010_a_body_runs_only_if_its_step_is_not_recorded_and_has_the_key_of_call_and_name() {
    let ran = Cell::new(0);
    let (given, kept, fault) = entered(&[recorded("a", "1")], async |steps: Steps| {
        let body = |gives: u32| {
            ran.set(ran.get() + 1);
            async move { Ok(gives) }
        };
        let one: Given<u32> = steps.run("a", 1, |_| body(9)).await;
        let key = Cell::new(None);
        let two: Given<u32> = steps
            .run("b", 2, |it| {
                key.set(Some(it));
                body(2)
            })
            .await;
        (one, two, key.get())
    });
    let key = StepKey::derive(CALL, &StepName::new("b").unwrap());
    assert_eq!(given, (Ok(1), Ok(2), Some(key)), "what is recorded counts");
    assert_eq!((ran.get(), kept, fault), (1, vec!["1 `b` version 2 2".to_owned()], None));
}

#[test]
fn dur_010_a_step_that_fails_is_not_recorded_and_may_be_asked_for_again() {
    let (given, kept, fault) = entered(&[], async |steps: Steps| {
        let first: Given<u32> = steps.run("a", 1, |_| async { Err("full") }).await;
        let again: Given<u32> = steps.run("a", 1, |_| async { Ok(1) }).await;
        (first, again)
    });
    assert_eq!(given, (Err(StepError::Failed("full")), Ok(1)));
    assert_eq!((kept, fault), (vec!["0 `a` version 1 1".to_owned()], None));
}

#[test]
fn dur_010_a_body_that_nobody_waits_for_any_more_may_run_again() {
    let (given, kept, _) = entered(&[], async |steps: Steps| {
        let given_up = steps.run::<u32, &str>("a", 1, |_| std::future::pending());
        tokio::select! {
            biased;
            _ = given_up => panic!("it never ends"),
            () = async {} => {}
        }
        let again: Given<u32> = steps.run("a", 1, |_| async { Ok(1) }).await;
        again
    });
    assert_eq!((given, kept.len()), (Ok(1), 1));
}

#[test]
fn dur_010_steps_that_are_asked_for_at_once_are_a_fault_and_neither_is_recorded() {
    let (_, kept, fault) = entered(&[], async |steps: Steps| {
        let one = steps.run::<u32, &str>("a", 1, |_| async {
            tokio::task::yield_now().await;
            Ok(1)
        });
        let two = steps.run::<u32, &str>("b", 1, |_| async { Ok(2) });
        tokio::join!(one, two)
    });
    assert!(matches!(fault, Some(StepFault::AtOnce { .. })), "{fault:?}");
    assert_eq!(kept, [] as [&str; 0]);
}

#[test]
fn case_cr_09_what_a_recorded_step_gave_must_be_of_the_handlers_type() {
    let (given, _, fault) = entered(&[recorded("a", "\"many\"")], async |steps: Steps| {
        let given: Given<u32> = steps.run("a", 1, |_| async { Ok(1) }).await;
        given
    });
    let mistyped = StepFault::Mistyped { ordinal: 0, step: named("a", 1) };
    assert_eq!(given, Err(StepError::Fault(mistyped.clone())));
    assert_eq!(fault, Some(mistyped));
}

#[test]
fn dur_010_what_cannot_be_kept_whole_is_not_recorded() {
    let of = |size: usize| {
        entered(&[], async |steps: Steps| {
            let given: Given<String> =
                steps.run("a", 1, |_| async { Ok("x".repeat(size - 2)) }).await;
            given.is_ok()
        })
    };
    let (is_kept, kept, fault) = of(STEP_OUTPUT_BYTES);
    assert_eq!((is_kept, kept.len(), fault), (true, 1, None));
    let (is_kept, kept, fault) = of(STEP_OUTPUT_BYTES + 1);
    assert_eq!((is_kept, kept.len()), (false, 0));
    assert!(matches!(fault, Some(StepFault::TooLarge { .. })), "{fault:?}");
    let (_, kept, fault) = entered(&[], async |steps: Steps| {
        let given: Given<f64> = steps.run("a", 1, |_| async { Ok(f64::NAN) }).await;
        given.is_ok()
    });
    assert_eq!(kept.len(), 0);
    assert_eq!(fault, Some(StepFault::Unkept { step: named("a", 1) }), "NaN is no number in JSON");
}

#[test]
fn dur_010_a_step_needs_a_name_and_a_durable_call() {
    let (_, _, fault) = entered(&[], async |steps: Steps| {
        let given: Given<u32> = steps.run("", 1, |_| async { Ok(1) }).await;
        given
    });
    assert!(matches!(fault, Some(StepFault::Unnamed { .. })), "{fault:?}");
    let given: Given<u32> = block_on(Steps::new(None).run("a", 1, |_| async { Ok(1) })).unwrap();
    let name = StepName::new("a").unwrap();
    assert_eq!(given, Err(StepError::Fault(StepFault::NotDurable { name })));
}

#[test]
fn dur_006_a_handler_whose_record_is_gone_is_told_so() {
    let (recorder, record) = Record::of(CALL, Vec::new());
    drop(record);
    let steps = Steps::new(Some(recorder));
    let given: Given<u32> = block_on(steps.run("a", 1, |_| async { Ok(1) })).unwrap();
    assert_eq!(given, Err(StepError::Stopped));
}

#[test]
fn dur_010_a_tool_is_durable_exactly_when_it_is_made_of_steps() {
    let durable = || {
        Tool::durable("book", |(): (), steps: Steps, _: ToolContext| async move {
            steps.run::<u32, NoFailure>("a", 1, |_| async { Ok(1) }).await
        })
    };
    let plain = || Tool::new("book", |(): (), _| async { Ok::<_, NoFailure>(1) });
    let definitions = Toolkit::new([durable()]).unwrap().definitions();
    assert_eq!(definitions[0].class, ExecutionClass::Durable);
    let fault = |tool| {
        let error = Toolkit::new([tool]).unwrap_err();
        let [ToolkitFault::Tool { fault, .. }] = error.faults() else { panic!("{error}") };
        fault.clone()
    };
    assert_eq!(
        fault(durable().class(ExecutionClass::Ordinary)),
        ToolFault::Steps(ExecutionClass::Ordinary)
    );
    let class = ExecutionClass::Durable;
    assert_eq!(fault(plain().class(class)), ToolFault::Steps(class));
    let declared = ToolDefinition::new(ToolName::new("book").unwrap(), class);
    let dynamic = Tool::dynamic(declared, |value, _| async move { Ok(value) });
    assert_eq!(fault(dynamic), ToolFault::Steps(class));
}

#[test]
fn dur_010_a_handler_without_steps_does_nothing_for_a_durable_tool() {
    let (name, ran) = (ToolName::new("book").unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&ran);
    let tools = Tools::default().with(name.clone(), move |invocation: Invocation| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { ToolOutcome::Success(invocation.parameters) }
    });
    let invocation = |class| Invocation {
        call: CALL,
        epoch: Epoch(1),
        tool: name.clone(),
        run: RunId([7; 16]),
        agent: AgentId::new("clerk").unwrap(),
        group: None,
        class,
        parameters: CanonicalJson::parse(b"1").unwrap(),
        steps: Vec::new(),
        action: None,
    };
    let live = || Live::new(Canceller::new().cancellation());
    let ended = block_on(tools.invoke(invocation(ExecutionClass::Durable), live())).unwrap();
    let Ended::Outcome(ToolOutcome::Defect(why)) = ended else { panic!("{ended:?}") };
    assert_eq!((why.tag(), ran.load(Ordering::SeqCst)), ("NotDurable", 0));
    let ended = block_on(tools.invoke(invocation(ExecutionClass::Ordinary), live())).unwrap();
    assert!(matches!(ended, Ended::Outcome(ToolOutcome::Success(_))), "{ended:?}");
}
