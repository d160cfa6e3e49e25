//! What a handler may ask for.

use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::identity::StepName;
use crate::json::CanonicalJson;
use crate::testkit::step as recorded;

fn named(name: &str, version: u32) -> NamedStep {
    NamedStep { name: StepName::new(name).unwrap(), version }
}

/// The step of a name in its version 1.
fn step(name: &str) -> NamedStep {
    named(name, 1)
}

fn entry(steps: &[&str]) -> Entry {
    Entry::new(steps.iter().map(|name| recorded(name)).collect())
}

/// A handler that asks for a step, runs it, and is told that it is recorded.
fn does(entry: &mut Entry, name: &str) -> Asked {
    let asked = entry.ask(step(name)).unwrap();
    if asked == Asked::Run {
        let (ordinal, output) =
            entry.succeeded(StepOutput::clone(&recorded(name))).unwrap().unwrap();
        assert_eq!(ordinal, entry.asked());
        entry.recorded(output);
    }
    asked
}

#[test]
fn dur_010_what_is_recorded_is_given_back_and_only_what_follows_runs() {
    let mut entry = entry(&["a", "b"]);
    assert_eq!(does(&mut entry, "a"), Asked::Recorded(recorded("a")));
    assert_eq!(does(&mut entry, "b"), Asked::Recorded(recorded("b")));
    assert_eq!(does(&mut entry, "c"), Asked::Run);
    assert_eq!(does(&mut entry, "d"), Asked::Run);
    assert_eq!(entry.end(), None);
}

#[test]
fn case_cr_09_another_step_than_the_recorded_one_is_named_with_what_was_expected() {
    let [expected, one] = [step("a"), step("b")];
    for found in [step("b"), named("a", 2)] {
        let mut entry = entry(&["z", "a"]);
        does(&mut entry, "z");
        let fault = entry.ask(found.clone()).unwrap_err();
        let differs = StepFault::Differs { ordinal: 1, expected: expected.clone(), found };
        assert_eq!(fault, differs);
        assert_eq!(fault.tag(), "StepsIncompatible");
        assert_eq!(entry.end(), Some(fault), "whatever the handler makes of it");
        assert!(entry.ask(step("a")).is_err(), "nothing is asked for behind a fault");
    }
    let mut entry = entry(&["a"]);
    let fault = entry.ask(one).unwrap_err();
    let words = "step 1 is recorded as `a` version 1, and the handler asks for `b` version 1";
    assert_eq!(fault.diagnostic().message(), words);
}

#[test]
fn case_cr_09_a_handler_that_ends_before_its_record_does_is_incompatible() {
    let mut entry = entry(&["a", "b"]);
    does(&mut entry, "a");
    let fault = StepFault::Ended { ordinal: 1, expected: step("b") };
    assert_eq!(entry.end(), Some(fault.clone()));
    assert_eq!(fault.tag(), "StepsIncompatible");
}

#[test]
fn dur_010_a_body_that_failed_or_was_given_up_may_run_again_under_the_same_name() {
    let mut entry = entry(&["a"]);
    does(&mut entry, "a");
    for _ in 0..3 {
        assert_eq!(entry.ask(step("b")), Ok(Asked::Run));
        entry.abandon();
    }
    assert_eq!(entry.end(), None, "nothing that is recorded is missing");
    assert_eq!(does(&mut entry, "b"), Asked::Run);
}

#[test]
fn dur_010_a_name_is_used_once_in_a_call() {
    let mut entry = entry(&["a"]);
    does(&mut entry, "a");
    let twice = StepFault::Twice { name: StepName::new("a").unwrap() };
    assert_eq!(entry.ask(named("a", 2)), Err(twice));
}

#[test]
fn dur_010_steps_do_not_run_at_once() {
    let mut entry = entry(&[]);
    assert_eq!(entry.ask(step("a")), Ok(Asked::Run));
    let (running, found) = (StepName::new("a").unwrap(), StepName::new("b").unwrap());
    let fault = StepFault::AtOnce { running, found };
    assert_eq!(entry.ask(step("b")), Err(fault.clone()));
    let late = entry.succeeded(StepOutput::clone(&recorded("a")));
    assert_eq!(late, Err(fault), "nothing is recorded behind a fault");
}

#[test]
fn dur_010_what_no_running_step_gave_is_not_recorded() {
    let mut entry = entry(&[]);
    assert_eq!(entry.succeeded(StepOutput::clone(&recorded("a"))), Ok(None));
    assert_eq!(entry.ask(step("a")), Ok(Asked::Run));
    assert_eq!(entry.succeeded(StepOutput::clone(&recorded("b"))), Ok(None));
    entry.abandon();
    assert_eq!(entry.succeeded(StepOutput::clone(&recorded("a"))), Ok(None));
}

