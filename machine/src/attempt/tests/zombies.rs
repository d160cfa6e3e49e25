//! Two attempts at once: one sleeps at any point, another acts, and both go on.

use super::history;
use super::stage::Stage;
use crate::agent::Resolution;
use crate::attempt::End;
use crate::effect::Reconciliation;
use crate::identity::Epoch;
use crate::testkit::text;

/// Lets one attempt sleep after any of its steps and a successor after any of its own; then both
/// go on to their ends, in either order, and the lane settles.
fn everywhere(turns: &[&[&'static str]], how: &Resolution, check: fn(&Stage, usize)) {
    for asleep in 0.. {
        for awake in 0.. {
            let mut is_last = false;
            for successor_first in [false, true] {
                let mut stage = Stage::new(turns);
                stage.host.outside.reconciliation = Reconciliation::Unprovable;
                if !(0..asleep).all(|_| stage.go_on(0)) {
                    assert!(asleep > 6, "the first attempt has steps to sleep at");
                    return;
                }
                stage.host.wait_for_lease();
                let successor = stage.enter();
                is_last = !(0..awake).all(|_| stage.go_on(successor));
                if successor_first {
                    stage.finish(successor);
                }
                let resolved = stage.settle(how);
                assert!(stage.actors.iter().all(|it| it.end.is_some()), "every attempt ends");
                check(&stage, resolved);
            }
            if is_last {
                break;
            }
        }
    }
}

#[test]
fn arc_13_two_attempts_at_an_answer_without_tools_settle_it_once() {
    everywhere(&[], &Resolution::NeverStarted, |stage, resolved| {
        assert_eq!((resolved, stage.invoked()), (0, 0));
    });
}

#[test]
fn dur_009_two_attempts_invoke_an_ordinary_call_at_most_once() {
    everywhere(&[&["pay"]], &Resolution::Completed(text("by hand")), |stage, resolved| {
        assert!(stage.invoked() <= 1, "{:?}", history(&stage.host));
        assert!(resolved <= 1);
    });
}

#[test]
fn dur_009_two_attempts_invoke_an_ordinary_call_once_more_for_every_resolution_that_allows_it() {
    everywhere(&[&["pay"]], &Resolution::SafeToRepeat, |stage, resolved| {
        assert!(stage.invoked() <= 1 + resolved);
        let prepared = history(&stage.host).iter().filter(|it| **it == "prepared").count();
        assert!(prepared <= 1 + resolved);
    });
}

#[test]
fn dur_003_two_attempts_may_both_start_an_idempotent_call_under_its_one_key() {
    everywhere(&[&["file"]], &Resolution::NeverStarted, |stage, resolved| {
        assert_eq!(resolved, 0, "nobody has to be asked");
        assert!((1..=2).contains(&stage.invoked()));
    });
}

#[test]
fn dur_006_every_record_is_of_the_epoch_that_its_log_had() {
    everywhere(&[&["look"]], &Resolution::NeverStarted, |stage, _| {
        let epochs = stage.host.store.log.iter().map(|stored| stored.envelope().epoch);
        let mut last = Epoch(0);
        for epoch in epochs {
            assert!(last <= epoch, "DUR-006");
            last = epoch;
        }
    });
}

#[test]
fn case_cr_07_a_predecessor_that_appends_after_the_fence_is_refused_and_ends() {
    let mut stage = Stage::new(&[&["look"]]);
    stage.until(0, "conversation.append:CallsDeclared");
    stage.host.wait_for_lease();
    let successor = stage.enter();
    stage.until_out(successor, "model.call");
    let log = stage.host.store.log.clone();
    assert_eq!(stage.finish(0), Some(End::Superseded));
    assert_eq!(stage.host.store.log, log, "ARC-13");
    assert_eq!(stage.finish(successor), Some(End::Settled));
}

#[test]
fn arc_13_a_predecessor_that_appends_before_the_fence_makes_the_successor_read_again() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.host.wait_for_lease();
    let successor = stage.enter();
    stage.until(successor, "conversation.fence");
    // The weak store has taken the claim, but not yet the fence.
    let claim = stage.actors[successor].pipeline().unwrap().commands[0].clone();
    stage.host.store.one(&claim).unwrap();
    stage.answer(0, 0);
    assert_eq!(stage.actors[0].commands()[0], "conversation.append:ToolSettled");
    stage.go_on(0);
    assert_eq!(stage.finish(successor), Some(End::Settled));
    assert!(!history(&stage.host).contains(&"unknown"), "it saw the result");
    assert!(matches!(stage.finish(0), Some(End::Superseded | End::Settled)));
    assert_eq!(stage.invoked(), 1);
}

#[test]
fn case_le_01_the_same_worker_claims_again_and_its_old_attempt_writes_nothing_more() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.host.wait_for_lease();
    let again = stage.enter();
    assert_eq!(stage.finish(again), Some(End::Parked));
    let log = stage.host.store.log.clone();
    assert_eq!(stage.finish(0), Some(End::Superseded), "token and epoch are of one claim");
    assert_eq!(stage.host.store.log, log);
}
