//! Who was asked, about what, and who said yes.

use everstep_machine::digest::Digest;
use everstep_machine::effect::{Answer, ApprovalAnswer, ApprovalQuestion, External, Invocation};
use everstep_machine::identity::{Epoch, ToolCallId, Turn};
use everstep_machine::json::CanonicalJson;

use super::Bench;
use crate::oracle::{Permits, Property, Sometimes};
use crate::outside::Outside;
use crate::scenario::{Scenario, Submission, Tool, Turn as Says};

/// A bench on which a call of a tool that asks is declared.
fn declared() -> Bench {
    let scenario = Scenario::builder("asking")
        .tool(Tool::ordinary("ship").asks())
        .submission(Submission::new("a").turn(Says::calls("ship", "{}")).turn(Says::says("done")));
    let mut bench = Bench::begun(scenario.build().unwrap());
    bench.records(vec![bench.response(0)]);
    assert_eq!(bench.broken(), None);
    bench
}

fn parameters() -> CanonicalJson {
    CanonicalJson::parse(b"{}").unwrap()
}

/// The host's permission, and an approval of these parameters under an epoch.
fn permits(bench: &Bench, approved: Approved) -> Permits {
    let mut permits = bench.given(1);
    if let Some((epoch, digest)) = approved {
        permits.approve(Epoch(epoch), bench.call(0, 0), digest);
    }
    permits
}

/// The epoch and the parameters of an approval, if there is one.
type Approved = Option<(u64, Digest)>;

/// Approvals, and what a start with each of them breaks.
fn approvals() -> [(Approved, Option<Property>); 4] {
    let digest = parameters().digest();
    let other = CanonicalJson::parse(b"{\"all\":true}").unwrap().digest();
    let broken = Some(Property::Approved);
    [
        (Some((1, digest)), None),
        (None, broken),
        (Some((1, other)), broken),
        (Some((2, digest)), broken),
    ]
}

#[test]
fn sec_02_a_preparation_without_its_approval_is_found() {
    for (approved, expected) in approvals() {
        let mut bench = declared();
        let prepared = bench.append(1, vec![bench.prepared(0, 1)]);
        let permits = permits(&bench, approved);
        bench.does_with(&prepared, &permits);
        assert_eq!(bench.broken(), expected, "{approved:?}");
    }
}

#[test]
fn sec_02_a_start_without_its_approval_is_found() {
    for (approved, expected) in approvals() {
        let mut bench = declared();
        let prepared = bench.append(1, vec![bench.prepared(0, 1)]);
        let sound = permits(&bench, Some((1, parameters().digest())));
        bench.does_with(&prepared, &sound);
        let (call, definition) = (bench.call(0, 0), &bench.cast.binding.definition);
        let tool = bench.tool(call);
        let external = External::InvokeTool(Invocation {
            call,
            epoch: Epoch(1),
            run: bench.cast.clients[0].run,
            agent: definition.id().clone(),
            group: None,
            class: definition.class_of(&tool),
            tool,
            parameters: parameters(),
        });
        let mut outside = Outside::default();
        let answered = outside.perform(&bench.cast, &external);
        let permits = permits(&bench, approved);
        bench.judge.happened(&bench.cast, 0, &outside, &external, &answered, &permits);
        assert_eq!(bench.broken(), expected, "{approved:?}");
    }
}

/// Asks an approver about a call, with this digest.
fn asked(bench: &mut Bench, digest: Digest) -> Permits {
    let (call, run, turn) = (bench.call(0, 0), bench.cast.clients[0].run, Turn(0));
    let tool = bench.tool(call);
    let risk = bench.cast.binding.definition.tool(&tool).unwrap().risk;
    let question = ApprovalQuestion { call, tool, risk, digest, preview: parameters() };
    let external = External::Approve { run, turn, questions: vec![question] };
    let mut outside = Outside::default();
    let answered = outside.perform(&bench.cast, &external);
    let mut permits = Permits::default();
    bench.judge.happened(&bench.cast, 0, &outside, &external, &answered, &permits);
    permits.learn(Epoch(1), &external, &answered.answer);
    permits
}

#[test]
fn sec_02_a_question_about_other_parameters_than_the_logs_is_found() {
    let mut bench = declared();
    asked(&mut bench, parameters().digest());
    assert_eq!(bench.broken(), None);
    assert!(bench.judge.reached().contains(Sometimes::Approved));
    asked(&mut bench, Digest([7; 32]));
    assert_eq!(bench.broken(), Some(Property::Approved));
}

#[test]
fn sec_02_only_a_yes_to_what_was_asked_is_learned() {
    let mut bench = declared();
    let (call, digest) = (bench.call(0, 0), parameters().digest());
    let permits = asked(&mut bench, digest);
    assert!(permits.approves(Epoch(1), call, digest));
    assert!(!permits.approves(Epoch(2), call, digest));
    assert!(!permits.approves(Epoch(1), ToolCallId([1; 16]), digest));

    let (run, turn) = (bench.cast.clients[0].run, Turn(0));
    let no = ApprovalAnswer { call, digest, approved: false };
    let external = External::Approve { run, turn, questions: Vec::new() };
    let mut permits = Permits::default();
    permits.learn(Epoch(1), &external, &Answer::Approver { run, turn, answers: vec![no] });
    assert!(!permits.approves(Epoch(1), call, digest));
}
