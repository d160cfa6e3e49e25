//! Whoever has another binding than a run has leaves it alone (cases CR-05, CR-09).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::history;
use super::stage::{ACK_LOST, Fate, Stage};
use crate::agent::{Binding, Bound, ExecutionClass, Resolution, ToolDefinition};
use crate::attempt::End;
use crate::identity::{DurationMs, PrincipalId, ToolName};
use crate::ledger::{Command, Mismatch, Phase, RebindIntent};
use crate::limits::INCOMPATIBLE_MS;
use crate::record::{Outcome, Record};
use crate::testkit::{binding, bound, policy, submission, text};

/// The desk with `pay` declared idempotent: somebody would make it again who goes by that.
fn revised() -> Arc<Binding> {
    let desk = binding();
    let tools = desk.definition.tools().iter().map(|tool| match tool.name.as_str() {
        "pay" => ToolDefinition::new(ToolName::new("pay").unwrap(), ExecutionClass::Idempotent),
        _ => tool.clone(),
    });
    bound(tools.collect(), policy())
}

/// A run whose owner has died with a call of `pay` out, and a host that has the other desk.
fn abandoned() -> Stage {
    let mut stage = Stage::new(&[&["pay"], &[]]);
    stage.until_out(0, "tool.invoke");
    stage.actors.clear();
    stage.host.wait_for_lease();
    stage.host.binding = revised();
    stage
}

fn mismatch(stage: &Stage) -> Option<Mismatch> {
    let row = stage.host.store.row(submission("1")).unwrap();
    row.compat.incompatible.as_ref().map(|known| known.mismatch)
}

/// Somebody lets the run go on with what was found.
fn rebind(stage: &mut Stage) {
    let known = mismatch(stage).expect("somebody came");
    let (principal, reason) = (PrincipalId::new("ada").unwrap(), "no harm".into());
    let intent = RebindIntent { replaces: known.at, to: known.found, principal, reason };
    let command = Command::Rebind { submission: submission("1"), intent };
    stage.host.store.ledger(command).unwrap();
}

fn rebindings(stage: &Stage) -> Vec<(Bound, Bound)> {
    let records = stage.host.store.log.iter().flat_map(|stored| stored.batch().records());
    let rebound = records.filter_map(|record| match record {
        Record::RunRebound(it) => Some((it.from, it.to)),
        _ => None,
    });
    rebound.collect()
}

#[test]
fn case_cr_05_who_has_other_tools_claims_nothing_judges_nothing_and_says_so_once() {
    let mut stage = abandoned();
    let (epoch, owner) = (stage.host.store.lane.epoch, stage.host.store.lane.owner.clone());
    let log = stage.host.store.log.len();
    let at = stage.enter();
    assert_eq!(stage.finish(at), Some(End::Incompatible));
    let known = mismatch(&stage).unwrap();
    assert_eq!((known.expected, known.found), (binding().bound(), revised().bound()));
    assert_eq!(known.at.0, 1, "the record that binds it is the input");
    let lane = &stage.host.store.lane;
    assert_eq!((lane.epoch, &lane.owner), (epoch, &owner), "nothing is claimed");
    assert_eq!(stage.host.store.log.len(), log);
    let rows = stage.host.store.rows.clone();
    let at = stage.enter();
    let mut commands = Vec::new();
    while stage.actors[at].end.is_none() {
        commands.extend(stage.actors[at].commands());
        stage.go_on(at);
    }
    commands.dedup();
    assert!(!commands.contains(&"ledger.incompatible"), "it is known: {commands:?}");
    assert_eq!(stage.host.store.rows, rows);
}

#[test]
fn case_cr_05_whoever_has_its_binding_takes_it_at_once_whatever_build_it_is() {
    let mut stage = abandoned();
    let at = stage.enter();
    stage.finish(at);
    // Made anew from the same parts, as another build would.
    stage.host.binding = binding();
    let at = stage.enter();
    stage.finish(at);
    assert_eq!(mismatch(&stage), None, "nobody waits any more");
    assert_eq!(history(&stage.host).last(), Some(&"unknown"), "an ordinary call is in doubt");
    assert_eq!(stage.settle(&Resolution::Completed(text("paid"))), 1);
    assert_eq!(stage.invoked(), 1);
}

#[test]
fn case_cr_05_a_run_that_is_bound_anew_says_so_canonically_before_it_goes_on() {
    let mut stage = abandoned();
    let at = stage.enter();
    stage.finish(at);
    rebind(&mut stage);
    assert_eq!(stage.settle(&Resolution::NeverStarted), 0, "its tools say what may be repeated");
    assert_eq!(rebindings(&stage), [(binding().bound(), revised().bound())]);
    let records = history(&stage.host);
    let place = |name| records.iter().position(|it| *it == name);
    assert!(place("rebound") < records.iter().rposition(|it| *it == "prepared"), "{records:?}");
    assert_eq!(stage.invoked(), 2, "under its key");
}

