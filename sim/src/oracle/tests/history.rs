//! What batches say, and what a row must show.

use std::sync::Arc;

use everstep_machine::admission::Receipt;
use everstep_machine::agent::ToolOutcome;
use everstep_machine::identity::{AdmissionSequence, Epoch};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::{AbortIntent, Command};
use everstep_machine::record::{
    Doubt, Record, Settlement, SubmissionSettled, ToolSettled, ToolUnknown,
};
use everstep_machine::store::StoreCommand;

use super::Bench;
use crate::oracle::{Permits, Property};

fn settled(bench: &Bench, client: usize, began: bool) -> Record {
    Record::SubmissionSettled(SubmissionSettled {
        submission: bench.submission(client),
        run: began.then_some(bench.cast.clients[client].run),
        settlement: Settlement::Aborted,
    })
}

fn append(bench: &mut Bench, records: Vec<Record>) {
    let command = bench.append(1, records);
    assert!(bench.does(&command).answer.is_ok());
}

#[test]
fn dur_002_a_second_settlement_is_found() {
    let mut bench = Bench::claimed(None);
    let once = settled(&bench, 0, false);
    append(&mut bench, vec![once.clone()]);
    assert_eq!(bench.broken(), None);
    // The log refuses the same record twice, so it is told as another batch.
    let input = bench.input(1);
    append(&mut bench, vec![input]);
    bench.judge.check_batch(&bench.cast, 0, &bench.shelf.log().batches()[1], &Permits::default());
    assert_eq!(bench.broken(), Some(Property::OneSettlement));
}

#[test]
fn dur_004_a_submission_that_overtakes_is_found() {
    let mut bench = Bench::claimed(None);
    let second = bench.input(1);
    append(&mut bench, vec![second]);
    assert_eq!(bench.broken(), Some(Property::AdmissionOrder));
}

#[test]
fn dur_004_an_aborted_submission_may_be_overtaken() {
    let mut bench = Bench::claimed(None);
    let principal = bench.cast.clients[0].call.principal.clone();
    let intent = AbortIntent { principal, reason: Arc::from("enough") };
    let submission = bench.submission(0);
    bench.does(&StoreCommand::Ledger(Command::Abort { submission, intent }));
    let second = bench.input(1);
    append(&mut bench, vec![second]);
    assert_eq!(bench.broken(), None);
}

#[test]
fn dur_005_two_runs_at_once_are_found() {
    let mut bench = Bench::claimed(None);
    let (first, second) = (bench.input(0), bench.input(1));
    append(&mut bench, vec![first]);
    assert_eq!(bench.broken(), None);
    append(&mut bench, vec![second]);
    assert_eq!(bench.broken(), Some(Property::OneActiveRun));
}

#[test]
fn store_006_a_batch_that_contradicts_its_log_is_found() {
    let mut bench = Bench::claimed(None);
    let response = bench.response(0);
    append(&mut bench, vec![response]);
    assert_eq!(bench.broken(), Some(Property::Chain));
}

#[test]
fn run_028_a_preparation_without_an_authorisation_is_found() {
    for (authorised, expected) in [(1, None), (2, Some(Property::Authorised))] {
        let mut bench = Bench::claimed(None);
        let declared = vec![bench.input(0), bench.response(0)];
        append(&mut bench, declared);
        let prepared = bench.append(1, vec![bench.prepared(0, 1)]);
        bench.does_with(&prepared, &bench.given(authorised));
        assert_eq!(bench.broken(), expected);
    }
}

#[test]
fn arc_03_a_result_without_its_call_is_found() {
    let mut bench = Bench::claimed(None);
    let input = bench.input(0);
    append(&mut bench, vec![input]);
    let outcome = Arc::new(ToolOutcome::Success(CanonicalJson::parse(b"1").unwrap()));
    let (submission, call) = (bench.submission(0), bench.call(0, 0));
    append(&mut bench, vec![Record::ToolSettled(ToolSettled { submission, call, outcome })]);
    assert_eq!(bench.broken(), Some(Property::Results));
}

/// A log with a doubt; the owner marks it or does not, and lets go.
fn lets_go(marks: bool) -> Option<Property> {
    let mut bench = Bench::claimed(None);
    let declared = vec![bench.input(0), bench.response(0)];
    append(&mut bench, declared);
    let call = bench.call(0, 0);
    let prepared = bench.append(1, vec![bench.prepared(0, 1)]);
    bench.does_with(&prepared, &bench.given(1));
    let doubt = Doubt { call, start: Epoch(1) };
    let submission = bench.submission(0);
    append(&mut bench, vec![Record::ToolUnknown(ToolUnknown { submission, doubt })]);
    let owner = bench.owner(1);
    bench.does(&StoreCommand::Ledger(Command::MarkInput { owner }));
    if marks {
        let doubts = vec![doubt];
        bench.does(&StoreCommand::Ledger(Command::MarkUnknown { owner, doubts }));
    }
    assert_eq!(bench.broken(), None);
    assert!(bench.does(&StoreCommand::Ledger(Command::Release { owner })).changed);
    bench.broken()
}

#[test]
fn dur_017_a_doubt_that_nobody_listed_is_found_when_its_owner_lets_go() {
    assert_eq!(lets_go(true), None);
    assert_eq!(lets_go(false), Some(Property::Listed));
}

#[test]
fn dur_001_a_receipt_before_everything_is_stored_is_found() {
    let mut bench = Bench::new(None);
    let receipt = Receipt { submission: bench.submission(0), position: AdmissionSequence(0) };
    let commands = bench.admission(0).commands;
    for (at, command) in commands.iter().enumerate() {
        let mut judge = bench.judge.clone();
        judge.receipt(&bench.shelf, receipt);
        let found = judge.violation().map(|it| it.property);
        assert_eq!(found, Some(Property::Receipts), "before command {at}");
        bench.does(command);
    }
    bench.judge.receipt(&bench.shelf, receipt);
    assert_eq!(bench.broken(), None);
}
