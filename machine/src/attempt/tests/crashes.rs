//! Attempts that crash before each of their effects, and what the next ones make of it.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::history;
use crate::agent::Resolution;
use crate::attempt::{Attempt, Effect, End, Input};
use crate::contract::Machine;
use crate::effect::{EffectKind, LedgerKind, Reconciliation};
use crate::identity::PrincipalId;
use crate::ledger::{
    AbortIntent, Agreement, Command, MarkState, Phase, ResolutionIntent, agreement,
};
use crate::projection::Projection;
use crate::record::Outcome;
use crate::store::{Pipeline, Store, StoreCommand, StoreFault};
use crate::testkit::{Host, LOST, call, submission, text};

fn intent(resolution: Resolution) -> ResolutionIntent {
    ResolutionIntent {
        resolution: Arc::new(resolution),
        principal: PrincipalId::new("operator").unwrap(),
        reason: "looked".into(),
    }
}

/// Closes every open doubt of the submission; how many there were.
pub(super) fn resolve(host: &mut Host, resolution: &Resolution) -> usize {
    let row = host.store.row(submission("1")).unwrap();
    let open = row.marks.iter().filter(|mark| mark.state == MarkState::Open);
    let doubts: Vec<_> = open.map(|mark| mark.doubt).collect();
    for doubt in &doubts {
        let (submission, doubt) = (submission("1"), *doubt);
        let intent = intent(resolution.clone());
        host.store.ledger(Command::Resolve { submission, doubt, intent }).unwrap();
    }
    doubts.len()
}

/// Works the lane until nothing is left, with an operator who always answers the same.
pub(super) fn recover(host: &mut Host, resolution: &Resolution) {
    for _ in 0..8 {
        host.wait_for_lease();
        let end = host.work();
        let resolved = resolve(host, resolution);
        if end == End::Idle && resolved == 0 {
            return;
        }
    }
    panic!("the lane does not come to rest: {:?}", host.store.rows);
}

pub(super) fn check(host: &Host) {
    let log = Projection::of(host.store.log.iter().map(Arc::as_ref)).unwrap();
    for row in &host.store.rows {
        assert!(matches!(row.phase, Phase::Settled(_)), "ARC-14: {row:?}");
        assert_eq!(agreement(row, &log), Agreement::Current, "DUR-015: {row:?}");
    }
    let settled = history(host).iter().filter(|it| **it == "settled").count();
    assert_eq!(settled, host.store.rows.len(), "DUR-002");
}

