//! Who was asked, about what, and who said yes.

use std::sync::Arc;

use everstep_machine::agent::{ApprovalTerms, Risk, Verdict};
use everstep_machine::approval::{Entry, Layer, Rule};
use everstep_machine::digest::Digest;
use everstep_machine::effect::{
    Answer, ApprovalAnswer, ApprovalQuestion, Asker, External, Invocation, Subject,
};
use everstep_machine::identity::{ApprovalId, Epoch, PrincipalId, ToolCallId, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{ApprovalDecided, ApprovalRequested, Record, Resolver};

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

/// A request about the call, and what it came to.
fn decided(bench: &Bench, digest: Digest, verdict: Verdict, resolver: Resolver) -> Vec<Record> {
    let (call, policy) = (bench.call(0, 0), Digest::ZERO);
    let (submission, request) = (bench.submission(0), ApprovalId::derive(call, digest, policy));
    let asked = ApprovalRequested {
        submission,
        request,
        call,
        parameters: digest,
        policy,
        capability: None,
        risk: Risk::High,
        rule: Rule { layer: Layer::Metadata, entry: Entry::Declared },
        target: None,
        preview: "{}".into(),
        terms: ApprovalTerms::default(),
    };
    let reason = "".into();
    let decided = ApprovalDecided { submission, request, verdict, resolver, reason };
    vec![Record::ApprovalRequested(asked), Record::ApprovalDecided(decided)]
}

/// The host's permission, and what an approver allowed under an epoch.
fn permits(bench: &Bench, approved: Option<u64>) -> Permits {
    let mut permits = bench.given(1);
    if let Some(epoch) = approved {
        permits.approve(Epoch(epoch), bench.call(0, 0), parameters().digest());
    }
    permits
}

/// Tells the judge of a batch that an owner with an approver's yes appends.
fn tells(bench: &mut Bench, records: Vec<Record>) {
    let (batch, permits) = (bench.append(1, records), permits(bench, Some(1)));
    bench.does_with(&batch, &permits);
}

#[test]
fn sec_02_a_preparation_without_its_canonical_approval_is_found() {
    for approved in [true, false] {
        let mut bench = declared();
        if approved {
            let records =
                decided(&bench, parameters().digest(), Verdict::Approved, Resolver::Policy);
            tells(&mut bench, records);
        }
        let prepared = bench.append(1, vec![bench.prepared(0, 1)]);
        // A yes that is not in the log is none.
        let permits = permits(&bench, Some(1));
        bench.does_with(&prepared, &permits);
        let expected = (!approved).then_some(Property::Approved);
        assert_eq!(bench.broken(), expected, "{approved}");
    }
}

#[test]
fn sec_02_a_start_without_its_canonical_approval_is_found() {
    for approved in [true, false] {
        let mut bench = declared();
        if approved {
            let records =
                decided(&bench, parameters().digest(), Verdict::Approved, Resolver::Policy);
            tells(&mut bench, records);
            tells_prepared(&mut bench);
        }
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
            steps: Vec::new(),
            action: None,
        });
        let mut outside = Outside::default();
        let answered = outside.perform(&bench.cast, &external);
        let permits = permits(&bench, Some(1));
        bench.judge.happened(&bench.cast, 0, &outside, &external, &answered, &permits);
        let expected = (!approved).then_some(Property::Approved);
        assert_eq!(bench.broken(), expected, "{approved}");
    }
}

fn tells_prepared(bench: &mut Bench) {
    let records = vec![bench.prepared(0, 1)];
    tells(bench, records);
}

#[test]
fn auth_14_a_canonical_decision_that_nobody_made_is_found() {
    let digest = parameters().digest();
    let bob = || Resolver::Person(PrincipalId::new("bob").unwrap());
    let (yes, no) = (Verdict::Approved, Verdict::Denied);
    let cases = [
        (yes, Resolver::Policy, Some(1), None),
        (no, Resolver::Policy, None, None),
        (yes, Resolver::Policy, None, Some(Property::Decisions)),
        (yes, Resolver::Policy, Some(2), Some(Property::Decisions)),
        (yes, bob(), Some(1), Some(Property::Decisions)),
        (no, bob(), Some(1), Some(Property::Decisions)),
        (no, Resolver::Expiry, None, None),
        (no, Resolver::Abort, None, None),
    ];
    for (verdict, resolver, approved, expected) in cases {
        let mut bench = declared();
        let batch = bench.append(1, decided(&bench, digest, verdict, resolver.clone()));
        let permits = permits(&bench, approved);
        bench.does_with(&batch, &permits);
        assert_eq!(bench.broken(), expected, "{verdict:?} by {resolver:?}");
    }
}

fn asker(bench: &Bench) -> Asker {
    let call = &bench.cast.clients[0].call;
    Asker {
        tenant: call.tenant.clone(),
        principal: call.principal.clone(),
        conversation: call.conversation.clone(),
        binding: bench.cast.binding.clone(),
    }
}

/// Asks an approver about a call, with this digest.
fn asked(bench: &mut Bench, digest: Digest) -> Permits {
    let (call, run, turn) = (bench.call(0, 0), bench.cast.clients[0].run, Turn(0));
    let tool = bench.tool(call);
    let risk = bench.cast.binding.definition.tool(&tool).unwrap().risk;
    let question = ApprovalQuestion {
        request: ApprovalId::derive(call, digest, Digest::ZERO),
        call,
        tool,
        capability: None,
        risk,
        rule: Rule { layer: Layer::Metadata, entry: Entry::Declared },
        policy: Digest::ZERO,
        digest,
        target: Subject::Unsaid,
        preview: parameters(),
        stands_for: 1,
        terms: ApprovalTerms::default(),
    };
    let answers = vec![question.at_once(Verdict::Approved)];
    let questions: Arc<[ApprovalQuestion]> = [question].into();
    let asker = asker(bench);
    let external = External::Approve { run, turn, asker, questions: Arc::clone(&questions) };
    let mut outside = Outside::default();
    let mut answered = outside.perform(&bench.cast, &external);
    answered.answer = Answer::Approver { run, turn, questions, answers };
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
    let (verdict, by, reason) = (Verdict::Denied, Resolver::Policy, Arc::from("no"));
    let no = ApprovalAnswer { call, digest, verdict, by, reason };
    let (asker, questions) = (asker(&bench), Arc::from([]));
    let external = External::Approve { run, turn, asker, questions: Arc::clone(&questions) };
    let mut permits = Permits::default();
    let answer = Answer::Approver { run, turn, questions, answers: vec![no] };
    permits.learn(Epoch(1), &external, &answer);
    assert!(!permits.approves(Epoch(1), call, digest));
}
