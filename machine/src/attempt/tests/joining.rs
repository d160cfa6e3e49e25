//! What an attempt takes into its run: heard before a request, in the log once, settled with it.

use super::history;
use super::stage::{ACK_LOST, Fate, Stage};
use crate::admission::Call;
use crate::attempt::End;
use crate::identity::PrincipalId;
use crate::ledger::{Command, Phase};
use crate::record::{Outcome, Record, Settlement};
use crate::store::StoreCommand;
use crate::testkit::story::abort;
use crate::testkit::{call, submission};

/// Somebody else says something to the run of submission 1.
fn said(key: &str) -> Call {
    let principal = PrincipalId::new("foreman").unwrap();
    Call { principal, steers: Some(submission("1")), ..call(key, "make it two") }
}

fn settlements(stage: &Stage) -> alloc::vec::Vec<Settlement> {
    let batches = stage.host.store.log.iter();
    let records = batches.flat_map(|stored| stored.batch().records());
    let settled = records.filter_map(|record| match record {
        Record::SubmissionSettled(it) => Some(it.settlement.clone()),
        _ => None,
    });
    settled.collect()
}

#[test]
fn run_012_what_is_said_while_a_tool_runs_is_canonical_before_the_next_request() {
    let mut stage = Stage::new(&[&["look"]]);
    stage.until_out(0, "tool.invoke");
    stage.admit(said("2"));
    assert_eq!(stage.finish(0), Some(End::Settled));
    let expected =
        ["input", "responded", "tool-settled", "input", "responded", "settled", "settled"];
    assert_eq!(history(&stage.host), expected);
    let host = submission("1");
    assert_eq!(settlements(&stage)[1], Settlement::Joined { host });
    assert!(stage.host.store.rows.iter().all(|row| matches!(row.phase, Phase::Settled(_))));
}

#[test]
fn case_st_05_what_is_said_when_the_run_asks_no_more_has_a_run_of_its_own() {
    let mut stage = Stage::new(&[]);
    stage.until_out(0, "model.call");
    stage.admit(said("2"));
    assert_eq!(stage.finish(0), Some(End::Settled));
    let next = stage.enter();
    assert_eq!(stage.finish(next), Some(End::Settled));
    let ends = settlements(&stage);
    assert!(ends.iter().all(|it| matches!(it, Settlement::Completed { .. })), "{ends:?}");
    assert_eq!(ends.len(), 2);
}

#[test]
fn dur_016_every_crash_around_a_join_returns_it_or_attaches_it_again() {
    // The pipeline that takes it in has four commands that write: after each of them, somebody
    // else takes over.
    for done in 0..=3 {
        let mut stage = Stage::new(&[&["look"]]);
        stage.until_out(0, "tool.invoke");
        stage.admit(said("2"));
        stage.until(0, "ledger.join");
        stage.perform(0, Fate::Lost(done));
        stage.host.wait_for_lease();
        let successor = stage.enter();
        assert_eq!(stage.finish(successor), Some(End::Settled), "after {done} commands");
        let inputs = history(&stage.host).iter().filter(|it| **it == "input").count();
        assert_eq!(inputs, 2, "recorded once, after {done} commands");
        let host = submission("1");
        assert_eq!(settlements(&stage)[1], Settlement::Joined { host });
        // The predecessor was only paused, and wakes.
        let late = stage.finish(0);
        assert!(matches!(late, Some(End::Superseded | End::Settled)), "after {done} commands");
        assert_eq!(settlements(&stage).len(), 2, "it changes nothing");
    }
}

#[test]
fn dur_016_a_lost_acknowledgement_of_a_join_doubles_nothing() {
    let mut stage = Stage::new(&[&["look"]]);
    stage.until_out(0, "tool.invoke");
    stage.admit(said("2"));
    stage.until(0, "ledger.join");
    stage.perform(0, ACK_LOST);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host).iter().filter(|it| **it == "input").count(), 2);
}

#[test]
fn dur_012_what_joined_a_run_that_is_aborted_is_aborted_with_it() {
    let mut stage = Stage::new(&[&["look"]]);
    stage.until_out(0, "tool.invoke");
    stage.admit(said("2"));
    stage.until(0, "ledger.join");
    stage.perform(0, Fate::Done);
    let (submission, intent) = (submission("1"), abort());
    let command = Command::Abort { submission, intent };
    stage.host.store.one(&StoreCommand::Ledger(command)).unwrap();
    stage.actors[0].told(crate::attempt::Input::Woken);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(settlements(&stage), [Settlement::Aborted, Settlement::Aborted]);
    let outcomes = stage.host.store.rows.iter().map(|row| match &row.phase {
        Phase::Settled(settled) => settled.outcome,
        other => panic!("{other:?}"),
    });
    assert!(outcomes.eq([Outcome::Aborted, Outcome::Aborted]));
}
