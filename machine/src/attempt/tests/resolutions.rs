//! What people say that a call has returned is held against what its tool declares.

use alloc::vec::Vec;

use super::crashes::{recover, resolve};
use super::{Host, history};
use crate::agent::{Diagnostic, ExecutionClass, Resolution, Schema, ToolDefinition, ToolOutcome};
use crate::attempt::{Effect, End};
use crate::effect::{CheckSubject, External};
use crate::identity::ToolName;
use crate::record::{Record, ToolResolved};
use crate::testkit::{bound, call, policy, text};

/// A lane whose owner has died around a call of a tool that returns what a schema says.
fn doubted() -> Host {
    let mut paying = ToolDefinition::new(ToolName::new("pay").unwrap(), ExecutionClass::Ordinary);
    paying.success = Schema::parse(br#"{"type":"object"}"#).unwrap();
    let mut host = Host::new(&[&["pay"]]);
    host.binding = bound(alloc::vec![paying], policy());
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let invokes = |effect: &Effect| matches!(effect, Effect::External(External::InvokeTool(_)));
    host.perform(state, effects, |effect| !invokes(effect)).unwrap();
    host.wait_for_lease();
    assert_eq!(host.work(), End::Parked);
    host
}

fn said() -> Resolution {
    Resolution::Completed(text("by hand"))
}

fn misfit() -> Diagnostic {
    Diagnostic::cut("DoesNotFit", "at ``: no object")
}

/// What is recorded of the person's word, and how the call has ended.
fn ends(host: &Host) -> (Resolution, ToolOutcome) {
    let records = || host.store.log.iter().flat_map(|stored| stored.batch().records());
    let words = records().filter_map(|it| match it {
        Record::ToolResolved(ToolResolved { resolution, .. }) => Some((**resolution).clone()),
        _ => None,
    });
    let ends = records().filter_map(|it| match it {
        Record::ToolSettled(it) => Some((*it.outcome).clone()),
        _ => None,
    });
    let both: Vec<_> = words.zip(ends).collect();
    assert_eq!(both.len(), 1, "{:?}", history(host));
    both[0].clone()
}

/// The values that were checked because of somebody's word.
fn checks(host: &Host) -> usize {
    let checks = host.outside.asked.iter().filter(|external| {
        let External::Check { subject: CheckSubject::Resolution(_), values, .. } = external else {
            return false;
        };
        assert_eq!(values[0].value, text("by hand"));
        true
    });
    checks.count()
}

#[test]
fn cap_004_a_result_that_a_person_names_and_that_does_not_fit_is_a_defect_of_the_call() {
    let mut host = doubted();
    host.outside.misfit = Some(misfit());
    recover(&mut host, &said());
    let (word, end) = ends(&host);
    assert_eq!(word, said(), "the word stands as it was said");
    let ToolOutcome::Defect(why) = end else { panic!("no success is shown: {end:?}") };
    assert_eq!((why.tag(), why.message()), ("OutputInvalid", misfit().message()));
    assert_eq!((checks(&host), host.outside.invocations()), (1, 0));
    assert_eq!(history(&host).last(), Some(&"settled"), "the run goes on");
}

#[test]
fn cap_004_a_result_that_a_person_names_and_that_fits_is_the_success_of_the_call() {
    let mut host = doubted();
    recover(&mut host, &said());
    assert_eq!(ends(&host), (said(), ToolOutcome::Success(text("by hand"))));
    assert_eq!(checks(&host), 1);
}

#[test]
fn cap_004_what_a_person_says_without_a_result_is_not_checked() {
    let failed = Resolution::Failed(Diagnostic::cut("Declined", "no"));
    let mut host = doubted();
    host.outside.misfit = Some(misfit());
    recover(&mut host, &failed);
    let ToolOutcome::Failure(why) = ends(&host).1 else { panic!("{:?}", ends(&host)) };
    assert_eq!((why.tag(), checks(&host)), ("Declined", 0));
}

/// Whoever dies around the check leaves the word on the row, and the next one checks it.
#[test]
fn cap_004_a_word_is_checked_by_whoever_records_it_at_last() {
    for crash_at in 0.. {
        let mut host = doubted();
        host.outside.misfit = Some(misfit());
        assert_eq!(resolve(&mut host, &said()), 1);
        let (state, effects) = host.attempt();
        let mut count = 0;
        let crashed = host.perform(state, effects, |_| {
            count += 1;
            count <= crash_at
        });
        recover(&mut host, &said());
        assert!(matches!(ends(&host), (_, ToolOutcome::Defect(_))), "{:?}", history(&host));
        if crashed.is_err() {
            assert!(crash_at > 5, "there is something to die at");
            return;
        }
    }
}
