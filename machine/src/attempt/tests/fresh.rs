//! Submissions that nothing disturbs.

use super::history;
use crate::admission::{Effect as Admitted, Receipt};
use crate::attempt::End;
use crate::effect::{Authorization, External};
use crate::identity::AdmissionSequence;
use crate::ledger::Phase;
use crate::record::Outcome;
use crate::testkit::{Host, call, submission};

fn outcome(host: &Host, key: &str) -> Outcome {
    match &host.store.row(submission(key)).unwrap().phase {
        Phase::Settled(settled) => settled.outcome,
        other => panic!("not settled: {other:?}"),
    }
}

#[test]
fn dur_001_a_receipt_is_returned_only_when_row_and_conversation_are_durable() {
    let mut host = Host::new(&[]);
    let answer = host.admit(call("1", "hello"));
    let receipt = Receipt { submission: submission("1"), position: AdmissionSequence(0) };
    assert_eq!(answer, Admitted::Accept(receipt));
    assert!(host.store.tail.is_some());
    assert_eq!(host.store.row(submission("1")).unwrap().phase, Phase::Ready);
}

#[test]
fn dur_002_a_submission_without_tools_settles_in_one_attempt() {
    let mut host = Host::new(&[]);
    host.admit(call("1", "hello"));
    assert_eq!(host.work(), End::Settled);
    assert_eq!(history(&host), ["input", "responded", "settled"]);
    assert_eq!(outcome(&host, "1"), Outcome::Completed);
    assert_eq!(host.work(), End::Idle);
}

#[test]
fn dur_004_one_attempt_a_submission_in_admission_order() {
    let mut host = Host::new(&[]);
    for key in ["1", "2", "3"] {
        host.admit(call(key, key));
    }
    assert_eq!([host.work(), host.work(), host.work()], [End::Settled; 3]);
    assert_eq!(host.work(), End::Idle);
    let users: alloc::vec::Vec<_> = host
        .outside
        .asked
        .iter()
        .map(|it| match it {
            External::CallModel(request) => request.messages.len(),
            _ => panic!("only the model is asked"),
        })
        .collect();
    assert_eq!(users, [1, 3, 5], "each run sees the whole batches of those before it");
}

#[test]
fn run_028_a_batch_is_authorized_prepared_run_and_settled() {
    let mut host = Host::new(&[&["look", "file", "pay"]]);
    host.admit(call("1", "hello"));
    assert_eq!(host.work(), End::Settled);
    let expected = [
        "input",
        "responded",
        "prepared",
        "prepared",
        "tool-settled",
        "tool-settled",
        "tool-settled",
        "responded",
        "settled",
    ];
    assert_eq!(history(&host), expected, "readonly calls are never prepared");
    assert_eq!(host.outside.invocations(), 3);
}

#[test]
fn run_028_a_denied_batch_runs_nothing_and_fails_the_run() {
    let mut host = Host::new(&[&["look", "pay"]]);
    host.outside.authorization = Authorization::Denied;
    host.admit(call("1", "hello"));
    assert_eq!(host.work(), End::Settled);
    assert_eq!(host.outside.invocations(), 0);
    assert_eq!(outcome(&host, "1"), Outcome::Failed);
}

#[test]
fn arc_01_a_batch_with_an_undeclared_tool_runs_nothing_and_goes_on() {
    let mut host = Host::new(&[&["pay", "nothing"]]);
    host.admit(call("1", "hello"));
    assert_eq!(host.work(), End::Settled);
    assert_eq!(host.outside.invocations(), 0);
    assert_eq!(outcome(&host, "1"), Outcome::Completed);
}

#[test]
fn run_011_a_run_out_of_turns_fails_with_its_limit() {
    let mut host = Host::new(&[&["look"], &["look"], &["look"], &["look"], &["look"]]);
    host.admit(call("1", "hello"));
    assert_eq!(host.work(), End::Settled);
    assert_eq!(host.outside.invocations(), 4);
    assert_eq!(outcome(&host, "1"), Outcome::Failed);
}