/// Crashes the first attempt just before its n-th effect, for every n, and recovers.
fn crash_everywhere(turns: &[&[&'static str]], resolution: &Resolution, check_host: fn(&Host)) {
    for crash_at in 0.. {
        let mut host = Host::new(turns);
        host.admit(call("1", "hello"));
        let (state, effects) = host.attempt();
        let mut count = 0;
        let crashed = host.perform(state, effects, |_| {
            count += 1;
            count <= crash_at
        });
        recover(&mut host, resolution);
        check(&host);
        check_host(&host);
        if crashed.is_err() {
            assert!(crash_at > 5, "the first attempt has effects to crash at");
            return;
        }
    }
}

#[test]
fn arc_14_a_submission_without_tools_survives_a_crash_before_every_effect() {
    crash_everywhere(&[], &Resolution::SafeToRepeat, |host| {
        assert_eq!(host.outside.invocations(), 0);
    });
}

#[test]
fn dur_009_an_ordinary_call_is_invoked_at_most_once_without_a_resolution_that_allows_more() {
    let completed = Resolution::Completed(text("by hand"));
    crash_everywhere(&[&["pay"]], &completed, |host| {
        assert!(host.outside.invocations() <= 1);
    });
}

#[test]
fn dur_009_an_ordinary_call_resolved_as_never_started_starts_anew() {
    crash_everywhere(&[&["pay"]], &Resolution::NeverStarted, |host| {
        // Said of a call that did run, it is a lie that only a person can tell.
        assert!((1..=2).contains(&host.outside.invocations()));
    });
}

#[test]
fn dur_009_mixed_batches_repeat_only_what_may_be_repeated() {
    crash_everywhere(&[&["look", "file", "pay"]], &Resolution::SafeToRepeat, |host| {
        assert!((3..=6).contains(&host.outside.invocations()));
    });
}

#[test]
fn d_10_a_reconciler_that_proves_never_started_lets_the_call_start_again() {
    let mut host = Host::new(&[&["wire"]]);
    host.outside.reconciliation = Reconciliation::Proven(Resolution::NeverStarted);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let invoke = |effect: &Effect| {
        matches!(effect, Effect::External(crate::effect::External::InvokeTool(_)))
    };
    let crashed = host.perform(state, effects, |effect| !invoke(effect));
    assert!(crashed.is_ok());
    host.wait_for_lease();
    assert_eq!(host.work(), End::Settled);
    let expected = ["input", "responded", "prepared", "recovery", "prepared", "tool-settled"];
    assert_eq!(history(&host)[..expected.len()], expected);
    assert!(!history(&host).contains(&"interrupted"), "nobody had asked (BU-07)");
    assert_eq!(host.outside.invocations(), 1);
    check(&host);
}

#[test]
fn bu_07_a_lane_that_was_let_go_before_a_question_costs_none_and_one_that_ran_out_does() {
    for lets_go in [true, false] {
        let mut host = Host::new(&[&["look"]]);
        host.admit(call("1", "hello"));
        let (state, effects) = host.attempt();
        let mut asked = 0;
        let second = |effect: &Effect| {
            let asks = matches!(effect, Effect::External(crate::effect::External::CallModel(_)));
            asked += u32::from(asks);
            asked < 2
        };
        let (state, _) = host.perform(state, effects, second).expect("the second turn is asked");
        if lets_go {
            let owner = state.ownership().expect("it owns the lane");
            let release = StoreCommand::Ledger(Command::Release { owner });
            let pipeline =
                Pipeline { lane: call("1", "").conversation, commands: alloc::vec![release] };
            assert!(host.store.execute(&pipeline).is_ok());
        } else {
            host.wait_for_lease();
        }
        assert_eq!(host.work(), End::Settled);
        assert_eq!(history(&host).contains(&"interrupted"), !lets_go);
        check(&host);
    }
}

#[test]
fn dur_013_taking_over_is_recorded_once_an_epoch() {
    let mut host = Host::new(&[&["look"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let mut externals = 0;
    let crashed = host.perform(state, effects, |effect| {
        externals += usize::from(matches!(effect, Effect::External(_)));
        externals < 3
    });
    assert!(crashed.is_ok());
    host.wait_for_lease();
    assert_eq!(host.work(), End::Settled);
    let recoveries = history(&host).iter().filter(|it| **it == "recovery").count();
    assert_eq!(recoveries, 1);
}

/// Loses the acknowledgement of every pipeline once; the identical pipeline follows.
#[test]
fn dur_007_every_acknowledgement_can_be_lost() {
    let mut host = Host::new(&[&["pay"], &["look"]]);
    host.admit(call("1", "hello"));
    let (mut state, effects) = host.attempt();
    let mut queue = VecDeque::from(effects);
    let mut repeated = 0;
    while let Some(effect) = queue.pop_front() {
        let input = match effect {
            Effect::Store(pipeline) => {
                host.store.execute(&pipeline).unwrap();
                let again = Attempt::step(state, Input::Stored(Err(LOST)));
                state = again.state;
                let mut expected = alloc::vec![Effect::Store(pipeline.clone())];
                expected.extend(queue.drain(..));
                assert_eq!(again.effects, expected, "the identical effects leave again");
                queue.extend(again.effects.into_iter().skip(1));
                repeated += 1;
                Input::Stored(host.store.execute(&pipeline))
            }
            Effect::External(external) => Input::Answered(host.outside.answer(external)),
            Effect::CallOff
            | Effect::CancelExternals
            | Effect::ScheduleRenewal { .. }
            | Effect::Schedule { .. }
            | Effect::Tell { .. } => {
                continue;
            }
            Effect::End(end) => {
                assert_eq!(end, End::Settled);
                break;
            }
        };
        let step = Attempt::step(state, input);
        state = step.state;
        queue.extend(step.effects);
    }
    assert!(repeated >= 7, "{repeated}");
    assert_eq!(host.outside.invocations(), 2);
    check(&host);
}

#[test]
fn dur_012_an_abort_before_the_claim_settles_without_a_run() {
    let mut host = Host::new(&[&["pay"]]);
    host.admit(call("1", "hello"));
    abort(&mut host);
    recover(&mut host, &Resolution::SafeToRepeat);
    assert_eq!(history(&host), ["abort", "settled"]);
    assert_eq!(host.outside.asked.len(), 0);
    check(&host);
}

pub(super) fn abort(host: &mut Host) {
    let intent = AbortIntent {
        principal: PrincipalId::new("ada").unwrap(),
        reason: "changed my mind".into(),
    };
    let command = Command::Abort { submission: submission("1"), intent };
    host.store.ledger(command).unwrap();
}

#[test]
fn case_ab_03_an_abort_during_a_call_records_both_and_the_doubt_stays_resolvable() {
    let mut host = Host::new(&[&["pay"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let invoke = |effect: &Effect| {
        matches!(effect, Effect::External(crate::effect::External::InvokeTool(_)))
    };
    let (state, _) = host.perform(state, effects, |effect| !invoke(effect)).unwrap();
    abort(&mut host);
    let woken = Attempt::step(state, Input::Woken);
    let end = host.perform(woken.state, woken.effects, |_| true).unwrap_err();
    assert_eq!(end, End::Settled);
    let expected = ["input", "responded", "prepared", "abort", "unknown", "settled"];
    assert_eq!(history(&host), expected);
    let row = host.store.row(submission("1")).unwrap();
    assert!(matches!(&row.phase, Phase::Settled(it) if it.outcome == Outcome::Aborted));
    assert_eq!(row.marks.len(), 1, "DUR-017: the doubt stays listed");
    assert_eq!(resolve(&mut host, &Resolution::Completed(text("paid"))), 1);
    recover(&mut host, &Resolution::SafeToRepeat);
    assert_eq!(history(&host)[6..], ["resolved", "tool-settled"]);
    check(&host);
}

/// The abort and the answer to the doubt both stand on the row when the next attempt reads it.
/// Its finalization gives the lane back, so the answer is an errand of another attempt.
#[test]
fn bug_abort_over_a_covered_doubt_leaves_the_resolution_to_the_next_attempt() {
    let mut host = Host::new(&[&["pay"]]);
    host.admit(call("1", "hello"));
    let (state, effects) = host.attempt();
    let invoke = |effect: &Effect| {
        matches!(effect, Effect::External(crate::effect::External::InvokeTool(_)))
    };
    host.perform(state, effects, |effect| !invoke(effect)).unwrap();
    host.wait_for_lease();
    assert_eq!(host.work(), End::Parked);
    assert_eq!(resolve(&mut host, &Resolution::Completed(text("paid"))), 1);
    abort(&mut host);
    assert_eq!([host.work(), host.work(), host.work()], [End::Settled, End::Settled, End::Idle]);
    assert_eq!(history(&host)[5..], ["recovery", "abort", "settled", "resolved", "tool-settled"]);
    check(&host);
}

/// A reading of log and lane is not atomic: the row may know what was appended in between. It is
/// no corruption as long as the log grows, and one as soon as it does not.
#[test]
fn bug_attempt_reads_on_while_the_row_is_ahead_of_the_log() {
    let mut host = Host::new(&[]);
    host.admit(call("1", "hello"));
    let early = host.store.clone();
    let (state, effects) = host.attempt();
    let finalize = EffectKind::Ledger(LedgerKind::Finalize);
    let closes = |effect: &Effect| match effect {
        Effect::Store(it) => it.commands.last().is_some_and(|last| last.kind() == finalize),
        _ => false,
    };
    let (_, rest) = host.perform(state, effects, |effect| !closes(effect)).unwrap();
    let Some(Effect::Store(closing)) = rest.first() else { panic!("{rest:?}") };
    for command in &closing.commands[..2] {
        host.store.one(command).unwrap();
    }
    host.wait_for_lease();
    let (state, effects) = host.attempt();
    let [Effect::Store(reading)] = &effects[..] else { panic!("{effects:?}") };
    let torn = |host: &mut Host| {
        let (log, lane) = (&reading.commands[0], &reading.commands[1]);
        let page = early.clone().one(log).unwrap();
        Ok(alloc::vec![page, host.store.one(lane).unwrap()])
    };
    let first = torn(&mut host);
    let step = Attempt::step(state, Input::Stored(first));
    let [Effect::Store(again)] = &step.effects[..] else { panic!("{:?}", step.effects) };
    let frozen = Attempt::step(step.state.clone(), {
        let page = early.clone().one(&again.commands[0]).unwrap();
        Input::Stored(Ok(alloc::vec![page, host.store.one(&again.commands[1]).unwrap()]))
    });
    let end_of_log = crate::identity::Sequence(1);
    let ahead = End::Corrupt(crate::record::Corruption::Ahead { end: end_of_log });
    assert_eq!(frozen.effects.last(), Some(&Effect::End(ahead)));
    let end = host.perform(step.state, step.effects, |_| true).unwrap_err();
    assert_eq!(end, End::Settled);
    check(&host);
}

/// A zombie: the attempt is paused before an effect, a successor acts, then it goes on.
#[test]
fn arc_13_a_predecessor_that_wakes_changes_nothing_and_ends() {
    for pause_at in 1.. {
        let mut host = Host::new(&[&["look"]]);
        host.admit(call("1", "hello"));
        let (state, effects) = host.attempt();
        let mut count = 0;
        let zombie = host.perform(state, effects, |_| {
            count += 1;
            count < pause_at
        });
        let Ok((zombie, paused)) = zombie else { return };
        host.wait_for_lease();
        if host.work() == End::Idle {
            return; // It paused after it had settled everything.
        }
        let before = host.store.clone();
        let end = host.perform(zombie, paused, |_| true).expect_err("the zombie ends");
        assert!(matches!(end, End::Superseded | End::Idle | End::Settled), "{end:?}");
        assert_eq!(host.store.log, before.log);
        assert_eq!(host.store.rows, before.rows);
        check(&host);
    }
}

#[test]
fn store_006_a_corrupt_log_ends_the_attempt_and_names_the_place() {
    let mut host = Host::new(&[]);
    host.admit(call("1", "hello"));
    host.admit(call("2", "again"));
    host.work();
    host.store.log.remove(1);
    let end = host.work();
    assert!(matches!(end, End::Corrupt(_)), "{end:?}");
}

#[test]
fn an_answer_that_no_store_gives_is_a_defect_and_not_a_panic() {
    let mut host = Host::new(&[]);
    host.admit(call("1", "hello"));
    let (state, _) = host.attempt();
    let step = Attempt::step(state, Input::Stored(Ok(Vec::new())));
    assert_eq!(step.effects.last(), Some(&Effect::End(End::Defect)));
}

#[test]
fn a_transient_refusal_loses_no_answer() {
    let mut host = Host::new(&[&["pay"]]);
    host.admit(call("1", "hello"));
    let (mut state, mut effects) = host.attempt();
    let mut refused = false;
    let end = loop {
        let mut next = Vec::new();
        for effect in effects {
            let input = match effect {
                Effect::Store(pipeline) if !refused && settles_a_call(&pipeline.commands) => {
                    refused = true;
                    let why = crate::store::Refusal::Ledger(crate::ledger::Refusal::NotRunning);
                    Input::Stored(Err(StoreFault::Refused { at: 0, why }))
                }
                Effect::Store(pipeline) => Input::Stored(host.store.execute(&pipeline)),
                Effect::External(external) => Input::Answered(host.outside.answer(external)),
                Effect::CallOff
                | Effect::CancelExternals
                | Effect::ScheduleRenewal { .. }
                | Effect::Schedule { .. }
                | Effect::Tell { .. } => continue,
                Effect::End(end) => {
                    next = alloc::vec![Effect::End(end)];
                    break;
                }
            };
            let is_refused = matches!(input, Input::Stored(Err(_)));
            let step = Attempt::step(state, input);
            (state, next) = (step.state, step.effects);
            if is_refused {
                break;
            }
        }
        match next.last() {
            Some(Effect::End(end)) => break *end,
            _ => effects = next,
        }
    };
    assert!(refused);
    assert_eq!(end, End::Settled);
    assert_eq!(host.outside.invocations(), 1);
    assert!(!history(&host).contains(&"unknown"), "a returned call is never in doubt");
    check(&host);
}

fn settles_a_call(commands: &[StoreCommand]) -> bool {
    use crate::record::BatchKind;
    commands.iter().any(|it| it.kind() == EffectKind::Append(BatchKind::ToolSettled))
}