#[test]
fn dur_013_a_crash_anywhere_on_the_way_binds_it_anew_exactly_once() {
    for steps in 0..40 {
        let mut stage = abandoned();
        let at = stage.enter();
        stage.finish(at);
        rebind(&mut stage);
        let at = stage.enter();
        let went = (0..steps).filter(|_| stage.go_on(at)).count();
        stage.actors[at].end = Some(End::Superseded);
        stage.actors.clear();
        stage.settle(&Resolution::NeverStarted);
        assert_eq!(rebindings(&stage).len(), 1, "after {went} steps");
    }
}

#[test]
fn dur_013_an_answer_that_is_lost_reports_and_binds_once() {
    let mut stage = abandoned();
    let at = stage.enter();
    stage.until(at, "ledger.incompatible");
    stage.perform(at, ACK_LOST);
    assert_eq!(stage.finish(at), Some(End::Incompatible));
    rebind(&mut stage);
    let at = stage.enter();
    stage.until(at, "conversation.append:RunRebound");
    stage.perform(at, ACK_LOST);
    stage.settle(&Resolution::NeverStarted);
    assert_eq!(rebindings(&stage).len(), 1);
}

#[test]
fn dur_006_a_report_that_comes_behind_a_claim_is_refused_and_its_attempt_ends() {
    let mut stage = abandoned();
    let late = stage.enter();
    stage.until(late, "ledger.incompatible");
    stage.host.binding = binding();
    let owner = stage.enter();
    stage.until(owner, "conversation.append:ToolUnknown");
    stage.perform(owner, Fate::Done);
    assert_eq!(stage.finish(late), Some(End::Superseded));
    assert_eq!(mismatch(&stage), None);
}

#[test]
fn dur_006_a_paused_owner_of_the_old_binding_does_nothing_behind_a_rebinding() {
    let mut stage = Stage::new(&[&["file"], &[]]);
    stage.until_out(0, "tool.invoke");
    stage.host.wait_for_lease();
    stage.host.binding = revised();
    let at = stage.enter();
    stage.finish(at);
    rebind(&mut stage);
    let at = stage.enter();
    stage.until_out(at, "tool.invoke");
    let log = stage.host.store.log.len();
    stage.answer(0, 0);
    assert_eq!(stage.finish(0), Some(End::Superseded));
    assert_eq!(stage.host.store.log.len(), log, "its fence is gone");
    stage.settle(&Resolution::NeverStarted);
}

#[test]
fn dur_012_a_run_that_nobody_can_go_on_with_ends_when_somebody_wants_it_to() {
    let mut stage = abandoned();
    let at = stage.enter();
    stage.finish(at);
    stage.abort();
    stage.settle(&Resolution::NeverStarted);
    let row = stage.host.store.row(submission("1")).unwrap();
    assert!(matches!(row.phase, Phase::Settled(it) if it.outcome == Outcome::Aborted));
    assert_eq!(rebindings(&stage), []);
}

#[test]
fn dur_014_after_a_week_a_run_ends_and_names_what_it_waited_for() {
    let mut stage = Stage::new(&[&["look"], &[]]);
    stage.until_out(0, "tool.invoke");
    stage.actors.clear();
    stage.host.wait_for_lease();
    stage.host.binding = revised();
    let at = stage.enter();
    stage.finish(at);
    stage.host.store.now = stage.host.store.now.after(DurationMs(INCOMPATIBLE_MS));
    stage.settle(&Resolution::NeverStarted);
    let last = stage.host.store.log.last().unwrap().batch().records().last().unwrap();
    let Record::SubmissionSettled(it) = last else { panic!("{last:?}") };
    let crate::record::Settlement::Failed { diagnostic, limit: None } = &it.settlement else {
        panic!("{it:?}")
    };
    assert_eq!(diagnostic.tag(), "Incompatible");
    let message = diagnostic.message();
    assert!(message.starts_with("record 1 binds the run to tools "), "{message}");
    assert!(message.ends_with("nobody has come with it for 7 days"), "{message}");
}

#[test]
fn dur_014_a_start_that_nobody_could_judge_in_a_week_is_unknown() {
    let mut stage = abandoned();
    let at = stage.enter();
    stage.finish(at);
    stage.host.store.now = stage.host.store.now.after(DurationMs(INCOMPATIBLE_MS));
    let at = stage.enter();
    assert_eq!(stage.finish(at), Some(End::Parked));
    assert_eq!(stage.host.store.row(submission("1")).unwrap().phase, Phase::Unknown);
    assert_eq!(stage.invoked(), 1, "nobody went by what it is now");
}