#[test]
fn dur_010_the_number_of_steps_and_the_bytes_of_what_one_gives_are_bounded() {
    let names: Vec<_> = (0..CALL_STEPS).map(|at| alloc::format!("{at}")).collect();
    let mut full = entry(&names.iter().map(|name| name.as_str()).collect::<Vec<_>>());
    for name in &names {
        does(&mut full, name);
    }
    assert_eq!(full.ask(step("x")), Err(StepFault::TooMany { step: step("x") }));
    let give = |bytes: usize| {
        let output = CanonicalJson::string(&"x".repeat(bytes - 2)).unwrap();
        let mut entry = entry(&[]);
        entry.ask(step("a")).unwrap();
        entry.succeeded(StepOutput { step: step("a"), output }).map(|given| given.is_some())
    };
    assert_eq!(give(STEP_OUTPUT_BYTES), Ok(true));
    let bytes = STEP_OUTPUT_BYTES + 1;
    assert_eq!(give(bytes), Err(StepFault::TooLarge { step: step("a"), bytes }));
}

#[test]
fn dur_010_the_first_fault_counts() {
    let mut entry = entry(&[]);
    let fault = entry.refuse(StepFault::Unkept { step: step("a") });
    assert_eq!(entry.refuse(StepFault::TooMany { step: step("b") }), fault);
    assert_eq!(entry.end(), Some(fault));
}

#[test]
fn dur_010_every_fault_has_a_tag_of_its_own_or_is_an_incompatibility() {
    let (step, name, ordinal) = (step("a"), StepName::new("a").unwrap(), 0);
    let faults = [
        (
            StepFault::Differs { ordinal, expected: step.clone(), found: step.clone() },
            "StepsIncompatible",
        ),
        (StepFault::Ended { ordinal, expected: step.clone() }, "StepsIncompatible"),
        (StepFault::Mistyped { ordinal, step: step.clone() }, "StepsIncompatible"),
        (StepFault::Unnamed { why: crate::identity::NameError::Empty }, "StepUnnamed"),
        (StepFault::NotDurable { name: name.clone() }, "NotDurable"),
        (StepFault::Twice { name: name.clone() }, "StepTwice"),
        (StepFault::AtOnce { running: name.clone(), found: name }, "StepsAtOnce"),
        (StepFault::TooMany { step: step.clone() }, "TooManySteps"),
        (StepFault::Unkept { step: step.clone() }, "StepOutputInvalid"),
        (StepFault::TooLarge { step, bytes: 1 }, "StepOutputTooLarge"),
    ];
    for (fault, tag) in faults {
        assert_eq!((fault.tag(), fault.diagnostic().tag()), (tag, tag), "{fault}");
    }
}

/// One thing that a handler does.
#[derive(Clone, Debug)]
enum Act {
    Ask(usize),
    Fail,
    Succeed,
    /// It dies, and is entered again with what is recorded.
    Die,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..4_usize).prop_map(Act::Ask),
        1 => Just(Act::Fail),
        4 => Just(Act::Succeed),
        1 => Just(Act::Die),
    ]
}

proptest! {
    #![proptest_config(crate::record::strategies::cases(400))]

    /// Whatever a handler does, what is recorded only grows, each name once; a body runs only for a
    /// name that is not recorded, behind all that is.
    #[test]
    fn dur_010_whatever_a_handler_does_no_recorded_step_runs_again(
        acts in prop::collection::vec(act(), 0..40),
    ) {
        const NAMES: [&str; 4] = ["a", "b", "c", "d"];
        let mut log: Vec<Arc<StepOutput>> = Vec::new();
        let (mut entry, mut running, mut given) = (Entry::new(Vec::new()), None, 0);
        for act in acts {
            match act {
                Act::Ask(which) => match entry.ask(step(NAMES[which])) {
                    Ok(Asked::Recorded(known)) => {
                        prop_assert_eq!(&known, &log[given]);
                        prop_assert_eq!(known.step.name.as_str(), NAMES[which]);
                        given += 1;
                    }
                    Ok(Asked::Run) => {
                        prop_assert_eq!(given, log.len(), "none is left out");
                        let is_there = log.iter().any(|it| it.step.name.as_str() == NAMES[which]);
                        prop_assert!(!is_there, "it is recorded");
                        running = Some(NAMES[which]);
                    }
                    Err(_) => prop_assert!(entry.end().is_some()),
                },
                Act::Fail => {
                    entry.abandon();
                    running = None;
                }
                Act::Succeed => {
                    let Some(name) = running.take() else { continue };
                    if let Ok(Some((ordinal, output))) =
                        entry.succeeded(StepOutput::clone(&recorded(name)))
                    {
                        prop_assert_eq!(ordinal as usize, log.len());
                        log.push(output.clone());
                        entry.recorded(output);
                        given = log.len();
                    }
                }
                Act::Die => (entry, running, given) = (Entry::new(log.clone()), None, 0),
            }
        }
    }
}
