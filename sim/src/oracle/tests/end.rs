//! What is left at the end.

use std::sync::Arc;

use everstep_machine::admission::Rejection;
use everstep_machine::agent::Dimension;
use everstep_machine::attempt::End;
use everstep_machine::ledger::Command;
use everstep_machine::record::{Corruption, FinishKind, Outcome, PolicyLimit};
use everstep_machine::store::StoreCommand;

use super::Bench;
use crate::oracle::{Judge, Property};
use crate::profile::Profile;
use crate::scenario::{Scenario, Submission, Turn as Says};
use crate::store::Shelf;
use crate::world::World;

fn concluded(bench: &mut Bench) -> Option<Property> {
    bench.judge.conclude(&bench.cast, std::slice::from_ref(&bench.shelf));
    bench.broken()
}

#[test]
fn arc_14_a_submission_that_never_settles_is_found() {
    let mut bench = Bench::admitted(None);
    assert_eq!(concluded(&mut bench), Some(Property::Liveness));
}

#[test]
fn dur_015_a_row_that_is_ahead_of_its_log_is_found() {
    let mut bench = Bench::claimed(None);
    let owner = bench.owner(1);
    assert!(bench.does(&StoreCommand::Ledger(Command::MarkInput { owner })).changed);
    assert_eq!(concluded(&mut bench), Some(Property::Rebuilt));
}

#[test]
fn dur_015_a_log_that_folds_to_something_else_is_found() {
    let mut bench = Bench::admitted(None);
    bench.judge = Judge::new(1);
    assert_eq!(concluded(&mut bench), Some(Property::Fold));
}

#[test]
fn dur_002_an_admitted_row_that_is_gone_is_found() {
    let mut bench = Bench::admitted(None);
    let mut emptied = Bench::new(None);
    emptied.judge = bench.judge.clone();
    bench.shelf = Arc::new(Shelf::new(bench.cast.lanes[0].clone()));
    emptied.judge.memory_mut().lanes[0].fold = Arc::default();
    assert_eq!(concluded(&mut emptied), Some(Property::OneSettlement));
}

#[test]
fn a_machine_that_calls_itself_defective_is_found() {
    let corrupt = End::Corrupt(Corruption::Undecodable);
    for (end, expected) in [
        (End::Idle, None),
        (End::Settled, None),
        (End::Parked, None),
        (End::Superseded, None),
        (End::Defect, Some(Property::NoDefect)),
        (corrupt, Some(Property::NoDefect)),
    ] {
        let mut judge = Judge::new(0);
        judge.ended(end);
        assert_eq!(judge.violation().map(|it| it.property), expected, "{end:?}");
    }
    let mut judge = Judge::new(0);
    judge.rejected(Rejection::Corrupt);
    assert_eq!(judge.violation().map(|it| it.property), Some(Property::NoDefect));
}

fn ends_as(expected: Outcome) -> Option<Property> {
    let scenario = Scenario::builder("expected")
        .about("It completes.")
        .agent("clerk", "Say it.")
        .submission(Submission::new("a").turn(Says::says("done")).expect(expected));
    let mut world = World::new(Arc::new(scenario.build().unwrap()), Profile::Weak, None);
    while world.moment().is_some() {
        world.advance();
    }
    world.conclude();
    world.violation().map(|violation| violation.property)
}

#[test]
fn an_outcome_that_the_scenario_does_not_expect_is_found() {
    assert_eq!(ends_as(Outcome::Completed), None);
    assert_eq!(ends_as(Outcome::Failed), Some(Property::Expected));
}

/// What is found of a submission that answers with a word, ends like this, or fails.
fn exactly(submission: Submission) -> Option<Property> {
    let scenario = Scenario::builder("exact").about("It ends.").submission(submission);
    let mut world = World::new(Arc::new(scenario.build().unwrap()), Profile::Weak, None);
    while world.moment().is_some() {
        world.advance();
    }
    world.conclude();
    world.violation().map(|violation| violation.property)
}

#[test]
fn run_011_a_finish_an_answer_a_tag_or_a_limit_that_is_not_expected_is_found() {
    let says = || Submission::new("a").turn(Says::says("done"));
    let fails = || Submission::new("a").turn(Says::refused("No", "no"));
    let turns = PolicyLimit::Budget(Dimension::Turns);
    for (submission, is_expected) in [
        (says().expect_finish(FinishKind::ModelStop), true),
        (says().expect_finish(FinishKind::Completed), false),
        (says().expect_output("\"done\""), true),
        (says().expect_output("\"other\""), false),
        (says().expect_disposition("done"), false),
        (says().expect_tag("No"), true),
        (fails().expect_tag("No"), true),
        (fails().expect_tag("Yes"), false),
        (fails().expect_limit(turns), false),
        (fails().expect_finish(FinishKind::Completed), true),
    ] {
        let expected = (!is_expected).then_some(Property::Expected);
        assert_eq!(exactly(submission.clone()), expected, "{submission:?}");
    }
}

#[test]
fn the_first_broken_property_stays() {
    let mut judge = Judge::new(0);
    judge.broken(Property::Chain, || "first".to_owned());
    judge.broken(Property::Fold, || "second".to_owned());
    let violation = judge.violation().unwrap();
    assert_eq!((violation.property, violation.detail.as_str()), (Property::Chain, "first"));
    assert_eq!(violation.to_string(), "the log verifies: first");
}
